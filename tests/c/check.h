/* What the C tests share: an assertion that always holds, and a client on an embedded session. */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE
#include <tocsin.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* JSON as it stands, without escapes. */
#define JSON(...) #__VA_ARGS__

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
            abort();                                                                 \
        }                                                                            \
    } while (0)
#define OK(call) CHECK((call) == TOCSIN_STATUS_OK)

#define HANDLER(name) static void name(tocsin_call *call, const tocsin_request *request, void *user_data)

static const tocsin_str NONE = {NULL, 0};
static inline tocsin_str S(const char *text) { return tocsin_cstr(text); }

static inline bool same(tocsin_str text, const char *other) {
    return text.len == strlen(other) && memcmp(text.data, other, text.len) == 0;
}

/* Checks what an error says, and frees it. */
static inline void check_error(tocsin_error *error, tocsin_status status, const char *part) {
    CHECK(error != NULL);
    CHECK(tocsin_error_status(error) == status);
    tocsin_str message = tocsin_error_message(error);
    if (memmem(message.data, message.len, part, strlen(part)) == NULL) {
        fprintf(stderr, "'%.*s' does not say '%s'\n", (int)message.len, message.data, part);
        abort();
    }
    tocsin_error_free(error);
}

/* A flag that one thread raises and others wait for. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
} gate;
#define GATE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void open_gate(gate *gate) {
    pthread_mutex_lock(&gate->lock);
    gate->count++;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

static inline struct timespec in_seconds(int seconds) {
    struct timespec then;
    clock_gettime(CLOCK_REALTIME, &then);
    then.tv_sec += seconds;
    return then;
}

/* Waits until the gate was opened so often; a test that hangs fails. */
static inline void wait_gate(gate *gate, int count) {
    struct timespec then = in_seconds(30);
    pthread_mutex_lock(&gate->lock);
    while (gate->count < count) {
        CHECK(pthread_cond_timedwait(&gate->changed, &gate->lock, &then) == 0);
    }
    pthread_mutex_unlock(&gate->lock);
}

/* ---- servers -------------------------------------------------------------------------------------------------- */

static inline tocsin_server *server_with(const char *options_json) {
    tocsin_server_options options = {
        .struct_size = sizeof options, .name = S("test"), .version = S("1"), .options_json = S(options_json)};
    tocsin_server *server = NULL;
    tocsin_error *error = NULL;
    tocsin_status status = tocsin_server_new(&options, &server, &error);
    if (status != TOCSIN_STATUS_OK) {
        tocsin_str message = tocsin_error_message(error);
        fprintf(stderr, "%.*s\n", (int)message.len, message.data);
    }
    OK(status);
    return server;
}

static inline tocsin_server *new_server(void) { return server_with(""); }

/* Adds a tool without arguments. */
static inline void add_tool(tocsin_server *server, const char *name, tocsin_handler handler) {
    char definition[256];
    snprintf(definition, sizeof definition, "{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}", name);
    handler.struct_size = sizeof handler;
    OK(tocsin_server_add_tool(server, S(definition), &handler, NULL));
}

static inline void add_function(tocsin_server *server, const char *name, tocsin_handler_fn call, void *user_data) {
    add_tool(server, name, (tocsin_handler){.call = call, .user_data = user_data});
}

static inline void add_inline(tocsin_server *server, const char *name, tocsin_handler_fn call, void *user_data) {
    add_tool(server, name,
             (tocsin_handler){.call = call, .user_data = user_data, .flags = TOCSIN_HANDLER_INLINE});
}

/* ---- a client ------------------------------------------------------------------------------------------------- */

enum { MAX_LINES = 4096 };

typedef struct client {
    tocsin_session *session;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *lines[MAX_LINES];
    size_t count, read;
    int dropped;
} client;

static inline void take_line(tocsin_str bytes, void *user_data) {
    client *client = user_data;
    CHECK(bytes.len > 0 && bytes.data[bytes.len - 1] == '\n');
    pthread_mutex_lock(&client->lock);
    CHECK(client->count < MAX_LINES);
    client->lines[client->count++] = strndup(bytes.data, bytes.len - 1);
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->lock);
}

static inline void count_drop(void *user_data) { ((client *)user_data)->dropped++; }

static inline client *connect_to(tocsin_server *server) {
    client *client = calloc(1, sizeof *client);
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->changed, NULL);
    OK(tocsin_session_new(server, take_line, client, count_drop, &client->session, NULL));
    return client;
}

static inline void disconnect(client *client) {
    tocsin_session_free(client->session);
    CHECK(client->dropped <= 1);
    for (size_t i = 0; i < client->count; i++) {
        free(client->lines[i]);
    }
    pthread_mutex_destroy(&client->lock);
    pthread_cond_destroy(&client->changed);
    free(client);
}

__attribute__((format(printf, 2, 3))) static inline void sendf(client *client, const char *format, ...) {
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    int len = vasprintf(&line, format, arguments);
    va_end(arguments);
    CHECK(len > 0);
    line[len] = '\n';
    OK(tocsin_session_feed(client->session, (tocsin_str){line, (size_t)len + 1}));
    free(line);
}

#define META(capabilities)                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                     \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c-test\",\"version\":\"1\"},"                            \
    "\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"

/* Sends a modern request. params are members, each with a comma after it. */
static inline void request(client *client, int id, const char *method, const char *params) {
    sendf(client, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s" META("{}") "}}", id, method, params);
}

/* Calls a tool. */
static inline void call_tool(client *client, int id, const char *name, const char *arguments) {
    sendf(client,
          "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s," META(
              "{\"elicitation\":{}}") "}}",
          id, name, arguments);
}

static inline void cancel(client *client, int id) {
    sendf(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}", id);
}

/* The next message; valid until the client is gone. */
static inline const char *receive(client *client) {
    struct timespec then = in_seconds(30);
    pthread_mutex_lock(&client->lock);
    while (client->read == client->count) {
        CHECK(pthread_cond_timedwait(&client->changed, &client->lock, &then) == 0);
    }
    const char *line = client->lines[client->read++];
    pthread_mutex_unlock(&client->lock);
    return line;
}

/* How many messages have come that were not received. Meaningful once the order of things is known. */
static inline size_t waiting(client *client) {
    pthread_mutex_lock(&client->lock);
    size_t count = client->count - client->read;
    pthread_mutex_unlock(&client->lock);
    return count;
}

/* Everything that was sent before is answered when this is. */
static inline void barrier(client *client) {
    static int id = 1000000;
    request(client, ++id, "tools/list", "");
    char expected[32];
    snprintf(expected, sizeof expected, "\"id\":%d,", id);
    CHECK(strstr(receive(client), expected) != NULL);
}

static inline void check_part(const char *line, const char *part, const char *file, int at) {
    if (strstr(line, part) == NULL) {
        fprintf(stderr, "%s:%d: no %s in %s\n", file, at, part, line);
        abort();
    }
}
/* The next message holds this. */
#define EXPECT(client, part) check_part(receive(client), part, __FILE__, __LINE__)

#define TEXT(text) "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]"

#endif
