/* One handler asks clients of both eras: inline, on handler threads, and in a queue. */
#include "check.h"

static const char FORM[] = JSON({"message": "Name?", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}}});

static pthread_t host;
static bool queued;

static void greet(tocsin_call *call, int32_t outcome, tocsin_str answer, void *user_data) {
    CHECK(user_data == &host);
    CHECK(!queued || pthread_equal(pthread_self(), host));
    if (outcome != TOCSIN_ASKED_ANSWERED) {
        CHECK((call == NULL) == (outcome == TOCSIN_ASKED_SUSPENDED));
        CHECK((tocsin_call_fail(call, answer) == TOCSIN_STATUS_OK) == (call != NULL));
        return;
    }
    tocsin_str name = NONE;
    tocsin_text *text = NULL;
    OK(tocsin_text_new(&text));
    OK(tocsin_json_get(answer, S("/who/content/name"), &name));
    OK(tocsin_text_add(text, S("Hello, ")));
    OK(tocsin_text_add_unquoted(text, name));
    OK(tocsin_call_complete_text(call, tocsin_text_str(text)));
    tocsin_text_free(text);
}
HANDLER(ask) {
    (void)request;
    const tocsin_question question = {S("who"), S("elicitation/create"), S(FORM)};
    OK(tocsin_call_ask(call, &question, 1, greet, user_data, NULL));
}
HANDLER(ask_twice_the_same) {
    (void)request;
    const tocsin_question questions[] = {{S("who"), S("elicitation/create"), S(FORM)},
                                         {S("who"), S("elicitation/create"), S(FORM)}};
    OK(tocsin_call_ask(call, questions, 2, greet, user_data, NULL));
}

static void run(tocsin_queue *queue) {
    if (queue != NULL) {
        struct timespec moment = {0, 1000000};
        size_t ran = 0;
        while (ran == 0) {
            OK(tocsin_queue_run(queue, 0, 0, &ran));
            nanosleep(&moment, NULL);
        }
    }
}

/* Copies a string member's raw value out of a message. */
static void member(const char *line, const char *pointer, char *out, size_t size) {
    tocsin_str value = NONE;
    OK(tocsin_json_get(S(line), S(pointer), &value));
    snprintf(out, size, "%.*s", (int)value.len, value.data);
}

static void modern(tocsin_server *server, tocsin_queue *queue) {
    client *client = connect_to(server);
    call_tool(client, 1, "ask", "{}");
    run(queue);
    const char *line = receive(client);
    check_part(line, "\"resultType\":\"input_required\"", __FILE__, __LINE__);
    check_part(line, "\"who\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"Name?\"", __FILE__, __LINE__);
    char state[2048];
    member(line, "/result/requestState", state, sizeof state);
    sendf(client,
          "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\",\"arguments\":{},"
          "\"requestState\":%s,\"inputResponses\":{\"who\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}}," META(
              "{\"elicitation\":{}}") "}}",
          state);
    run(queue);
    EXPECT(client, TEXT("Hello, Ada"));
    /* A client that cannot be asked. */
    request(client, 3, "tools/call", "\"name\":\"ask\",");
    run(queue);
    EXPECT(client, "\"error\":{\"code\":-32021");
    call_tool(client, 4, "twice", "{}");
    run(queue);
    EXPECT(client, "\"isError\":true");
    disconnect(client);
}

static void handshake(tocsin_server *server, tocsin_queue *queue) {
    client *client = connect_to(server);
    sendf(client, JSON({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "c", "version": "1"}}}));
    EXPECT(client, "2025-11-25");
    char id[64];
    static const char *const answers[] = {
        "\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"\\u2605\"}}",
        "\"error\":{\"code\":-1,\"message\":\"will not\"}",
        NULL,
    };
    for (int i = 0; i < 3; i++) {
        sendf(client, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"}}", i + 2);
        run(queue);
        const char *line = receive(client);
        check_part(line, "\"method\":\"elicitation/create\"", __FILE__, __LINE__);
        member(line, "/id", id, sizeof id);
        if (answers[i] == NULL) {
            cancel(client, i + 2);
            run(queue);
            EXPECT(client, "notifications/cancelled");
            continue;
        }
        sendf(client, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", id, answers[i]);
        run(queue);
        EXPECT(client, i == 0 ? TEXT("Hello, \u2605") : "will not");
    }
    /* The client goes away with a question open. */
    sendf(client, JSON({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "ask"}}));
    run(queue);
    EXPECT(client, "elicitation/create");
    disconnect(client);
    run(queue);
}

int main(void) {
    host = pthread_self();
    for (int place = 0; place < 3; place++) {
        tocsin_server *server = new_server();
        tocsin_queue *queue = NULL;
        queued = place == 2;
        if (queued) {
            OK(tocsin_queue_new(&queue));
        }
        tocsin_handler handler = {
            .call = ask, .user_data = &host, .queue = queue, .flags = place == 0 ? TOCSIN_HANDLER_INLINE : 0};
        add_tool(server, "ask", handler);
        handler.call = ask_twice_the_same;
        add_tool(server, "twice", handler);
        modern(server, queue);
        handshake(server, queue);
        tocsin_server_free(server);
        tocsin_queue_free(queue);
    }
    return 0;
}
