/* tocsin.h - the C ABI of tocsin, an MCP server engine.
 * Generated from ffi/src by ffi/tests/header.rs; do not edit.
 *
 * Ownership  X_new gives a handle, X_free takes it back; X_free(NULL) does nothing. An answered call is taken back too.
 *            A tocsin_str borrows: what goes in is copied before the function returns, what comes out is valid for as
 *            long as the function says.
 * Threads    Everything may be called from any thread, and concurrently, unless it says otherwise. Nothing may use a
 *            handle while, or after, it is freed.
 * Callbacks  Run with no lock held, so they may call anything here, unless it says otherwise, and free anything. They
 *            must not throw, longjmp, fork or exit. user_data is theirs; its drop runs exactly once.
 * Errors     A tocsin_status other than TOCSIN_STATUS_OK means that nothing happened, and that no result was written.
 *            Where there is a tocsin_error ** it may be NULL, and is written only on failure.
 * Structs    Those that begin with struct_size: zero them, set it to sizeof, then the rest. They may grow.
 * Process    No signal handler, no output, no setting is changed behind the host's back. After fork() the child must not
 *            use handles from before; functions then return TOCSIN_STATUS_FORKED.
 * Panics     Never cross this boundary: they become TOCSIN_STATUS_PANIC. */
#ifndef TOCSIN_H
#define TOCSIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef TOCSIN_API
#define TOCSIN_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- library -----------------------------------------------------------------------------------------------------
 * Versions, statuses, text, and the library's own log.
 */

// Version of the library that this header belongs to:
#define TOCSIN_VERSION_MAJOR 0
#define TOCSIN_VERSION_MINOR 1
#define TOCSIN_VERSION_PATCH 0
#define TOCSIN_ABI_VERSION 0 // Of the ABI: moves with the SONAME; compare it with tocsin_abi_version().

// Outcome of a fallible call. Values are frozen; later versions only append:
#define TOCSIN_STATUS_OK 0
#define TOCSIN_STATUS_INVALID_ARGUMENT 1 // NULL, a bad struct_size, not UTF-8, or an option that cannot be used.
#define TOCSIN_STATUS_INVALID_JSON 2 // Not JSON, or not the shape that was asked for.
#define TOCSIN_STATUS_ALREADY_EXISTS 3
#define TOCSIN_STATUS_NOT_FOUND 4
#define TOCSIN_STATUS_CLOSED 5 // Stopping, or stopped.
#define TOCSIN_STATUS_TIMEOUT 6
#define TOCSIN_STATUS_IO 7
#define TOCSIN_STATUS_FORKED 8 // The handle is from before fork().
#define TOCSIN_STATUS_PANIC 9 // A bug in tocsin, contained; free the handle.
#define TOCSIN_STATUS_REENTRANT 10 // Not from inside a callback.

// Severity of the library's own messages; faults of handlers are errors:
#define TOCSIN_LOG_OFF 0
#define TOCSIN_LOG_ERROR 1
#define TOCSIN_LOG_WARN 2
#define TOCSIN_LOG_INFO 3
#define TOCSIN_LOG_DEBUG 4
#define TOCSIN_LOG_TRACE 5

// One of TOCSIN_STATUS_...
typedef int32_t tocsin_status;

// Borrowed UTF-8, not NUL-terminated. {NULL, 0} is the empty text.
typedef struct {
    const char *data;
    size_t len;
} tocsin_str;

// Gets one message of the library's own log. The texts are valid during the call.
typedef void (*tocsin_log_fn)(int32_t level, tocsin_str target, tocsin_str message, void *user_data);

// Runs exactly once, on any thread, after the last use of user_data; also when the function that took user_data
// fails. May be NULL.
typedef void (*tocsin_drop_fn)(void *user_data);

// Version of the library that runs, such as "0.1.0".
TOCSIN_API const char *tocsin_version(void);
// ABI version of the library that runs.
TOCSIN_API uint32_t tocsin_abi_version(void);
// Sets what gets the library's own log, for the whole process; NULL for nothing, which is also how it begins: without a
// logger the library writes nowhere. Runs on any thread, and on several at once. Messages that a logger causes itself
// are left out.
TOCSIN_API tocsin_status tocsin_set_logger(int32_t max_level, tocsin_log_fn log, void *user_data,
    tocsin_drop_fn drop);

/* ---- error -------------------------------------------------------------------------------------------------------
 * Why a function failed, in words.
 */

// Why a call failed. Immutable, and so safe to share between threads.
typedef struct tocsin_error tocsin_error;

// The status that came with it; TOCSIN_STATUS_OK for NULL.
TOCSIN_API tocsin_status tocsin_error_status(const tocsin_error *error);
// One line that says what was wrong and what would be right; valid until the error is freed.
TOCSIN_API tocsin_str tocsin_error_message(const tocsin_error *error);
// Frees it.
TOCSIN_API void tocsin_error_free(tocsin_error *error);

/* ---- json --------------------------------------------------------------------------------------------------------
 * As much JSON as a handler needs, so that no JSON library is imposed.
 */

// A text that grows: a result under construction, or a string taken out of JSON. For one thread at a time.
typedef struct tocsin_text tocsin_text;

// Makes an empty text.
TOCSIN_API tocsin_status tocsin_text_new(tocsin_text **out);
// Appends text as it is.
TOCSIN_API tocsin_status tocsin_text_add(tocsin_text *text, tocsin_str piece);
// Appends text as a JSON string: in quotes, with escapes.
TOCSIN_API tocsin_status tocsin_text_add_json(tocsin_text *text, tocsin_str piece);
// Appends what a JSON string says: without its quotes and escapes. TOCSIN_STATUS_INVALID_JSON if it is none.
TOCSIN_API tocsin_status tocsin_text_add_unquoted(tocsin_text *text, tocsin_str json);
// Appends json without white space between its tokens.
TOCSIN_API tocsin_status tocsin_text_add_compact(tocsin_text *text, tocsin_str json);
// Takes out all but the first len bytes; 0 empties it. len must not cut a character.
TOCSIN_API tocsin_status tocsin_text_cut(tocsin_text *text, size_t len);
// What it holds; valid until it is changed or freed.
TOCSIN_API tocsin_str tocsin_text_str(const tocsin_text *text);
TOCSIN_API void tocsin_text_free(tocsin_text *text);
// Finds a value in JSON by a JSON pointer (RFC 6901), such as "/content/0/text"; "" is the whole. The value is a part
// of json, as it stands there. TOCSIN_STATUS_NOT_FOUND if there is none.
TOCSIN_API tocsin_status tocsin_json_get(tocsin_str json, tocsin_str pointer, tocsin_str *out);
// Reads a whole number exactly; 42.0 and 1e2 are whole, too. TOCSIN_STATUS_INVALID_JSON if json is no whole number, or
// one that does not fit.
TOCSIN_API tocsin_status tocsin_json_int(tocsin_str json, int64_t *out);
// Reads a number as a double.
TOCSIN_API tocsin_status tocsin_json_double(tocsin_str json, double *out);

/* ---- call --------------------------------------------------------------------------------------------------------
 * A request, and the right and duty to answer it once.
 *
 * A handler answers at once, or keeps the call and answers later, from any thread. Every answering function takes the
 * call, whatever it returns: the handle is not to be used after it. Until then every function here may be called from
 * any thread.
 */

// What a call asks for:
#define TOCSIN_CALL_TOOL 0
#define TOCSIN_CALL_PROMPT 1
#define TOCSIN_CALL_RESOURCE 2 // resources/read, of a resource or through a template.
#define TOCSIN_CALL_COMPLETION 3
#define TOCSIN_CALL_LISTEN 4 // subscriptions/listen, for tocsin_server_on_listen().

// Severity of a message to the client:
#define TOCSIN_LEVEL_DEBUG 0
#define TOCSIN_LEVEL_INFO 1
#define TOCSIN_LEVEL_NOTICE 2
#define TOCSIN_LEVEL_WARNING 3
#define TOCSIN_LEVEL_ERROR 4
#define TOCSIN_LEVEL_CRITICAL 5
#define TOCSIN_LEVEL_ALERT 6
#define TOCSIN_LEVEL_EMERGENCY 7

// What became of questions:
// Answer is a JSON object with the client's result under each key.
#define TOCSIN_ASKED_ANSWERED 0
// The call is over for now: it was cancelled, or the client will call again with its answers, and the handler will ask
// anew. There is no call to answer: it is NULL.
#define TOCSIN_ASKED_SUSPENDED 1
#define TOCSIN_ASKED_FAILED 2 // The client cannot or will not answer: answer is a text that says so.

// A request, and the right and duty to answer it.
typedef struct tocsin_call tocsin_call;

// A request. Written by the library, valid until it is answered; later versions append members.
typedef struct {
    size_t struct_size;
    uint32_t kind; // TOCSIN_CALL_...
    bool modern; // Served by 2026-07-28 rules; otherwise the client made a handshake.
    tocsin_str target; // Tool name, prompt name, resource URI, or the name or URI that a completion is for.
    // JSON, byte for byte as sent; {} if absent. A template's variables, a completion's params, a listen's filter.
    tocsin_str arguments;
    tocsin_str meta; // The _meta object as JSON; {} if absent.
    tocsin_str protocol; // Protocol version, such as 2026-07-28.
    tocsin_str transport; // stdio or http.
    tocsin_str client_info; // clientInfo as JSON; empty if the client did not say who it is. Unverified.
    tocsin_str client_capabilities; // The client's capabilities as JSON.
    void *user_data; // The handler's.
} tocsin_request;

// Called when a call is cancelled.
typedef void (*tocsin_cancel_fn)(void *user_data);

// A question to the client.
typedef struct {
    tocsin_str key; // Your name for it, unique within the call.
    tocsin_str method; // elicitation/create, sampling/createMessage or roots/list.
    tocsin_str params; // The params of that method, a JSON object.
} tocsin_question;

// Goes on with a call after its questions; answer is valid during the call.
typedef void (*tocsin_asked_fn)(tocsin_call *call, int32_t outcome, tocsin_str answer, void *user_data);

// The request; the same pointer that the handler got.
TOCSIN_API const tocsin_request *tocsin_call_request(const tocsin_call *call);
// Answers with a result of the protocol: {"content":[...]} of a tool, {"messages":[...]} of a prompt,
// {"contents":[...]} of a read, {"completion":{...}}; {} accepts a listen. Anything else becomes an error for the client
// and a message in the log.
TOCSIN_API tocsin_status tocsin_call_complete(tocsin_call *call, tocsin_str result_json);
// Answers with text: one text block of a tool, one user message of a prompt, or a resource's text.
TOCSIN_API tocsin_status tocsin_call_complete_text(tocsin_call *call, tocsin_str text);
// Answers a tool call with structured content, any JSON value; the text block is made from it.
TOCSIN_API tocsin_status tocsin_call_complete_structured(tocsin_call *call, tocsin_str json);
// Answers a read with bytes, which need not be text.
TOCSIN_API tocsin_status tocsin_call_complete_blob(tocsin_call *call, tocsin_str bytes);
// Answers a completion. At most 100 values are sent; the client is told how many there are.
TOCSIN_API tocsin_status tocsin_call_complete_values(tocsin_call *call, const tocsin_str *values, size_t count);
// Answers a tool call with an error that the model reads (isError); other calls with an internal error of that text.
TOCSIN_API tocsin_status tocsin_call_fail(tocsin_call *call, tocsin_str text);
// Answers with a JSON-RPC error; data_json is a JSON value, or empty. Refuses a listen.
TOCSIN_API tocsin_status tocsin_call_fail_with(tocsin_call *call, int32_t code, tocsin_str message,
    tocsin_str data_json);
// Gives the call up: the client sees an error without details, unless it cancelled. NULL is ignored.
TOCSIN_API void tocsin_call_drop(tocsin_call *call);
// Gives the call up because of something unforeseen: the client sees an error without details, detail goes to the log.
TOCSIN_API tocsin_status tocsin_call_crash(tocsin_call *call, tocsin_str detail);
// Whether nobody waits for the answer any more. It must be answered or dropped nevertheless.
TOCSIN_API bool tocsin_call_is_cancelled(const tocsin_call *call);
// Calls cancel once if the call is cancelled, at once if it is; never after the answering function returned, which
// waits for it, unless it is called by it. It must return soon. It does not get the call, so it cannot race with an
// answer.
TOCSIN_API tocsin_status tocsin_call_on_cancel(tocsin_call *call, tocsin_cancel_fn cancel, void *user_data,
    tocsin_drop_fn drop);
// Reports progress, if the client asked for it. Values that do not grow are left out. total may be NAN, and message
// {NULL, 0}, for none.
TOCSIN_API tocsin_status tocsin_call_progress(tocsin_call *call, double done, double total, tocsin_str message);
// Sends a log message to the client, if it wants messages of that level. logger may be empty; data_json is any JSON.
TOCSIN_API tocsin_status tocsin_call_log(tocsin_call *call, int32_t level, tocsin_str logger, tocsin_str data_json);
// Asks the client, all questions at once, and goes on in then: at once, or later where handlers of this kind run. Leave
// the answering to it; only if this fails is the call still yours. A handler that asks is written once for all clients,
// but a modern client's answers come with a new call: what a handler does before it asks, it does again. When the
// server is freed first, only drop runs.
TOCSIN_API tocsin_status tocsin_call_ask(tocsin_call *call, const tocsin_question *questions, size_t count,
    tocsin_asked_fn then, void *user_data, tocsin_drop_fn drop);
// Whether the client says that it can answer a question of that method.
TOCSIN_API bool tocsin_call_can_ask(const tocsin_call *call, tocsin_str method);

/* ---- queue -------------------------------------------------------------------------------------------------------
 * Calls that wait for the host.
 *
 * For hosts that call their own interfaces from one thread only, and for loops. Protocol traffic goes on while the host
 * is busy; a call that waits may be cancelled or time out meanwhile, and is then not delivered.
 */

#define TOCSIN_FOREVER UINT32_MAX // As a timeout: for ever.

// Calls that wait for the host.
typedef struct tocsin_queue tocsin_queue;

// Called when a queue has something to do.
typedef void (*tocsin_wake_fn)(void *user_data);

// Makes an empty queue.
TOCSIN_API tocsin_status tocsin_queue_new(tocsin_queue **out);
// A descriptor that polls readable while something waits, for the host's loop; -1 if there is none to be had. The
// queue's own: neither read nor close it.
TOCSIN_API int32_t tocsin_queue_fd(tocsin_queue *queue);
// Calls wake whenever the queue turns from idle to busy, at once if it is busy, on any thread; it must return soon and
// not touch the queue, but tell the host's loop to. Replaces the one before; NULL for none.
TOCSIN_API tocsin_status tocsin_queue_on_wake(tocsin_queue *queue, tocsin_wake_fn wake, void *user_data,
    tocsin_drop_fn drop);
// Takes calls, at most capacity, to be answered by the caller; their request says for which handler they are. Waits at
// most timeout_ms for the first. TOCSIN_STATUS_TIMEOUT and TOCSIN_STATUS_CLOSED: none. What goes on after a question
// (tocsin_call_ask) runs in here.
TOCSIN_API tocsin_status tocsin_queue_take(tocsin_queue *queue, tocsin_call **calls, size_t capacity,
    uint32_t timeout_ms, size_t *taken);
// Runs the handlers of waiting calls on this thread: at most max_calls (0: any number), and none is begun after
// max_microseconds (0: any time). Does not wait. done may be NULL, and gets how many ran.
// TOCSIN_STATUS_REENTRANT from inside a handler.
TOCSIN_API tocsin_status tocsin_queue_run(tocsin_queue *queue, size_t max_calls, uint32_t max_microseconds,
    size_t *done);
// Closes the queue: who waits in tocsin_queue_take() returns, what waits in the queue and what comes is answered with
// an error.
TOCSIN_API tocsin_status tocsin_queue_close(tocsin_queue *queue);
// Closes and frees it. Handlers that deliver to it may stay registered.
TOCSIN_API void tocsin_queue_free(tocsin_queue *queue);

/* ---- handler -----------------------------------------------------------------------------------------------------
 * C's functions, and where they run.
 *
 * By default a handler runs on one of the server's own handler threads and may block. With TOCSIN_HANDLER_INLINE it
 * runs on the thread that read the request, and must return at once. With a queue it runs wherever the host drains it.
 */

// Flag of a handler that returns at once: it runs on the thread that read the request, without a hop.
#define TOCSIN_HANDLER_INLINE 1

// Answers the call at once, or keeps it and answers later, from any thread.
typedef void (*tocsin_handler_fn)(tocsin_call *call, const tocsin_request *request, void *user_data);

// A function that answers calls. Zero it, set struct_size, then the rest.
typedef struct {
    size_t struct_size;
    tocsin_handler_fn call; // May be NULL with a queue whose calls are only taken, not run.
    void *user_data;
    tocsin_drop_fn drop;
    tocsin_queue *queue; // Where calls wait for the host; NULL for the server's own threads.
    uint32_t flags; // TOCSIN_HANDLER_INLINE, or 0.
} tocsin_handler;

/* ---- server ------------------------------------------------------------------------------------------------------
 * What is offered, to any number of clients over any number of transports.
 */

// A server.
typedef struct tocsin_server tocsin_server;

// Settings of a server. Zero it, set struct_size, then name and version, and the rest if need be.
typedef struct {
    size_t struct_size;
    tocsin_str name;
    tocsin_str version;
    tocsin_str instructions; // How to use the server, for a model.
    // 0: one per core, at most four. Shared by all servers of the process; the first one decides.
    uint32_t worker_threads;
    uint32_t handler_threads; // 0: eight. They are started when they are needed.
    uint32_t handler_timeout_ms; // After so long a call without an answer gets a tool error. 0: never.
    uint32_t max_message_bytes; // 0: 4 MiB.
    // Everything else, as a JSON object: title, description, website_url, icons, protocol_versions, modern_only,
    // extension_versions, withhold, extensions, experimental, ttl_ms, cache_scope, page_size, max_depth,
    // max_subscriptions, max_uris_per_subscription, max_in_flight, max_output_bytes, shutdown_grace_ms, state_ttl_ms,
    // state_key.
    tocsin_str options_json;
} tocsin_server_options;

// active: the first subscriber of uri has come; otherwise the last one has gone.
typedef void (*tocsin_watch_fn)(tocsin_str uri, bool active, void *user_data);

// Makes a server that offers nothing yet.
TOCSIN_API tocsin_status tocsin_server_new(const tocsin_server_options *options, tocsin_server **out,
    tocsin_error **error);
// Stops everything, cancels running calls, waits for running callbacks, unless it is called by one, and for transports,
// then drops what the server was given. No callback runs after it. Calls that the host still holds stay valid;
// answering them only releases them. NULL is ignored.
TOCSIN_API void tocsin_server_free(tocsin_server *server);
// Tells all transports of the server to stop, and returns at once: subscriptions are completed, calls get
// shutdown_grace_ms (an option, 5,000). May be called in a signal handler.
TOCSIN_API void tocsin_server_request_stop(const tocsin_server *server);
// Opens a batch: until it is released, changes are only remembered; then each kind is announced once. Batches nest.
TOCSIN_API tocsin_status tocsin_server_hold_changes(tocsin_server *server);
// Ends a batch.
TOCSIN_API tocsin_status tocsin_server_release_changes(tocsin_server *server);
// Announces that lists changed in a way that the registry does not see: TOCSIN_TOOLS, TOCSIN_PROMPTS, TOCSIN_RESOURCES
// in any combination.
TOCSIN_API tocsin_status tocsin_server_lists_changed(tocsin_server *server, uint32_t lists);
// Says that what uri stands for was updated, be it listed or not: all who subscribed to it are told.
TOCSIN_API tocsin_status tocsin_server_resource_updated(tocsin_server *server, tocsin_str uri);
// Sets what hears of the first and the last subscriber of each URI, so that a host can start and stop to look at a
// file: in that order, one at a time, on any thread. Replaces the one before; NULL for none.
TOCSIN_API tocsin_status tocsin_server_on_watch(tocsin_server *server, tocsin_watch_fn watch, void *user_data,
    tocsin_drop_fn drop);
// Sets a handler that decides on subscriptions/listen: completing the call with {} accepts, failing it refuses with
// that error. Its arguments are the filter. Replaces the one before; NULL for none, which accepts all.
TOCSIN_API tocsin_status tocsin_server_on_listen(tocsin_server *server, const tocsin_handler *handler,
    tocsin_error **error);
// Serves standard input and output, and returns when the input ends or the server is told to stop. Meanwhile descriptor
// 0 is the null device and 1 is standard error for the whole process, so that a stray printf() does no harm.
// TOCSIN_STATUS_REENTRANT from inside a callback of the server.
TOCSIN_API tocsin_status tocsin_serve_stdio(tocsin_server *server, tocsin_error **error);

/* ---- registry ----------------------------------------------------------------------------------------------------
 * What a server offers. Every change is announced to whoever asked to hear of it.
 *
 * A definition is the protocol's Tool, Prompt, Resource or ResourceTemplate object as JSON. Its handler is copied, and
 * its user_data owned, whatever is returned. A tool's arguments are checked against its inputSchema before its handler
 * runs. A template's handler gets the variables of the template as arguments.
 */

// The lists of a server, as bits:
#define TOCSIN_TOOLS 1
#define TOCSIN_PROMPTS 2
#define TOCSIN_RESOURCES 4
#define TOCSIN_TEMPLATES 8 // Announced as TOCSIN_RESOURCES.
// Adds a tool at the end of the list. TOCSIN_STATUS_ALREADY_EXISTS, TOCSIN_STATUS_INVALID_JSON: error says why, and
// nothing has changed.
TOCSIN_API tocsin_status tocsin_server_add_tool(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, tocsin_error **error);
// Adds a prompt. completer, which may be NULL, answers completions of its arguments.
TOCSIN_API tocsin_status tocsin_server_add_prompt(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, const tocsin_handler *completer, tocsin_error **error);
// Adds a resource.
TOCSIN_API tocsin_status tocsin_server_add_resource(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, tocsin_error **error);
// Adds a resource template. completer, which may be NULL, answers completions of its variables.
TOCSIN_API tocsin_status tocsin_server_add_template(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, const tocsin_handler *completer, tocsin_error **error);
// Puts a tool in the place of the one of that name; calls in flight end with the old one.
TOCSIN_API tocsin_status tocsin_server_replace_tool(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, tocsin_error **error);
TOCSIN_API tocsin_status tocsin_server_replace_prompt(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, const tocsin_handler *completer, tocsin_error **error);
TOCSIN_API tocsin_status tocsin_server_replace_resource(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, tocsin_error **error);
TOCSIN_API tocsin_status tocsin_server_replace_template(tocsin_server *server, tocsin_str definition,
    const tocsin_handler *handler, const tocsin_handler *completer, tocsin_error **error);
// Removes the tool or prompt of that name, the resource of that URI, or that template; list is one of TOCSIN_TOOLS to
// TOCSIN_TEMPLATES. Calls in flight go on.
TOCSIN_API tocsin_status tocsin_server_remove(tocsin_server *server, uint32_t list, tocsin_str key,
    tocsin_error **error);
// Hides an entry: it is neither listed nor served.
TOCSIN_API tocsin_status tocsin_server_disable(tocsin_server *server, uint32_t list, tocsin_str key,
    tocsin_error **error);
// Shows an entry again, in its old place.
TOCSIN_API tocsin_status tocsin_server_enable(tocsin_server *server, uint32_t list, tocsin_str key,
    tocsin_error **error);
// Whether an entry is there, enabled or not.
TOCSIN_API bool tocsin_server_contains(const tocsin_server *server, uint32_t list, tocsin_str key);

/* ---- service -----------------------------------------------------------------------------------------------------
 * A transport that is served in the background.
 */

// A transport that is served in the background.
typedef struct tocsin_service tocsin_service;

// Called when a service has ended; status is TOCSIN_STATUS_OK or TOCSIN_STATUS_IO.
typedef void (*tocsin_end_fn)(tocsin_status status, void *user_data);

// Serves standard input and output on threads of its own; see tocsin_serve_stdio().
TOCSIN_API tocsin_status tocsin_start_stdio(tocsin_server *server, tocsin_service **out, tocsin_error **error);
// Waits until the service has ended, at most timeout_ms. TOCSIN_STATUS_TIMEOUT: it goes on. TOCSIN_STATUS_IO: it
// failed.
TOCSIN_API tocsin_status tocsin_service_wait(const tocsin_service *service, uint32_t timeout_ms);
// Tells the whole server to stop, as tocsin_server_request_stop() does, and waits for the service. If it has not ended
// after grace_ms, what runs is cancelled, and it ends then. TOCSIN_STATUS_REENTRANT from inside a callback of the
// server.
TOCSIN_API tocsin_status tocsin_service_stop(tocsin_service *service, uint32_t grace_ms);
// Calls end once the service has ended, at once if it has.
TOCSIN_API tocsin_status tocsin_service_on_end(tocsin_service *service, tocsin_end_fn end, void *user_data,
    tocsin_drop_fn drop);
// Frees the handle. The service goes on until the server stops.
TOCSIN_API void tocsin_service_free(tocsin_service *service);

/* ---- session -----------------------------------------------------------------------------------------------------
 * A client whose bytes the host moves, over a transport of its own.
 */

// A client whose bytes the host moves. It is fed by one thread at a time.
typedef struct tocsin_session tocsin_session;

// Gets whole messages with their line end, in order, one at a time, on any thread; the bytes are valid during the call.
typedef void (*tocsin_output_fn)(tocsin_str bytes, void *user_data);

// Opens a session.
TOCSIN_API tocsin_status tocsin_session_new(tocsin_server *server, tocsin_output_fn output, void *user_data,
    tocsin_drop_fn drop, tocsin_session **out, tocsin_error **error);
// Takes bytes of the client, cut anywhere. Inline handlers run in here.
TOCSIN_API tocsin_status tocsin_session_feed(tocsin_session *session, tocsin_str bytes);
// The client will send no more: completes its subscriptions, gives its calls shutdown_grace_ms (an option, 5,000), and
// returns when all that was answered has been output. TOCSIN_STATUS_REENTRANT from inside a callback of the server.
TOCSIN_API tocsin_status tocsin_session_finish(tocsin_session *session);
// The client is gone: cancels its calls, ends its subscriptions, and waits for a running output callback, unless it is
// called by it. Nothing is output after; drop has run.
TOCSIN_API void tocsin_session_free(tocsin_session *session);

/* ---- convenience ---------------------------------------------------------------------------------------------- */

/* A C string as a tocsin_str; NULL gives {NULL, 0}. */
static inline tocsin_str tocsin_cstr(const char *text) {
    tocsin_str str = {text, text != NULL ? strlen(text) : 0};
    return str;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TOCSIN_H */
