"""The two Python clients behind one small surface, so that one set of tests serves both.

Only what differs between them is here: how they are set up, how they list, call and subscribe.
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import fastmcp
import mcp_types as types
from conftest import ROOT
from fastmcp.client.elicitation import ElicitResult as FastElicitResult
from fastmcp.client.transports import StdioTransport
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.subscriptions import listen

# How long an event that must come may take. Generous: a loaded machine is no fault of the server's.
PATIENCE = 20

PARROT = "Polly has a cracker."
HARBOUR = "file:///harbour"


def fill(schema: dict) -> dict:
    """An answer that fits the form: the server's schema decides which fields there are."""

    def value(field: dict):
        if "default" in field:
            return field["default"]
        if "enum" in field:
            return field["enum"][0]
        kind = {"boolean": True, "integer": 7, "number": 7}.get(field["type"])
        return kind if kind is not None else "ada@example.org" if field.get("format") == "email" else "Ada"

    return {name: value(field) for name, field in schema["properties"].items()}


@dataclass
class Inbox:
    """What the server said unasked, in the order in which it came."""

    messages: list = field(default_factory=list)
    arrived: anyio.Event = field(default_factory=anyio.Event)

    async def put(self, message) -> None:
        self.messages.append(message)
        self.arrived.set()

    async def take(self, kind: type):
        """Waits for a message of a kind and takes it and all before it."""
        with anyio.fail_after(PATIENCE):
            while True:
                for index, message in enumerate(self.messages):
                    if isinstance(message, kind):
                        del self.messages[: index + 1]
                        return message
                self.arrived = anyio.Event()
                await self.arrived.wait()

    def progress(self) -> list:
        return [message for message in self.messages if isinstance(message, types.ProgressNotification)]

    def changes(self) -> list:
        return [message for message in self.messages if not isinstance(message, types.ProgressNotification)]


class Session:
    """A connected client and all that it observed."""

    def __init__(self, client):
        self.client = client
        self.inbox = Inbox()
        self.questions = []
        self.answer = "accept"

    async def text(self, tool: str, /, **arguments) -> str:
        """Calls a tool that answers with one text."""
        result = await self.call(tool, arguments)
        assert not result.is_error, result.content
        return result.content[0].text

    async def names(self, kind: str) -> list[str]:
        return [item.name for item in await self.list(kind)]


class Official(Session):
    """The client of the PyPI package mcp."""

    @classmethod
    @asynccontextmanager
    async def open(cls, command: str, *, mode: str, args: list[str], stderr: Path):
        session = cls(None)

        async def elicit(context, params):
            session.questions.append(params)
            accepted = session.answer == "accept"
            return types.ElicitResult(
                action=session.answer, content=fill(params.requested_schema) if accepted else None
            )

        async def sample(context, params):
            text = types.TextContent(type="text", text=PARROT)
            return types.CreateMessageResult(role="assistant", content=text, model="parrot")

        async def roots(context):
            return types.ListRootsResult(roots=[types.Root(uri=HARBOUR, name="harbour")])

        with stderr.open("w") as errlog:
            parameters = StdioServerParameters(command=command, args=args, cwd=ROOT)
            session.client = Client(
                stdio_client(parameters, errlog=errlog),
                mode=mode,
                client_info=types.Implementation(name="interop", version="1.0.0"),
                elicitation_callback=elicit,
                sampling_callback=sample,
                list_roots_callback=roots,
                message_handler=session.inbox.put,
                read_timeout_seconds=PATIENCE,
            )
            async with session.client:
                yield session

    async def call(self, name: str, arguments: dict | None = None, progress=None, patience: float | None = None):
        return await self.client.call_tool(name, arguments, progress_callback=progress, read_timeout_seconds=patience)

    async def list(self, kind: str) -> list:
        fetch = {
            "tools": self.client.list_tools,
            "prompts": self.client.list_prompts,
            "resources": self.client.list_resources,
            "resourceTemplates": self.client.list_resource_templates,
        }[kind]
        found, cursor = [], None
        # This client leaves the pages to its user.
        while True:
            page = await fetch(cursor=cursor)
            found += page.resource_templates if kind == "resourceTemplates" else getattr(page, kind)
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def read(self, uri: str) -> list:
        return (await self.client.read_resource(uri)).contents

    def listen(self, **wanted):
        return self.client.listen(**wanted)


class FastMCP(Session):
    """The client of the PyPI package fastmcp."""

    @classmethod
    @asynccontextmanager
    async def open(cls, command: str, *, mode: str, args: list[str], stderr: Path):
        session = cls(None)

        async def elicit(message, response_type, params, context):
            session.questions.append(params)
            if session.answer == "accept":
                return fill(params.requested_schema)
            return FastElicitResult(action=session.answer)

        async def sample(messages, params, context):
            return PARROT

        session.client = fastmcp.Client(
            # Kept alive, the process would outlive the context, and its exit could not be seen.
            StdioTransport(command, args, cwd=str(ROOT), keep_alive=False, log_file=stderr),
            mode=mode,
            client_info=types.Implementation(name="interop", version="1.0.0"),
            elicitation_handler=elicit,
            sampling_handler=sample,
            roots=[HARBOUR],
            message_handler=session.inbox.put,
            timeout=PATIENCE,
        )
        async with session.client:
            yield session

    async def call(self, name: str, arguments: dict | None = None, progress=None, patience: float | None = None):
        return await self.client.call_tool(
            name, arguments, progress_handler=progress, timeout=patience, raise_on_error=False
        )

    async def list(self, kind: str) -> list:
        return await {
            "tools": self.client.list_tools,
            "prompts": self.client.list_prompts,
            "resources": self.client.list_resources,
            "resourceTemplates": self.client.list_resource_templates,
        }[kind]()

    async def read(self, uri: str) -> list:
        return await self.client.read_resource(uri)

    def listen(self, **wanted):
        # It has no listen of its own; the official one works on the session that it wraps.
        return listen(self.client.session, **wanted)


CLIENTS = {"mcp": Official, "fastmcp": FastMCP}
