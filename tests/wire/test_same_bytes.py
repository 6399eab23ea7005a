"""The servers answer alike, byte for byte: the script is played to each, and the answers are compared.

Only `serverInfo` and the sealed `requestState` may differ. The first server is held against a second run of itself.
"""

import re
from functools import cache

import pytest

from conftest import TRANSPORTS, built
from script import SECTIONS
from wirejson import decode_exact

INFO = re.compile(rb'"name":"everything-\w+","version":"[^"]*"')
STATE = re.compile(rb'"requestState":"[^"]*"')


def plain(raw):
    return STATE.sub(b'"requestState":"*"', INFO.sub(b'"name":"*","version":"*"', raw))


def expected(sent):
    """How many answers a line gets: none if it is a notification or opens a subscription."""
    try:
        message = decode_exact(sent)
    except ValueError:
        return 1
    return 0 if isinstance(message, dict) and "method" in message and "id" not in message else 1


def play(server, transport, section):
    """[(line sent, [answers and notifications in their order])]"""
    options, steps = SECTIONS[section]
    wire = TRANSPORTS[transport](built(server), *options)
    transcript, last = [], None
    try:
        for step in steps:
            sent = step(last) if callable(step) else step
            before = len(wire.messages)
            wire.send_raw(sent + b"\n")
            if expected(sent):
                # A listen that is accepted has its acknowledgement for an answer.
                last = wire.expect(lambda m: m.is_response or isinstance(m.value, list)
                                   or m.method == "notifications/subscriptions/acknowledged")  # fmt: skip
            heard = [plain(message.raw) for message in wire.messages[before : wire.fence()]]
            wire.unseen.clear()
            transcript.append((sent, heard))
    finally:
        wire.finish()
    return transcript


@cache
def transcript_of(server, transport, section):
    return play(server, transport, section)


@pytest.mark.parametrize("section", SECTIONS)
def test_same_bytes(server, transport, section, pytestconfig):
    reference = pytestconfig.getoption("--servers").split(",")[0]
    wanted = transcript_of(reference, transport, section)
    got = play(server, transport, section)
    differences = []
    for (sent, awaited), (sent_here, heard) in zip(wanted, got, strict=True):
        if heard != awaited:
            differences.append(
                f"sent      {sent_here[:600]!r}\n"
                + "".join(f"{reference:9} {raw[:1500]!r}\n" for raw in awaited)
                + "".join(f"{server:9} {raw[:1500]!r}\n" for raw in heard)
            )
        assert plain(sent) == plain(sent_here)
    assert not differences, f"{len(differences)} of {len(wanted)} steps differ\n" + "\n".join(differences[:10])
