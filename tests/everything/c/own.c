/* Tools for tests and benchmarks: echo and arithmetic, waiting, failing, and every way to change what is offered. */
#define _POSIX_C_SOURCE 200809L

#include "everything.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- plain ---------------------------------------------------------------------------------------------------- */

HANDLER(echo) {
    (void)user_data;
    tocsin_text *text = string_at(request->arguments, "/text");
    tocsin_call_complete_text(call, T(text));
    tocsin_text_free(text);
}

HANDLER(add) {
    (void)user_data;
    int64_t a = 0, b = 0, sum = 0;
    if (tocsin_json_int(at(request->arguments, "/a"), &a) != TOCSIN_STATUS_OK ||
        tocsin_json_int(at(request->arguments, "/b"), &b) != TOCSIN_STATUS_OK || __builtin_add_overflow(a, b, &sum)) {
        tocsin_call_fail(call, S("the sum does not fit in 64 bits"));
        return;
    }
    char json[40];
    snprintf(json, sizeof json, "{\"sum\":%" PRId64 "}", sum);
    tocsin_call_complete_structured(call, S(json));
}

/* A sleep that a cancellation ends. It lives on the stack: the cancel callback never runs after the answer. */
typedef struct nap {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool cancelled;
} nap;

static void wake(void *user_data) {
    nap *nap = user_data;
    pthread_mutex_lock(&nap->lock);
    nap->cancelled = true;
    pthread_cond_signal(&nap->changed);
    pthread_mutex_unlock(&nap->lock);
}

/* Sleeps until then; false if it was woken. */
static bool sleep_until(nap *nap, const struct timespec *then) {
    pthread_mutex_lock(&nap->lock);
    int status = 0;
    while (!nap->cancelled && status == 0) {
        status = pthread_cond_timedwait(&nap->changed, &nap->lock, then);
    }
    bool slept = !nap->cancelled;
    pthread_mutex_unlock(&nap->lock);
    return slept;
}

HANDLER(sleep_tool) {
    (void)user_data;
    int64_t ms = 0, waited = 0;
    tocsin_json_int(at(request->arguments, "/ms"), &ms);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    nap nap = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_cond_init(&nap.changed, &monotonic);
    struct timespec then;
    clock_gettime(CLOCK_MONOTONIC, &then);
    tocsin_call_on_cancel(call, wake, &nap, NULL);
    bool slept = true;
    while (slept && waited < ms) {
        int64_t slice = ms - waited < 50 ? ms - waited : 50;
        then.tv_nsec += slice * 1000000;
        then.tv_sec += then.tv_nsec / 1000000000;
        then.tv_nsec %= 1000000000;
        slept = sleep_until(&nap, &then);
        waited += slice;
        tocsin_call_progress(call, (double)waited, (double)ms, (tocsin_str){NULL, 0});
    }
    if (slept) {
        char text[48];
        snprintf(text, sizeof text, "slept %" PRId64 " ms", ms);
        tocsin_call_complete_text(call, S(text));
    } else {
        tocsin_call_drop(call);
    }
    pthread_cond_destroy(&nap.changed);
    pthread_condattr_destroy(&monotonic);
}

HANDLER(log_tool) {
    (void)user_data;
    static const char *const levels[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};
    tocsin_text *name = string_at(request->arguments, "/level");
    int32_t level = TOCSIN_LEVEL_DEBUG;
    while (level <= TOCSIN_LEVEL_EMERGENCY && !equal(T(name), levels[level])) {
        level++;
    }
    if (level > TOCSIN_LEVEL_EMERGENCY) {
        FAIL(call, S("unknown log level '"), T(name),
             S("'; use debug, info, notice, warning, error, critical, alert or emergency"));
    } else {
        tocsin_call_log(call, level, S("everything"), at(request->arguments, "/message"));
        tocsin_call_complete_text(call, S("logged"));
    }
    tocsin_text_free(name);
}

HANDLER(big) {
    (void)user_data;
    int64_t bytes = 0;
    tocsin_json_int(at(request->arguments, "/bytes"), &bytes);
    char *text = malloc((size_t)bytes + 1);
    if (text == NULL) {
        tocsin_call_fail(call, S("out of memory"));
        return;
    }
    memset(text, 'x', (size_t)bytes);
    tocsin_call_complete_text(call, (tocsin_str){text, (size_t)bytes});
    free(text);
}

HANDLER(fail) {
    (void)user_data;
    tocsin_text *message = string_at(request->arguments, "/message");
    tocsin_call_fail(call, T(message));
    tocsin_text_free(message);
}

/* C cannot throw; a handler that forgets its result is what comes closest. */
HANDLER(crash) {
    (void)request, (void)user_data;
    tocsin_call_complete(call, (tocsin_str){NULL, 0});
}

HANDLER(whoami) {
    (void)user_data;
    tocsin_text *json = join(PIECES(S("{\"era\":"), S(request->modern ? "\"modern\"" : "\"handshake\""),
                                    S(",\"protocolVersion\":")));
    tocsin_text_add_json(json, request->protocol);
    tocsin_text_add(json, S(",\"transport\":"));
    tocsin_text_add_json(json, request->transport);
    tocsin_str name = at(request->client_info, "/name"), version = at(request->client_info, "/version");
    if (name.len > 0 && version.len > 0) {
        tocsin_text_add(json, S(",\"client\":{\"name\":"));
        tocsin_text_add(json, name);
        tocsin_text_add(json, S(",\"version\":"));
        tocsin_text_add(json, version);
        tocsin_text_add(json, S("}}"));
    } else {
        tocsin_text_add(json, S(",\"client\":null}"));
    }
    tocsin_call_complete_structured(call, T(json));
    tocsin_text_free(json);
}

/* ---- changing what is offered --------------------------------------------------------------------------------- */

HANDLER(echo_key) {
    (void)request;
    tocsin_call_complete_text(call, T(user_data));
}

static void free_key(void *user_data) { tocsin_text_free(user_data); }

tocsin_status add_echo(tocsin_server *server, uint32_t list, tocsin_str key, tocsin_error **error) {
    tocsin_text *definition = join(PIECES(S(list == TOCSIN_RESOURCES ? "{\"uri\":" : "{\"name\":")));
    tocsin_text_add_json(definition, key);
    tocsin_handler handler = {
        .struct_size = sizeof handler,
        .call = echo_key,
        .user_data = join(&key, 1),
        .drop = free_key,
        .flags = TOCSIN_HANDLER_INLINE,
    };
    tocsin_status status;
    if (list == TOCSIN_TOOLS) {
        tocsin_text_add(definition, S(",\"description\":\"Echoes its own name.\","
                                      "\"inputSchema\":{\"type\":\"object\",\"properties\":{}}}"));
        status = tocsin_server_add_tool(server, T(definition), &handler, error);
    } else if (list == TOCSIN_PROMPTS) {
        tocsin_text_add(definition, S(",\"description\":\"Echoes its own name.\"}"));
        status = tocsin_server_add_prompt(server, T(definition), &handler, NULL, error);
    } else {
        tocsin_text_add(definition, S(",\"name\":"));
        tocsin_text_add_json(definition, key);
        tocsin_text_add(definition, S(",\"description\":\"Echoes its own URI.\",\"mimeType\":\"text/plain\"}"));
        status = tocsin_server_add_resource(server, T(definition), &handler, error);
    }
    tocsin_text_free(definition);
    return status;
}

static void fail_with_error(tocsin_call *call, tocsin_error *error) {
    tocsin_call_fail(call, tocsin_error_message(error));
    tocsin_error_free(error);
}

/* Adds or removes the entry that the argument names. */
static void edit(tocsin_call *call, const tocsin_request *request, uint32_t list, bool adds) {
    static const char *const kinds[] = {
        [TOCSIN_TOOLS] = "tool", [TOCSIN_PROMPTS] = "prompt", [TOCSIN_RESOURCES] = "resource"};
    tocsin_server *server = request->user_data;
    tocsin_text *key = string_at(request->arguments, list == TOCSIN_RESOURCES ? "/uri" : "/name");
    tocsin_error *error = NULL;
    tocsin_status status = adds ? add_echo(server, list, T(key), &error)
                                : tocsin_server_remove(server, list, T(key), &error);
    if (status == TOCSIN_STATUS_OK) {
        COMPLETE(call, S(adds ? "added " : "removed "), S(kinds[list]), S(" '"), T(key), S("'"));
    } else {
        fail_with_error(call, error);
    }
    tocsin_text_free(key);
}

#define EDITOR(name, list, adds)                  \
    HANDLER(name) {                               \
        (void)user_data;                          \
        edit(call, request, list, adds);          \
    }
EDITOR(add_tool, TOCSIN_TOOLS, true)
EDITOR(remove_tool, TOCSIN_TOOLS, false)
EDITOR(add_prompt, TOCSIN_PROMPTS, true)
EDITOR(remove_prompt, TOCSIN_PROMPTS, false)
EDITOR(add_resource, TOCSIN_RESOURCES, true)
EDITOR(remove_resource, TOCSIN_RESOURCES, false)

HANDLER(touch_resource) {
    tocsin_text *uri = string_at(request->arguments, "/uri");
    tocsin_server_resource_updated(user_data, T(uri));
    COMPLETE(call, S("touched resource '"), T(uri), S("'"));
    tocsin_text_free(uri);
}

HANDLER(burst) {
    tocsin_server *server = user_data;
    const tocsin_str name = S("burst_tool");
    int64_t count = 0;
    tocsin_json_int(at(request->arguments, "/count"), &count);
    tocsin_error *error = NULL;
    tocsin_status status = TOCSIN_STATUS_OK;
    if (tocsin_server_contains(server, TOCSIN_TOOLS, name)) {
        status = tocsin_server_remove(server, TOCSIN_TOOLS, name, &error);
    }
    for (int64_t i = 0; i < count && status == TOCSIN_STATUS_OK; i++) {
        status = add_echo(server, TOCSIN_TOOLS, name, &error);
        if (status == TOCSIN_STATUS_OK) {
            status = tocsin_server_remove(server, TOCSIN_TOOLS, name, &error);
        }
    }
    if (status == TOCSIN_STATUS_OK) {
        status = add_echo(server, TOCSIN_TOOLS, name, &error);
    }
    if (status == TOCSIN_STATUS_OK) {
        char text[48];
        snprintf(text, sizeof text, "burst of %" PRId64 " done", count);
        tocsin_call_complete_text(call, S(text));
    } else {
        fail_with_error(call, error);
    }
}

HANDLER(region_echo) {
    (void)user_data;
    tocsin_call_complete_structured(call, request->arguments);
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

#define NAMED(tool, says)                                                      \
    "{\"name\":\"" tool "\",\"description\":\"" says "\",\"inputSchema\":" JSON( \
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}) "}"
#define WITH_URI(tool, says)                                                   \
    "{\"name\":\"" tool "\",\"description\":\"" says "\",\"inputSchema\":" JSON( \
        {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]}) "}"

static const char ECHO[] = JSON({
    "name": "echo", "description": "Returns the text it was given.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
});
static const char ADD[] = JSON({
    "name": "add", "description": "Adds two signed 64-bit integers.",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"]
    },
    "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
});
static const char SLEEP[] = JSON({
    "name": "sleep", "description": "Waits, reporting progress about every 50 ms.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "ms": {
                "type": "integer", "description": "How long to wait, in milliseconds.",
                "minimum": 0, "maximum": 600000
            }
        },
        "required": ["ms"]
    }
});
static const char LOG[] = JSON({
    "name": "log", "description": "Sends one log message.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "level": {"type": "string", "description": "A severity, from debug to emergency."},
            "message": {"type": "string"}
        },
        "required": ["level", "message"]
    }
});
static const char BIG[] = JSON({
    "name": "big", "description": "Returns a text of the given length.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "bytes": {"type": "integer", "description": "Length of the text.", "minimum": 0, "maximum": 16777216}
        },
        "required": ["bytes"]
    }
});
static const char FAIL_TOOL[] = JSON({
    "name": "fail", "description": "Fails with the given message.",
    "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
});
static const char BURST[] = JSON({
    "name": "burst", "description": "Adds and removes a tool many times and leaves it added.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "description": "How many times.", "minimum": 0, "maximum": 100000}
        },
        "required": ["count"]
    }
});
static const char REGION_ECHO[] = JSON({
    "name": "region_echo",
    "description": "Returns its arguments, two of which travel in HTTP headers as well.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "note": {"type": "string"}
        }
    }
});

void add_own_tools(tocsin_server *server) {
    const tool tools[] = {
        {ECHO, echo, NULL, false},
        {ADD, add, NULL, false},
        {SLEEP, sleep_tool, NULL, true},
        {LOG, log_tool, NULL, false},
        {BIG, big, NULL, false},
        {FAIL_TOOL, fail, NULL, false},
        {PLAIN("crash", "Fails in a way that nobody foresaw."), crash, NULL, false},
        {PLAIN("whoami", "Tells how the client is connected."), whoami, NULL, false},
        {NAMED("add_tool", "Adds a tool that echoes its own name."), add_tool, NULL, false},
        {NAMED("remove_tool", "Removes a tool."), remove_tool, NULL, false},
        {NAMED("add_prompt", "Adds a prompt that echoes its own name."), add_prompt, NULL, false},
        {NAMED("remove_prompt", "Removes a prompt."), remove_prompt, NULL, false},
        {WITH_URI("add_resource", "Adds a text resource that echoes its own URI."), add_resource, NULL, false},
        {WITH_URI("remove_resource", "Removes a resource."), remove_resource, NULL, false},
        {WITH_URI("touch_resource", "Says that a resource was updated, be it listed or not."), touch_resource, NULL,
         false},
        {BURST, burst, NULL, true},
        {REGION_ECHO, region_echo, NULL, false},
    };
    add_tools(server, tools, sizeof tools / sizeof *tools);
}
