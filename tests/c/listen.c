/* Subscriptions: who hears of what, batches, hooks that refuse, and watching. */
#include "check.h"

#define LISTEN(filter) "\"notifications\":" filter ","
#define ACK "notifications/subscriptions/acknowledged"
#define SID(id) "\"io.modelcontextprotocol/subscriptionId\":" #id

HANDLER(finish) { (void)request, (void)user_data; OK(tocsin_call_complete_text(call, S("done"))); }

static void lists(void) {
    tocsin_server *server = new_server();
    tocsin_handler handler = {.struct_size = sizeof handler, .call = finish};
    client *client = connect_to(server);
    request(client, 1, "subscriptions/listen", LISTEN("{\"toolsListChanged\":true,\"promptsListChanged\":true}"));
    EXPECT(client, ACK);
    request(client, 2, "subscriptions/listen",
            LISTEN("{\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"a:b\"]}"));
    EXPECT(client, ACK);
#define HEARD(change, part, id)                                        \
    OK(change);                                                        \
    do {                                                               \
        const char *line = receive(client);                            \
        check_part(line, part, __FILE__, __LINE__);                    \
        check_part(line, SID(id), __FILE__, __LINE__);                 \
    } while (0)
    const tocsin_str tool = S(JSON({"name": "t", "inputSchema": {"type": "object"}}));
    HEARD(tocsin_server_add_tool(server, tool, &handler, NULL), "notifications/tools/list_changed", 1);
    HEARD(tocsin_server_replace_tool(server, tool, &handler, NULL), "notifications/tools/list_changed", 1);
    HEARD(tocsin_server_disable(server, TOCSIN_TOOLS, S("t"), NULL), "notifications/tools/list_changed", 1);
    call_tool(client, 9, "t", "{}");
    EXPECT(client, "-32602");
    CHECK(tocsin_server_contains(server, TOCSIN_TOOLS, S("t")));
    HEARD(tocsin_server_enable(server, TOCSIN_TOOLS, S("t"), NULL), "notifications/tools/list_changed", 1);
    HEARD(tocsin_server_remove(server, TOCSIN_TOOLS, S("t"), NULL), "notifications/tools/list_changed", 1);
    HEARD(tocsin_server_add_prompt(server, S("{\"name\":\"p\"}"), &handler, NULL, NULL), "prompts/list_changed", 1);
    HEARD(tocsin_server_replace_prompt(server, S("{\"name\":\"p\"}"), &handler, NULL, NULL), "prompts/list_changed", 1);
    HEARD(tocsin_server_remove(server, TOCSIN_PROMPTS, S("p"), NULL), "prompts/list_changed", 1);
    const tocsin_str resource = S(JSON({"uri": "a:b", "name": "b"})), template = S(JSON({"uriTemplate": "x:{y}", "name": "y"}));
    HEARD(tocsin_server_add_resource(server, resource, &handler, NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_replace_resource(server, resource, &handler, NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_resource_updated(server, S("a:b")), "resources/updated", 2);
    OK(tocsin_server_resource_updated(server, S("a:c")));
    HEARD(tocsin_server_remove(server, TOCSIN_RESOURCES, S("a:b"), NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_add_template(server, template, &handler, NULL, NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_replace_template(server, template, &handler, NULL, NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_remove(server, TOCSIN_TEMPLATES, S("x:{y}"), NULL), "resources/list_changed", 2);
    HEARD(tocsin_server_lists_changed(server, TOCSIN_TOOLS), "tools/list_changed", 1);
    HEARD(tocsin_server_lists_changed(server, TOCSIN_TEMPLATES), "resources/list_changed", 2);

    /* A thousand edits in nested batches are one notification. */
    OK(tocsin_server_hold_changes(server));
    OK(tocsin_server_hold_changes(server));
    for (int i = 0; i < 1000; i++) {
        OK(tocsin_server_add_tool(server, tool, &handler, NULL));
        OK(tocsin_server_remove(server, TOCSIN_TOOLS, S("t"), NULL));
        OK(tocsin_server_resource_updated(server, S("a:b")));
    }
    OK(tocsin_server_release_changes(server));
    barrier(client);
    OK(tocsin_server_release_changes(server));
    EXPECT(client, "tools/list_changed");
    EXPECT(client, "resources/updated");
    barrier(client);
    CHECK(tocsin_server_release_changes(server) == TOCSIN_STATUS_INVALID_ARGUMENT);

    /* Freeing tells the subscribers nothing more; finishing tells them that it was on purpose. */
    OK(tocsin_session_finish(client->session));
    CHECK(waiting(client) == 2);
    EXPECT(client, "\"resultType\":\"complete\"");
    EXPECT(client, "\"resultType\":\"complete\"");
    disconnect(client);
    tocsin_server_free(server);
}

/* A slow reader costs no memory and misses nothing: many edits are few messages. */
static gate slow_inside = GATE, slow_go = GATE;
static atomic_int slow_lines;
static void slow_output(tocsin_str bytes, void *user_data) {
    (void)bytes, (void)user_data;
    if (atomic_fetch_add(&slow_lines, 1) == 0) {
        open_gate(&slow_inside);
        wait_gate(&slow_go, 1);
    }
}
static void slow(void) {
    tocsin_server *server = new_server();
    tocsin_session *session = NULL;
    OK(tocsin_session_new(server, slow_output, NULL, NULL, &session, NULL));
    struct client pretend = {.session = session};
    request(&pretend, 1, "subscriptions/listen", LISTEN("{\"toolsListChanged\":true}"));
    wait_gate(&slow_inside, 1);
    client *fast = connect_to(server);
    request(fast, 1, "subscriptions/listen", LISTEN("{\"toolsListChanged\":true}"));
    EXPECT(fast, ACK);
    for (int i = 0; i < 1000; i++) {
        OK(tocsin_server_lists_changed(server, TOCSIN_TOOLS));
    }
    EXPECT(fast, "tools/list_changed");
    open_gate(&slow_go);
    OK(tocsin_session_finish(session));
    /* The acknowledgement, one change or two, the end. */
    CHECK(atomic_load(&slow_lines) == 3 || atomic_load(&slow_lines) == 4);
    tocsin_session_free(session);
    disconnect(fast);
    tocsin_server_free(server);
}

HANDLER(decide) {
    (void)user_data;
    CHECK(request->kind == TOCSIN_CALL_LISTEN);
    tocsin_str wanted = NONE;
    if (tocsin_json_get(request->arguments, S("/toolsListChanged"), &wanted) == TOCSIN_STATUS_OK) {
        OK(tocsin_call_fail_with(call, -32001, S("not for you"), S("{\"why\":1}")));
    } else {
        OK(tocsin_call_complete(call, S("{}")));
    }
}
static void hooks(void) {
    tocsin_server *server = new_server();
    tocsin_handler handler = {.struct_size = sizeof handler, .call = decide};
    OK(tocsin_server_on_listen(server, &handler, NULL));
    client *client = connect_to(server);
    request(client, 1, "subscriptions/listen", LISTEN("{\"toolsListChanged\":true}"));
    EXPECT(client, "\"error\":{\"code\":-32001,\"message\":\"not for you\",\"data\":{\"why\":1}}");
    request(client, 2, "subscriptions/listen", LISTEN("{\"promptsListChanged\":true}"));
    EXPECT(client, ACK);
    OK(tocsin_server_on_listen(server, NULL, NULL));
    request(client, 3, "subscriptions/listen", LISTEN("{\"toolsListChanged\":true}"));
    EXPECT(client, ACK);
    OK(tocsin_server_lists_changed(server, TOCSIN_TOOLS | TOCSIN_PROMPTS));
    EXPECT(client, "list_changed");
    EXPECT(client, "list_changed");
    disconnect(client);
    tocsin_server_free(server);
}

static char seen[256];
static void watch(tocsin_str uri, bool active, void *user_data) {
    CHECK(user_data == seen);
    size_t len = strlen(seen);
    snprintf(seen + len, sizeof seen - len, "%c%.*s ", active ? '+' : '-', (int)uri.len, uri.data);
}
static void watching(void) {
    tocsin_server *server = new_server();
    OK(tocsin_server_on_watch(server, watch, seen, NULL));
    client *client = connect_to(server), *other = connect_to(server);
    request(client, 1, "subscriptions/listen", LISTEN("{\"resourceSubscriptions\":[\"a:b\",\"a:c\"]}"));
    EXPECT(client, ACK);
    request(other, 1, "subscriptions/listen", LISTEN("{\"resourceSubscriptions\":[\"a:b\"]}"));
    EXPECT(other, ACK);
    cancel(client, 1);
    barrier(client);
    CHECK(strcmp(seen, "+a:b +a:c -a:c ") == 0);
    /* The last one goes without a word. */
    disconnect(other);
    CHECK(strcmp(seen, "+a:b +a:c -a:c -a:b ") == 0);
    disconnect(client);
    tocsin_server_free(server);
}

int main(void) {
    lists();
    slow();
    hooks();
    watching();
    return 0;
}
