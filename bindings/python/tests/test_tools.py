"""What becomes of functions, and of the arguments they are called with."""

import asyncio
import base64
import functools
import json
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

import pytest
from conftest import call, listed, run, text, with_client
from pydantic import BaseModel, Field
from tocsin import (
    BaseContext,
    Context,
    Image,
    Server,
    SyncContext,
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
