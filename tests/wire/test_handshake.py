"""The handshake era: what `initialize` opens. The rows stand in the names; H00 is for what no row says."""

import pytest

from connection import CLIENT, text_of
from ledger import HANDSHAKE
from test_input import FULL, NAME, ROOTS, SAID, accept, say

NEW = "2025-11-25"


@pytest.mark.parametrize("version", HANDSHAKE)
def test_H00_empty_results_are_empty(wire, version):
    wire.initialize(version)
    assert wire.ask("ping") == {}
    assert wire.ask("logging/setLevel", {"level": "info"}) == {}
    assert wire.ask("resources/subscribe", {"uri": "test://watched-resource"}) == {}
    assert wire.ask("resources/unsubscribe", {"uri": "test://watched-resource"}) == {}
    wire.quiet()


@pytest.mark.parametrize("version", HANDSHAKE)
def test_H00_capabilities_and_whoami(wire, version):
    capabilities = wire.initialize(version)["capabilities"]
    assert capabilities["tools"] == {"listChanged": True}
    assert capabilities["prompts"] == {"listChanged": True}
    assert capabilities["resources"] == {"listChanged": True, "subscribe": True}
    assert capabilities["logging"] == {}
    text = text_of(wire.call("whoami"))
    assert text.startswith(f'{{"era":"handshake","protocolVersion":"{version}","transport":')
    assert text.endswith(',"client":{"name":"wire","version":"1.0"}}')


@pytest.mark.parametrize("kind", ["tools", "prompts", "resources"])
def test_H00_a_withheld_kind_is_neither_declared_nor_told(connect, kind):
    wire = connect("--no-listen-capability", kind)
    capabilities = wire.initialize()["capabilities"]
    assert not any(capabilities[kind].values())
    edit = {"tools": ("add_tool", {"name": "x"}), "prompts": ("add_prompt", {"name": "x"}),
            "resources": ("add_resource", {"uri": "x:y"})}[kind]  # fmt: skip
    wire.text(*edit)
    wire.quiet()


@pytest.mark.parametrize(
    ("kind", "tool", "arguments"),
    [
        ("tools/list_changed", "add_tool", {"name": "extra"}),
        ("prompts/list_changed", "add_prompt", {"name": "extra"}),
        ("resources/list_changed", "add_resource", {"uri": "test://extra"}),
    ],
)
def test_S09_untagged_notifications_once_initialized(wire, kind, tool, arguments):
    wire.initialize()
    wire.text(tool, arguments)
    assert "_meta" not in wire.change(kind).params
    wire.quiet()


def test_S09_changes_before_initialized_are_announced_with_it(wire):
    wire.initialize(initialized=False)
    wire.text("add_tool", {"name": "extra"})
    wire.text("remove_tool", {"name": "extra"})
    wire.text("add_prompt", {"name": "extra"})
    wire.quiet()
    wire.notify("notifications/initialized")
    wire.change("tools/list_changed")
    wire.change("prompts/list_changed")
    wire.quiet()


def test_S09_changes_before_initialize_are_not_announced(wire):
    wire.text("add_tool", {"name": "extra"})
    wire.initialize()
    wire.quiet()
    wire.notify("notifications/initialized")
    wire.quiet()


def test_S10_both_eras_on_one_connection(wire):
    wire.initialize()
    id = wire.listen(toolsListChanged=True)
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed")
    wire.change("tools/list_changed", id)
    wire.cancel(id)
    wire.text("remove_tool", {"name": "extra"})
    wire.change("tools/list_changed")
    wire.quiet()


@pytest.mark.parametrize("method", ["subscriptions/listen", "no/such"])
def test_S11_listen_without_modern_meta(wire, method):
    wire.initialize()
    wire.refuse(-32601, method=method, params={"notifications": {"toolsListChanged": True}})
    wire.quiet()


@pytest.mark.parametrize("version", HANDSHAKE)
def test_L13_resource_subscriptions(wire, version):
    uri = "test://a%20b/★"
    wire.initialize(version)
    wire.ask("resources/subscribe", {"uri": uri})
    wire.ask("resources/subscribe", {"uri": uri})  # twice counts once
    wire.text("touch_resource", {"uri": uri})
    assert wire.change("resources/updated").params == {"uri": uri}
    wire.text("touch_resource", {"uri": "test://other"})
    wire.quiet()
    wire.ask("resources/unsubscribe", {"uri": uri})
    wire.text("touch_resource", {"uri": uri})
    wire.quiet()
    # Unsubscribing what was never subscribed to does no harm.
    answer = wire.response(wire.request("resources/unsubscribe", {"uri": "test://never"}))
    assert answer.get("result", {}) == {}


def test_M04_logging_set_level(wire):
    wire.initialize()
    wire.ask("logging/setLevel", {"level": "warning"})
    wire.text("log", {"level": "notice", "message": "low"})
    wire.quiet()
    wire.text("log", {"level": "error", "message": "high ★"})
    assert wire.notification("message").params == {"level": "error", "logger": "everything", "data": "high ★"}
    wire.ask("logging/setLevel", {"level": "debug"})
    wire.text("test_tool_with_logging")
    assert [wire.notification("message").params["data"] for _ in range(3)] == [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ]
    for level in ("bogus", 1, None):
        wire.refuse(-32602, "level", method="logging/setLevel", params={"level": level})


def test_M08_progress(wire):
    wire.initialize()
    wire.text("sleep", {"ms": 100}, meta={"progressToken": "★"})
    told = [wire.notification("progress").params for _ in range(2)]
    assert told == [{"progressToken": "★", "progress": value, "total": 100} for value in (50, 100)]
    wire.quiet()


def scripted(wire, version=NEW, capabilities=FULL, **answers):
    """Opens a connection whose questions are answered; returns what was asked."""
    asked = []

    def answer_with(answer):
        def answering(params):
            asked.append(params)
            return answer

        return answering

    names = {"elicit": "elicitation/create", "sample": "sampling/createMessage", "roots": "roots/list"}
    wire.answers = {names[name]: answer_with(answer) for name, answer in answers.items()}
    wire.initialize(version, capabilities)
    return asked


@pytest.mark.parametrize("version", ["2025-06-18", NEW])
def test_M05_elicitation_goes_out_as_a_request(wire, version):
    asked = scripted(wire, version, elicit=accept(name="Ada ★"))
    assert wire.text("test_input_required_result_elicitation") == "Hello, Ada ★!"
    assert asked == [NAME["params"]]
    wire.answers["elicitation/create"] = lambda params: {"action": "decline"}
    assert wire.text("test_input_required_result_elicitation") == "Hello, unknown!"
    wire.quiet()


@pytest.mark.parametrize("version", HANDSHAKE)
def test_M05_sampling_and_roots_go_out_as_requests(wire, version):
    asked = scripted(wire, version, sample=SAID, roots=ROOTS)
    assert wire.text("test_sampling", {"prompt": "Say ★"}) == "LLM response: Paris"
    assert asked == [say("Say ★", 100)["params"]]
    assert wire.text("test_input_required_result_list_roots") == "Found 2 root(s): file:///a, file:///b"


def test_M05_questions_one_after_the_other_and_at_once(wire):
    scripted(wire, elicit=accept(name="Ada", color="red"), sample=SAID, roots=ROOTS)
    assert wire.text("test_input_required_result_multi_round") == "Multi-round complete for Ada who likes red"
    assert wire.text("test_input_required_result_multiple_inputs") == "Name: Ada; Greeting: Paris; Roots: 2"


def test_M05_other_requests_are_served_while_a_question_is_open(wire):
    wire.initialize(NEW, FULL)
    id = wire.start("test_input_required_result_elicitation")
    question = wire.asked("elicitation/create")
    assert wire.text("echo", {"text": "meanwhile"}) == "meanwhile"
    wire.reply(question, accept(name="Ada"))
    assert text_of(wire.result(id)) == "Hello, Ada!"
    wire.reply(question, accept(name="Eve"))  # nobody waits for it any more
    wire.quiet()


def test_M05_a_cancelled_call_stops_asking(wire):
    wire.initialize(NEW, FULL)
    id = wire.start("test_input_required_result_elicitation")
    question = wire.asked("elicitation/create")
    wire.cancel(id)
    wire.reply(question, accept(name="Ada"))
    # A `cancelled` for the question is allowed, an answer to the call is not.
    assert [message for message in wire.drain() if message.is_response] == []


def test_M05_a_client_that_refuses_or_answers_nonsense(wire):
    scripted(wire, elicit=Exception("no user here"))
    result = wire.call("test_input_required_result_elicitation")
    assert result["isError"] is True and text_of(result)
    wire.answers["elicitation/create"] = lambda params: {"action": 5}
    answer = wire.response(wire.start("test_input_required_result_elicitation"))
    assert "error" in answer or answer["result"].get("isError") is True, answer
    assert wire.ask("ping") == {}


@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}], ids=repr)
def test_M03_a_client_without_the_capability_is_not_asked(wire, capabilities):
    wire.initialize(NEW, capabilities)
    answer = wire.response(wire.start("test_input_required_result_elicitation"))
    assert "error" in answer or answer["result"].get("isError") is True, answer
    wire.quiet()


def test_H00_requests_between_initialize_and_initialized(wire):
    wire.initialize(initialized=False)
    assert wire.ask("ping") == {}
    assert wire.names()[0] == "echo"
    wire.notify("notifications/initialized")
    wire.notify("notifications/initialized")
    wire.quiet()


def test_H00_initialize_tolerates_what_it_does_not_know(wire):
    params = {"protocolVersion": NEW, "capabilities": {"x": {"y": 1}, "experimental": {"z": {}}},
              "clientInfo": CLIENT | {"title": "T", "more": 1}, "more": []}  # fmt: skip
    result = wire.ask("initialize", params, modern=False)
    assert result["protocolVersion"] == NEW


def test_M06_pages_for_handshake_clients(connect):
    wire = connect("--page-size", "3")
    wire.initialize("2024-11-05")
    page = wire.ask("prompts/list")
    rest = wire.ask("prompts/list", {"cursor": page["nextCursor"]})
    assert len(page["prompts"]) == 3 and len(rest["prompts"]) == 2 and "nextCursor" not in rest
    wire.refuse(-32602, "cursor", method="tools/list", params={"cursor": page["nextCursor"]})
