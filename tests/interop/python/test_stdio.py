"""The official Python client and FastMCP's against every server, in every era that they can speak."""

import json
import signal
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
import pytest
from clients import CLIENTS, PATIENCE
from conftest import CATALOGUE, launcher
from mcp import MCPError
from mcp.client.subscriptions import (
    ListenNotSupportedError,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

pytestmark = pytest.mark.anyio

MODERN = "2026-07-28"
NEWEST_HANDSHAKE = "2025-11-25"
OLDER_HANDSHAKES = ("2025-06-18", "2025-03-26", "2024-11-05")
WATCHED = "test://watched-resource"
EVERYTHING = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}

# Name: how the client connects, what it is to end with, and the server's arguments. These clients always offer
# their newest handshake version; an older one is reached through what the server allows.
ERAS = {
    "modern": (MODERN, MODERN, []),
    "auto": ("auto", MODERN, []),
    NEWEST_HANDSHAKE: ("legacy", NEWEST_HANDSHAKE, []),
    **{version: ("legacy", version, ["--protocol-versions", version]) for version in OLDER_HANDSHAKES},
}


def expected(kind: str) -> list[str]:
    return [item["name"] for item in CATALOGUE[kind]]


@pytest.fixture(params=CLIENTS)
def kind(request):
    return CLIENTS[request.param]


@pytest.fixture
def connect(language, kind, processes, tmp_path):
    """Connects, and in the end sees the server leave by itself with status 0."""

    @asynccontextmanager
    async def connect(mode: str, args: list[str] = ()):
        with anyio.fail_after(6 * PATIENCE):
            async with kind.open(launcher(language), mode=mode, args=[*args], stderr=tmp_path / "stderr") as session:
                yield session
        processes.check()

    return connect


@pytest.fixture(params=ERAS)
def era(request):
    return ERAS[request.param]


async def test_connects_and_learns_who_the_server_is(connect, era):
    mode, version, args = era
    async with connect(mode, args) as session:
        client = session.client
        assert client.protocol_version == version
        # A client that pins the modern version asks nothing, and so knows nothing but what it pinned.
        if mode != MODERN:
            assert client.server_info.name
            assert client.instructions == CATALOGUE["instructions"]
            capabilities = client.server_capabilities
            assert capabilities.tools.list_changed
            assert capabilities.prompts.list_changed
            assert capabilities.resources.list_changed
            assert capabilities.resources.subscribe
        assert json.loads(await session.text("whoami")) == {
            "era": "modern" if version == MODERN else "handshake",
            "protocolVersion": version,
            "transport": "stdio",
            "client": {"name": "interop", "version": "1.0.0"},
        }


@pytest.mark.parametrize("pages", [[], ["--page-size", "3"]], ids=["whole", "paged"])
async def test_lists_the_catalogue(connect, era, pages):
    mode, version, args = era
    async with connect(mode, [*args, *pages]) as session:
        for kind in ("tools", "prompts", "resources", "resourceTemplates"):
            assert await session.names(kind) == expected(kind)
        add = next(tool for tool in await session.list("tools") if tool.name == "add")
        assert (add.output_schema is not None) == (version >= "2025-06-18")


async def test_calls_reads_and_gets(connect, era):
    mode, version, args = era
    async with connect(mode, args) as session:
        for text in ("", "plain", '★🎉ж✓ \u2028 \u0085 "\\ \n'):
            assert await session.text("echo", text=text) == text

        for a, b in ((2, -7), (2**53, 1), (2**63 - 1, 0), (-(2**63), 1)):
            result = await session.call("add", {"a": a, "b": b})
            assert json.loads(result.content[0].text) == {"sum": a + b}
            # Structured content came with this revision; an older client gets its text alone.
            assert result.structured_content == ({"sum": a + b} if version >= "2025-06-18" else None)
        assert (await session.call("add", {"a": 2**63 - 1, "b": 1})).is_error

        answers = {}

        async def echo(text: str):
            answers[text] = await session.text("echo", text=text)

        async with anyio.create_task_group() as group:
            for index in range(100):
                group.start_soon(echo, str(index))
        assert answers == {str(index): str(index) for index in range(100)}

        contents = await session.read("test://static-text")
        assert str(contents[0].uri) == "test://static-text"
        assert contents[0].text

        prompt = await session.client.get_prompt("test_prompt_with_arguments", {"arg1": "salt", "arg2": "pepper"})
        assert "salt" in prompt.messages[0].content.text
        assert "pepper" in prompt.messages[0].content.text


async def test_says_what_went_wrong(connect, era):
    mode, _, args = era
    async with connect(mode, args) as session:
        failed = await session.call("fail", {"message": "the bell is cracked"})
        assert failed.is_error
        assert "the bell is cracked" in failed.content[0].text
        assert (await session.call("crash")).is_error
        with pytest.raises(MCPError) as refused:
            await session.call("no_such_tool")
        assert refused.value.error.code == types.INVALID_PARAMS
        with pytest.raises(MCPError) as refused:
            await session.client.get_prompt("no_such_prompt")
        assert refused.value.error.code == types.INVALID_PARAMS
        assert await session.text("echo", text="alive") == "alive"


async def test_hears_progress(connect, era):
    mode, _, args = era
    heard = []

    async def hear(progress, total, message):
        heard.append((progress, total))

    async with connect(mode, args) as session:
        await session.call("sleep", {"ms": 400}, progress=hear)
    assert len(heard) >= 2
    assert {total for _, total in heard} == {400}
    # The client hands each report to a task of its own, so only their set is sure, not their order.
    assert len({progress for progress, _ in heard}) == len(heard)


async def test_cancels_a_long_call(connect, era):
    mode, _, args = era
    async with connect(mode, args) as session:
        with anyio.CancelScope() as scope:

            async def enough(progress, total, message):
                scope.cancel()

            await session.call("sleep", {"ms": 600_000}, progress=enough)
        assert scope.cancelled_caught
        # A report that crossed the cancellation is nobody's fault; one after this answer is.
        assert await session.text("echo", text="next") == "next"
        session.inbox.messages.clear()
        await session.call("sleep", {"ms": 200})
        # FastMCP asks for progress always, so this call's own reports are among the messages.
        assert {message.params.total for message in session.inbox.progress()} <= {200}


async def test_gives_up_a_call_that_takes_too_long(connect, era):
    mode, _, args = era
    async with connect(mode, args) as session:
        with pytest.raises(MCPError) as late:
            await session.call("sleep", {"ms": 600_000}, patience=0.2)
        assert late.value.error.code == types.REQUEST_TIMEOUT
        assert await session.text("echo", text="alive") == "alive"


async def changes_of_every_kind(session, told):
    """Changes everything; `told` waits until the client was told of that kind."""
    await session.text("add_tool", name="fresh_tool")
    await told("tools")
    assert await session.names("tools") == [*expected("tools"), "fresh_tool"]
    assert await session.text("fresh_tool") == "fresh_tool"

    await session.text("remove_tool", name="fresh_tool")
    await told("tools")
    assert await session.names("tools") == expected("tools")
    with pytest.raises(MCPError):
        await session.call("fresh_tool")

    await session.text("add_prompt", name="fresh_prompt")
    await told("prompts")
    assert "fresh_prompt" in await session.names("prompts")
    assert (await session.client.get_prompt("fresh_prompt")).messages

    await session.text("add_resource", uri="test://fresh")
    await told("resources")
    assert "test://fresh" in [str(resource.uri) for resource in await session.list("resources")]
    assert await session.read("test://fresh")

    await session.text("touch_resource", uri="test://static-text")
    await session.text("touch_resource", uri=WATCHED)
    await told("updated")

    # What changes nothing is refused, and nobody is told.
    assert (await session.call("add_prompt", {"name": "fresh_prompt"})).is_error
    assert (await session.call("remove_tool", {"name": "fresh_tool"})).is_error


@pytest.mark.parametrize("mode", [MODERN, "auto"])
async def test_listens(connect, mode):
    events = {
        "tools": ToolsListChanged(),
        "prompts": PromptsListChanged(),
        "resources": ResourcesListChanged(),
        "updated": ResourceUpdated(uri=WATCHED),
    }
    async with connect(mode) as session:
        async with session.listen(**EVERYTHING, resource_subscriptions=[WATCHED]) as subscription:
            honored = subscription.honored
            assert honored.tools_list_changed
            assert honored.prompts_list_changed
            assert honored.resources_list_changed
            assert honored.resource_subscriptions == [WATCHED]

            async def told(kind):
                with anyio.fail_after(PATIENCE):
                    assert await anext(subscription) == events[kind]

            await changes_of_every_kind(session, told)
            await session.text("echo", text="done")
            # Five changes, each told before the next one was made; the handler hears what the subscription yields.
            assert len(session.inbox.changes()) == 5
            for message in session.inbox.changes():
                assert message.params.meta["io.modelcontextprotocol/subscriptionId"] == subscription.subscription_id

        # The subscription is over; its connection is not. The client does not wait until it has said so, hence the
        # call before.
        await session.text("echo", text="between")
        session.inbox.messages.clear()
        await session.text("add_tool", name="unheard")
        assert "unheard" in await session.names("tools")
        assert session.inbox.changes() == []


async def test_two_subscriptions_are_told_apart(connect):
    async with (
        connect("auto") as session,
        session.listen(tools_list_changed=True) as tools,
        session.listen(prompts_list_changed=True) as prompts,
    ):
        assert tools.honored.prompts_list_changed is None
        await session.text("add_prompt", name="asked")
        await session.text("add_tool", name="asked")
        with anyio.fail_after(PATIENCE):
            assert await anext(prompts) == PromptsListChanged()
            assert await anext(tools) == ToolsListChanged()
        assert len(session.inbox.changes()) == 2


async def test_a_burst_ends_with_what_is_true(connect):
    async with connect("auto") as session, session.listen(tools_list_changed=True) as subscription:
        await session.call("burst", {"count": 500})
        with anyio.fail_after(PATIENCE):
            async for _ in subscription:
                if "burst_tool" in await session.names("tools"):
                    break


async def test_a_subscription_ends_gracefully_when_the_server_is_told_to_stop(connect, processes):
    async with connect("auto") as session, session.listen(**EVERYTHING) as subscription:
        processes.started[0].send_signal(signal.SIGTERM)
        with anyio.fail_after(PATIENCE):
            # A subscription that was lost instead would raise.
            assert [event async for event in subscription] == []


@pytest.mark.parametrize("era", [NEWEST_HANDSHAKE, *OLDER_HANDSHAKES], indirect=True)
async def test_is_told_after_a_handshake(connect, era):
    mode, _, args = era
    notifications = {
        "tools": types.ToolListChangedNotification,
        "prompts": types.PromptListChangedNotification,
        "resources": types.ResourceListChangedNotification,
        "updated": types.ResourceUpdatedNotification,
    }
    async with connect(mode, args) as session:
        with pytest.raises(ListenNotSupportedError):
            async with session.listen(tools_list_changed=True):
                pass
        await session.client.session.subscribe_resource(WATCHED)

        async def told(kind):
            message = await session.inbox.take(notifications[kind])
            assert kind != "updated" or str(message.params.uri) == WATCHED
            assert not (message.params and message.params.meta)

        await changes_of_every_kind(session, told)
        await session.client.session.unsubscribe_resource(WATCHED)
        await session.text("touch_resource", uri=WATCHED)
        await session.client.session.send_ping()
        assert session.inbox.changes() == []


async def test_answers_questions(connect, era):
    mode, version, args = era
    async with connect(mode, args) as session:
        assert "Polly has a cracker" in await session.text("test_sampling", prompt="Polly?")
        if version < "2025-06-18":
            # Elicitation came with that revision: the server must not send what this one does not know.
            assert (await session.call("test_elicitation", {"message": "Who rings?"})).is_error
            assert session.questions == []
            return

        accepted = await session.text("test_elicitation", message="Who rings?")
        (question,) = session.questions
        assert question.message == "Who rings?"
        assert "accept" in accepted
        assert all(name in accepted for name in question.requested_schema["properties"])

        for answer in ("decline", "cancel"):
            session.answer = answer
            assert answer in await session.text("test_elicitation", message="Who rings?")

        assert not (await session.call("test_input_required_result_list_roots")).is_error


@pytest.mark.parametrize("version", [NEWEST_HANDSHAKE, *OLDER_HANDSHAKES])
async def test_falls_back_to_a_handshake(connect, version):
    async with connect("auto", ["--protocol-versions", version]) as session:
        assert session.client.protocol_version == version
        assert json.loads(await session.text("whoami"))["era"] == "handshake"


async def test_refuses_more_subscriptions_than_the_cap(connect):
    async with connect("auto", ["--max-subscriptions", "1"]) as session:
        async with session.listen(**EVERYTHING):
            with pytest.raises(MCPError) as refused:
                async with session.listen(**EVERYTHING):
                    pass
            assert refused.value.error.code == types.INTERNAL_ERROR
        # The freed place can be taken again.
        async with session.listen(**EVERYTHING) as again:
            assert again.honored.tools_list_changed


async def test_closes_in_the_middle_of_a_call(connect, era):
    mode, _, args = era
    started = anyio.Event()

    async def begun(progress, total, message):
        started.set()

    async with anyio.create_task_group() as group, connect(mode, args) as session:

        async def sleep():
            # How the call ends when its connection goes is the client's own affair.
            with pytest.raises((MCPError, RuntimeError)):
                await session.call("sleep", {"ms": 600_000}, progress=begun, patience=600)

        group.start_soon(sleep)
        with anyio.fail_after(PATIENCE):
            await started.wait()
