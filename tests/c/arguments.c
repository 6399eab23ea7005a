/* Misuse is a status: NULLs, bad text, bad numbers, structs of another size. Nothing is written on failure. */
#include "check.h"

HANDLER(finish) {
    (void)request, (void)user_data;
    OK(tocsin_call_complete_text(call, S("done")));
}

static const char TOOL[] = JSON({"name": "t", "inputSchema": {"type": "object"}});
#define INVALID(call) CHECK((call) == TOCSIN_STATUS_INVALID_ARGUMENT)

static void nulls(void) {
    tocsin_server *server = new_server();
    tocsin_handler handler = {.struct_size = sizeof handler, .call = finish};
    tocsin_handler nothing = {.struct_size = sizeof handler};
    tocsin_error *error = NULL;

    INVALID(tocsin_server_new(NULL, &server, NULL));
    tocsin_server_options options = {.struct_size = sizeof options, .name = S("n"), .version = S("1")};
    INVALID(tocsin_server_new(&options, NULL, NULL));
    INVALID(tocsin_server_add_tool(NULL, S(TOOL), &handler, NULL));
    INVALID(tocsin_server_add_tool(server, S(TOOL), NULL, NULL));
    INVALID(tocsin_server_add_tool(server, (tocsin_str){NULL, 5}, &handler, NULL));
    INVALID(tocsin_server_add_tool(server, S(TOOL), &nothing, &error));
    check_error(error, TOCSIN_STATUS_INVALID_ARGUMENT, "needs a function");
    INVALID(tocsin_server_remove(NULL, TOCSIN_TOOLS, S("t"), NULL));
    INVALID(tocsin_server_hold_changes(NULL));
    INVALID(tocsin_server_release_changes(server));
    INVALID(tocsin_server_on_watch(NULL, NULL, NULL, NULL));
    INVALID(tocsin_serve_stdio(NULL, NULL));
    INVALID(tocsin_start_stdio(server, NULL, NULL));
    INVALID(tocsin_service_wait(NULL, 0));
    INVALID(tocsin_service_stop(NULL, 0));
    INVALID(tocsin_session_new(server, NULL, NULL, NULL, NULL, NULL));
    INVALID(tocsin_session_new(server, take_line, NULL, NULL, NULL, NULL));
    INVALID(tocsin_session_feed(NULL, S("x")));
    INVALID(tocsin_session_finish(NULL));
    INVALID(tocsin_queue_new(NULL));
    INVALID(tocsin_queue_run(NULL, 0, 0, NULL));
    INVALID(tocsin_queue_close(NULL));
    INVALID(tocsin_call_complete(NULL, S("{}")));
    INVALID(tocsin_call_fail(NULL, S("")));
    INVALID(tocsin_call_progress(NULL, 1, 2, NONE));
    INVALID(tocsin_call_log(NULL, TOCSIN_LEVEL_INFO, NONE, S("1")));
    INVALID(tocsin_call_ask(NULL, NULL, 0, NULL, NULL, NULL));
    INVALID(tocsin_call_on_cancel(NULL, NULL, NULL, NULL));
    INVALID(tocsin_text_new(NULL));
    INVALID(tocsin_text_add(NULL, S("x")));
    INVALID(tocsin_json_get(S("{}"), NONE, NULL));
    INVALID(tocsin_json_int(S("1"), NULL));
    INVALID(tocsin_set_logger(99, NULL, NULL, NULL));
    CHECK(tocsin_queue_fd(NULL) == -1);
    CHECK(tocsin_call_request(NULL) == NULL);
    CHECK(tocsin_call_is_cancelled(NULL));
    CHECK(!tocsin_call_can_ask(NULL, S("roots/list")));
    CHECK(!tocsin_server_contains(NULL, TOCSIN_TOOLS, S("t")));
    CHECK(tocsin_error_status(NULL) == TOCSIN_STATUS_OK && tocsin_error_message(NULL).len == 0);
    CHECK(tocsin_text_str(NULL).len == 0);
    tocsin_server_request_stop(NULL);
    tocsin_call_drop(NULL);
    tocsin_error_free(NULL);
    tocsin_text_free(NULL);
    tocsin_queue_free(NULL);
    tocsin_service_free(NULL);
    tocsin_session_free(NULL);
    tocsin_server_free(NULL);
    tocsin_server_free(server);
}

/* Out pointers keep their values; error objects are written only on failure. */
static void outputs(void) {
    tocsin_server *const untouched = (tocsin_server *)&errno;
    tocsin_server *server = untouched;
    tocsin_server_options options = {.struct_size = sizeof options, .version = S("1")};
    CHECK(tocsin_server_new(&options, &server, NULL) != TOCSIN_STATUS_OK);
    CHECK(server == untouched);
    tocsin_str value = S("untouched");
    CHECK(tocsin_json_get(S("{}"), S("/a"), &value) == TOCSIN_STATUS_NOT_FOUND && same(value, "untouched"));
    int64_t number = 7;
    CHECK(tocsin_json_int(S("1.5"), &number) == TOCSIN_STATUS_INVALID_JSON && number == 7);

    server = new_server();
    tocsin_error *error = (tocsin_error *)&errno;
    tocsin_handler handler = {.struct_size = sizeof handler, .call = finish};
    OK(tocsin_server_add_tool(server, S(TOOL), &handler, &error));
    CHECK(error == (tocsin_error *)&errno);
    CHECK(tocsin_server_add_tool(server, S(TOOL), &handler, &error) == TOCSIN_STATUS_ALREADY_EXISTS);
    check_error(error, TOCSIN_STATUS_ALREADY_EXISTS, "tool 't' already exists");
    tocsin_server_free(server);
}

static void texts(void) {
    tocsin_server *server = new_server();
    tocsin_error *error = NULL;
    tocsin_handler handler = {.struct_size = sizeof handler, .call = finish};
    INVALID(tocsin_server_add_tool(server, S("{\"name\":\"\xff\"}"), &handler, &error));
    check_error(error, TOCSIN_STATUS_INVALID_ARGUMENT, "not UTF-8; its first 9 bytes are");
    INVALID(tocsin_server_resource_updated(server, S("x\xc3")));
    INVALID(tocsin_server_resource_updated(server, (tocsin_str){"x", SIZE_MAX}));
    OK(tocsin_server_resource_updated(server, NONE));
    CHECK(tocsin_server_add_tool(server, NONE, &handler, &error) == TOCSIN_STATUS_INVALID_JSON);
    tocsin_error_free(error);
    CHECK(tocsin_server_add_tool(server, S("{\"inputSchema\":{}}"), &handler, &error) == TOCSIN_STATUS_INVALID_JSON);
    check_error(error, TOCSIN_STATUS_INVALID_JSON, "name");
    /* A length of 0 makes any pointer legal. */
    OK(tocsin_server_resource_updated(server, (tocsin_str){(const char *)1, 0}));
    tocsin_server_free(server);
}

static void numbers(void) {
    tocsin_server *server = new_server();
    tocsin_error *error = NULL;
    const uint32_t lists[] = {0, 3, 16, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        INVALID(tocsin_server_remove(server, lists[i], S("x"), &error));
        check_error(error, TOCSIN_STATUS_INVALID_ARGUMENT, "TOCSIN_TOOLS");
        error = NULL;
    }
    INVALID(tocsin_server_lists_changed(server, 0));
    INVALID(tocsin_server_lists_changed(server, 16));
    OK(tocsin_server_lists_changed(server, 15));
    CHECK(tocsin_server_remove(server, TOCSIN_TOOLS, S("x"), &error) == TOCSIN_STATUS_NOT_FOUND);
    check_error(error, TOCSIN_STATUS_NOT_FOUND, "no tool 'x'");
    tocsin_handler handler = {.struct_size = sizeof handler, .call = finish, .flags = 0x80};
    INVALID(tocsin_server_add_tool(server, S(TOOL), &handler, NULL));
    tocsin_server_free(server);
}

/* What an older or a newer program would pass. */
static void sizes(void) {
    tocsin_server *server = new_server();
    struct {
        tocsin_handler known;
        uint64_t added;
    } newer = {{.struct_size = sizeof newer, .call = finish}, 0};
    OK(tocsin_server_add_tool(server, S(TOOL), &newer.known, NULL));
    newer.added = 1;
    tocsin_error *error = NULL;
    INVALID(tocsin_server_replace_tool(server, S(TOOL), &newer.known, &error));
    check_error(error, TOCSIN_STATUS_INVALID_ARGUMENT, "does not know");

    /* Before queue and flags were added; what follows in memory is not looked at. */
    tocsin_handler older = {.call = finish, .queue = (tocsin_queue *)1, .flags = 0x80};
    older.struct_size = offsetof(tocsin_handler, queue);
    OK(tocsin_server_replace_tool(server, S(TOOL), &older, NULL));

    tocsin_handler none = {.struct_size = 0, .call = finish};
    INVALID(tocsin_server_replace_tool(server, S(TOOL), &none, NULL));
    none.struct_size = 1 << 20;
    INVALID(tocsin_server_replace_tool(server, S(TOOL), &none, NULL));
    tocsin_server_free(server);

    tocsin_server_options options = {.name = S("n"), .version = S("1"), .options_json = S("not looked at")};
    options.struct_size = offsetof(tocsin_server_options, instructions);
    OK(tocsin_server_new(&options, &server, NULL));
    tocsin_server_free(server);
}

/* Options are refused with words. */
static void options(void) {
    static const struct {
        const char *json, *part;
        tocsin_status status;
    } cases[] = {
        {"[]", "options_json must be a JSON object", TOCSIN_STATUS_INVALID_JSON},
        {"{", "options_json must be a JSON object", TOCSIN_STATUS_INVALID_JSON},
        {"{\"nonsense\":1}", "'nonsense'", TOCSIN_STATUS_INVALID_ARGUMENT},
        {"{\"page_size\":0}", "page_size must be", TOCSIN_STATUS_INVALID_ARGUMENT},
        {"{\"protocol_versions\":[\"1999-01-01\"]}", "1999-01-01", TOCSIN_STATUS_INVALID_ARGUMENT},
        {"{\"protocol_versions\":[\"2026-07-28\"]}", "modern_only", TOCSIN_STATUS_INVALID_ARGUMENT},
        {"{\"state_key\":\"x\"}", "32 bytes", TOCSIN_STATUS_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tocsin_server_options options = {
            .struct_size = sizeof options, .name = S("n"), .version = S("1"), .options_json = S(cases[i].json)};
        tocsin_server *server = NULL;
        tocsin_error *error = NULL;
        CHECK(tocsin_server_new(&options, &server, &error) == cases[i].status);
        check_error(error, cases[i].status, cases[i].part);
        CHECK(server == NULL);
    }
    tocsin_server *server = server_with(JSON({
        "protocol_versions": ["2026-07-28"], "modern_only": true, "title": "T", "withhold": ["tools"], "page_size": 1,
        "extension_versions": {}, "ttl_ms": 5, "cache_scope": "public"
    }));
    client *client = connect_to(server);
    request(client, 1, "server/discover", "");
    const char *line = receive(client);
    check_part(line, "\"supportedVersions\":[\"2026-07-28\"]", __FILE__, __LINE__);
    check_part(line, "\"tools\":{}", __FILE__, __LINE__);
    check_part(line, "\"title\":\"T\"", __FILE__, __LINE__);
    check_part(line, "\"ttlMs\":5", __FILE__, __LINE__);
    disconnect(client);
    tocsin_server_free(server);
}

int main(void) {
    nulls();
    outputs();
    texts();
    numbers();
    sizes();
    options();
    return 0;
}
