"""A client that shows whole answers, errors too."""

import contextlib
from typing import Any

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
}


class Peer:
    """Sends and receives whole messages."""

    def __init__(self, client: Any) -> None:
        self.send = client.send
        self.receive = client.receive

    async def request(self, id: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Makes a modern request and returns its answer; messages before it are dropped."""
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": META, **(params or {})}})
        while True:
            message: dict[str, Any] = await self.receive()
            if message.get("id") == id and "method" not in message:
                return message

    async def call(self, name: str, arguments: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Calls a tool and returns its result."""
        answer = await self.request("call", "tools/call", {"name": name, "arguments": arguments or {}, **params})
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result


@contextlib.asynccontextmanager
async def connect(server: Any) -> Any:
    """A peer of a server in this process."""
    async with server.connect() as client:
        yield Peer(client)
