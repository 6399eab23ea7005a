"""Tools: what a function becomes, and what its results become."""

import asyncio
import base64
import functools
import json
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import pytest
from conftest import call, run, text, with_client
from pydantic import BaseModel, Field
from tocsin import (
    Audio,
    BaseContext,
    Context,
    Embedded,
    Image,
    McpError,
    ResourceLink,
    Server,
    SyncContext,
    Text,
    ToolError,
    ToolResult,
)
from typing_extensions import TypedDict


class Forecast(BaseModel):
    city: str = Field(description="Where.")
    degrees: float


@dataclass
class Point:
    x: int
    y: int = 0


class Pair(TypedDict):
    left: int
    right: list[str]


def listed(server, name=None):
    """The definition of a server's only tool, or of the one of that name."""
    tools = with_client(server, lambda client: client.request("tools/list"))["tools"]
    return next(tool for tool in tools if name in (None, tool["name"]))


def test_a_function_becomes_a_tool(server):
    @server.tool
    def forecast(city: str, days: int = 3, exact: bool = False, ctx: SyncContext = None) -> str:
        """Tells the weather.

        At length.
        """
        return f"{city} {days} {exact}"

    assert forecast("Oslo") == "Oslo 3 False", "the function stays as it was"
    assert listed(server) == {
        "name": "forecast",
        "description": "Tells the weather.\n\nAt length.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "default": 3},
                "exact": {"type": "boolean", "default": False},
            },
            "required": ["city"],
        },
    }
    assert text(call(server, "forecast", city="Bergen", days=5)) == "Bergen 5 False"


def test_a_tool_says_more_of_itself(server):
    @server.tool(
        "forecast-1",
        title="Forecast",
        description="Weather.",
        annotations={"readOnlyHint": True},
        icons=[{"src": "https://example.com/a.png"}],
        meta={"example.com/a": 1},
        input_schema={"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        output_schema={"type": "object"},
    )
    async def forecast(n: int):
        return {"n": n}

    assert listed(server) == {
        "name": "forecast-1",
        "title": "Forecast",
        "description": "Weather.",
        "icons": [{"src": "https://example.com/a.png"}],
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "_meta": {"example.com/a": 1},
    }
    assert call(server, "forecast-1", n=2)["structuredContent"] == {"n": 2}
    assert call(server, "forecast-1", n=0)["isError"]


def test_an_unknown_option_is_refused(server):
    with pytest.raises(TypeError, match="unknown option 'titel'; there are title"):
        server.tool("x", titel="x")(lambda: None)


def test_schemas_come_from_annotations_without_made_up_titles(server):
    @server.tool
    async def find(
        title: Annotated[str, Field(description="Which.", min_length=1)],
        kind: Literal["a", "b"] = "a",
        where: Forecast | None = None,
        when: date | None = None,
    ) -> None: ...

    schema = listed(server)["inputSchema"]
    assert schema["properties"]["title"] == {"type": "string", "description": "Which.", "minLength": 1}
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert schema["required"] == ["title"]
    assert schema["$defs"]["Forecast"] == {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Where."}, "degrees": {"type": "number"}},
        "required": ["city", "degrees"],
    }


@pytest.mark.parametrize("annotation", [str, int, float, bool])
def test_simple_schemas_are_those_of_pydantic(annotation):
    from tocsin.schema import Arguments, plain_schema

    for default in (pytest, annotation(1)):
        import inspect

        fields = {"schema": (annotation, inspect.Parameter.empty if default is pytest else default)}
        assert plain_schema(fields) == Arguments(fields).schema()


def test_arguments_are_converted_to_what_the_function_wants(server):
    seen = []

    @server.tool
    def take(n: int, x: float, when: date, point: Point, more: list[Forecast]):
        seen.append((n, x, when, point, more))

    call(server, "take", n=1, x=2, when="2026-07-28", point={"x": 1}, more=[{"city": "Oslo", "degrees": 1}])
    assert seen == [(1, 2.0, date(2026, 7, 28), Point(1, 0), [Forecast(city="Oslo", degrees=1.0)])]
    assert type(seen[0][1]) is float


def test_names_that_pydantic_has_for_itself(server):
    @server.tool
    async def take(schema: str, model_config: list[int], _private: int = 1, json: str = "j"):
        return f"{schema} {model_config} {_private} {json}"

    assert text(call(server, "take", schema="s", model_config=[1], _private=2)) == "s [1] 2 j"


def test_arguments_that_do_not_fit_never_reach_the_function(server):
    @server.tool
    def take(n: int): ...

    @server.tool(input_schema={"type": "object"})
    def trusting(n: int, m: Annotated[int, Field(gt=0)] = 1): ...

    assert "/n" in text(call(server, "take", n="x"))
    assert "n" in text(call(server, "take"))
    refused = call(server, "trusting", n="x", m=0)
    assert refused["isError"]
    assert text(refused).startswith("Invalid arguments: /n: ") and "/m: " in text(refused)


def test_whole_numbers_keep_their_digits(server):
    big = 2**200 + 1

    @server.tool
    async def plain(n: int):
        return {"n": n + 1}

    @server.tool
    def checked(n: Annotated[int, Field(gt=0)]) -> Pair:
        return {"left": n + 1, "right": []}

    assert call(server, "plain", n=big)["structuredContent"] == {"n": big + 1}
    assert call(server, "checked", n=big)["structuredContent"] == {"left": big + 1, "right": []}


def test_a_number_of_too_many_digits_is_refused(server):
    @server.tool
    async def plain(n: int): ...

    async def ask(client):
        digits = "9" * 5000
        params = {"name": "plain", "arguments": {"n": 0}}
        id = client.begin("tools/list")
        await client.answer(id)
        line = json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": params})
        client.send(line.replace('"n": 0', f'"n": {digits}'))
        return await client.answer(99)

    refused = with_client(server, ask, version="2025-11-25")
    assert refused["isError"] and "digits" in text(refused)


TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("é\U0001f389\n", [{"type": "text", "text": "é\U0001f389\n"}]),
        (None, []),
        (7, [{"type": "text", "text": "7"}]),
        ([1, "a"], [{"type": "text", "text": '[1,"a"]'}]),
        (Text("t"), [{"type": "text", "text": "t"}]),
        (Image(b"\x00\xff", "image/gif"), [{"type": "image", "data": "AP8=", "mimeType": "image/gif"}]),
        (Audio("AP8="), [{"type": "audio", "data": "AP8=", "mimeType": "audio/wav"}]),
        (["a", ResourceLink("x:y", "n")], [TEXT, {"type": "resource_link", "uri": "x:y", "name": "n"}]),
        (
            Embedded("x:y", "t", "a/b"),
            [{"type": "resource", "resource": {"uri": "x:y", "mimeType": "a/b", "text": "t"}}],
        ),
        (Embedded("x:y", b"t"), [{"type": "resource", "resource": {"uri": "x:y", "blob": "dA=="}}]),
        (ToolResult([TEXT, "b"]), [TEXT, {"type": "text", "text": "b"}]),
    ],
)
def test_content(server, result, content):
    @server.tool
    def give():
        return result

    answer = call(server, "give")
    assert answer["content"] == content
    assert "structuredContent" not in answer and "isError" not in answer


def test_a_whole_result(server):
    @server.tool
    def give() -> ToolResult:
        return ToolResult(["no"], structured={"a": 1}, is_error=True, meta={"m": 1})

    answer = call(server, "give")
    assert "outputSchema" not in listed(server)
    assert answer["isError"] and answer["structuredContent"] == {"a": 1} and answer["_meta"]["m"] == 1


@pytest.mark.parametrize(
    ("kind", "value", "json_value"),
    [
        (Forecast, Forecast(city="Oslo", degrees=1.5), {"city": "Oslo", "degrees": 1.5}),
        (Point, Point(1), {"x": 1, "y": 0}),
        (Pair, {"left": 1, "right": ["a"]}, {"left": 1, "right": ["a"]}),
    ],
)
def test_structured_results_by_annotation(server, kind, value, json_value):
    def give():
        return value

    give.__annotations__["return"] = kind
    server.tools.add(give)
    schema = listed(server)["outputSchema"]
    assert schema["type"] == "object" and list(schema["properties"]) == list(json_value)
    answer = call(server, "give")
    assert answer["structuredContent"] == json_value
    assert json.loads(text(answer)) == json_value


@pytest.mark.parametrize("value", [{"a": date(2026, 1, 2)}, Point(1, 2), Forecast(city="x", degrees=1)])
def test_structured_results_without_annotation(server, value):
    @server.tool
    async def give():
        return value

    assert isinstance(call(server, "give")["structuredContent"], dict)


def test_structured_content_that_breaks_its_schema_is_an_error(server):
    @server.tool(output_schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    def give():
        return {"n": "x"}

    answer = call(server, "give")
    assert answer["isError"] and "/n" in text(answer)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {"a": [float("-inf")]}, Forecast(city="NaN", degrees=float("nan"))]
)
def test_J12_what_json_cannot_say_is_an_error_that_says_so(server, value):
    @server.tool
    def give():
        return value

    @server.tool
    async def give_model() -> Forecast:
        return Forecast(city="NaN", degrees=float("inf"))

    for name in ("give", "give_model"):
        answer = call(server, name)
        assert answer["isError"] and "which JSON cannot say" in text(answer)


def test_the_words_nan_and_infinity_are_fine(server):
    @server.tool
    def give() -> Forecast:
        return Forecast(city="NaN Infinity", degrees=1)

    assert call(server, "give")["structuredContent"]["city"] == "NaN Infinity"


def test_half_a_surrogate_pair_never_crashes(server):
    @server.tool
    def give_text():
        return "a\ud800"

    @server.tool
    async def give_structured():
        return {"a": "\udfff"}

    @server.tool
    def raise_tool_error():
        raise ToolError("a\ud83c\udf89b\ud800")

    @server.tool
    async def raise_error():
        raise ValueError("\ud800")

    assert "surrogate" in text(call(server, "give_text"))
    assert "surrogate" in text(call(server, "give_structured"))
    assert text(call(server, "raise_tool_error")) == "a\U0001f389b\ufffd"
    assert call(server, "raise_error")["isError"]


@pytest.mark.parametrize("is_async", [False, True])
def test_errors(server, is_async, caplog):
    errors = {
        "tool": ToolError("for the model"),
        "mcp": McpError(-1, "for the client", {"a": 1}),
        "bug": RuntimeError("secret"),
        "exit": SystemExit(3),
    }

    def fail(kind: str):
        raise errors[kind]

    async def fail_async(kind: str):
        await asyncio.sleep(0)
        raise errors[kind]

    server.tools.add(fail_async if is_async else fail, "fail")

    async def ask(client):
        tool = await client.call_tool("fail", kind="tool")
        assert tool["isError"] and text(tool) == "for the model"
        with pytest.raises(McpError) as caught:
            await client.call_tool("fail", kind="mcp")
        assert (caught.value.code, caught.value.message, caught.value.data) == (-1, "for the client", {"a": 1})
        for kind in ("bug", "exit"):
            crash = await client.call_tool("fail", kind=kind)
            assert crash["isError"] and "secret" not in text(crash)
        # The log comes from a thread of its own.
        for _ in range(100):
            if "RuntimeError: secret" in caplog.text:
                return
            await asyncio.sleep(0.02)

    with_client(server, ask)
    assert "RuntimeError: secret" in caplog.text and "test_tools.py" in caplog.text
    assert {record.name for record in caplog.records if "secret" in record.message} == {"tocsin"}


def test_an_error_that_cannot_be_told(server):
    class Nasty(ToolError):
        def __str__(self):
            raise ValueError

    @server.tool
    async def fail():
        raise Nasty

    assert call(server, "fail")["isError"]


class Adder:
    """Adds."""

    def __init__(self, base):
        self.base = base

    async def __call__(self, n: int) -> str:
        return f"{self.base + n}"

    async def method(self, n: int) -> str:
        return f"{self.base + n}"

    def plain_method(self, n: int) -> str:
        return f"{self.base + n}"


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


async def add(base: int, n: int) -> str:
    return f"{base + n}"


@pytest.mark.parametrize(
    "function",
    [
        Adder(1),
        Adder(1).method,
        Adder(1).plain_method,
        functools.partial(add, 1),
        functools.partial(Adder(0).method),
        wrapped(wrapped(Adder(1).method)),
        functools.partial(wrapped(add), base=1),
    ],
    ids=["object", "method", "plain method", "partial", "partial method", "wraps", "partial of wraps"],
)
def test_row_48_every_kind_of_callable(server, function):
    from tocsin.signature import Signature

    server.tools.add(function, "f", description="x")
    assert listed(server)["inputSchema"]["properties"]["n"] == {"type": "integer"}
    assert text(call(server, "f", n=2)) in ("2", "3")
    assert Signature(function).is_async == (getattr(function, "__name__", "") != "plain_method")


def test_a_plain_function_that_returns_a_coroutine_is_a_fault_of_its_author(server, caplog):
    server.tools.add(lambda: add(1, 2), "f")
    assert call(server, "f")["isError"]


def test_contexts_are_of_the_functions_kind(server):
    with pytest.raises(TypeError, match=r"is an async function: annotate its parameter 'c' with Context"):

        @server.tool
        async def one(c: SyncContext): ...

    with pytest.raises(TypeError, match=r"is a plain function: annotate its parameter 'c' with SyncContext"):

        @server.tool
        def two(c: Context | None = None): ...

    @server.tool
    def three(c: BaseContext): ...

    with pytest.raises(TypeError, match=r"takes \*numbers: int; a handler's arguments have names"):

        @server.tool
        def four(*numbers: int): ...


def test_a_definition_with_its_function(server):
    definition = {"name": "t", "description": "d", "inputSchema": {"type": "object"}}
    server.tools.add(definition, lambda: "1")
    server.tools.replace({**definition, "description": "e"}, lambda: "2")
    assert listed(server) == {**definition, "description": "e"}
    assert text(call(server, "t")) == "2"


def test_a_large_result(server):
    @server.tool
    def big():
        return "x" * 3_000_000

    assert len(text(call(server, "big"))) == 3_000_000


def test_without_annotations_any_value_comes(server):
    @server.tool
    async def give(x, y=None):
        return [x, y]

    assert text(call(server, "give", x={"a": [1]})) == '[{"a":[1]},null]'


def test_base64_of_the_everything_kind(server):
    @server.tool
    def image():
        return Image(base64.b64decode("AAAA"))

    (block,) = call(server, "image")["content"]
    assert block["data"] == "AAAA"


def test_handlers_need_no_event_loop_of_the_caller(server):
    @server.tool
    def give():
        return "x"

    async def twice():
        async with server.connect() as one, server.connect() as two:
            return text(await one.call_tool("give")) + text(await two.call_tool("give"))

    assert run(twice()) == "xx"
    assert text(call(server, "give")) == "x", "on a second loop, after the first is closed"


def test_one_server_is_on_one_loop(server):
    async def nested():
        async with server.connect():
            return await asyncio.to_thread(lambda: call(server, "x"))

    with pytest.raises(RuntimeError, match="another event loop"):
        run(nested())


def test_build_errors():
    from tocsin import BuildError

    with pytest.raises(BuildError, match="page_size must be an integer of at least 1"):
        Server("x", page_size=0)
    with pytest.raises(ValueError, match="has no member 'pagesize'"):
        Server("x", pagesize=1)
    with pytest.raises(BuildError):
        Server("x", protocol_versions=["2026-07-28"])
