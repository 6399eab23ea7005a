/* What the files of the everything server share. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <tocsin.h>

/* JSON as it stands, without escapes: JSON({"a": 1}) is "{\"a\": 1}". */
#define JSON(...) #__VA_ARGS__

/* A tool without arguments. */
#define PLAIN(name, description) \
    "{\"name\":\"" name "\",\"description\":\"" description "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{}}}"

/* One red pixel. */
#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"

/* A handler's arguments: the call, what it asks for, and the handler's own user_data. */
#define HANDLER(name) static void name(tocsin_call *call, const tocsin_request *request, void *user_data)

/* One tool of a table. */
typedef struct tool {
    const char *definition;
    tocsin_handler_fn call;
    void *user_data; /* NULL: the server */
    bool waits;      /* runs on a thread of its own */
} tool;

void add_tools(tocsin_server *server, const tool *tools, size_t count);
/* Every table is added by a function of its own, in the order of the catalogue. */
void add_own_tools(tocsin_server *server);
void add_content_tools(tocsin_server *server);
void add_form_tools(tocsin_server *server);
void add_schema_tools(tocsin_server *server);
void add_stream_tools(tocsin_server *server);
void add_change_tools(tocsin_server *server);
void add_round_tools(tocsin_server *server);
void add_prompts(tocsin_server *server);
void add_asking_prompt(tocsin_server *server);
void add_resources(tocsin_server *server);

/* Adds a tool, prompt or resource that echoes its own name or URI. */
tocsin_status add_echo(tocsin_server *server, uint32_t list, tocsin_str key, tocsin_error **error);

/* Ends the program, unless all is well: for what must not fail. error may be NULL. */
void expect(tocsin_status status, tocsin_error **error);
/* Sleeps. */
void pause_ms(unsigned ms);

/* A new text. */
tocsin_text *new_text(void);
/* Pieces, one after the other. */
tocsin_text *join(const tocsin_str *pieces, size_t count);
/* The value at a JSON pointer; empty if there is none. */
tocsin_str at(tocsin_str json, const char *pointer);
/* The string at a JSON pointer, as text; empty if there is none. */
tocsin_text *string_at(tocsin_str json, const char *pointer);
bool equal(tocsin_str one, const char *other);

/* Answers with text, made of pieces. */
void complete_joined(tocsin_call *call, const tocsin_str *pieces, size_t count);
void fail_joined(tocsin_call *call, const tocsin_str *pieces, size_t count);
#define PIECES(...) (tocsin_str[]){__VA_ARGS__}, sizeof((tocsin_str[]){__VA_ARGS__}) / sizeof(tocsin_str)
#define COMPLETE(call, ...) complete_joined(call, PIECES(__VA_ARGS__))
#define FAIL(call, ...) fail_joined(call, PIECES(__VA_ARGS__))

static inline tocsin_str S(const char *text) { return tocsin_cstr(text); }
static inline tocsin_str T(const tocsin_text *text) { return tocsin_text_str(text); }

#endif
