"""Group S: what only a pipe can do. S9 to S11 are in test_handshake.py; S15 is tested in each language."""

import re
import resource
import signal

import pytest

from connection import META, TIMEOUT, text_of
from wirejson import SID, Number, encode

pytestmark = pytest.mark.transports("stdio")
GRACE = 5
FOREVER = {"ms": 600000}


def test_S01_a_second_listen_with_an_active_id(wire, transport):
    wire.listen(id=7, toolsListChanged=True)
    wire.request("subscriptions/listen", {"notifications": {"promptsListChanged": True}}, id=7)
    wire.error(7, -32600)
    wire.listen(id="7", promptsListChanged=True)
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed", 7)
    wire.text("add_prompt", {"name": "extra"})
    wire.change("prompts/list_changed", "7")
    wire.quiet()
    wire.cancel(7)
    wire.listen(id=7, promptsListChanged=True)
    wire.text("remove_prompt", {"name": "extra"})
    wire.change("prompts/list_changed", 7)


@pytest.mark.parametrize("id", [7, "7", Number("9007199254740993")], ids=repr)
def test_S02_ids_in_flight(wire, transport, id):
    other = str(id) if isinstance(id, int) else 7
    wire.start("sleep", {"ms": 500}, id=id)
    wire.start("echo", {"text": "second"}, id=id)
    wire.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=id)
    wire.start("echo", {"text": "other type"}, id=other)
    wire.error(id, -32600)
    wire.error(id, -32600)
    assert text_of(wire.result(other)) == "other type"
    assert text_of(wire.result(id)) == "slept 500 ms"
    wire.quiet()
    assert wire.text("echo", {"text": "free again"}, id=id) == "free again"


def test_S02_a_call_with_the_id_of_a_listen(wire, transport):
    wire.listen(id="x", toolsListChanged=True)
    wire.start("echo", {"text": "a"}, id="x")
    wire.error("x", -32600)
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed", "x")


@pytest.mark.parametrize("id", [1, "1", "", Number("9007199254740993")], ids=repr)
def test_S03_a_cancelled_listen_ends_without_a_word(wire, transport, id):
    wire.listen(id=id, toolsListChanged=True, resourceSubscriptions=["test://x"])
    wire.cancel(id)
    wire.text("add_tool", {"name": "extra"})
    wire.text("touch_resource", {"uri": "test://x"})
    wire.quiet()
    wire.end_input()
    assert wire.wait() == 0
    assert not wire.unseen


@pytest.mark.parametrize("modern", [True, False])
def test_S04_cancellations_without_effect(wire, transport, modern):
    if not modern:
        wire.initialize()
    wire.listen(id=7, resourceSubscriptions=["test://x"])
    wire.start("sleep", {"ms": 1000}, id=8)
    done = wire.start("echo", {"text": "a"}, id="done")
    wire.result(done)
    for id in ("7", "8", 9, "nope", "done", None, {}, [], True, 7.5, Number("7e1"), Number("8" * 40)):
        wire.cancel(id)
    wire.notify("notifications/cancelled")
    wire.notify("notifications/cancelled", {})
    wire.notify("notifications/cancelled", {"reason": "x"})
    wire.quiet()
    wire.text("touch_resource", {"uri": "test://x"})
    wire.change("resources/updated", 7)
    assert text_of(wire.result(8)) == "slept 1000 ms"
    wire.quiet()


def test_S05_a_cancelled_call_falls_silent(wire, transport):
    id = wire.start("sleep", FOREVER, meta=META(progressToken="p", logLevel="debug"))
    wire.notification("progress")
    wire.cancel(id)
    wire.drain()  # what was on its way
    assert wire.text("sleep", {"ms": 200}) == "slept 200 ms"  # four progress reports long
    wire.quiet()
    assert wire.text("echo", {"text": "free again"}, id=id) == "free again"


def test_S05_cancelling_for_a_reason_with_meta(wire, transport):
    id = wire.start("sleep", FOREVER)
    wire.notify("notifications/cancelled", {"requestId": id, "reason": "★", "_meta": META()})
    assert wire.text("echo", {"text": "a"}, id=id) == "a"
    wire.quiet()


def test_S06_cancel_racing_with_completion(wire, transport):
    rounds = 1000
    for n in range(rounds):
        wire.start("sleep", {"ms": 0}, id=f"race {n}")
        wire.cancel(f"race {n}")
    answers = [message.key for message in wire.drain()]
    # One that is not answered by now may still be; none is answered twice, which the ledger checks as well.
    wire.text("sleep", {"ms": 50})
    answers += [message.key for message in wire.drain()]
    assert len(answers) == len(set(answers)) <= rounds


def test_S07_a_change_comes_before_the_result_of_its_call(wire, transport):
    id = wire.listen(toolsListChanged=True, promptsListChanged=True, resourcesListChanged=True,
                     resourceSubscriptions=["test://x"])  # fmt: skip
    for tool, arguments, kind in [
        ("add_tool", {"name": "extra"}, "tools/list_changed"),
        ("add_prompt", {"name": "extra"}, "prompts/list_changed"),
        ("add_resource", {"uri": "test://extra"}, "resources/list_changed"),
        ("touch_resource", {"uri": "test://x"}, "resources/updated"),
        ("remove_tool", {"name": "extra"}, "tools/list_changed"),
    ] * 20:
        if tool.startswith("add_"):
            arguments = {name: f"{value}_{len(wire.messages)}" for name, value in arguments.items()}
        if tool == "remove_tool":
            arguments = {"name": wire.names()[-1]}
        call = wire.start(tool, arguments)
        assert wire.change(kind, id).index < wire.response(call).index


def test_S08_nothing_untagged_without_initialize(wire, transport):
    wire.text("add_tool", {"name": "first"}, modern=False)
    wire.ask("server/discover")
    wire.text("add_tool", {"name": "second"})
    wire.text("add_prompt", {"name": "second"})
    wire.text("add_resource", {"uri": "test://second"})
    wire.text("touch_resource", {"uri": "test://second"})
    wire.notify("notifications/initialized")  # of nothing
    wire.text("add_tool", {"name": "third"})
    wire.quiet()


def test_S12_nothing_that_was_not_asked_for(wire, transport):
    wire.listen(promptsListChanged=True)
    loud = wire.start("sleep", {"ms": 200}, meta=META(progressToken="mine"))
    logging = wire.start("log", {"level": "error", "message": "mine"}, meta=META(logLevel="debug"))
    silent = [wire.start("sleep", {"ms": 200}), wire.start("log", {"level": "emergency", "message": "hidden"})]
    silent.append(wire.start("touch_resource", {"uri": "test://watched-resource"}))
    for id in (loud, logging, *silent):
        wire.result(id)
    told = wire.drain()
    assert {message.method for message in told} == {"notifications/progress", "notifications/message"}
    assert all(message.params.get("progressToken", "mine") == "mine" for message in told)
    assert all(message.params.get("data", "mine") == "mine" for message in told)


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


ENDS = {"eof": None, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
# A signal before the first answer may come before main(), so `untouched` ends by end of input only.
BUSY = [("untouched", "eof"), *((busy, end) for busy in ("idle", "listening", "calling", "asking") for end in ENDS)]


@pytest.mark.parametrize(("busy", "end"), BUSY)
def test_S13_L19_the_end(wire, transport, busy, end):
    """End of input, SIGTERM and SIGINT: status 0 within the grace, complete results and nothing else."""
    before = cpu_of_children()
    listening = []
    if busy != "untouched":
        wire.quiet()
    if busy == "listening":
        listening = [wire.listen(id=id, toolsListChanged=True, resourceSubscriptions=["test://x"]) for id in (1, "1")]
    if busy == "calling":
        wire.start("sleep", FOREVER, id="call", meta=META(progressToken="p"))
        wire.notification("progress")
    if busy == "asking":
        wire.initialize("2025-11-25", {"elicitation": {}})
        wire.start("test_input_required_result_elicitation", id="call")
        wire.asked("elicitation/create")
    if end == "eof":
        wire.end_input()
    else:
        wire.signal(ENDS[end])
    assert wire.wait(GRACE + TIMEOUT) == 0
    assert cpu_of_children() - before < GRACE - 1  # waiting is not spinning
    for id in listening:
        result = wire.result(id)
        assert (result["resultType"], result["_meta"][SID], set(result)) == ("complete", id, {"resultType", "_meta"})
    for message in wire.unseen:
        of_the_call = message.key == '"call"' or message.method in ("notifications/progress", "notifications/cancelled")
        assert of_the_call, message
    wire.no_trace()


def test_S13_a_call_that_ends_within_the_grace_is_answered(wire, transport):
    id = wire.start("sleep", {"ms": 500}, meta=META(progressToken="p"))
    wire.notification("progress")
    wire.signal()
    answer = wire.response(id)
    assert "error" in answer or text_of(answer["result"]) == "slept 500 ms"
    assert wire.wait() == 0


def test_S13_a_second_signal_does_not_wait(wire, transport):
    wire.start("sleep", FOREVER, meta=META(progressToken="p"))
    wire.notification("progress")
    wire.signal()
    wire.signal(signal.SIGINT)
    assert wire.wait(GRACE + TIMEOUT) in (0, 130, 143, -signal.SIGINT, -signal.SIGTERM)
    wire.check_status = False


@pytest.mark.parametrize("busy", ["idle", "listening", "calling"])
def test_S14_stdout_closed_by_the_peer(wire, transport, busy):
    wire.check_status = False
    if busy == "listening":
        wire.listen(toolsListChanged=True)
    if busy == "calling":
        wire.start("sleep", {"ms": 600000}, meta=META(progressToken="p"))
        wire.notification("progress")
    wire.quiet()
    wire.hang_up()
    try:
        for _ in range(3):
            wire.start("add_tool", {"name": "extra"})
    except BrokenPipeError:
        pass  # it noticed before we were through
    assert wire.wait(GRACE + TIMEOUT) in (0, 1)
    wire.no_trace()


LOCALES = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TEXT = "★🎉ж✓ \u2028\u2029\u0085\x7f\ufeff é\u0301"


def test_S16_utf_8_whatever_the_locale(connect, transport):
    wire = connect(env=LOCALES)
    id = wire.start("echo", {"text": TEXT})
    answer = wire.response(id)
    assert text_of(answer["result"]) == TEXT
    assert TEXT.encode() in answer.raw, "not escaped and not recoded"
    assert wire.call("region_echo", {"note": TEXT, TEXT: [TEXT]})["structuredContent"] == {"note": TEXT, TEXT: [TEXT]}
    assert text_of(wire.call("fail", {"message": TEXT})) == TEXT
    wire.text("log", {"level": "info", "message": TEXT}, meta=META(logLevel="info"))
    assert wire.notification("message").params["data"] == TEXT
    wire.listen(id=TEXT, resourceSubscriptions=[f"test://{TEXT}"])
    wire.text("touch_resource", {"uri": f"test://{TEXT}"})
    assert wire.change("resources/updated", TEXT).params["uri"] == f"test://{TEXT}"


def test_S16_only_lf_ends_a_line(wire, transport):
    """A lone CR is white space between the tokens of a message, and cannot stand raw in a string."""
    message = encode(wire.line("tools/call", {"name": "echo", "arguments": {"text": TEXT}}, id=1))
    wire.send_raw(message.replace(",", "\r,\r").encode() + b"\n")
    assert text_of(wire.result(1)) == TEXT
    message = wire.line("tools/call", {"name": "echo", "arguments": {"text": "a\r\n\u2028b"}}, id=2)
    wire.send(message)
    assert text_of(wire.result(2)) == "a\r\n\u2028b"
    wire.quiet()


def test_S16_messages_in_pieces(wire, transport):
    """A pipe keeps no borders: one byte at a time, and many messages in one write."""
    for byte in encode(wire.line("tools/call", {"name": "echo", "arguments": {"text": "★"}}, id=1)).encode() + b"\n":
        wire.send_raw(bytes([byte]))
    assert text_of(wire.result(1)) == "★"
    lines = [encode(wire.line("tools/call", {"name": "echo", "arguments": {"text": str(n)}}, id=n)) for n in range(500)]
    wire.send_raw("".join(f"{line}\n" for line in lines).encode())
    for n in range(500):
        assert text_of(wire.result(n)) == str(n)


def test_S17_a_client_that_does_not_read(wire, transport):
    wire.initialize()
    wire.quiet()
    before = wire.rss()
    wire.pause()
    big = wire.start("big", {"bytes": 1024 * 1024})
    pings = [wire.request("ping") for _ in range(2000)]
    wire.resume()
    assert text_of(wire.result(big)) == "x" * 1024 * 1024
    for id in pings:
        assert wire.result(id) == {}
    assert wire.rss() - before < 64 * 1024
    wire.quiet()


def test_L16_a_stopped_reader_gets_the_news_when_it_reads_again(wire, transport):
    id = wire.listen(toolsListChanged=True, resourceSubscriptions=["test://x"])
    wire.quiet()
    before = wire.rss()
    wire.pause()
    big = wire.start("big", {"bytes": 1024 * 1024})  # the pipe is full
    bursts = []
    for _ in range(10):
        bursts.append(wire.start("burst", {"count": 200}))
        bursts.append(wire.start("touch_resource", {"uri": "test://x"}))
    wire.resume()
    wire.result(big)
    # Bursts that overlap may trip over one another; that their errors are told is all the same here.
    last = max(wire.response(call).index for call in bursts)
    told = wire.drain()
    changes = [message for message in told if message.method == "notifications/tools/list_changed"]
    updates = [message for message in told if message.method == "notifications/resources/updated"]
    assert len(changes) + len(updates) == len(told)
    assert 1 <= len(changes) <= 10 * 401 and 1 <= len(updates) <= 10
    assert changes[0].subscription == encode(id) and updates[0].index < last
    assert wire.rss() - before < 64 * 1024


def test_S18_a_client_that_never_reads_stderr(connect, transport):
    wire = connect(drain_stderr=False)
    lines = 20000
    wire.send_raw((b"not json " + b"x" * 100 + b"\n") * lines)
    for _ in range(lines):
        wire.stray_error(-32700)
    for _ in range(200):
        wire.call("crash")
    assert wire.text("echo", {"text": "a"}) == "a"


@pytest.mark.parametrize("modern", [True, False])
def test_S19_quick_requests_overtake_slow_ones(wire, transport, modern):
    if not modern:
        wire.initialize()
    slow = wire.start("sleep", {"ms": 1000})
    quick = wire.request("server/discover" if modern else "ping")
    call = wire.start("echo", {"text": "a"})
    first, second = wire.response(quick).index, wire.response(call).index
    assert max(first, second) < wire.response(slow).index


@pytest.mark.parametrize("modern", [True, False])
def test_S20_the_first_line_is_a_call_with_a_token(wire, transport, modern):
    token = {"progressToken": "first"}
    id = wire.start("sleep", {"ms": 50}, meta=META(**token) if modern else token)
    answer = wire.response(id)
    assert text_of(answer["result"]) == "slept 50 ms"
    progress = wire.notification("progress")
    assert progress.params == {"progressToken": "first", "progress": 50, "total": 50}
    assert progress.index < answer.index == 1


def test_D11_starting_has_no_side_effects(wire, server, transport):
    """Decision 11: clients start a throw-away process only to probe; it must say nothing by itself."""
    wire.quiet()
    assert len(wire.messages) == 1
    wire.end_input()
    assert wire.wait() == 0
    assert re.sub(rb"(?m)^.*(Experimental|Warning).*\n", b"", wire.stderr) == b"", wire.stderr
