"""Handlers with what is known of them: how arguments come in, and how results go out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from . import content
from ._native import Call
from .context import BaseContext
from .schema import Output, Signature, dump, is_structured

Function = Callable[..., Any]


class Handler:
    """A function, and how its results become answers."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.signature = Signature(function)
        self.is_async = self.signature.is_async
        if self.signature.context is not None and self.signature.sync_context == self.is_async:
            need = "Context" if self.is_async else "SyncContext"
            kind = "an async function" if self.is_async else "a plain function"
            name = getattr(function, "__name__", repr(function))
            raise TypeError(f"'{name}' is {kind}: annotate its parameter '{self.signature.context}' with {need}")

    def arguments(self, call: Call, context: BaseContext) -> dict[str, Any]:
        """Keyword arguments of a call."""
        arguments = self.signature.arguments(call.arguments)
        if self.signature.context is not None:
            arguments[self.signature.context] = context
        return arguments

    def answer(self, call: Call, result: Any) -> None:
        """Answers with what the function returned."""
        raise NotImplementedError


class ToolHandler(Handler):
    """A tool's function."""

    def __init__(self, function: Function, structured: bool) -> None:
        super().__init__(function)
        own = is_structured(self.signature.returns)
        self.output = Output(self.signature.returns) if own else None
        self.structured = structured or own

    def answer(self, call: Call, result: Any) -> None:
        """Text and blocks as content; models, dataclasses and dictionaries as structured content."""
        if isinstance(result, content.ToolResult):
            call.complete(result.json())
        elif self.output is not None:
            call.complete_structured(self.output.dump(result))
        elif isinstance(result, str) and not self.structured:
            call.complete_text(result)
        elif result is None and not self.structured:
            call.complete(content.ToolResult().json())
        elif isinstance(result, content.Block):
            call.complete(content.ToolResult([result]).json())
        elif _is_blocks(result):
            call.complete(content.ToolResult(list(result)).json())
        elif self.structured or isinstance(result, dict) or is_structured(type(result)):
            call.complete_structured(dump(result))
        else:
            call.complete_text(dump(result))


class PromptHandler(Handler):
    """A prompt's function."""

    def answer(self, call: Call, result: Any) -> None:
        """A text, a block, a message, several of them, or the protocol's whole result."""
        if isinstance(result, str):
            call.complete_text(result)
        elif isinstance(result, dict):
            call.complete(content.encode(result))
        else:
            items = result if isinstance(result, (list, tuple)) else [result]
            messages = [item if isinstance(item, content.Message) else content.Message(item) for item in items]
            call.complete(content.encode({"messages": [message.json() for message in messages]}))


class ResourceHandler(Handler):
    """A resource's or template's function."""

    def arguments(self, call: Call, context: BaseContext) -> dict[str, Any]:
        """A template's variables; numbers and the like are read from their text."""
        if not self.signature.fields:
            return super().arguments(call, context)
        given: dict[str, str] = json.loads(call.arguments)
        # A function may also want to know the URI itself.
        if "uri" in self.signature.fields and "uri" not in given:
            given["uri"] = call.name
        arguments = self.signature.arguments(json.dumps(given))
        if self.signature.context is not None:
            arguments[self.signature.context] = context
        return arguments

    def answer(self, call: Call, result: Any) -> None:
        """Text, bytes, or the protocol's whole result; anything else as JSON text."""
        if isinstance(result, str):
            call.complete_text(result)
        elif isinstance(result, (bytes, bytearray, memoryview)):
            call.complete_blob(content.to_base64(bytes(result)))
        elif isinstance(result, dict) and "contents" in result:
            call.complete(content.encode(result))
        else:
            call.complete_text(dump(result))


class CompletionHandler(Handler):
    """Completes arguments: called with the argument's name, what is typed of it, and the others."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.names = list(self.signature.fields)

    def arguments(self, call: Call, context: BaseContext) -> dict[str, Any]:
        """``(name, value, others)`` under whatever names the function has for them."""
        params = json.loads(call.arguments)
        argument = params["argument"]
        others = (params.get("context") or {}).get("arguments") or {}
        values = (argument["name"], argument["value"], others)
        arguments = dict(zip(self.names, values, strict=False))
        if self.signature.context is not None:
            arguments[self.signature.context] = context
        return arguments

    def answer(self, call: Call, result: Any) -> None:
        """Any number of values; the engine sends a hundred and says how many there are."""
        call.complete_values([str(value) for value in result])


class ListenHandler(Handler):
    """Decides on listen requests: called with the filter; returning accepts, raising refuses."""

    def arguments(self, call: Call, context: BaseContext) -> dict[str, Any]:
        """The filter under whatever name the function has for it."""
        arguments: dict[str, Any] = {name: json.loads(call.arguments) for name in list(self.signature.fields)[:1]}
        if self.signature.context is not None:
            arguments[self.signature.context] = context
        return arguments

    def answer(self, call: Call, result: Any) -> None:
        """Accepts."""
        call.complete_text("")


def _is_blocks(result: Any) -> bool:
    if not isinstance(result, (list, tuple)) or not result:
        return False
    return all(isinstance(item, (str, content.Block)) for item in result) and not all(
        isinstance(item, str) for item in result
    )


