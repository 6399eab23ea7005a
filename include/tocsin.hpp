// tocsin.hpp - tocsin for C++17, header-only, on tocsin.h.
//
//   tocsin::Server server("weather", "1.0");
//   server.add_tool(R"({"name":"forecast","inputSchema":{"type":"object"}})",
//                   [](tocsin::Call call) { call.complete_text("Rain"); });
//   server.serve_stdio();
//
// Every object owns its handle: it moves and does not copy. A Call that is destroyed without an answer is given up, so
// that a lost call is an error for the client, not a hang. Functions throw tocsin::Error. Handlers may throw, too:
// tocsin::ToolError is for the model to read, anything else is an error without details for the client, and with details
// in the log. Other callbacks must not throw.
// JSON is text, in and out; string_views that a Call gives are valid until it is answered. What holds for threads and
// callbacks in tocsin.h holds here.
#ifndef TOCSIN_HPP
#define TOCSIN_HPP

#include <tocsin.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tocsin {

inline tocsin_str to_str(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::string_view to_view(tocsin_str text) noexcept {
    return text.len == 0 ? std::string_view() : std::string_view(text.data, text.len);
}

// Why a function of the library failed.
class Error : public std::runtime_error {
public:
    Error(tocsin_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    tocsin_status status() const noexcept { return status_; }

private:
    tocsin_status status_;
};

// Thrown by a handler: a tool error with this text, for the model to read.
class ToolError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

// Throws unless all is well; takes the error.
inline void check(tocsin_status status, tocsin_error *error = nullptr) {
    if (status == TOCSIN_STATUS_OK) return;
    std::string message(error != nullptr ? to_view(tocsin_error_message(error)) : "tocsin refused");
    tocsin_error_free(error);
    throw Error(status, message);
}

inline void check_abi() {
    if (tocsin_abi_version() != TOCSIN_ABI_VERSION)
        throw Error(TOCSIN_STATUS_INVALID_ARGUMENT, "libtocsin is of another ABI version than tocsin.hpp");
}

template <class T, void (*Free)(T *)>
struct Deleter {
    void operator()(T *handle) const noexcept { Free(handle); }
};
template <class T, void (*Free)(T *)>
using Handle = std::unique_ptr<T, Deleter<T, Free>>;

// A function object as user_data, and its drop.
template <class F>
void *keep(F function) { return new F(std::move(function)); }
template <class F>
void drop(void *kept) noexcept { delete static_cast<F *>(kept); }

}  // namespace detail

// As much JSON as a handler needs. Pointers are JSON pointers, such as "/content/0/text".
namespace json {

// The raw value at a pointer, a part of json; nothing if there is none.
inline std::optional<std::string_view> get(std::string_view json, std::string_view pointer) {
    tocsin_str value = {nullptr, 0};
    if (tocsin_json_get(to_str(json), to_str(pointer), &value) != TOCSIN_STATUS_OK) return std::nullopt;
    return to_view(value);
}

namespace detail {
using Text = tocsin::detail::Handle<tocsin_text, tocsin_text_free>;
inline Text text() {
    tocsin_text *text = nullptr;
    tocsin::detail::check(tocsin_text_new(&text));
    return Text(text);
}
}  // namespace detail

// The string at a pointer.
inline std::optional<std::string> string(std::string_view json, std::string_view pointer) {
    const auto raw = get(json, pointer);
    auto text = detail::text();
    if (!raw || tocsin_text_add_unquoted(text.get(), to_str(*raw)) != TOCSIN_STATUS_OK) return std::nullopt;
    return std::string(to_view(tocsin_text_str(text.get())));
}

// The whole number at a pointer, exactly.
inline std::optional<std::int64_t> integer(std::string_view json, std::string_view pointer) {
    const auto raw = get(json, pointer);
    std::int64_t number = 0;
    if (!raw || tocsin_json_int(to_str(*raw), &number) != TOCSIN_STATUS_OK) return std::nullopt;
    return number;
}

// The number at a pointer.
inline std::optional<double> number(std::string_view json, std::string_view pointer) {
    const auto raw = get(json, pointer);
    double number = 0;
    if (!raw || tocsin_json_double(to_str(*raw), &number) != TOCSIN_STATUS_OK) return std::nullopt;
    return number;
}

// Text as a JSON string.
inline std::string quote(std::string_view value) {
    auto text = detail::text();
    tocsin::detail::check(tocsin_text_add_json(text.get(), to_str(value)));
    return std::string(to_view(tocsin_text_str(text.get())));
}

}  // namespace json

namespace detail {

// A handler that runs on this thread. If it throws, the call that dies as it unwinds is kept for the last word.
struct Frame {
    explicit Frame(tocsin_call *call) noexcept : call(call), exceptions(std::uncaught_exceptions()), outer(current()) {
        current() = this;
    }
    ~Frame() { current() = outer; }
    Frame(const Frame &) = delete;
    Frame &operator=(const Frame &) = delete;

    static Frame *&current() noexcept {
        static thread_local Frame *frame = nullptr;
        return frame;
    }

    tocsin_call *call;
    int exceptions;
    bool kept = false;
    Frame *outer;
};

struct GiveUp {
    void operator()(tocsin_call *call) const noexcept {
        Frame *frame = Frame::current();
        if (frame != nullptr && frame->call == call && std::uncaught_exceptions() > frame->exceptions) {
            frame->kept = true;
        } else {
            tocsin_call_drop(call);
        }
    }
};

}  // namespace detail

// A question to the client; params is a JSON object.
struct Question {
    std::string key, method, params;
};

// A request, and the right and duty to answer it once. Answering empties it.
class Call {
public:
    Call() noexcept = default;
    explicit Call(tocsin_call *call) noexcept : call_(call) {}
    explicit operator bool() const noexcept { return call_ != nullptr; }

    const tocsin_request &request() const noexcept { return *tocsin_call_request(call_.get()); }
    std::string_view target() const noexcept { return to_view(request().target); }
    std::string_view arguments() const noexcept { return to_view(request().arguments); }
    bool is_cancelled() const noexcept { return tocsin_call_is_cancelled(call_.get()); }

    void complete(std::string_view result_json) { end(tocsin_call_complete(call_.release(), to_str(result_json))); }
    void complete_text(std::string_view text) { end(tocsin_call_complete_text(call_.release(), to_str(text))); }
    void complete_structured(std::string_view json) { end(tocsin_call_complete_structured(call_.release(), to_str(json))); }
    void complete_blob(std::string_view bytes) { end(tocsin_call_complete_blob(call_.release(), to_str(bytes))); }
    void complete_values(const std::vector<std::string_view> &values) {
        std::vector<tocsin_str> texts;
        for (const auto value : values) texts.push_back(to_str(value));
        end(tocsin_call_complete_values(call_.release(), texts.data(), texts.size()));
    }
    void fail(std::string_view text) { end(tocsin_call_fail(call_.release(), to_str(text))); }
    void fail(std::int32_t code, std::string_view message, std::string_view data_json = {}) {
        end(tocsin_call_fail_with(call_.release(), code, to_str(message), to_str(data_json)));
    }

    void progress(double done, double total = std::numeric_limits<double>::quiet_NaN(), std::string_view message = {}) {
        detail::check(tocsin_call_progress(call_.get(), done, total, to_str(message)));
    }
    void log(std::int32_t level, std::string_view data_json, std::string_view logger = {}) {
        detail::check(tocsin_call_log(call_.get(), level, to_str(logger), to_str(data_json)));
    }
    // Calls hook, which must not throw, when the call is cancelled.
    void on_cancel(std::function<void()> hook) {
        using F = std::function<void()>;
        detail::check(tocsin_call_on_cancel(
            call_.get(), [](void *kept) noexcept { (*static_cast<F *>(kept))(); }, detail::keep<F>(std::move(hook)),
            detail::drop<F>));
    }
    bool can_ask(std::string_view method) const noexcept { return tocsin_call_can_ask(call_.get(), to_str(method)); }

    // Asks the client, and goes on in then(call, answers) once it has answered everything. A client that cannot or
    // will not answer fails the call.
    template <class Then>
    void ask(const std::vector<Question> &questions, Then then) &&;

private:
    static void end(tocsin_status status) { detail::check(status); }
    std::unique_ptr<tocsin_call, detail::GiveUp> call_;
};

using Handler = std::function<void(Call)>;

namespace detail {

// Runs a handler; what it throws becomes its answer, if it has the call still.
template <class F>
void run(tocsin_call *call, F &&handler) noexcept {
    Frame frame(call);
    try {
        handler(Call(call));
    } catch (const ToolError &error) {
        if (frame.kept) tocsin_call_fail(call, to_str(error.what()));
    } catch (const std::exception &error) {
        if (frame.kept) tocsin_call_crash(call, to_str(error.what()));
    } catch (...) {
        if (frame.kept) tocsin_call_crash(call, to_str("it threw something that is no std::exception"));
    }
}

}  // namespace detail

template <class Then>
void Call::ask(const std::vector<Question> &questions, Then then) && {
    using F = std::function<void(Call, std::string_view)>;
    std::vector<tocsin_question> asked;
    for (const auto &question : questions)
        asked.push_back({to_str(question.key), to_str(question.method), to_str(question.params)});
    const auto go_on = [](tocsin_call *call, std::int32_t outcome, tocsin_str answer, void *kept) noexcept {
        if (outcome == TOCSIN_ASKED_FAILED) tocsin_call_fail(call, answer);
        if (outcome != TOCSIN_ASKED_ANSWERED) return;
        detail::run(call, [&](Call call) { (*static_cast<F *>(kept))(std::move(call), to_view(answer)); });
    };
    // On success the call is then's; on failure it is still ours, and given up.
    detail::check(tocsin_call_ask(call_.get(), asked.data(), asked.size(), go_on, detail::keep<F>(std::move(then)),
                                  detail::drop<F>));
    call_.release();
}

class Queue;

// Where a handler runs: by default on the server's own threads.
struct Where {
    tocsin_queue *queue = nullptr;
    std::uint32_t flags = 0;
};
// On the thread that read the request; for handlers that return at once.
inline constexpr Where Inline{nullptr, TOCSIN_HANDLER_INLINE};

// Calls that wait for the host.
class Queue {
public:
    Queue() {
        detail::check_abi();
        tocsin_queue *queue = nullptr;
        detail::check(tocsin_queue_new(&queue));
        queue_.reset(queue);
    }
    operator Where() const noexcept { return {queue_.get(), 0}; }

    // Readable while something waits.
    int fd() const noexcept { return tocsin_queue_fd(queue_.get()); }
    // Calls wake, which must not throw, when it turns from idle to busy.
    void on_wake(std::function<void()> wake) {
        using F = std::function<void()>;
        detail::check(tocsin_queue_on_wake(
            queue_.get(), [](void *kept) noexcept { (*static_cast<F *>(kept))(); }, detail::keep<F>(std::move(wake)),
            detail::drop<F>));
    }
    // Runs the handlers of waiting calls here; says how many. 0 stands for no bound.
    std::size_t run(std::size_t max_calls = 0, std::uint32_t max_microseconds = 0) {
        std::size_t done = 0;
        detail::check(tocsin_queue_run(queue_.get(), max_calls, max_microseconds, &done));
        return done;
    }
    void close() { detail::check(tocsin_queue_close(queue_.get())); }

private:
    detail::Handle<tocsin_queue, tocsin_queue_free> queue_;
};

// A transport that is served in the background. It goes on until the server stops, also when this is destroyed.
class Service {
public:
    explicit Service(tocsin_service *service) noexcept : service_(service) {}

    // False: it still goes on.
    bool wait(std::uint32_t timeout_ms = TOCSIN_FOREVER) {
        const auto status = tocsin_service_wait(service_.get(), timeout_ms);
        if (status == TOCSIN_STATUS_TIMEOUT) return false;
        detail::check(status);
        return true;
    }
    void stop(std::uint32_t grace_ms) { detail::check(tocsin_service_stop(service_.get(), grace_ms)); }
    // Calls end, which must not throw, once it has ended.
    void on_end(std::function<void(tocsin_status)> end) {
        using F = std::function<void(tocsin_status)>;
        detail::check(tocsin_service_on_end(
            service_.get(), [](tocsin_status status, void *kept) noexcept { (*static_cast<F *>(kept))(status); },
            detail::keep<F>(std::move(end)), detail::drop<F>));
    }

private:
    detail::Handle<tocsin_service, tocsin_service_free> service_;
};

// A client whose bytes the host moves. Destroying it means that the client is gone.
class Session {
public:
    explicit Session(tocsin_session *session) noexcept : session_(session) {}

    void feed(std::string_view bytes) { detail::check(tocsin_session_feed(session_.get(), to_str(bytes))); }
    void finish() { detail::check(tocsin_session_finish(session_.get())); }

private:
    detail::Handle<tocsin_session, tocsin_session_free> session_;
};

// A batch of changes, which ends with it. Not to outlive its server.
class Changes {
public:
    explicit Changes(tocsin_server *server) : server_(server) { detail::check(tocsin_server_hold_changes(server)); }
    ~Changes() { tocsin_server_release_changes(server_); }
    Changes(const Changes &) = delete;
    Changes &operator=(const Changes &) = delete;

private:
    tocsin_server *server_;
};

// A server: what is offered, to any number of clients.
class Server {
public:
    // options_json is a JSON object, see tocsin_server_options.
    Server(std::string_view name, std::string_view version, std::string_view options_json = {})
        : Server(options(name, version, options_json)) {}
    explicit Server(const tocsin_server_options &options) {
        detail::check_abi();
        tocsin_server *server = nullptr;
        tocsin_error *error = nullptr;
        const auto status = tocsin_server_new(&options, &server, &error);
        detail::check(status, error);
        server_.reset(server);
    }
    explicit operator bool() const noexcept { return server_ != nullptr; }
    // For what only tocsin.h has.
    tocsin_server *handle() const noexcept { return server_.get(); }

    void add_tool(std::string_view definition, Handler handler, Where where = {}) {
        define(tocsin_server_add_tool, definition, std::move(handler), where);
    }
    void add_resource(std::string_view definition, Handler handler, Where where = {}) {
        define(tocsin_server_add_resource, definition, std::move(handler), where);
    }
    // completer, if there is one, answers completions of the arguments, or of a template's variables.
    void add_prompt(std::string_view definition, Handler handler, Handler completer = nullptr, Where where = {}) {
        define(tocsin_server_add_prompt, definition, std::move(handler), std::move(completer), where);
    }
    void add_template(std::string_view definition, Handler handler, Handler completer = nullptr, Where where = {}) {
        define(tocsin_server_add_template, definition, std::move(handler), std::move(completer), where);
    }
    void replace_tool(std::string_view definition, Handler handler, Where where = {}) {
        define(tocsin_server_replace_tool, definition, std::move(handler), where);
    }
    void replace_resource(std::string_view definition, Handler handler, Where where = {}) {
        define(tocsin_server_replace_resource, definition, std::move(handler), where);
    }
    void replace_prompt(std::string_view definition, Handler handler, Handler completer = nullptr, Where where = {}) {
        define(tocsin_server_replace_prompt, definition, std::move(handler), std::move(completer), where);
    }
    void replace_template(std::string_view definition, Handler handler, Handler completer = nullptr, Where where = {}) {
        define(tocsin_server_replace_template, definition, std::move(handler), std::move(completer), where);
    }
    // list is one of TOCSIN_TOOLS, TOCSIN_PROMPTS, TOCSIN_RESOURCES and TOCSIN_TEMPLATES.
    void remove(std::uint32_t list, std::string_view key) { edit(tocsin_server_remove, list, key); }
    void enable(std::uint32_t list, std::string_view key) { edit(tocsin_server_enable, list, key); }
    void disable(std::uint32_t list, std::string_view key) { edit(tocsin_server_disable, list, key); }
    bool contains(std::uint32_t list, std::string_view key) const noexcept {
        return tocsin_server_contains(server_.get(), list, to_str(key));
    }

    // Opens a batch: changes are announced once, when the result is destroyed.
    [[nodiscard]] Changes changes() { return Changes(server_.get()); }
    void lists_changed(std::uint32_t lists) { detail::check(tocsin_server_lists_changed(server_.get(), lists)); }
    void resource_updated(std::string_view uri) {
        detail::check(tocsin_server_resource_updated(server_.get(), to_str(uri)));
    }
    // Calls watch, which must not throw, for the first and the last subscriber of a URI.
    void on_watch(std::function<void(std::string_view uri, bool active)> watch) {
        using F = std::function<void(std::string_view, bool)>;
        detail::check(tocsin_server_on_watch(
            server_.get(),
            [](tocsin_str uri, bool active, void *kept) noexcept { (*static_cast<F *>(kept))(to_view(uri), active); },
            detail::keep<F>(std::move(watch)), detail::drop<F>));
    }
    // Lets hook decide on subscriptions/listen: complete("{}") accepts, fail refuses.
    void on_listen(Handler hook, Where where = {}) {
        tocsin_error *error = nullptr;
        const auto kept = wrap(std::move(hook), where);
        const auto status = tocsin_server_on_listen(server_.get(), &kept, &error);
        detail::check(status, error);
    }

    // Serves standard input and output, and returns when that ends.
    void serve_stdio() {
        tocsin_error *error = nullptr;
        const auto status = tocsin_serve_stdio(server_.get(), &error);
        detail::check(status, error);
    }
    Service start_stdio() {
        tocsin_service *service = nullptr;
        tocsin_error *error = nullptr;
        const auto status = tocsin_start_stdio(server_.get(), &service, &error);
        detail::check(status, error);
        return Service(service);
    }
    // Opens a session; output, which must not throw, gets whole messages with their line end.
    Session connect(std::function<void(std::string_view)> output) {
        using F = std::function<void(std::string_view)>;
        tocsin_session *session = nullptr;
        tocsin_error *error = nullptr;
        const auto status = tocsin_session_new(
            server_.get(), [](tocsin_str bytes, void *kept) noexcept { (*static_cast<F *>(kept))(to_view(bytes)); },
            detail::keep<F>(std::move(output)), detail::drop<F>, &session, &error);
        detail::check(status, error);
        return Session(session);
    }
    // May be called in a signal handler.
    void request_stop() const noexcept { tocsin_server_request_stop(server_.get()); }

private:
    static tocsin_server_options options(std::string_view name, std::string_view version, std::string_view json) {
        tocsin_server_options options = {};
        options.struct_size = sizeof options;
        options.name = to_str(name);
        options.version = to_str(version);
        options.options_json = to_str(json);
        return options;
    }

    // The handler is the library's from the call on that it is given to.
    static tocsin_handler wrap(Handler function, Where where) {
        tocsin_handler handler = {};
        handler.struct_size = sizeof handler;
        handler.call = [](tocsin_call *call, const tocsin_request *, void *kept) noexcept {
            detail::run(call, [kept](Call call) { (*static_cast<Handler *>(kept))(std::move(call)); });
        };
        handler.user_data = detail::keep<Handler>(std::move(function));
        handler.drop = detail::drop<Handler>;
        handler.queue = where.queue;
        handler.flags = where.flags;
        return handler;
    }

    using Define = tocsin_status (*)(tocsin_server *, tocsin_str, const tocsin_handler *, tocsin_error **);
    void define(Define function, std::string_view definition, Handler handler, Where where) {
        tocsin_error *error = nullptr;
        const auto kept = wrap(std::move(handler), where);
        const auto status = function(server_.get(), to_str(definition), &kept, &error);
        detail::check(status, error);
    }
    using DefineBoth = tocsin_status (*)(tocsin_server *, tocsin_str, const tocsin_handler *, const tocsin_handler *,
                                         tocsin_error **);
    void define(DefineBoth function, std::string_view definition, Handler handler, Handler completer, Where where) {
        tocsin_error *error = nullptr;
        const bool completes = completer != nullptr;
        const auto kept = wrap(std::move(handler), where);
        const auto kept_completer = completes ? wrap(std::move(completer), where) : tocsin_handler{};
        const auto status =
            function(server_.get(), to_str(definition), &kept, completes ? &kept_completer : nullptr, &error);
        detail::check(status, error);
    }
    using Edit = tocsin_status (*)(tocsin_server *, std::uint32_t, tocsin_str, tocsin_error **);
    void edit(Edit function, std::uint32_t list, std::string_view key) {
        tocsin_error *error = nullptr;
        const auto status = function(server_.get(), list, to_str(key), &error);
        detail::check(status, error);
    }

    detail::Handle<tocsin_server, tocsin_server_free> server_;
};

}  // namespace tocsin

#endif
