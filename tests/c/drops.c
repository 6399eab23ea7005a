/* user_data is dropped exactly once, on every path: also when the function that took it fails. */
#include "check.h"

static void count(void *user_data) { atomic_fetch_add((atomic_int *)user_data, 1); }
#define DROPPED(drops, n) CHECK(atomic_load(&(drops)) == (n))
/* Where the last use may be that of a thread which returns from a handler. */
static void dropped_soon(atomic_int *drops, int n) {
    struct timespec moment = {0, 1000000};
    for (int i = 0; i < 10000 && atomic_load(drops) < n; i++) {
        nanosleep(&moment, NULL);
    }
    CHECK(atomic_load(drops) == n);
}

HANDLER(finish) {
    (void)request, (void)user_data;
    OK(tocsin_call_complete_text(call, S("done")));
}
static tocsin_call *held;
static gate holding = GATE;
HANDLER(hold) {
    (void)request, (void)user_data;
    held = call;
    open_gate(&holding);
}
static void log_nothing(int32_t level, tocsin_str target, tocsin_str message, void *user_data) {
    (void)level, (void)target, (void)message, (void)user_data;
}
static void watch_nothing(tocsin_str uri, bool active, void *user_data) { (void)uri, (void)active, (void)user_data; }
static void wake_nothing(void *user_data) { (void)user_data; }
static void end_nothing(tocsin_status status, void *user_data) { (void)status, (void)user_data; }
static void asked_nothing(tocsin_call *call, int32_t outcome, tocsin_str answer, void *user_data) {
    (void)outcome, (void)answer, (void)user_data;
    tocsin_call_drop(call);
}

static tocsin_handler handler_with(atomic_int *drops) {
    return (tocsin_handler){.struct_size = sizeof(tocsin_handler), .call = finish, .user_data = drops, .drop = count};
}

static void registries(void) {
    static const char *const definitions[] = {
        JSON({"name": "x", "inputSchema": {"type": "object"}}), JSON({"name": "x"}), JSON({"uri": "a:b", "name": "x"}),
        JSON({"uriTemplate": "a:{b}", "name": "x"})};
    static const char *const keys[] = {"x", "x", "a:b", "a:{b}"};
    for (int list = 0; list < 4; list++) {
        for (int way = 0; way < 6; way++) {
            tocsin_server *server = new_server();
            atomic_int drops = 0, completer_drops = 0;
            tocsin_handler handler = handler_with(&drops), completer = handler_with(&completer_drops);
            const bool completes = list == 1 || list == 3;
            tocsin_server *target = way == 2 ? NULL : server;
            tocsin_str definition = way == 1 ? S("{") : S(definitions[list]);
#define DEFINE(verb)                                                                                          \
    (list == 0   ? tocsin_server_##verb##_tool(target, definition, &handler, NULL)                            \
     : list == 1 ? tocsin_server_##verb##_prompt(target, definition, &handler, &completer, NULL)              \
     : list == 2 ? tocsin_server_##verb##_resource(target, definition, &handler, NULL)                        \
                 : tocsin_server_##verb##_template(target, definition, &handler, &completer, NULL))
            tocsin_status status = DEFINE(add);
            int expected = 1;
            if (way == 1 || way == 2) { /* bad definition, no server */
                CHECK(status != TOCSIN_STATUS_OK);
            } else {
                OK(status);
                DROPPED(drops, 0);
            }
            if (way == 3) { /* exists already */
                CHECK(DEFINE(add) == TOCSIN_STATUS_ALREADY_EXISTS);
                DROPPED(drops, 1);
                expected = 2;
            }
            if (way == 4) { /* replaced */
                OK(DEFINE(replace));
                DROPPED(drops, 1);
                expected = 2;
            }
            if (way == 5) { /* removed; then there is nothing to replace */
                OK(tocsin_server_remove(server, 1U << list, S(keys[list]), NULL));
                DROPPED(drops, 1);
                CHECK(DEFINE(replace) == TOCSIN_STATUS_NOT_FOUND);
                expected = 2;
            }
            tocsin_server_free(server);
            DROPPED(drops, expected);
            DROPPED(completer_drops, completes ? expected : 0);
        }
    }
}

static void callbacks(void) {
    atomic_int drops = 0;
    CHECK(tocsin_set_logger(-1, log_nothing, &drops, count) != TOCSIN_STATUS_OK);
    DROPPED(drops, 1);
    OK(tocsin_set_logger(TOCSIN_LOG_ERROR, log_nothing, &drops, count));
    DROPPED(drops, 1);
    OK(tocsin_set_logger(TOCSIN_LOG_ERROR, log_nothing, &drops, count));
    DROPPED(drops, 2);
    OK(tocsin_set_logger(TOCSIN_LOG_OFF, NULL, &drops, count));
    DROPPED(drops, 4);

    atomic_store(&drops, 0);
    tocsin_server *server = new_server();
    CHECK(tocsin_server_on_watch(NULL, watch_nothing, &drops, count) != TOCSIN_STATUS_OK);
    DROPPED(drops, 1);
    OK(tocsin_server_on_watch(server, watch_nothing, &drops, count));
    OK(tocsin_server_on_watch(server, NULL, NULL, NULL));
    DROPPED(drops, 2);
    OK(tocsin_server_on_watch(server, watch_nothing, &drops, count));
    tocsin_handler handler = handler_with(&drops);
    OK(tocsin_server_on_listen(server, &handler, NULL));
    CHECK(tocsin_server_on_listen(NULL, &handler, NULL) != TOCSIN_STATUS_OK);
    DROPPED(drops, 3);
    tocsin_session *session = NULL;
    CHECK(tocsin_session_new(server, NULL, &drops, count, &session, NULL) != TOCSIN_STATUS_OK);
    CHECK(tocsin_session_new(NULL, take_line, &drops, count, &session, NULL) != TOCSIN_STATUS_OK);
    CHECK(tocsin_session_new(server, take_line, &drops, count, NULL, NULL) != TOCSIN_STATUS_OK);
    DROPPED(drops, 6);
    OK(tocsin_session_new(server, take_line, &drops, count, &session, NULL));
    tocsin_session_free(session);
    DROPPED(drops, 7);
    CHECK(tocsin_service_on_end(NULL, end_nothing, &drops, count) != TOCSIN_STATUS_OK);
    DROPPED(drops, 8);
    tocsin_server_free(server);
    DROPPED(drops, 10);

    atomic_store(&drops, 0);
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    CHECK(tocsin_queue_on_wake(NULL, wake_nothing, &drops, count) != TOCSIN_STATUS_OK);
    OK(tocsin_queue_on_wake(queue, wake_nothing, &drops, count));
    OK(tocsin_queue_on_wake(queue, NULL, &drops, count));
    DROPPED(drops, 3);
    OK(tocsin_queue_on_wake(queue, wake_nothing, &drops, count));
    tocsin_queue_free(queue);
    DROPPED(drops, 4);
}

/* A handler's user_data outlives its entry for as long as a call of it is in flight, and the server too. */
static void calls(void) {
    for (int way = 0; way < 3; way++) {
        atomic_int drops = 0, cancel_drops = 0, ask_drops = 0;
        holding = (gate)GATE;
        tocsin_server *server = new_server();
        add_tool(server, "hold", (tocsin_handler){.call = hold, .user_data = &drops, .drop = count});
        client *client = connect_to(server);
        call_tool(client, 1, "hold", "{}");
        wait_gate(&holding, 1);
        OK(tocsin_call_on_cancel(held, wake_nothing, &cancel_drops, count));
        CHECK(tocsin_call_on_cancel(held, NULL, &cancel_drops, count) == TOCSIN_STATUS_INVALID_ARGUMENT);
        DROPPED(cancel_drops, 1);
        CHECK(tocsin_call_ask(held, NULL, 0, NULL, &ask_drops, count) == TOCSIN_STATUS_INVALID_ARGUMENT);
        CHECK(tocsin_call_ask(held, NULL, 1, asked_nothing, &ask_drops, count) == TOCSIN_STATUS_INVALID_ARGUMENT);
        DROPPED(ask_drops, 2);
        OK(tocsin_server_remove(server, TOCSIN_TOOLS, S("hold"), NULL));
        DROPPED(drops, 0);
        CHECK(tocsin_call_request(held)->user_data == &drops);
        if (way == 1) {
            cancel(client, 1);
            DROPPED(cancel_drops, 2);
        }
        if (way == 2) {
            tocsin_server_free(server);
            DROPPED(cancel_drops, 2);
            DROPPED(drops, 0);
            CHECK(tocsin_call_is_cancelled(held));
        }
        CHECK(same(tocsin_call_request(held)->target, "hold"));
        OK(tocsin_call_complete_text(held, S("late")));
        dropped_soon(&drops, 1);
        DROPPED(cancel_drops, 2);
        if (way == 0) {
            EXPECT(client, TEXT("late"));
        }
        disconnect(client);
        if (way != 2) {
            tocsin_server_free(server);
        }
        DROPPED(drops, 1);
    }
}

/* A question that is never answered. */
static gate asked = GATE;
HANDLER(ask_and_wait) {
    (void)request;
    const tocsin_question question = {S("k"), S("roots/list"), S("{}")};
    OK(tocsin_call_ask(call, &question, 1, asked_nothing, user_data, count));
    open_gate(&asked);
}

static void questions(void) {
    atomic_int drops = 0;
    tocsin_server *server = new_server();
    add_function(server, "ask", ask_and_wait, &drops);
    client *client = connect_to(server);
    sendf(client, JSON({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}
    }}));
    EXPECT(client, "\"protocolVersion\":\"2025-11-25\"");
    sendf(client, JSON({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask"}}));
    wait_gate(&asked, 1);
    DROPPED(drops, 0);
    tocsin_server_free(server);
    DROPPED(drops, 1);
    disconnect(client);
}

int main(void) {
    registries();
    callbacks();
    calls();
    questions();
    return 0;
}
