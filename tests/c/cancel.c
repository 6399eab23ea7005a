/* Cancelling: seen by polling and by callback, never after the answer, whoever wins the race. */
#include "check.h"

enum { ROUNDS = 1000 };

/* ---- plain ---------------------------------------------------------------------------------------------------- */

static tocsin_call *held;
static gate holding = GATE, cancelled = GATE;

HANDLER(hold) {
    (void)request, (void)user_data;
    held = call;
    open_gate(&holding);
}
static void on_cancel(void *user_data) { open_gate(user_data); }

static void plain(client *client) {
    call_tool(client, 1, "hold", "{}");
    wait_gate(&holding, 1);
    CHECK(!tocsin_call_is_cancelled(held));
    OK(tocsin_call_on_cancel(held, on_cancel, &cancelled, NULL));
    cancel(client, 1);
    wait_gate(&cancelled, 1);
    CHECK(tocsin_call_is_cancelled(held));
    /* Cancelled already: at once, on this thread. */
    OK(tocsin_call_on_cancel(held, on_cancel, &cancelled, NULL));
    CHECK(cancelled.count == 2);
    /* The answer is accepted and discarded. */
    OK(tocsin_call_progress(held, 1, 2, NONE));
    OK(tocsin_call_complete_text(held, S("nobody hears this")));
    barrier(client);
    CHECK(waiting(client) == 0);

    /* Not cancelled: never called. */
    call_tool(client, 2, "hold", "{}");
    wait_gate(&holding, 2);
    OK(tocsin_call_on_cancel(held, on_cancel, &cancelled, NULL));
    OK(tocsin_call_complete_text(held, S("done")));
    cancel(client, 2);
    EXPECT(client, TEXT("done"));
    barrier(client);
    CHECK(cancelled.count == 2);
}

/* ---- the answer comes from the callback itself ---------------------------------------------------------------- */

static void answer_it(void *user_data) {
    OK(tocsin_call_complete_text(held, S("from the callback")));
    open_gate(user_data);
}

static void from_callback(client *client) {
    static gate answered = GATE;
    call_tool(client, 3, "hold", "{}");
    wait_gate(&holding, 3);
    OK(tocsin_call_on_cancel(held, answer_it, &answered, NULL));
    cancel(client, 3);
    wait_gate(&answered, 1);
    /* And at once, from inside the function that registers it. */
    call_tool(client, 4, "hold", "{}");
    wait_gate(&holding, 4);
    cancel(client, 4);
    while (!tocsin_call_is_cancelled(held)) {
    }
    OK(tocsin_call_on_cancel(held, answer_it, &answered, NULL));
    CHECK(answered.count == 2);
    barrier(client);
}

/* ---- answering waits for the callback ------------------------------------------------------------------------- */

static gate inside = GATE, leave = GATE;
static atomic_bool left;

static void linger(void *user_data) {
    (void)user_data;
    open_gate(&inside);
    wait_gate(&leave, 1);
    atomic_store(&left, true);
}

static void *let_go(void *unused) {
    (void)unused;
    struct timespec moment = {0, 50000000};
    nanosleep(&moment, NULL);
    open_gate(&leave);
    return NULL;
}
static void *send_cancel(void *client) {
    cancel(client, 5);
    return NULL;
}

static void waits(client *client) {
    call_tool(client, 5, "hold", "{}");
    wait_gate(&holding, 5);
    OK(tocsin_call_on_cancel(held, linger, NULL, NULL));
    pthread_t canceller, helper;
    pthread_create(&canceller, NULL, send_cancel, client);
    wait_gate(&inside, 1);
    pthread_create(&helper, NULL, let_go, NULL);
    tocsin_call_drop(held);
    CHECK(atomic_load(&left));
    pthread_join(canceller, NULL);
    pthread_join(helper, NULL);
}

/* ---- the race ------------------------------------------------------------------------------------------------- */

typedef struct race_round {
    atomic_int cancels;
    atomic_bool answered;
} race_round;
static race_round rounds[ROUNDS];

static void note(void *user_data) {
    race_round *race_round = user_data;
    CHECK(!atomic_load(&race_round->answered));
    CHECK(atomic_fetch_add(&race_round->cancels, 1) == 0);
}
HANDLER(race) {
    (void)user_data;
    int64_t index = 0;
    tocsin_str json = NONE;
    OK(tocsin_json_get(request->arguments, S("/i"), &json));
    OK(tocsin_json_int(json, &index));
    race_round *race_round = &rounds[index];
    OK(tocsin_call_on_cancel(call, note, race_round, NULL));
    OK(tocsin_call_complete_text(call, S("raced")));
    atomic_store(&race_round->answered, true);
}

static void races(client *client) {
    size_t answers = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char arguments[32];
        snprintf(arguments, sizeof arguments, "{\"i\":%d}", i);
        call_tool(client, 100 + i, "race", arguments);
        cancel(client, 100 + i);
    }
    OK(tocsin_session_finish(client->session));
    while (waiting(client) > 0) {
        EXPECT(client, TEXT("raced"));
        answers++;
    }
    for (int i = 0; i < ROUNDS; i++) {
        /* Answered or cancelled, never both. */
        answers += (size_t)atomic_load(&rounds[i].cancels);
    }
    CHECK(answers <= ROUNDS);
}

int main(void) {
    tocsin_server *server = new_server();
    add_function(server, "hold", hold, NULL);
    add_function(server, "race", race, NULL);
    client *client = connect_to(server);
    plain(client);
    from_callback(client);
    waits(client);
    races(client);
    disconnect(client);
    tocsin_server_free(server);
    return 0;
}
