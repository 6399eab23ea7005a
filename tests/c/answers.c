/* Every way to answer, and to answer wrongly: twice, late, not at all, from another thread. */
#include "check.h"

HANDLER(text) { (void)request, (void)user_data; OK(tocsin_call_complete_text(call, S("t\u2605"))); }
HANDLER(result) { (void)request; OK(tocsin_call_complete(call, S(user_data))); }
HANDLER(structured) { (void)request; OK(tocsin_call_complete_structured(call, S(user_data))); }
HANDLER(fail) { (void)request, (void)user_data; OK(tocsin_call_fail(call, S("it \"failed\""))); }
HANDLER(fail_with) {
    (void)request;
    OK(tocsin_call_fail_with(call, -32000, S("no"), S(user_data)));
}
HANDLER(bad_data) {
    (void)request, (void)user_data;
    CHECK(tocsin_call_fail_with(call, -32000, S("no"), S("{")) == TOCSIN_STATUS_INVALID_JSON);
}
HANDLER(bad_text) {
    (void)request, (void)user_data;
    CHECK(tocsin_call_complete_text(call, S("\xff")) == TOCSIN_STATUS_INVALID_ARGUMENT);
}
HANDLER(give_up) { (void)request, (void)user_data; tocsin_call_drop(call); }
HANDLER(blob) {
    (void)request, (void)user_data;
    OK(tocsin_call_complete_blob(call, (tocsin_str){"\0\xff\x10", 3}));
}
HANDLER(values) {
    (void)request, (void)user_data;
    tocsin_str values[150];
    for (int i = 0; i < 150; i++) {
        values[i] = S("v");
    }
    OK(tocsin_call_complete_values(call, values, 150));
}
HANDLER(twice) {
    (void)request, (void)user_data;
    OK(tocsin_call_complete_text(call, S("once")));
    CHECK(tocsin_call_complete_text(call, S("twice")) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(tocsin_call_fail(call, S("twice")) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(tocsin_call_progress(call, 1, 2, NONE) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(tocsin_call_is_cancelled(call));
    tocsin_call_drop(call);
}
static pthread_t threads[2];
static void *answer(void *call) {
    OK(tocsin_call_progress(call, 1, NAN, NONE));
    OK(tocsin_call_progress(call, 1, 4, S("does not grow")));
    OK(tocsin_call_progress(call, 2.5, 4, S("m")));
    OK(tocsin_call_log(call, TOCSIN_LEVEL_WARNING, S("l"), S("{ \"a\": 1 }")));
    CHECK(tocsin_call_log(call, 8, S("l"), S("1")) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(tocsin_call_log(call, TOCSIN_LEVEL_WARNING, S("l"), S("{")) == TOCSIN_STATUS_INVALID_JSON);
    OK(tocsin_call_log(call, TOCSIN_LEVEL_INFO, S("l"), S("\"not severe enough\"")));
    OK(tocsin_call_complete_text(call, S("from a thread")));
    return NULL;
}
HANDLER(defer) {
    (void)request, (void)user_data;
    CHECK(pthread_create(&threads[0], NULL, answer, call) == 0);
}
static tocsin_call *late;
static gate kept = GATE;
HANDLER(keep) {
    (void)request, (void)user_data;
    late = call;
    open_gate(&kept);
}
HANDLER(look) {
    (void)user_data;
    CHECK(request == tocsin_call_request(call));
    CHECK(request->struct_size == sizeof *request && request->kind == TOCSIN_CALL_TOOL && request->modern);
    CHECK(same(request->target, "look") && same(request->arguments, "{ \"n\": 9007199254740993 }"));
    CHECK(same(request->protocol, "2026-07-28") && same(request->transport, "stdio"));
    CHECK(same(request->client_info, "{\"name\":\"c-test\",\"version\":\"1\"}"));
    CHECK(same(request->client_capabilities, "{\"elicitation\":{}}"));
    CHECK(request->meta.len > 0 && request->user_data == user_data && user_data == &late);
    OK(tocsin_call_complete_text(call, NONE));
}

int main(void) {
    tocsin_server *server = server_with("{\"handler_timeout_ms\":0}");
    add_function(server, "text", text, NULL);
    add_function(server, "result", result, "{\"content\":[],\"more\":1.0}");
    add_function(server, "not_json", result, "{");
    add_function(server, "nothing", result, NULL);
    add_function(server, "wrong_shape", result, "{\"messages\":[]}");
    add_function(server, "structured", structured, "{ \"n\": 9007199254740993 }");
    add_function(server, "fail", fail, NULL);
    add_function(server, "fail_with", fail_with, " { \"a\": 1 }");
    add_function(server, "fail_without", fail_with, "");
    add_function(server, "bad_data", bad_data, NULL);
    add_function(server, "bad_text", bad_text, NULL);
    add_function(server, "give_up", give_up, NULL);
    add_function(server, "twice", twice, NULL);
    add_function(server, "defer", defer, NULL);
    add_function(server, "keep", keep, NULL);
    add_function(server, "look", look, &late);
    tocsin_handler read = {.struct_size = sizeof read, .call = blob};
    OK(tocsin_server_add_resource(server, S(JSON({"uri": "a:b", "name": "b", "mimeType": "x/y"})), &read, NULL));
    tocsin_handler get = {.struct_size = sizeof get, .call = text}, complete = {.struct_size = sizeof get, .call = values};
    OK(tocsin_server_add_prompt(server, S(JSON({"name": "p", "arguments": [{"name": "a"}]})), &get, &complete, NULL));

    client *client = connect_to(server);
    const char *line = NULL;
#define CALL(name, part)                    \
    call_tool(client, 1, name, "{}");       \
    line = receive(client);                 \
    check_part(line, part, __FILE__, __LINE__)
    CALL("text", TEXT("t\u2605"));
    CALL("result", "\"content\":[],\"more\":1.0");
    CALL("not_json", "\"isError\":true");
    CALL("nothing", TEXT("the handler failed") ",\"isError\":true");
    CALL("wrong_shape", "\"isError\":true");
    CALL("structured", "\"structuredContent\":{\"n\":9007199254740993}");
    CALL("fail", TEXT("it \\\"failed\\\"") ",\"isError\":true");
    CALL("fail_with", "\"error\":{\"code\":-32000,\"message\":\"no\",\"data\":{\"a\":1}}");
    CALL("fail_without", "\"error\":{\"code\":-32000,\"message\":\"no\"}");
    CALL("bad_data", TEXT("the handler failed") ",\"isError\":true");
    CALL("bad_text", TEXT("the handler failed") ",\"isError\":true");
    CALL("give_up", TEXT("the handler failed") ",\"isError\":true");
    CALL("twice", TEXT("once"));
    call_tool(client, 1, "look", "{ \"n\": 9007199254740993 }");
    EXPECT(client, TEXT(""));
    request(client, 2, "resources/read", "\"uri\":\"a:b\",");
    EXPECT(client, "\"contents\":[{\"uri\":\"a:b\",\"mimeType\":\"x/y\",\"blob\":\"AP8Q\"}]");
    request(client, 3, "prompts/get", "\"name\":\"p\",");
    EXPECT(client, "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"t\u2605\"}}]");
    request(client, 4, "completion/complete",
            "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{\"name\":\"a\",\"value\":\"\"},");
    EXPECT(client, "\"total\":150,\"hasMore\":true");

    sendf(client, JSON({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "defer", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "warning", "progressToken": "tok"
    }}}));
    EXPECT(client, "\"params\":{\"progressToken\":\"tok\",\"progress\":1}");
    EXPECT(client, "\"params\":{\"progressToken\":\"tok\",\"progress\":2.5,\"total\":4,\"message\":\"m\"}");
    EXPECT(client, "\"params\":{\"level\":\"warning\",\"logger\":\"l\",\"data\":{\"a\":1}}");
    EXPECT(client, TEXT("from a thread"));
    pthread_join(threads[0], NULL);

    /* Answered after its client, and then its server, have gone. */
    call_tool(client, 6, "keep", "{}");
    wait_gate(&kept, 1);
    disconnect(client);
    CHECK(tocsin_call_is_cancelled(late));
    OK(tocsin_call_complete_text(late, S("too late")));
    client = connect_to(server);
    call_tool(client, 7, "keep", "{}");
    wait_gate(&kept, 2);
    tocsin_server_free(server);
    CHECK(tocsin_call_is_cancelled(late) && same(tocsin_call_request(late)->target, "keep"));
    OK(tocsin_call_complete(late, S("{\"content\":[]}")));
    CHECK(tocsin_session_feed(client->session, S("{}\n")) == TOCSIN_STATUS_OK);
    disconnect(client);

    /* A handler that never answers is answered for. */
    tocsin_server_options options = {
        .struct_size = sizeof options, .name = S("n"), .version = S("1"), .handler_timeout_ms = 50};
    OK(tocsin_server_new(&options, &server, NULL));
    add_function(server, "keep", keep, NULL);
    client = connect_to(server);
    call_tool(client, 1, "keep", "{}");
    EXPECT(client, TEXT("'keep' gave no answer within 50 ms") ",\"isError\":true");
    wait_gate(&kept, 3);
    OK(tocsin_call_complete_text(late, S("too late")));
    barrier(client);
    disconnect(client);
    tocsin_server_free(server);
    return 0;
}
