/* A forked child that uses its parent's handles gets a status, at once. */
#include "check.h"

#include <sys/wait.h>

static tocsin_call *held;
static gate holding = GATE;
HANDLER(hold) { (void)request, (void)user_data; held = call; open_gate(&holding); }
HANDLER(finish) { (void)request, (void)user_data; OK(tocsin_call_complete_text(call, S("done"))); }
static void never(void *user_data) { (void)user_data; }
static int drops;
static void count(void *user_data) { (void)user_data; drops++; }

#define FORKED(call) CHECK((call) == TOCSIN_STATUS_FORKED)

int main(void) {
    tocsin_server *server = new_server();
    tocsin_queue *queue = NULL;
    OK(tocsin_queue_new(&queue));
    add_function(server, "hold", hold, NULL);
    client *client = connect_to(server);
    call_tool(client, 1, "hold", "{}");
    wait_gate(&holding, 1);

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        tocsin_handler handler = {.struct_size = sizeof handler, .call = finish, .drop = count};
        tocsin_error *error = NULL;
        FORKED(tocsin_server_add_tool(server, S(JSON({"name": "x", "inputSchema": {"type": "object"}})), &handler, &error));
        check_error(error, TOCSIN_STATUS_FORKED, "before the fork");
        CHECK(drops == 1);
        FORKED(tocsin_server_remove(server, TOCSIN_TOOLS, S("hold"), NULL));
        FORKED(tocsin_server_hold_changes(server));
        FORKED(tocsin_server_on_watch(server, NULL, NULL, NULL));
        FORKED(tocsin_serve_stdio(server, NULL));
        FORKED(tocsin_session_feed(client->session, S("{}\n")));
        FORKED(tocsin_session_finish(client->session));
        FORKED(tocsin_queue_run(queue, 0, 0, NULL));
        FORKED(tocsin_queue_close(queue));
        FORKED(tocsin_call_progress(held, 1, 2, NONE));
        FORKED(tocsin_call_on_cancel(held, never, NULL, NULL));
        FORKED(tocsin_call_complete_text(held, S("no")));
        CHECK(!tocsin_server_contains(server, TOCSIN_TOOLS, S("hold")));
        CHECK(tocsin_queue_fd(queue) == -1 && tocsin_call_is_cancelled(held));
        tocsin_server_request_stop(server);
        tocsin_call_drop(held);
        tocsin_session_free(client->session);
        tocsin_queue_free(queue);
        tocsin_server_free(server);
        /* A server of its own works, though its parent's threads are gone. */
        tocsin_server *own = new_server();
        add_inline(own, "finish", finish, NULL);
        add_function(own, "pool", finish, NULL);
        struct client *mine = connect_to(own);
        call_tool(mine, 1, "finish", "{}");
        EXPECT(mine, TEXT("done"));
        call_tool(mine, 2, "pool", "{}");
        EXPECT(mine, TEXT("done"));
        /* All is well. What the lost threads held is lost, too; this way no leak checker looks for it. */
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    /* The parent never noticed. */
    OK(tocsin_call_complete_text(held, S("still here")));
    EXPECT(client, TEXT("still here"));
    disconnect(client);
    tocsin_server_free(server);
    tocsin_queue_free(queue);
    return 0;
}
