"""What describes a server and its entries, by keyword."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

Object = Mapping[str, Any]


class ServerOptions(TypedDict, total=False):
    """Settings of a server; what is left out, or ``None``, has its default."""

    title: str | None
    description: str | None
    website_url: str | None
    icons: Sequence[Object] | None
    instructions: str | None
    """How to use the server, for a model."""
    protocol_versions: Sequence[str] | None
    """Allowed protocol versions. Default: all."""
    modern_only: bool
    """Accepts that handshake clients are shut out."""
    extension_versions: Mapping[str, str] | None
    """Further versions, each with the known one whose rules it has."""
    withhold: Sequence[Literal["tools", "prompts", "resources"]]
    """Lists whose changes are not offered to clients."""
    extensions: Object | None
    experimental: Object | None
    ttl_ms: int
    """How long clients may cache lists and reads."""
    cache_scope: Literal["private", "public"]
    page_size: int
    """Entries on one page of a list. Default 1,000."""
    max_message_bytes: int
    """Default 4 MiB."""
    max_depth: int
    """Deepest nesting of a message. Default 128."""
    max_subscriptions: int
    """Most listen requests open at once, 0 for any number. Default 1,000."""
    max_uris_per_subscription: int
    """Default 1,000."""
    max_in_flight: int
    """Most requests in flight on one connection. Default 4,096."""
    max_output_bytes: int
    """What may wait for a slow reader. Default 8 MiB."""
    shutdown_grace_ms: int
    """How long calls in flight may go on after a stop. Default 5,000."""
    input_end_grace_ms: int
    """How long they may go on after the end of input. Default 1,000."""
    handler_timeout_ms: int
    """After so long a call without an answer gets a tool error. Default: never."""
    state_ttl_ms: int
    """How long a client has to answer a question. Default 600,000."""
    state_key: str | None
    """32 bytes in base64 that processes which serve the same clients share. Default: random."""
    worker_threads: int


class ToolOptions(TypedDict, total=False):
    """What describes a tool beside its function, which has the rest of it."""

    title: str | None
    description: str | None
    input_schema: Object | None
    output_schema: Object | None
    annotations: Object | None
    icons: Sequence[Object] | None
    meta: Object | None


Completer = Callable[..., Any]
"""``(name, value, others)``: an argument's name, what is typed of it, and other arguments' values; gives candidates."""


class PromptOptions(TypedDict, total=False):
    """What describes a prompt beside its function, which has the rest of it."""

    title: str | None
    description: str | None
    arguments: Sequence[Object] | None
    icons: Sequence[Object] | None
    meta: Object | None
    completer: Completer | None


class ResourceOptions(TypedDict, total=False):
    """What describes a resource beside its function, which has the rest of it."""

    name: str | None
    title: str | None
    description: str | None
    mime_type: str | None
    size: int | None
    annotations: Object | None
    icons: Sequence[Object] | None
    meta: Object | None


class TemplateOptions(TypedDict, total=False):
    """What describes a resource template beside its function, which has the rest of it."""

    name: str | None
    title: str | None
    description: str | None
    mime_type: str | None
    annotations: Object | None
    icons: Sequence[Object] | None
    meta: Object | None
    completer: Completer | None


PROTOCOL_NAMES = {
    "input_schema": "inputSchema",
    "output_schema": "outputSchema",
    "mime_type": "mimeType",
    "meta": "_meta",
}


def definition(kind: Any, options: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """The protocol's object: what the author said, and for the rest what the function says of itself."""
    unknown = options.keys() - kind.__annotations__.keys()
    if unknown:
        raise TypeError(f"unknown option '{min(unknown)}'; there are {', '.join(kind.__annotations__)}")
    members = {**own, **{key: value for key, value in options.items() if key != "completer" and value is not None}}
    return {PROTOCOL_NAMES.get(key, key): value for key, value in members.items() if value is not None}
