"""An author's functions, made into handlers: how arguments come in, and how results go out."""

from __future__ import annotations

import re
from typing import Any

from . import content
from ._json import decode_object, encode
from ._native import Call
from .content import BLOCKS, Message, ToolResult
from .context import BaseContext
from .schema import Output, has_schema
from .signature import Function, Signature, bare


class Handler:
    """A function, and how its results become answers."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.signature = Signature(function)
        self.is_async = self.signature.is_async

    def run(self, call: Call, context: BaseContext) -> Any:
        """Calls the function."""
        arguments = self.arguments(call)
        if self.signature.context is not None:
            arguments[self.signature.context] = context
        return self.function(**arguments)

    def arguments(self, call: Call) -> dict[str, Any]:
        """Keyword arguments of a call."""
        return self.signature.arguments(call.arguments)

    def answer(self, call: Call, result: Any) -> None:
        """Answers with what the function returned."""
        raise NotImplementedError


class ToolHandler(Handler):
    """A tool's function."""

    def __init__(self, function: Function, is_structured: bool = False) -> None:
        super().__init__(function)
        returns = self.signature.returns
        own = has_schema(bare(returns)) and not issubclass(bare(returns), (ToolResult, *BLOCKS))
        self.output = Output(returns) if own else None
        self.is_structured = is_structured or own

    def answer(self, call: Call, result: Any) -> None:
        """Texts and blocks are content; everything else is structured content, which the engine also makes a text of.

        A number, a list and the like are structured content only if the tool has an output schema, else text.
        """
        if isinstance(result, ToolResult):
            call.complete(encode(result.result()))
        elif self.output is not None:
            call.complete_structured(self.output.dump(result))
        elif self.is_structured:
            call.complete_structured(encode(result))
        elif isinstance(result, str):
            call.complete_text(result)
        elif result is None:
            call.complete('{"content":[]}')
        elif isinstance(result, BLOCKS):
            call.complete(encode(ToolResult([result]).result()))
        elif isinstance(result, (list, tuple)) and any(isinstance(item, BLOCKS) for item in result):
            call.complete(encode(ToolResult(result).result()))
        elif isinstance(result, dict) or has_schema(type(result)):
            call.complete_structured(encode(result))
        else:
            call.complete_text(encode(result))


class PromptHandler(Handler):
    """A prompt's function."""

    def answer(self, call: Call, result: Any) -> None:
        """A text, a block, a message, several of them, or the protocol's whole result."""
        if isinstance(result, str):
            call.complete_text(result)
        elif isinstance(result, dict):
            call.complete(encode(result))
        else:
            items = result if isinstance(result, (list, tuple)) else [result]
            messages = [item if isinstance(item, Message) else Message(item) for item in items]
            call.complete(encode({"messages": [message.message() for message in messages]}))


class ResourceHandler(Handler):
    """A resource's or template's function, whose parameters are the template's variables, or ``uri`` for all of it."""

    def __init__(self, function: Function, uri: str) -> None:
        super().__init__(function)
        names = re.findall(r"[\w.%]+", "".join(re.findall(r"\{[^}]*\}", uri)))
        self.wants_uri = "uri" in self.signature.fields and "uri" not in names
        for name in self.signature.required - set(names) - {"uri"}:
            raise TypeError(f"{self.signature.what} takes '{name}', which is no variable of '{uri}'")

    def arguments(self, call: Call) -> dict[str, Any]:
        """The template's variables that the function has, converted from text to what it wants."""
        if not self.wants_uri:
            return self.signature.arguments(call.arguments)
        return self.signature.arguments(encode({**decode_object(call.arguments), "uri": call.name}))

    def answer(self, call: Call, result: Any) -> None:
        """Text, bytes, or the protocol's whole result; anything else as JSON text."""
        if isinstance(result, str):
            call.complete_text(result)
        elif isinstance(result, (bytes, bytearray, memoryview)):
            call.complete_blob(content.to_base64(bytes(result)))
        elif isinstance(result, dict) and "contents" in result:
            call.complete(encode(result))
        else:
            call.complete_text(encode(result))


class CompletionHandler(Handler):
    """Completes arguments: called with an argument's name, what is typed of it, and the others' values."""

    def arguments(self, call: Call) -> dict[str, Any]:
        """``(name, value, others)`` under whatever names the function has for them."""
        params = decode_object(call.arguments)
        others = (params.get("context") or {}).get("arguments") or {}
        values = (params["argument"]["name"], params["argument"]["value"], others)
        return dict(zip(self.signature.fields, values, strict=False))

    def answer(self, call: Call, result: Any) -> None:
        """Any number of values; the engine sends a hundred and says how many there are."""
        call.complete_values([str(value) for value in result or ()])


class ListenHandler(Handler):
    """Decides on listen requests: called with the filter; returning accepts, raising refuses."""

    def arguments(self, call: Call) -> dict[str, Any]:
        """The filter under whatever name the function has for it."""
        return dict(zip(self.signature.fields, (decode_object(call.arguments),), strict=False))

    def answer(self, call: Call, result: Any) -> None:
        """Accepts."""
        call.complete_text("")
