"""What tests of the package share."""

import asyncio

import pytest
from tocsin import Server


def run(coroutine):
    """Runs a test's coroutine, with an end."""
    return asyncio.run(asyncio.wait_for(coroutine, 30))


def with_client(server, test, **how):
    """Runs `test(client)` with a client of `server` in this process."""

    async def connected():
        async with server.connect(**how) as client:
            return await test(client)

    return run(connected())


def call(server, name, **arguments):
    """One tool call and its result."""
    return with_client(server, lambda client: client.call_tool(name, **arguments))


def listed(server, name=None):
    """The definition of a server's only tool, or of the one of that name."""
    tools = with_client(server, lambda client: client.request("tools/list"))["tools"]
    return next(tool for tool in tools if name in (None, tool["name"]))


def text(result):
    """The text of a result's only block."""
    (block,) = result["content"]
    return block["text"]


@pytest.fixture
def server():
    return Server("test", version="1.0")
