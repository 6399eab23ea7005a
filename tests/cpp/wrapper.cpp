// The C++ wrapper: handlers that throw, calls that are lost, moves, questions, queues.
#include <tocsin.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            std::cerr << __FILE__ << ':' << __LINE__ << ": not so: " << #condition << std::endl; \
            std::abort();                                                                        \
        }                                                                                        \
    } while (0)

static_assert(!std::is_copy_constructible_v<tocsin::Server> && std::is_nothrow_move_constructible_v<tocsin::Server>);
static_assert(!std::is_copy_constructible_v<tocsin::Call> && std::is_nothrow_move_constructible_v<tocsin::Call>);
static_assert(!std::is_copy_constructible_v<tocsin::Queue> && std::is_nothrow_move_assignable_v<tocsin::Queue>);
static_assert(!std::is_copy_constructible_v<tocsin::Session> && std::is_nothrow_move_assignable_v<tocsin::Session>);
static_assert(!std::is_copy_constructible_v<tocsin::Service>);

// A client in the same process.
class Client {
public:
    explicit Client(tocsin::Server &server)
        : session_(server.connect([this](std::string_view line) {
              std::lock_guard lock(mutex_);
              lines_.emplace_back(line);
              changed_.notify_all();
          })) {}

    void send(const std::string &line) { session_.feed(line + "\n"); }

    void call(const std::string &name, const std::string &arguments = "{}", const std::string &more = "") {
        send(R"({"jsonrpc":"2.0","id":)" + std::to_string(++id_) + R"(,"method":"tools/call","params":{"name":")" + name +
             R"(","arguments":)" + arguments + more +
             R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
             R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}})");
    }

    std::string receive() {
        std::unique_lock lock(mutex_);
        CHECK(changed_.wait_for(lock, std::chrono::seconds(30), [this] { return read_ < lines_.size(); }));
        return lines_[read_++];
    }

    void expect(std::string_view part) {
        const auto line = receive();
        if (line.find(part) == std::string::npos) {
            std::cerr << "no " << part << " in " << line << std::endl;
            std::abort();
        }
    }

    int last_id() const { return id_; }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> lines_;
    std::size_t read_ = 0;
    int id_ = 0;
    tocsin::Session session_;
};

static std::string tool(const std::string &name) {
    return R"({"name":)" + tocsin::json::quote(name) + R"(,"inputSchema":{"type":"object"}})";
}

static void answers() {
    tocsin::Server server("test", "1");
    server.add_tool(tool("text"), [](tocsin::Call call) {
        call.complete_text("Hello, " + tocsin::json::string(call.arguments(), "/name").value_or("?"));
    });
    server.add_tool(tool("throws"), [](tocsin::Call) { throw std::runtime_error("secret"); });
    server.add_tool(tool("throws_7"), [](tocsin::Call) { throw 7; });
    server.add_tool(tool("tool_error"), [](tocsin::Call) { throw tocsin::ToolError("for the model"); });
    server.add_tool(tool("after"), [](tocsin::Call call) {
        call.complete_text("answered");
        throw std::runtime_error("too late to matter");
    });
    server.add_tool(tool("lost"), [](tocsin::Call) {});
    server.add_tool(tool("structured"), [](tocsin::Call call) {
        const auto n = tocsin::json::integer(call.arguments(), "/n");
        call.complete_structured(R"({"n":)" + std::to_string(n.value()) + "}");
    });
    std::promise<std::thread> worker;
    server.add_tool(tool("deferred"), [&worker](tocsin::Call call) {
        worker.set_value(std::thread([call = std::move(call)]() mutable {
            call.progress(1, 2, "half");
            call.log(TOCSIN_LEVEL_INFO, "\"data\"", "logger");
            call.complete_text("from a thread");
        }));
    });
    server.add_tool(tool("failing"), [](tocsin::Call call) { call.fail(-32000, "no", "{}"); });
    Client client(server);
    client.call("text", R"({"name":"Ada \u2605"})");
    client.expect("Hello, Ada \u2605");
    client.call("throws");
    client.expect("\"text\":\"the handler failed\"}],\"isError\":true");
    client.call("throws_7");
    client.expect("the handler failed");
    client.call("tool_error");
    client.expect("\"text\":\"for the model\"}],\"isError\":true");
    client.call("after");
    client.expect("answered");
    client.call("lost");
    client.expect("the handler failed");
    client.call("structured", R"({"n":9007199254740993})");
    client.expect(R"("structuredContent":{"n":9007199254740993})");
    client.call("deferred");
    client.expect("from a thread");
    worker.get_future().get().join();
    client.call("failing");
    client.expect(R"("error":{"code":-32000,"message":"no","data":{}})");
}

static void errors() {
    try {
        tocsin::Server server("test", "1", R"({"page_size":0})");
        CHECK(false);
    } catch (const tocsin::Error &error) {
        CHECK(error.status() == TOCSIN_STATUS_INVALID_ARGUMENT);
        CHECK(std::string(error.what()).find("page_size") != std::string::npos);
    }
    tocsin::Server server("test", "1");
    // What a handler owns goes with it, also when it is refused.
    const auto owned = std::make_shared<int>(1);
    server.add_tool(tool("t"), [owned](tocsin::Call) {});
    try {
        server.add_tool(tool("t"), [owned](tocsin::Call) {});
        CHECK(false);
    } catch (const tocsin::Error &error) {
        CHECK(error.status() == TOCSIN_STATUS_ALREADY_EXISTS);
    }
    CHECK(owned.use_count() == 2);
    CHECK(server.contains(TOCSIN_TOOLS, "t"));
    server.replace_tool(tool("t"), [](tocsin::Call) {});
    CHECK(owned.use_count() == 1);
    server.disable(TOCSIN_TOOLS, "t");
    server.enable(TOCSIN_TOOLS, "t");
    server.remove(TOCSIN_TOOLS, "t");
    CHECK(!server.contains(TOCSIN_TOOLS, "t"));
    tocsin::Server moved = std::move(server);
    CHECK(!server && moved);
    server = std::move(moved);
    {
        auto batch = server.changes();
        server.lists_changed(TOCSIN_TOOLS);
    }
}

static void questions() {
    tocsin::Server server("test", "1");
    server.add_tool(tool("ask"), [](tocsin::Call call) {
        const std::vector<tocsin::Question> questions = {
            {"who", "elicitation/create", R"({"message":"Name?","requestedSchema":{"type":"object","properties":{}}})"}};
        std::move(call).ask(questions, [](tocsin::Call call, std::string_view answers) {
            call.complete_text("Hello, " + tocsin::json::string(answers, "/who/content/name").value_or("?"));
        });
    });
    Client client(server);
    client.call("ask");
    const auto line = client.receive();
    CHECK(line.find("input_required") != std::string::npos);
    const auto state = tocsin::json::get(line, "/result/requestState");
    client.call("ask", "{}",
                R"(,"requestState":)" + std::string(state.value()) +
                    R"(,"inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}})");
    client.expect("Hello, Ada");
    client.send(R"({"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"ask"}})");
    client.expect("\"isError\":true");
}

static void queues_and_hooks() {
    tocsin::Server server("test", "1");
    tocsin::Queue queue;
    std::atomic_int wakes = 0;
    queue.on_wake([&wakes] { wakes++; });
    const auto here = std::this_thread::get_id();
    server.add_tool(tool("pumped"), [here](tocsin::Call call) {
        CHECK(std::this_thread::get_id() == here);
        call.complete_text("pumped");
    }, queue);
    server.add_tool(tool("inline"), [here](tocsin::Call call) {
        CHECK(std::this_thread::get_id() == here);
        call.complete_text("inline");
    }, tocsin::Inline);
    std::atomic_bool cancelled = false;
    tocsin::Call kept;
    server.add_tool(tool("kept"), [&](tocsin::Call call) {
        call.on_cancel([&cancelled] { cancelled = true; });
        kept = std::move(call);
    }, tocsin::Inline);
    std::string watched;
    server.on_watch([&watched](std::string_view uri, bool active) { watched += (active ? "+" : "-") + std::string(uri); });
    server.on_listen([](tocsin::Call call) {
        if (call.arguments().find("tools") != std::string_view::npos) {
            call.fail(-32001, "not for you");
        } else {
            call.complete("{}");
        }
    });
    Client client(server);
    client.call("pumped");
    CHECK(wakes == 1 && queue.fd() >= 0);
    CHECK(queue.run() == 1);
    client.expect("pumped");
    client.call("inline");
    client.expect("inline");
    client.call("kept");
    client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                std::to_string(client.last_id()) + "}}");
    CHECK(cancelled && kept.is_cancelled());
    kept.complete_text("nobody hears this");
    CHECK(!kept);
    const std::string head = R"({"jsonrpc":"2.0","id":91,"method":"subscriptions/listen","params":{"notifications":{)",
                      tail = R"(},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                             R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    client.send(head + R"("toolsListChanged":true)" + tail);
    client.expect("not for you");
    client.send(head + R"("resourceSubscriptions":["a:b"])" + tail);
    client.expect("acknowledged");
    CHECK(watched == "+a:b");
    server.resource_updated("a:b");
    client.expect("resources/updated");
    server.add_prompt(R"({"name":"p","arguments":[{"name":"a"}]})", [](tocsin::Call call) { call.complete_text("prompt"); },
                      [](tocsin::Call call) { call.complete_values({"one", "two"}); });
    server.add_resource(R"({"uri":"a:b","name":"b"})", [](tocsin::Call call) { call.complete_blob("\x01\x02"); });
    server.add_template(R"({"uriTemplate":"x:{y}","name":"y"})", [](tocsin::Call call) { call.complete_text("t"); });
}

int main() {
    answers();
    errors();
    questions();
    queues_and_hooks();
    return 0;
}
