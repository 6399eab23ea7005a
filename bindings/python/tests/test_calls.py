"""Calls in flight: cancellation, progress, logs, questions; and changes that clients hear of."""

import asyncio
import threading
import time
from typing import Any

import pytest
from peer import connect
from test_handlers import run
from tocsin import Context, McpError, Server, SyncContext, ToolError, current_context, elicit, list_roots

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}},
}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}


def call(id, name, arguments=None, **meta):
    params = {"name": name, "arguments": arguments or {}, "_meta": META | meta}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def test_a_cancelled_call_is_cancelled_in_python_and_not_answered():
    server = Server("test")
    seen = []

    async def scenario():
        started, ended = asyncio.Event(), asyncio.Event()

        @server.tool
        async def wait() -> str:
            started.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                seen.append("cancelled")
                ended.set()
                raise
            return "never"

        @server.tool
        async def stubborn() -> str:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return "swallowed"
            return "never"

        async with connect(server) as client:
            for id, name in ((1, "wait"), (2, "stubborn")):
                client.send(call(id, name))
            await started.wait()
            for id in (1, 2):
                client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            await ended.wait()
            client.send(call(3, "nobody"))
            assert (await client.receive())["id"] == 3, "nothing came for the cancelled ones"
        assert seen == ["cancelled"]

    run(scenario())


def test_a_plain_function_sees_that_it_is_cancelled():
    server = Server("test")
    started, ended = threading.Event(), threading.Event()

    @server.tool
    def wait(ctx: SyncContext) -> str:
        started.set()
        while not ctx.cancelled:
            time.sleep(0.001)
        ended.set()
        return "nobody hears"

    async def scenario():
        async with connect(server) as client:
            client.send(call(1, "wait"))
            await asyncio.to_thread(started.wait, 10)
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            assert await asyncio.to_thread(ended.wait, 10)

    run(scenario())


def test_progress_and_logs_come_before_the_answer():
    server = Server("test")

    @server.tool
    async def work(ctx: Context) -> str:
        assert current_context.get() is ctx
        for done in (1, 2, 2, 3):
            ctx.progress(done, 3, "at it")
        ctx.debug("quiet")
        ctx.warning({"loud": True}, logger="me")
        return "done"

    async def scenario():
        async with connect(server) as client:
            client.send(call(1, "work", progressToken="t", **{"io.modelcontextprotocol/logLevel": "info"}))
            messages = [await client.receive() for _ in range(5)]
        assert [message.get("params", {}).get("progress") for message in messages] == [1, 2, 3, None, None]
        assert messages[3]["params"] == {"level": "warning", "logger": "me", "data": {"loud": True}}
        assert messages[4]["result"]["content"][0]["text"] == "done"

    run(scenario())


@pytest.mark.parametrize("is_async", [True, False])
def test_one_handler_asks_in_both_eras(is_async):
    server = Server("test")
    runs = []

    if is_async:

        @server.tool
        async def ask(ctx: Context) -> str:
            runs.append(1)
            first = await ctx.elicit("who", "Who?", NAME)
            answers = await ctx.ask({"again": elicit("Again?", NAME), "roots": list_roots()})
            return f"{first['content']['name']} {answers['again']['action']} {len(answers['roots']['roots'])}"
    else:

        @server.tool
        def ask(ctx: SyncContext) -> str:
            runs.append(1)
            first = ctx.elicit("who", "Who?", NAME)
            answers = ctx.ask({"again": elicit("Again?", NAME), "roots": list_roots()})
            return f"{first['content']['name']} {answers['again']['action']} {len(answers['roots']['roots'])}"

    ann = {"action": "accept", "content": {"name": "Ann"}}
    rest = {"again": {"action": "decline"}, "roots": {"roots": []}}

    async def scenario():
        async with connect(server) as client:
            first = await client.call("ask")
            assert first["resultType"] == "input_required" and list(first["inputRequests"]) == ["who"]
            again = {"requestState": first["requestState"], "inputResponses": {"who": ann}}
            second = await client.call("ask", **again)
            assert sorted(second["inputRequests"]) == ["again", "roots"]
            third = await client.call("ask", requestState=second["requestState"], inputResponses=rest)
            assert third["content"][0]["text"] == "Ann decline 0" and len(runs) == 3

            capabilities = {"elicitation": {}, "roots": {}}
            params = {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "t", "version": "1"},
            }
            client.send({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params})
            await client.receive()
            client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}})
            answers = {"Who?": ann, "Again?": rest["again"]}
            while (message := await client.receive()).get("method"):
                answer = rest["roots"] if message["method"] == "roots/list" else answers[message["params"]["message"]]
                client.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
            assert message["result"]["content"][0]["text"] == "Ann decline 0" and len(runs) == 4

            client.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ask"}})
            question = await client.receive()
            client.send({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no way"}})
            answer = await client.receive()
            assert answer["result"]["isError"] and "no way" in answer["result"]["content"][0]["text"]

    run(scenario())


def test_changes_are_heard_and_batches_are_one():
    server = Server("test")

    async def scenario():
        async with connect(server) as client:
            filter = {"toolsListChanged": True, "resourceSubscriptions": ["test://a"]}
            client.send(
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "subscriptions/listen",
                    "params": {"_meta": META, "notifications": filter},
                }
            )
            assert (await client.receive())["method"] == "notifications/subscriptions/acknowledged"
            assert server.subscriptions == 1
            with server.changes():
                for number in range(100):
                    server.tools.add(lambda: "", f"tool{number}")
                server.resources.updated("test://a")
            heard = [(await client.receive())["method"] for _ in range(2)]
            assert heard == ["notifications/tools/list_changed", "notifications/resources/updated"]
            await asyncio.to_thread(server.tools.remove, "tool7")
            assert (await client.receive())["method"] == "notifications/tools/list_changed"
            assert "tool7" not in server.tools and len(server.tools.names()) == 99

    run(scenario())


def test_hooks_decide_on_listen_and_hear_of_watches():
    server = Server("test")
    watched: list[tuple[str, bool]] = []

    async def scenario():
        heard = asyncio.Event()

        @server.on_listen
        async def decide(filter: dict[str, Any]) -> None:
            if "promptsListChanged" in filter:
                raise McpError(-7, "not for you")

        @server.on_watch
        def watch(uri: str, active: bool) -> None:
            watched.append((uri, active))
            if not active:
                heard.set()

        async with connect(server) as client:
            for id, filter in ((1, {"promptsListChanged": True}), (2, {"resourceSubscriptions": ["test://a"]})):
                params = {"_meta": META, "notifications": filter}
                client.send({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params})
            assert (await client.receive())["error"] == {"code": -7, "message": "not for you"}
            assert (await client.receive())["method"] == "notifications/subscriptions/acknowledged"
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
            await heard.wait()
        assert watched == [("test://a", True), ("test://a", False)]

    run(scenario())


def test_a_missing_answer_is_an_error_not_silence():
    server = Server("test")

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            await ctx.sample("s", [], 1)
        except ToolError:
            return "handled"
        return "?"

    async def scenario():
        async with connect(server) as client:
            client.send(call(1, "ask"))
            answer = await client.receive()
            assert answer["error"]["code"] == -32021
            assert answer["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}

    run(scenario())
