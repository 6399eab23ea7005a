"""Content of results: blocks of the protocol, as plain data."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any


def encode(value: Any) -> str:
    """JSON as the wire has it: compact, every character as itself. NaN and Infinity are an error."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise not_json(error) from None


def not_json(error: ValueError) -> ValueError:
    """An error that says what JSON cannot."""
    if "Out of range float" in str(error):
        return NotJson("the result has NaN or Infinity, which JSON cannot say")
    return error


class NotJson(ValueError):
    """A value has no JSON form."""


@dataclass(frozen=True)
class Text:
    """A text block."""

    text: str

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"type": "text", "text": self.text}


@dataclass(frozen=True)
class Image:
    """An image block; ``data`` is bytes, or text that is base64 already."""

    data: bytes | str
    mime_type: str = "image/png"

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"type": "image", "data": to_base64(self.data), "mimeType": self.mime_type}


@dataclass(frozen=True)
class Audio:
    """A sound block; ``data`` is bytes, or text that is base64 already."""

    data: bytes | str
    mime_type: str = "audio/wav"

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"type": "audio", "data": to_base64(self.data), "mimeType": self.mime_type}


@dataclass(frozen=True)
class Embedded:
    """A resource's text or bytes, embedded."""

    uri: str
    content: str | bytes
    mime_type: str | None = None

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"type": "resource", "resource": contents(self.uri, self.content, self.mime_type)}


@dataclass(frozen=True)
class ResourceLink:
    """A link to a resource."""

    uri: str
    name: str

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"type": "resource_link", "uri": self.uri, "name": self.name}


Block = Text | Image | Audio | Embedded | ResourceLink


@dataclass
class ToolResult:
    """A tool's result in full: blocks (texts count), structured content, and whether it is an error."""

    content: list[Block | str | dict[str, Any]] = field(default_factory=list)
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] | None = None

    def json(self) -> str:
        """The protocol's result object."""
        result: dict[str, Any] = {"content": [block(item) for item in self.content]}
        if self.structured is not None:
            result["structuredContent"] = self.structured
        if self.is_error:
            result["isError"] = True
        if self.meta is not None:
            result["_meta"] = self.meta
        return encode(result)


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    content: Block | str | dict[str, Any]
    role: str = "user"

    def json(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"role": self.role, "content": block(self.content)}


def block(item: Block | str | dict[str, Any]) -> dict[str, Any]:
    """A content block as the protocol's object."""
    if isinstance(item, str):
        return Text(item).block()
    return item if isinstance(item, dict) else item.block()


def to_base64(data: bytes | str) -> str:
    """Bytes in base64; text is taken to be that already."""
    return data if isinstance(data, str) else base64.b64encode(data).decode("ascii")


def contents(uri: str, content: str | bytes, mime_type: str | None) -> dict[str, Any]:
    """The contents of a resource as the protocol's object."""
    result: dict[str, Any] = {"uri": uri}
    if mime_type is not None:
        result["mimeType"] = mime_type
    if isinstance(content, str):
        result["text"] = content
    else:
        result["blob"] = to_base64(bytes(content))
    return result
