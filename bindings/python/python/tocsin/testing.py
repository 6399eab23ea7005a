"""A client in the same process: whole messages in and out, for tests."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Client as NativeClient


class Client:
    """Sends and receives messages as Python values."""

    def __init__(self, native: NativeClient) -> None:
        self._native = native

    def send(self, message: Any) -> None:
        """Sends a message; text goes as it is."""
        self._native.send(message if isinstance(message, str) else json.dumps(message))

    async def receive(self, timeout: float = 10.0) -> dict[str, Any]:
        """The next message. Raises :class:`TimeoutError` if none comes."""
        text = await asyncio.to_thread(self._native.receive, timeout)
        if text is None:
            raise TimeoutError(f"no message within {timeout} s")
        message: dict[str, Any] = json.loads(text)
        return message

    async def request(self, id: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Makes a modern request and returns its answer; messages before it are dropped."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
        }
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta, **(params or {})}})
        while True:
            message = await self.receive()
            if message.get("id") == id and "method" not in message:
                return message

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Calls a tool and returns its result."""
        answer = await self.request("call", "tools/call", {"name": name, "arguments": arguments or {}, **params})
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        result: dict[str, Any] = answer["result"]
        return result

    async def close(self) -> None:
        """Ends the connection as a client that has sent all it will."""
        await asyncio.to_thread(self._native.finish)
