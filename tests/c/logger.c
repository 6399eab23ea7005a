/* The library's own log goes to the host's function, or nowhere. */
#include "check.h"

typedef struct log_book {
    pthread_mutex_t lock;
    int lines, errors;
    char last[512];
    tocsin_server *server;
} log_book;

HANDLER(give_up) { (void)request, (void)user_data; tocsin_call_drop(call); }

static void note(int32_t level, tocsin_str target, tocsin_str message, void *user_data) {
    log_book *log_book = user_data;
    CHECK(level >= TOCSIN_LOG_ERROR && level <= TOCSIN_LOG_TRACE && target.len > 0);
    pthread_mutex_lock(&log_book->lock);
    log_book->lines++;
    log_book->errors += level == TOCSIN_LOG_ERROR;
    snprintf(log_book->last, sizeof log_book->last, "%.*s", (int)message.len, message.data);
    tocsin_server *server = log_book->server;
    pthread_mutex_unlock(&log_book->lock);
    if (server != NULL) {
        /* Something that is logged in its turn: left out, not for ever. */
        client *client = connect_to(server);
        tocsin_handler handler = {.struct_size = sizeof handler, .call = give_up, .flags = TOCSIN_HANDLER_INLINE};
        tocsin_server_add_tool(server, S(JSON({"name": "in", "inputSchema": {"type": "object"}})), &handler, NULL);
        call_tool(client, 1, "in", "{}");
        EXPECT(client, TEXT("the handler failed"));
        disconnect(client);
    }
}

/* A logger that sets another one. */
static void replace(int32_t level, tocsin_str target, tocsin_str message, void *user_data) {
    (void)level, (void)target, (void)message;
    OK(tocsin_set_logger(TOCSIN_LOG_ERROR, note, user_data, NULL));
}

int main(void) {
    /* Nothing is written by default. */
    FILE *captured = tmpfile();
    int saved_out = dup(1), saved_err = dup(2);
    dup2(fileno(captured), 1);
    dup2(fileno(captured), 2);
    tocsin_server *server = new_server();
    add_inline(server, "give_up", give_up, NULL);
    client *client = connect_to(server);
    call_tool(client, 1, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    CHECK(fseek(captured, 0, SEEK_END) == 0 && ftell(captured) == 0);
    fclose(captured);

    log_book first = {.lock = PTHREAD_MUTEX_INITIALIZER}, second = {.lock = PTHREAD_MUTEX_INITIALIZER};
    OK(tocsin_set_logger(TOCSIN_LOG_ERROR, note, &first, NULL));
    call_tool(client, 2, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    CHECK(first.errors == 1 && first.lines == 1 && strstr(first.last, "give_up") != NULL);

    OK(tocsin_set_logger(TOCSIN_LOG_TRACE, replace, &second, NULL));
    call_tool(client, 3, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    call_tool(client, 4, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    CHECK(first.lines == 1 && second.errors == 1);

    second.server = server;
    call_tool(client, 5, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    CHECK(second.errors == 2);

    OK(tocsin_set_logger(TOCSIN_LOG_TRACE, NULL, NULL, NULL));
    call_tool(client, 6, "give_up", "{}");
    EXPECT(client, TEXT("the handler failed"));
    CHECK(second.errors == 2);
    disconnect(client);
    tocsin_server_free(server);
    return 0;
}
