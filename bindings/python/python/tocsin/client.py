"""A client in the same process, for tests."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._json import decode_object, encode
from .errors import McpError

if TYPE_CHECKING:
    from ._native import Client as NativeClient

MODERN = "2026-07-28"


class Client:
    """Sends and receives whole messages, or makes requests by name.

    :param version: of the protocol; a version that begins with a handshake needs :meth:`initialize` first.
    :param capabilities: what the client says it can do.
    """

    def __init__(
        self, native: NativeClient, *, version: str = MODERN, capabilities: Mapping[str, Any] | None = None
    ) -> None:
        self._native = native
        self._ids = itertools.count(1)
        self.version = version
        self.capabilities = dict(capabilities or {})
        self.info = {"name": "test", "version": "1"}
        self.unread: list[dict[str, Any]] = []
        """Messages that came while a request waited for its answer."""

    def send(self, message: Mapping[str, Any] | str) -> None:
        """Sends a message; text goes as it is."""
        self._native.send(message if isinstance(message, str) else encode(message))

    async def receive(self, timeout: float = 10.0) -> dict[str, Any]:
        """The next message. Raises :class:`TimeoutError` if none comes."""
        if self.unread:
            return self.unread.pop(0)
        text = await asyncio.to_thread(self._native.receive, timeout)
        if text is None:
            raise TimeoutError(f"no message within {timeout} s")
        return decode_object(text)

    def begin(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> int:
        """Sends a request and returns its id. ``meta`` goes to its ``_meta``."""
        id = next(self._ids)
        if self.version >= MODERN:
            own = {"protocolVersion": self.version, "clientInfo": self.info, "clientCapabilities": self.capabilities}
            meta = {**{f"io.modelcontextprotocol/{key}": value for key, value in own.items()}, **meta}
        members = {**(params or {}), **({"_meta": meta} if meta else {})}
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": members})
        return id

    async def answer(self, id: int, timeout: float = 10.0) -> dict[str, Any]:
        """The result of a request that was begun. Raises :class:`McpError` if it is an error."""
        others = []
        try:
            while True:
                message = await self.receive(timeout)
                if message.get("id") == id and "method" not in message:
                    break
                others.append(message)
        finally:
            self.unread[:0] = others
        if "error" in message:
            error = message["error"]
            raise McpError(error["code"], error["message"], error.get("data"))
        result: dict[str, Any] = message["result"]
        return result

    async def request(self, method: str, params: Mapping[str, Any] | None = None, **meta: Any) -> dict[str, Any]:
        """Makes a request and returns its result. Raises :class:`McpError` if it is an error."""
        return await self.answer(self.begin(method, params, **meta))

    async def initialize(self) -> dict[str, Any]:
        """Shakes hands, for versions that begin so."""
        params = {"protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": self.info}
        result = await self.request("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    async def call_tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool and returns its result."""
        return await self.request("tools/call", {"name": name, "arguments": arguments})

    def cancel(self, id: int) -> None:
        """Cancels a request."""
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})

    async def close(self) -> None:
        """Ends the connection; calls in flight get the server's grace."""
        await asyncio.to_thread(self._native.finish)
