"""What becomes of what tools return and raise."""

import asyncio
import json
from dataclasses import dataclass
from datetime import date

import pytest
from conftest import call, listed, text, with_client
from pydantic import BaseModel, Field
from tocsin import Audio, Embedded, Image, McpError, ResourceLink, Text, ToolError, ToolResult
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
    assert "RuntimeError: secret" in caplog.text and "test_results.py" in caplog.text
    assert {record.name for record in caplog.records if "secret" in record.message} == {"tocsin"}


def test_an_error_that_cannot_be_told(server):
    class Nasty(ToolError):
        def __str__(self):
            raise ValueError

    @server.tool
    async def fail():
        raise Nasty

    assert call(server, "fail")["isError"]
