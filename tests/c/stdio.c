/* Standard streams: this program starts itself as a server, and talks to it over pipes. */
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

/* ---- the server ----------------------------------------------------------------------------------------------- */

static tocsin_server *server;
static void on_signal(int signal) { (void)signal; tocsin_server_request_stop(server); }

HANDLER(print) {
    (void)request, (void)user_data;
    puts("a stray line");
    fflush(stdout);
    CHECK(write(1, "and another\n", 12) == 12);
    char nothing;
    CHECK(read(0, &nothing, 1) == 0);
    CHECK(system("echo from a child; cat") == 0);
    OK(tocsin_call_complete_text(call, S("printed")));
}
HANDLER(block_for_ever) {
    (void)request, (void)user_data, (void)call;
    pause();
}
static tocsin_call *kept;
HANDLER(keep) { (void)request, (void)user_data; kept = call; }
HANDLER(big) {
    (void)request, (void)user_data;
    char *text = malloc(1 << 20);
    memset(text, 'x', 1 << 20);
    OK(tocsin_call_complete_text(call, (tocsin_str){text, 1 << 20}));
    free(text);
}
HANDLER(mask) {
    (void)request, (void)user_data;
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    OK(tocsin_call_complete_text(call, S(sigismember(&set, SIGPIPE) ? "masked" : "not masked")));
}
static tocsin_service *service;
HANDLER(serve_again) {
    (void)request, (void)user_data;
    CHECK(tocsin_serve_stdio(server, NULL) == TOCSIN_STATUS_REENTRANT);
    tocsin_error *error = NULL;
    tocsin_service *second = NULL;
    CHECK(tocsin_start_stdio(server, &second, &error) == TOCSIN_STATUS_IO);
    check_error(error, TOCSIN_STATUS_IO, "already");
    if (service != NULL) {
        CHECK(tocsin_service_stop(service, 0) == TOCSIN_STATUS_REENTRANT);
    }
    OK(tocsin_call_complete_text(call, S("refused")));
}
static atomic_int ends;
static void at_end(tocsin_status status, void *user_data) {
    CHECK(status == TOCSIN_STATUS_OK && user_data == &ends);
    atomic_fetch_add(&ends, 1);
}

static int serve(const char *how) {
    alarm(100);
    server = server_with("{\"shutdown_grace_ms\":300}");
    add_function(server, "print", print, NULL);
    add_function(server, "block_for_ever", block_for_ever, NULL);
    add_function(server, "keep", keep, NULL);
    add_function(server, "big", big, NULL);
    add_function(server, "mask", mask, NULL);
    add_function(server, "serve_again", serve_again, NULL);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    if (strcmp(how, "serve") == 0) {
        OK(tocsin_serve_stdio(server, NULL));
    } else if (strcmp(how, "start") == 0) {
        OK(tocsin_start_stdio(server, &service, NULL));
        OK(tocsin_service_on_end(service, at_end, &ends, NULL));
        CHECK(tocsin_service_wait(service, 0) == TOCSIN_STATUS_TIMEOUT);
        OK(tocsin_service_wait(service, TOCSIN_FOREVER));
        tocsin_service_free(service);
    } else if (strcmp(how, "stop") == 0) {
        OK(tocsin_start_stdio(server, &service, NULL));
        OK(tocsin_service_on_end(service, at_end, &ends, NULL));
        while (tocsin_service_wait(service, 100) == TOCSIN_STATUS_TIMEOUT && !getenv("NEVER")) {
            OK(tocsin_service_stop(service, 50));
        }
        OK(tocsin_service_on_end(service, at_end, &ends, NULL));
        tocsin_service_free(service);
    } else { /* free at once: freeing waits for the transport and its end callback */
        OK(tocsin_start_stdio(server, &service, NULL));
        OK(tocsin_service_on_end(service, at_end, &ends, NULL));
        tocsin_server_free(server);
        CHECK(atomic_load(&ends) == 1);
        tocsin_service_free(service);
        puts("stdout is back");
        return 0;
    }
    /* What C may rely on: dispositions are as they were, and standard output is back. */
    struct sigaction pipe_action;
    sigaction(SIGPIPE, NULL, &pipe_action);
    CHECK(pipe_action.sa_handler == SIG_DFL);
    if (strcmp(how, "serve") == 0) {
        puts("stdout is back");
        fflush(stdout);
    }
    if (getenv("STUCK")) {
        _exit(0); /* its handler will never return */
    }
    tocsin_server_free(server);
    tocsin_call_drop(kept);
    CHECK(strcmp(how, "serve") == 0 || atomic_load(&ends) == (strcmp(how, "stop") == 0 ? 2 : 1));
    return 0;
}

/* ---- the peer ------------------------------------------------------------------------------------------------- */

typedef struct peer {
    pid_t pid;
    int in, out;
    FILE *lines;
} peer;

static const char *self;

static peer start(const char *how) {
    int in[2], out[2];
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        signal(SIGPIPE, SIG_DFL);
        execl(self, self, how, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return (peer){pid, in[1], out[0], fdopen(out[0], "r")};
}
static void tell(peer *peer, const char *line) {
    CHECK(write(peer->in, line, strlen(line)) == (ssize_t)strlen(line));
    CHECK(write(peer->in, "\n", 1) == 1);
}
static void call(peer *peer, int id, const char *tool) {
    char line[512];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"," META("{}") "}}",
             id, tool);
    tell(peer, line);
}
static char line[(1 << 20) + 4096];
static const char *hear(peer *peer) {
    alarm(60);
    CHECK(fgets(line, sizeof line, peer->lines) != NULL);
    return line;
}
static bool over(peer *peer) { return fgets(line, sizeof line, peer->lines) == NULL; }
static void ended(peer *peer) {
    int status = 0;
    alarm(60);
    CHECK(waitpid(peer->pid, &status, 0) == peer->pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "the server ended with %d\n", status);
        abort();
    }
}
#define HEAR(peer, part) check_part(hear(peer), part, __FILE__, __LINE__)

int main(int argc, char **argv) {
    if (argc > 1) {
        return serve(argv[1]);
    }
    self = "/proc/self/exe";
    char path[4096];
    ssize_t len = readlink(self, path, sizeof path - 1);
    CHECK(len > 0);
    path[len] = '\0';
    self = path;
    signal(SIGPIPE, SIG_IGN);

    for (int i = 0; i < 2; i++) {
        /* Prints by a handler and by a child of it reach standard error alone; then the input ends. */
        peer peer = start(i == 0 ? "serve" : "start");
        call(&peer, 1, "print");
        HEAR(&peer, TEXT("printed"));
        call(&peer, 2, "serve_again");
        HEAR(&peer, TEXT("refused"));
        call(&peer, 3, "mask");
        HEAR(&peer, TEXT("masked"));
        close(peer.in);
        if (i == 0) {
            HEAR(&peer, "stdout is back");
        }
        CHECK(over(&peer));
        ended(&peer);
    }
    {   /* A signal stops a server whose input is open and silent. */
        peer peer = start("serve");
        call(&peer, 1, "mask");
        HEAR(&peer, "masked");
        kill(peer.pid, SIGTERM);
        HEAR(&peer, "stdout is back");
        CHECK(over(&peer));
        ended(&peer);
    }
    {   /* The end of the input ends it, though a call is never answered. */
        peer peer = start("serve");
        call(&peer, 1, "keep");
        call(&peer, 2, "mask");
        HEAR(&peer, "masked");
        close(peer.in);
        HEAR(&peer, "stdout is back");
        ended(&peer);
    }
    {   /* ... and though a handler never returns. */
        setenv("STUCK", "1", 1);
        peer peer = start("serve");
        call(&peer, 1, "block_for_ever");
        call(&peer, 2, "mask");
        HEAR(&peer, "masked");
        close(peer.in);
        HEAR(&peer, "stdout is back");
        ended(&peer);
        unsetenv("STUCK");
    }
    {   /* Nobody reads any more: no signal kills it, though SIGPIPE would. */
        peer peer = start("start");
        fclose(peer.lines);
        for (int id = 0; id < 3; id++) {
            call(&peer, id, "big");
        }
        ended(&peer);
    }
    {   /* Large answers to a reader that starts late. */
        peer peer = start("serve");
        for (int id = 0; id < 8; id++) {
            call(&peer, id, "big");
        }
        close(peer.in);
        for (int id = 0; id < 8; id++) {
            HEAR(&peer, "xxxxx");
        }
        ended(&peer);
    }
    {   /* Stopped by the host, with a call that is never answered. */
        peer peer = start("stop");
        call(&peer, 1, "keep");
        ended(&peer);
    }
    {   /* Freed while it serves. */
        peer peer = start("free");
        HEAR(&peer, "stdout is back");
        ended(&peer);
    }
    return 0;
}
