"""Content of results: blocks of the protocol, as plain data."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


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
        resource = {"uri": self.uri, "mimeType": self.mime_type}
        if isinstance(self.content, str):
            resource["text"] = self.content
        else:
            resource["blob"] = to_base64(self.content)
        return {"type": "resource", "resource": {key: value for key, value in resource.items() if value is not None}}


@dataclass(frozen=True)
class ResourceLink:
    """A link to a resource."""

    uri: str
    name: str
    mime_type: str | None = None

    def block(self) -> dict[str, Any]:
        """The protocol's object."""
        block = {"type": "resource_link", "uri": self.uri, "name": self.name}
        return block if self.mime_type is None else {**block, "mimeType": self.mime_type}


BLOCKS = (Text, Image, Audio, Embedded, ResourceLink)
Block = Text | Image | Audio | Embedded | ResourceLink | str | dict[str, Any]
"""A block of content; text counts as one, and so does the protocol's own object."""


@dataclass(frozen=True)
class ToolResult:
    """A tool's result in full: blocks, structured content, and whether it is an error."""

    content: Sequence[Block] = ()
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] | None = None

    def result(self) -> dict[str, Any]:
        """The protocol's object."""
        result: dict[str, Any] = {"content": [to_block(item) for item in self.content]}
        if self.structured is not None:
            result["structuredContent"] = self.structured
        if self.is_error:
            result["isError"] = True
        if self.meta is not None:
            result["_meta"] = self.meta
        return result


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    content: Block
    role: str = "user"

    def message(self) -> dict[str, Any]:
        """The protocol's object."""
        return {"role": self.role, "content": to_block(self.content)}


def to_block(item: Block) -> dict[str, Any]:
    """A content block as the protocol's object."""
    if isinstance(item, str):
        return Text(item).block()
    return item if isinstance(item, dict) else item.block()


def to_base64(data: bytes | str) -> str:
    """Bytes in base64; text is taken to be that already."""
    return data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
