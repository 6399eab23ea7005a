/* The everything server in C: one of everything that MCP offers, with tocsin.h and the C library alone.
 *
 * This file has the command line and what the others share; own.c has the tools of tests and benchmarks, suite.c what
 * the public conformance suite asks for, asks.c the handlers that ask the client something. */
#define _POSIX_C_SOURCE 200809L

#include "everything.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- what all share ------------------------------------------------------------------------------------------- */

static void refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("everything-c: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

void expect(tocsin_status status, tocsin_error **error) {
    if (status != TOCSIN_STATUS_OK) {
        tocsin_str message = error != NULL ? tocsin_error_message(*error) : S("out of luck");
        refuse("%.*s", (int)message.len, message.data);
    }
}

void pause_ms(unsigned ms) {
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

tocsin_text *new_text(void) {
    tocsin_text *text = NULL;
    expect(tocsin_text_new(&text), NULL);
    return text;
}

tocsin_text *join(const tocsin_str *pieces, size_t count) {
    tocsin_text *text = new_text();
    for (size_t i = 0; i < count; i++) {
        tocsin_text_add(text, pieces[i]);
    }
    return text;
}

tocsin_str at(tocsin_str json, const char *pointer) {
    tocsin_str value = {NULL, 0};
    tocsin_json_get(json, S(pointer), &value);
    return value;
}

tocsin_text *string_at(tocsin_str json, const char *pointer) {
    tocsin_text *text = new_text();
    tocsin_text_add_unquoted(text, at(json, pointer));
    return text;
}

bool equal(tocsin_str one, const char *other) {
    return one.len == strlen(other) && memcmp(one.data, other, one.len) == 0;
}

void complete_joined(tocsin_call *call, const tocsin_str *pieces, size_t count) {
    tocsin_text *text = join(pieces, count);
    tocsin_call_complete_text(call, T(text));
    tocsin_text_free(text);
}

void fail_joined(tocsin_call *call, const tocsin_str *pieces, size_t count) {
    tocsin_text *text = join(pieces, count);
    tocsin_call_fail(call, T(text));
    tocsin_text_free(text);
}

void add_tools(tocsin_server *server, const tool *tools, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tocsin_error *error = NULL;
        tocsin_handler handler = {
            .struct_size = sizeof handler,
            .call = tools[i].call,
            .user_data = tools[i].user_data != NULL ? tools[i].user_data : server,
            .flags = tools[i].waits ? 0 : TOCSIN_HANDLER_INLINE,
        };
        expect(tocsin_server_add_tool(server, S(tools[i].definition), &handler, &error), &error);
    }
}

/* ---- the command line, which is the same in all four languages ------------------------------------------------ */

static const char USAGE[] = "see tests/everything in the sources";

/* Appends a member to the JSON object of options. */
static void set(tocsin_text *options, const char *name, const char *json) {
    tocsin_str so_far = T(options);
    bool first = so_far.len == 1;
    const tocsin_str pieces[] = {S(first ? "\"" : ",\""), S(name), S("\":"), S(json)};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tocsin_text_add(options, pieces[i]);
    }
}

static void check_number(const char *option, const char *text, unsigned long least) {
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < least || (*text == '0' && text[1] != '\0')) {
        refuse("%s takes an integer of at least %lu, not '%s'", option, least, text);
    }
}

/* Appends the names between commas to the inside of a JSON array. */
static void add_names(tocsin_text *array, const char *names) {
    for (const char *name = names;; name++) {
        size_t len = strcspn(name, ",");
        if (T(array).len > 1) {
            tocsin_text_add(array, S(","));
        }
        if (tocsin_text_add_json(array, (tocsin_str){name, len}) != TOCSIN_STATUS_OK) {
            refuse("'%s' is not UTF-8", names);
        }
        name += len;
        if (*name == '\0') {
            return;
        }
    }
}

/* Refuses a second upstream of one name. */
static void check_upstream(char **seen, size_t *count, const char *text) {
    size_t len = strcspn(text, "=");
    if (len == 0 || text[len] == '\0' || text[len + 1] == '\0') {
        refuse("--upstream takes NAME=URL or 'NAME=command', not '%s'", text);
    }
    char *name = strndup(text, len);
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(seen[i], name) == 0) {
            refuse("two upstreams are named '%s'; give each a name of its own", name);
        }
    }
    seen[(*count)++] = name;
}

/* Turns the command line into the options of a server, or refuses it. */
static tocsin_text *parse(int argc, char **argv) {
    tocsin_text *options = join(PIECES(S("{")));
    tocsin_text *withheld = join(PIECES(S("[")));
    bool stdio = false, http = false;
    char **upstreams = calloc((size_t)argc + 1, sizeof *upstreams);
    size_t upstream_count = 0;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--stdio") == 0) {
            stdio = true;
            continue;
        }
        if (strcmp(option, "--modern-only") == 0) {
            set(options, "modern_only", "true");
            continue;
        }
        static const char *const with_value[] = {
            "--http", "--protocol-versions", "--max-subscriptions", "--keepalive-ms", "--max-message-bytes",
            "--allow-origin", "--allow-host", "--upstream", "--no-listen-capability", "--page-size",
        };
        bool known = false;
        for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++) {
            known = known || strcmp(option, with_value[k]) == 0;
        }
        if (!known) {
            refuse("unknown option '%s'; %s", option, USAGE);
        }
        if (++i == argc) {
            refuse("%s needs a value", option);
        }
        const char *value = argv[i];
        if (strcmp(option, "--http") == 0) {
            http = true;
        } else if (strcmp(option, "--protocol-versions") == 0) {
            tocsin_text *versions = join(PIECES(S("[")));
            add_names(versions, value);
            tocsin_text_add(versions, S("]"));
            char *json = strndup(T(versions).data, T(versions).len);
            set(options, "protocol_versions", json);
            free(json);
            tocsin_text_free(versions);
        } else if (strcmp(option, "--max-subscriptions") == 0) {
            check_number(option, value, 0);
            set(options, "max_subscriptions", value);
        } else if (strcmp(option, "--keepalive-ms") == 0) {
            check_number(option, value, 0);
        } else if (strcmp(option, "--max-message-bytes") == 0) {
            check_number(option, value, 1);
            set(options, "max_message_bytes", value);
        } else if (strcmp(option, "--page-size") == 0) {
            check_number(option, value, 1);
            set(options, "page_size", value);
        } else if (strcmp(option, "--upstream") == 0) {
            check_upstream(upstreams, &upstream_count, value);
        } else if (strcmp(option, "--no-listen-capability") == 0) {
            if (strcmp(value, "tools") != 0 && strcmp(value, "prompts") != 0 && strcmp(value, "resources") != 0) {
                refuse("%s takes tools, prompts or resources, not '%s'", option, value);
            }
            add_names(withheld, value);
        }
    }
    if (stdio && http) {
        refuse("--stdio and --http exclude each other; choose one");
    }
    if (http) {
        refuse("--http is not built yet; use --stdio");
    }
    if (upstream_count > 0) {
        refuse("--upstream is not built yet");
    }
    free(upstreams);
    tocsin_text_add(withheld, S("]"));
    char *json = strndup(T(withheld).data, T(withheld).len);
    set(options, "withhold", json);
    free(json);
    tocsin_text_free(withheld);
    tocsin_text_add(options, S("}"));
    return options;
}

/* ---- serving -------------------------------------------------------------------------------------------------- */

static tocsin_server *server;
static volatile sig_atomic_t stopping;

/* The first signal stops gracefully, the second at once. */
static void on_signal(int signal) {
    (void)signal;
    if (stopping) {
        _exit(0);
    }
    stopping = 1;
    tocsin_server_request_stop(server);
}

int main(int argc, char **argv) {
    tocsin_text *options_json = parse(argc, argv);
    tocsin_server_options options = {
        .struct_size = sizeof options,
        .name = S("everything-c"),
        .version = S(tocsin_version()),
        .instructions = S("Everything that MCP offers, on one server."),
        /* The tool `sleep` keeps a thread for as long as it sleeps. They are started when they are needed. */
        .handler_threads = 256,
        .options_json = T(options_json),
    };
    tocsin_error *error = NULL;
    expect(tocsin_server_new(&options, &server, &error), &error);
    tocsin_text_free(options_json);

    add_own_tools(server);
    add_content_tools(server);
    add_form_tools(server);
    add_schema_tools(server);
    add_stream_tools(server);
    add_change_tools(server);
    add_round_tools(server);
    add_prompts(server);
    add_asking_prompt(server);
    add_resources(server);

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    expect(tocsin_serve_stdio(server, &error), &error);

    /* A signal must not find a server that is gone. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &ignore, NULL);
    sigaction(SIGINT, &ignore, NULL);
    tocsin_server_free(server);
    return 0;
}
