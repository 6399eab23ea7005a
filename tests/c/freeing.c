/* Freeing things from inside callbacks, and from elsewhere while callbacks run. */
#include "check.h"

typedef struct scene {
    tocsin_server *server;
    tocsin_session *session;
    gate done;
    atomic_int drops;
} scene;

static void count(void *user_data) { atomic_fetch_add(&((scene *)user_data)->drops, 1); }

HANDLER(free_server) {
    (void)request;
    scene *scene = user_data;
    tocsin_server_free(scene->server);
    CHECK(tocsin_call_is_cancelled(call));
    OK(tocsin_call_complete_text(call, S("after the end")));
    /* Our own user_data is there until we return. */
    CHECK(atomic_load(&scene->drops) == 0);
    open_gate(&scene->done);
}
HANDLER(free_session) {
    (void)request;
    scene *scene = user_data;
    tocsin_session_free(scene->session);
    CHECK(tocsin_call_is_cancelled(call));
    tocsin_call_drop(call);
    open_gate(&scene->done);
}

static void wait_for_drop(scene *scene) {
    struct timespec moment = {0, 1000000};
    for (int i = 0; i < 10000 && atomic_load(&scene->drops) == 0; i++) {
        nanosleep(&moment, NULL);
    }
    CHECK(atomic_load(&scene->drops) == 1);
}

/* On a handler thread, on the thread that feeds, and on the host's own. */
static void in_handlers(void) {
    for (int place = 0; place < 3; place++) {
        for (int what = 0; what < 2; what++) {
            scene scene = {.done = GATE};
            scene.server = new_server();
            tocsin_queue *queue = NULL;
            OK(tocsin_queue_new(&queue));
            add_tool(scene.server, "free", (tocsin_handler){
                .call = what == 0 ? free_server : free_session, .user_data = &scene, .drop = count,
                .flags = place == 1 ? TOCSIN_HANDLER_INLINE : 0, .queue = place == 2 ? queue : NULL,
            });
            client *client = connect_to(scene.server);
            scene.session = client->session;
            call_tool(client, 1, "free", "{}");
            if (place == 2) {
                size_t ran = 0;
                OK(tocsin_queue_run(queue, 0, 0, &ran));
                CHECK(ran == 1);
            }
            wait_gate(&scene.done, 1);
            if (what == 1) {
                client->session = NULL;
                tocsin_server_free(scene.server);
            }
            CHECK(waiting(client) == 0);
            disconnect(client);
            wait_for_drop(&scene);
            tocsin_queue_free(queue);
        }
    }
}

/* A queue freed by a handler that it runs, with another call waiting in it. */
HANDLER(free_queue) {
    (void)request;
    tocsin_queue_free(user_data);
    OK(tocsin_call_complete_text(call, S("freed")));
}
static void queue_in_handler(void) {
    tocsin_server *server = new_server();
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    add_tool(server, "free", (tocsin_handler){.call = free_queue, .user_data = queue, .queue = queue});
    client *client = connect_to(server);
    call_tool(client, 1, "free", "{}");
    call_tool(client, 2, "free", "{}");
    OK(tocsin_queue_run(queue, 0, 0, NULL));
    EXPECT(client, "\"id\":2,\"result\":{" TEXT("the handler failed"));
    EXPECT(client, "\"id\":1,\"result\":{" TEXT("freed"));
    call_tool(client, 3, "free", "{}");
    EXPECT(client, TEXT("the handler failed"));
    disconnect(client);
    tocsin_server_free(server);
}

/* An output callback that frees its own session. */
static void free_own(tocsin_str bytes, void *user_data) {
    (void)bytes;
    scene *scene = user_data;
    tocsin_session_free(scene->session);
    open_gate(&scene->done);
}
static void in_output(void) {
    scene scene = {.done = GATE};
    scene.server = new_server();
    OK(tocsin_session_new(scene.server, free_own, &scene, NULL, &scene.session, NULL));
    OK(tocsin_session_feed(scene.session, S("nonsense\nnonsense\n")));
    wait_gate(&scene.done, 1);
    tocsin_server_free(scene.server);
    CHECK(scene.done.count == 1);
}

/* From another thread freeing waits, for a handler as for an output callback, and nothing runs after. */
static gate inside = GATE, leave = GATE;
static atomic_bool left, over;
HANDLER(linger) {
    (void)request, (void)user_data;
    open_gate(&inside);
    wait_gate(&leave, 1);
    atomic_store(&left, true);
    tocsin_call_drop(call);
}
static void linger_in_output(tocsin_str bytes, void *user_data) {
    (void)bytes, (void)user_data;
    CHECK(!atomic_load(&over));
    open_gate(&inside);
    wait_gate(&leave, 1);
    atomic_store(&left, true);
}
static void *let_go(void *unused) {
    (void)unused;
    struct timespec moment = {0, 50000000};
    nanosleep(&moment, NULL);
    CHECK(!atomic_load(&left));
    open_gate(&leave);
    return NULL;
}
static void elsewhere(int what) {
    inside = leave = (gate)GATE;
    atomic_store(&left, false);
    atomic_store(&over, false);
    tocsin_server *server = new_server();
    add_function(server, "linger", linger, NULL);
    tocsin_session *session = NULL;
    client *client = NULL;
    if (what == 0) {
        client = connect_to(server);
        call_tool(client, 1, "linger", "{}");
        call_tool(client, 2, "linger", "{}");
    } else {
        OK(tocsin_session_new(server, linger_in_output, NULL, NULL, &session, NULL));
        OK(tocsin_session_feed(session, S("1\n2\n3\n")));
    }
    wait_gate(&inside, 1);
    pthread_t helper;
    pthread_create(&helper, NULL, let_go, NULL);
    if (what == 2) {
        tocsin_session_free(session);
    } else {
        tocsin_server_free(server);
    }
    CHECK(atomic_load(&left));
    atomic_store(&over, true);
    pthread_join(helper, NULL);
    if (what == 0) {
        disconnect(client);
    } else if (what == 1) {
        tocsin_session_free(session);
    } else {
        tocsin_server_free(server);
    }
}

int main(void) {
    in_handlers();
    queue_in_handler();
    in_output();
    for (int what = 0; what < 3; what++) {
        elsewhere(what);
    }
    return 0;
}
