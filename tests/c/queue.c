/* Calls that wait for the host: taken, or run by a pump with a budget; a descriptor and a callback tell of them. */
#include "check.h"

#include <poll.h>

HANDLER(finish) { (void)request, (void)user_data; OK(tocsin_call_complete_text(call, S("pumped"))); }
static void raise_flag(void *user_data) { open_gate(user_data); }

static bool readable(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

static void taking(void) {
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    int fd = tocsin_queue_fd(queue);
    CHECK(fd >= 0 && fd == tocsin_queue_fd(queue) && !readable(fd));
    gate woken = GATE;
    OK(tocsin_queue_on_wake(queue, raise_flag, &woken, NULL));
    tocsin_server *server = new_server();
    int mine = 0;
    add_tool(server, "queued", (tocsin_handler){.user_data = &mine, .queue = queue});
    client *client = connect_to(server);

    tocsin_call *calls[4];
    size_t taken = 99;
    CHECK(tocsin_queue_take(queue, calls, 4, 0, &taken) == TOCSIN_STATUS_TIMEOUT && taken == 99);
    CHECK(tocsin_queue_take(queue, NULL, 4, 0, &taken) == TOCSIN_STATUS_INVALID_ARGUMENT);
    CHECK(tocsin_queue_take(queue, calls, 0, 0, &taken) == TOCSIN_STATUS_INVALID_ARGUMENT);
    for (int id = 1; id <= 3; id++) {
        call_tool(client, id, "queued", "{}");
    }
    CHECK(readable(fd) && woken.count == 1);
    OK(tocsin_queue_take(queue, calls, 2, 0, &taken));
    CHECK(taken == 2 && readable(fd));
    OK(tocsin_queue_take(queue, calls + 2, 2, TOCSIN_FOREVER, &taken));
    CHECK(taken == 1 && !readable(fd));
    for (int i = 0; i < 3; i++) {
        CHECK(tocsin_call_request(calls[i])->user_data == &mine);
        OK(tocsin_call_complete_text(calls[i], S("taken")));
        EXPECT(client, TEXT("taken"));
    }
    /* A call that is cancelled while it waits is not delivered. */
    call_tool(client, 4, "queued", "{}");
    cancel(client, 4);
    CHECK(woken.count == 2);
    CHECK(tocsin_queue_take(queue, calls, 4, 0, &taken) == TOCSIN_STATUS_TIMEOUT);
    CHECK(!readable(fd));
    /* Told at once of what waits already. */
    call_tool(client, 5, "queued", "{}");
    gate late = GATE;
    OK(tocsin_queue_on_wake(queue, raise_flag, &late, NULL));
    CHECK(late.count == 1);
    /* There is no function to run. */
    OK(tocsin_queue_run(queue, 0, 0, NULL));
    EXPECT(client, TEXT("the handler failed"));
    disconnect(client);
    tocsin_server_free(server);
    tocsin_queue_free(queue);
}

static tocsin_queue *pump;
HANDLER(pump_again) {
    (void)request, (void)user_data;
    CHECK(tocsin_queue_run(pump, 0, 0, NULL) == TOCSIN_STATUS_REENTRANT);
    OK(tocsin_call_complete_text(call, S("refused")));
}
HANDLER(slow) {
    (void)request, (void)user_data;
    struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    OK(tocsin_call_complete_text(call, S("slow")));
}

static void running(void) {
    OK(tocsin_queue_new(&pump));
    tocsin_server *server = new_server();
    add_tool(server, "finish", (tocsin_handler){.call = finish, .queue = pump});
    add_tool(server, "slow", (tocsin_handler){.call = slow, .queue = pump});
    add_tool(server, "again", (tocsin_handler){.call = pump_again, .queue = pump});
    add_function(server, "pool_again", pump_again, NULL);
    client *client = connect_to(server);
    size_t ran = 99;
    OK(tocsin_queue_run(pump, 0, 0, &ran));
    CHECK(ran == 0);
    for (int id = 1; id <= 5; id++) {
        call_tool(client, id, "finish", "{}");
    }
    /* The protocol goes on while the host does not pump. */
    barrier(client);
    OK(tocsin_queue_run(pump, 2, 0, &ran));
    CHECK(ran == 2);
    OK(tocsin_queue_run(pump, 0, 0, &ran));
    CHECK(ran == 3);
    for (int id = 1; id <= 5; id++) {
        EXPECT(client, TEXT("pumped"));
    }
    for (int id = 1; id <= 3; id++) {
        call_tool(client, id, "slow", "{}");
    }
    OK(tocsin_queue_run(pump, 0, 10000, &ran));
    CHECK(ran == 1);
    OK(tocsin_queue_run(pump, 0, 0, &ran));
    CHECK(ran == 2);
    for (int id = 1; id <= 3; id++) {
        EXPECT(client, TEXT("slow"));
    }
    call_tool(client, 1, "again", "{}");
    OK(tocsin_queue_run(pump, 0, 0, NULL));
    EXPECT(client, TEXT("refused"));
    call_tool(client, 1, "pool_again", "{}");
    EXPECT(client, TEXT("refused"));

    /* Closed: what waits and what comes fails. */
    call_tool(client, 1, "finish", "{}");
    OK(tocsin_queue_close(pump));
    EXPECT(client, TEXT("the handler failed"));
    call_tool(client, 2, "finish", "{}");
    EXPECT(client, TEXT("the handler failed"));
    CHECK(tocsin_queue_run(pump, 0, 0, &ran) == TOCSIN_STATUS_CLOSED);
    tocsin_call *taken = NULL;
    CHECK(tocsin_queue_take(pump, &taken, 1, TOCSIN_FOREVER, &ran) == TOCSIN_STATUS_CLOSED);
    disconnect(client);
    /* The queue goes first: its handlers stay registered. */
    tocsin_queue_free(pump);
    tocsin_server_free(server);
}

/* A call that times out in the queue says who is to blame. */
static void timing_out(void) {
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    tocsin_server *server = server_with("{\"handler_timeout_ms\":50}");
    add_tool(server, "queued", (tocsin_handler){.call = finish, .queue = queue});
    client *client = connect_to(server);
    call_tool(client, 1, "queued", "{}");
    EXPECT(client, TEXT("'queued' gave no answer within 50 ms: it still waits in a queue that the host does not drain"));
    OK(tocsin_queue_run(queue, 0, 0, NULL));
    barrier(client);
    disconnect(client);
    tocsin_server_free(server);
    tocsin_queue_free(queue);
}

/* Many producers, one consumer: nothing is lost, and the descriptor is right in the end. */
enum { CALLS = 500, CLIENTS = 4 };
static void *produce(void *client) {
    for (int id = 0; id < CALLS; id++) {
        call_tool(client, id, "queued", "{}");
    }
    return NULL;
}
static void storm(void) {
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    int fd = tocsin_queue_fd(queue);
    tocsin_server *server = new_server();
    add_tool(server, "queued", (tocsin_handler){.call = finish, .queue = queue});
    client *clients[CLIENTS];
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(server);
        CHECK(pthread_create(&threads[i], NULL, produce, clients[i]) == 0);
    }
    size_t total = 0;
    while (total < CALLS * CLIENTS) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        CHECK(poll(&poll_fd, 1, 30000) == 1);
        size_t ran = 0;
        OK(tocsin_queue_run(queue, 64, 0, &ran));
        total += ran;
    }
    CHECK(total == CALLS * CLIENTS && !readable(fd));
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        for (int id = 0; id < CALLS; id++) {
            EXPECT(clients[i], TEXT("pumped"));
        }
        disconnect(clients[i]);
    }
    tocsin_server_free(server);
    tocsin_queue_free(queue);
}

int main(void) {
    taking();
    running();
    timing_out();
    storm();
    return 0;
}
