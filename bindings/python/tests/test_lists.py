"""Edits of the lists, and what clients then see."""

import asyncio
import threading

import pytest
from conftest import run, text, with_client
from tocsin import RegistryError, SyncContext


def names(server, what):
    key = {"tools": "name", "prompts": "name", "resources": "uri", "resources/templates": "uriTemplate"}[what]
    result = with_client(server, lambda client: client.request(f"{what}/list"))
    return [entry[key] for entry in result["resourceTemplates" if "/" in what else what]]


def fill(server):
    for name in ("a", "b", "c"):
        server.tools.add(lambda: "", name)
        server.prompts.add(lambda: "", name)
        server.resources.add(f"test://{name}", lambda: "", name=name)
        server.templates.add(f"test://{name}/{{x}}", lambda x: x, name=name)
    return {
        "tools": (server.tools, "b"),
        "prompts": (server.prompts, "b"),
        "resources": (server.resources, "test://b"),
        "resources/templates": (server.templates, "test://b/{x}"),
    }


@pytest.mark.parametrize("what", ["tools", "prompts", "resources", "resources/templates"])
def test_entries_come_and_go(server, what):
    entries, key = fill(server)[what]
    before = names(server, what)
    assert before == entries.names() and len(before) == 3
    entries.disable(key)
    assert names(server, what) == [before[0], before[2]] and key in entries
    entries.enable(key)
    assert names(server, what) == before
    entries.remove(key)
    assert names(server, what) == [before[0], before[2]] == entries.names()
    assert key not in entries
    for edit in (entries.remove, entries.enable, entries.disable):
        with pytest.raises(RegistryError, match=f"no .*'{key}'".replace("{", r"\{")):
            edit(key)


def test_replaced_in_its_place(server):
    fill(server)
    server.tools.replace(lambda: "new", "b", description="new")
    server.prompts.replace(lambda: "new", "b")
    server.resources.replace("test://b", lambda: "new", name="new")
    server.templates.replace("test://b/{x}", lambda x: "new", name="new")
    assert names(server, "tools") == ["a", "b", "c"]

    async def read(client):
        assert text(await client.call_tool("b")) == "new"
        for uri in ("test://b", "test://b/1"):
            (contents,) = (await client.request("resources/read", {"uri": uri}))["contents"]
            assert contents["text"] == "new"

    with_client(server, read)
    with pytest.raises(RegistryError, match="no tool 'd'"):
        server.tools.replace(lambda: "", "d")


def test_definitions_with_functions(server):
    server.prompts.add({"name": "p", "arguments": [{"name": "x"}]}, lambda x="?": x)
    server.resources.add({"uri": "test://r", "name": "r", "size": 1}, lambda: "r")
    server.templates.add({"uriTemplate": "test://{t}/t", "name": "t"}, lambda t: t)

    async def look(client):
        assert (await client.request("prompts/list"))["prompts"] == [{"name": "p", "arguments": [{"name": "x"}]}]
        assert (await client.request("resources/list"))["resources"] == [{"uri": "test://r", "name": "r", "size": 1}]
        got = await client.request("prompts/get", {"name": "p"})
        assert got["messages"][0]["content"]["text"] == "?"

    with_client(server, look)
    with pytest.raises(TypeError, match="no place for title"):
        server.prompts.add({"name": "q"}, lambda: "", title="x")


def test_a_template_and_its_function_must_agree(server):
    with pytest.raises(TypeError, match="takes 'town', which is no variable of"):

        @server.resource("weather://{city}")
        def current(town: str) -> str:
            return town


def test_a_function_may_take_less_than_the_template_has(server):
    @server.resource("test://{a}/{b}{?c}")
    async def read(b: str) -> str:
        return b

    result = with_client(server, lambda client: client.request("resources/read", {"uri": "test://1/2?c=3"}))
    assert result["contents"][0]["text"] == "2"


def test_edits_from_handlers_and_other_threads(server):
    @server.tool
    def edit(ctx: SyncContext) -> str:
        threads = [threading.Thread(target=server.tools.add, args=(lambda: "", f"t{n}")) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.tools.remove("edit")
        return "done"

    async def ask(client):
        assert text(await client.call_tool("edit")) == "done"
        assert sorted(server.tools.names()) == sorted(f"t{n}" for n in range(20))

    with_client(server, ask)


def test_a_handler_that_is_removed_while_it_runs_ends_well(server):
    async def scenario():
        started, go = asyncio.Event(), asyncio.Event()

        @server.tool
        async def slow() -> str:
            started.set()
            await go.wait()
            return "done"

        async with server.connect() as client:
            id = client.begin("tools/call", {"name": "slow"})
            await started.wait()
            server.tools.remove("slow")
            go.set()
            assert text(await client.answer(id)) == "done"

    run(scenario())


def test_batches_nest_and_end_on_errors(server):
    async def scenario():
        async with server.connect() as client:
            client.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            await client.receive()
            with pytest.raises(ZeroDivisionError), server.changes():
                with server.changes():
                    server.tools.add(lambda: "", "a")
                server.tools.add(lambda: "", "b")
                with pytest.raises(TimeoutError):
                    await client.receive(0.05)
                raise ZeroDivisionError
            assert (await client.receive())["method"] == "notifications/tools/list_changed"
            server.list_changed("tools")
            assert (await client.receive())["method"] == "notifications/tools/list_changed"

    run(scenario())
