"""Handlers of every kind, their arguments, results and failures."""

import asyncio
import contextvars
import dataclasses
import functools
import threading
from typing import Annotated, Any

import pytest
from peer import connect
from pydantic import BaseModel, Field
from tocsin import Audio, Context, Image, McpError, Message, RegistryError, Server, SyncContext, ToolError, ToolResult
from typing_extensions import TypedDict


def run(scenario):
    """Runs an async test body."""
    return asyncio.run(asyncio.wait_for(scenario, 30))


async def listed(client, name):
    tools = (await client.request("list", "tools/list"))["result"]["tools"]
    return next(tool for tool in tools if tool["name"] == name)


class Weather(BaseModel):
    city: str
    degrees: float


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Pair(TypedDict):
    a: int
    b: int


def test_schemas_come_from_type_hints():
    server = Server("test")

    @server.tool
    async def forecast(
        city: Annotated[str, Field(description="Where")], days: int = 3, ctx: Context | None = None
    ) -> Weather:
        """The weather."""
        return Weather(city=city, degrees=days)

    async def scenario():
        async with connect(server) as client:
            tool = await listed(client, "forecast")
            assert tool["description"] == "The weather."
            assert tool["inputSchema"] == {
                "type": "object",
                "properties": {
                    "city": {"description": "Where", "type": "string"},
                    "days": {"default": 3, "type": "integer"},
                },
                "required": ["city"],
            }
            assert tool["outputSchema"]["required"] == ["city", "degrees"]
            result = await client.call("forecast", {"city": "Oslo"})
            assert result["structuredContent"] == {"city": "Oslo", "degrees": 3.0}
            refused = await client.call("forecast", {"city": 1})
            assert refused["isError"] and "/city" in refused["content"][0]["text"]

    run(scenario())
    assert asyncio.run(forecast("Rome")).city == "Rome", "the decorator leaves the function as it is"


@pytest.mark.parametrize("is_async", [True, False])
def test_results_become_content(is_async):
    server = Server("test")
    values: dict[str, Any] = {
        "text": "hello",
        "nothing": None,
        "image": Image(b"\x89PNG"),
        "blocks": ["one", Audio("AAAA")],
        "point": Point(1, 2),
        "dict": {"a": [1, 2**70]},
        "number": 7,
        "list": [1, 2],
        "full": ToolResult(["x"], structured={"y": 1}, meta={"z": 1}),
    }

    def add(name, value):
        async def handle():
            return value

        server.tools.add(handle if is_async else lambda: value, name)

    for name, value in values.items():
        add(name, value)

    async def scenario():
        async with connect(server) as client:
            results = {name: await client.call(name) for name in values}
        text = {name: [block.get("text") for block in result["content"]] for name, result in results.items()}
        assert text["text"] == ["hello"] and text["nothing"] == []
        assert results["image"]["content"][0] == {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}
        assert [block["type"] for block in results["blocks"]["content"]] == ["text", "audio"]
        assert results["point"]["structuredContent"] == {"x": 1, "y": 2}
        assert results["dict"]["structuredContent"] == {"a": [1, 2**70]}
        assert text["number"] == ["7"] and text["list"] == ["[1,2]"]
        assert results["full"]["structuredContent"] == {"y": 1} and results["full"]["_meta"]["z"] == 1

    run(scenario())


def test_typed_results_have_schemas():
    server = Server("test")

    @server.tool
    def point() -> Point:
        return Point(1, 2)

    @server.tool
    def pair() -> Pair:
        return {"a": 1, "b": 2}

    @server.tool
    def wrong() -> Pair:
        return {"a": 1}  # type: ignore[typeddict-item]

    async def scenario():
        async with connect(server) as client:
            assert (await listed(client, "pair"))["outputSchema"]["required"] == ["a", "b"]
            assert (await client.call("point"))["structuredContent"] == {"x": 1, "y": 2}
            assert (await client.call("pair"))["structuredContent"] == {"a": 1, "b": 2}
            assert (await client.call("wrong"))["isError"]

    run(scenario())


@pytest.mark.parametrize("value", [float("nan"), {"a": float("inf")}, Weather(city="x", degrees=float("nan"))])
def test_what_json_cannot_say_is_a_tool_error_that_says_so(value):
    server = Server("test")
    server.tools.add(lambda: value, "bad")
    server.tools.add(lambda: value, "typed", output_schema={"type": "object"})

    async def scenario():
        async with connect(server) as client:
            for name in ("bad", "typed"):
                result = await client.call(name)
                text = result["content"][0]["text"]
                assert result["isError"] and ("NaN" in text or "Infinity" in text), text

    run(scenario())


def test_numbers_and_text_are_exact():
    server = Server("test")

    @server.tool
    async def echo(v: int, text: str = "") -> dict[str, Any]:
        return {"v": v, "text": text}

    async def scenario():
        async with connect(server) as client:
            for number in (9007199254740993, 2**63 - 1, -(2**63), 10**40):
                result = await client.call("echo", {"v": number, "text": "★🎉ж✓\u2028"})
                assert result["structuredContent"] == {"v": number, "text": "★🎉ж✓\u2028"}
            call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":%s}}'
            client.send(call % '{"v":1,"text":"\\ud800"}')
            assert (await client.receive())["error"]["code"] == -32602
            assert (await client.call("echo", {"v": 1}))["structuredContent"]["v"] == 1

    run(scenario())


@pytest.mark.parametrize("is_async", [True, False])
def test_failures(is_async, caplog):
    server = Server("test")

    def fail(error):
        def handle():
            raise error

        async def handle_async():
            raise error

        return handle_async if is_async else handle

    server.tools.add(fail(ToolError("for the model")), "tool_error")
    server.tools.add(fail(McpError(-5, "for the client", {"a": 1})), "mcp_error")
    server.tools.add(fail(RuntimeError("secret")), "crash")
    server.tools.add(fail(RegistryError("no tool 'x'")), "registry_error")
    server.tools.add(fail(SystemExit(3)), "exit")
    server.tools.add(fail(ToolError("\ud800")), "surrogate")

    async def scenario():
        async with connect(server) as client:
            assert (await client.call("tool_error"))["content"][0]["text"] == "for the model"
            assert (await client.call("registry_error"))["content"][0]["text"] == "no tool 'x'"
            answer = await client.request(1, "tools/call", {"name": "mcp_error"})
            assert answer["error"] == {"code": -5, "message": "for the client", "data": {"a": 1}}
            for name in ("crash", "exit", "surrogate"):
                result = await client.call(name)
                assert result["isError"] and "secret" not in str(result), name

    run(scenario())


def test_callables_of_every_kind():
    server = Server("test")

    class Greeter:
        def __init__(self, word):
            self.word = word

        async def __call__(self, name: str) -> str:
            return f"{self.word} {name}"

        def method(self, name: str) -> str:
            return f"{self.word}, {name}"

    def wrapper(function):
        @functools.wraps(function)
        async def wrapped(*args, **kwargs):
            return (await function(*args, **kwargs)).upper()

        return wrapped

    @wrapper
    async def shout(name: str) -> str:
        return f"hey {name}"

    def greet(word: str, name: str) -> str:
        return f"{word} {name}"

    server.tools.add(Greeter("hi"), "object")
    server.tools.add(Greeter("yo").method, "method")
    server.tools.add(shout, "wrapped")
    server.tools.add(functools.partial(greet, "hello"), "partial")

    async def scenario():
        async with connect(server) as client:
            said = [(await client.call(n, {"name": "Ann"}))["content"][0]["text"] for n in server.tools.names()]
        assert said == ["hi Ann", "yo, Ann", "HEY ANN", "hello Ann"]

    run(scenario())


def test_what_cannot_be_a_handler_is_refused_when_it_is_added():
    server = Server("test")
    with pytest.raises(TypeError, match="have names"):
        server.tools.add(lambda *args: "", "star")
    with pytest.raises(TypeError, match="Context"):

        @server.tool
        async def wrong(ctx: SyncContext) -> str:
            return ""

    with pytest.raises(RegistryError, match="a b"):
        server.tools.add(lambda: "", "a b")
    server.tools.add(lambda: "", "a")
    with pytest.raises(RegistryError, match="tool 'a' already exists"):
        server.tools.add(lambda: "", "a")
    with pytest.raises(RegistryError, match="no tool 'b'"):
        server.tools.remove("b")


def test_context_variables_follow_the_server_and_stay_apart():
    who = contextvars.ContextVar("who", default="nobody")
    server = Server("test")

    @server.tool
    async def swap(name: str) -> str:
        before = who.get()
        who.set(name)
        await asyncio.sleep(0)
        return f"{before} {who.get()}"

    async def scenario():
        who.set("caller")
        async with connect(server) as client:
            said = [(await client.call("swap", {"name": name}))["content"][0]["text"] for name in ("a", "b")]
        assert said == ["caller a", "caller b"] and who.get() == "caller"

    run(scenario())


def test_handlers_run_on_the_callers_loop_and_on_threads():
    server = Server("test")
    seen: dict[str, Any] = {}

    @server.tool
    async def on_loop() -> str:
        seen["loop"] = asyncio.get_running_loop()
        return ""

    @server.tool
    def on_thread() -> str:
        seen["thread"] = threading.current_thread().name
        return ""

    async def scenario():
        async with connect(server) as client:
            await client.call("on_loop")
            await client.call("on_thread")
        assert seen["loop"] is asyncio.get_running_loop()
        assert seen["thread"].startswith("tocsin-handler")

    run(scenario())


def test_prompts_resources_templates_and_completions():
    server = Server("test")

    @server.prompt(completer=lambda name, value, others: [f"{value}{n}" for n in range(150)])
    def briefing(city: str, style: str = "short") -> list[Any]:
        """A briefing."""
        return [f"{city} {style}", Message("yes", role="assistant")]

    @server.resource("test://text", mime_type="text/plain")
    def text() -> str:
        return "hello"

    @server.resource("test://bytes")
    async def data() -> bytes:
        return b"\x00\xff"

    @server.resource("test://{name}/{number}")
    async def both(name: str, number: int, uri: str) -> str:
        return f"{name} {number + 1} {uri}"

    async def scenario():
        async with connect(server) as client:
            prompts = (await client.request(1, "prompts/list"))["result"]["prompts"]
            assert prompts[0]["arguments"] == [
                {"name": "city", "required": True},
                {"name": "style", "required": False},
            ]
            got = await client.request(2, "prompts/get", {"name": "briefing", "arguments": {"city": "Oslo"}})
            assert [m["role"] for m in got["result"]["messages"]] == ["user", "assistant"]
            read = await client.request(3, "resources/read", {"uri": "test://text"})
            assert read["result"]["contents"] == [{"uri": "test://text", "mimeType": "text/plain", "text": "hello"}]
            read = await client.request(4, "resources/read", {"uri": "test://bytes"})
            assert read["result"]["contents"] == [{"uri": "test://bytes", "blob": "AP8="}]
            read = await client.request(5, "resources/read", {"uri": "test://a%20b/41"})
            assert read["result"]["contents"][0]["text"] == "a b 42 test://a%20b/41"
            params = {"ref": {"type": "ref/prompt", "name": "briefing"}, "argument": {"name": "city", "value": "x"}}
            done = (await client.request(6, "completion/complete", params))["result"]["completion"]
            assert len(done["values"]) == 100 and done["total"] == 150 and done["hasMore"]

    run(scenario())
