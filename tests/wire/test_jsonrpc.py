"""Group J: envelopes, ids, numbers, errors. J12 needs a handler of one's own."""

import re

import pytest

from connection import META, text_of
from ledger import HANDSHAKE
from wirejson import Number, encode

DISCOVER = encode({"_meta": META()})


def discover(id='"served"'):
    return f'{{"jsonrpc":"2.0","id":{id},"method":"server/discover","params":{DISCOVER}}}'.encode()


def served(wire, raw=None, id="served"):
    """The next line is served."""
    wire.send_raw((discover() if raw is None else raw) + b"\n")
    assert "result" in wire.response(id)


NOT_JSON = [
    b"hello",
    b"{",
    b'{"jsonrpc":"2.0","id":1,"method":"server/discover"',
    b'{"jsonrpc":"2.0","id":1,"method":"a\xff"}',
    b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    b'{"jsonrpc":"2.0","id":1,"method":"a\x01b"}',
    b'{"jsonrpc":"2.0","id":1,"method":"a\tb"}',
    b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"v":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"v":Infinity}}',
    b"{'jsonrpc':'2.0'}",
    b'{"jsonrpc":"2.0","id":01,"method":"x"}',
    b'{"jsonrpc":"2.0","id":1,"method":"x",}',
    b'{"jsonrpc":"2.0","id":1,"method":"x"} {}',
    b"\x00",
    discover() + b"]",
]


@pytest.mark.parametrize("line", NOT_JSON, ids=range(len(NOT_JSON)))
def test_J01_not_json(wire, line):
    wire.send_raw(line + b"\n")
    wire.stray_error(-32700)
    served(wire)
    wire.quiet()


@pytest.mark.transports("stdio")
def test_J01_a_bom_before_the_first_line_is_skipped(wire, transport):
    served(wire, b"\xef\xbb\xbf" + discover())


@pytest.mark.transports("stdio")
def test_J01_a_last_line_without_lf_is_served(wire, transport):
    wire.send_raw(discover())
    wire.ledger.sent(b"\n")  # the end of input ends this line
    wire.end_input()
    assert "result" in wire.response("served")
    assert wire.wait() == 0


@pytest.mark.transports("stdio")
def test_J02_blank_lines_and_crlf(wire, transport):
    wire.send_raw(b"\n\r\n  \n\t\r\n")
    wire.quiet()
    served(wire, discover() + b"\r")
    wire.send_raw(b"  " + discover('"a"') + b"  \r\n\r\n" + discover('"b"') + b"\r\n")
    assert "result" in wire.response("a") and "result" in wire.response("b")
    wire.quiet()


@pytest.mark.parametrize("id", ["null", "1.5", "true", "{}", "[]", "1e-1"])
def test_J03_ids_of_a_wrong_kind(wire, id):
    wire.send_raw(discover(id) + b"\n")
    wire.stray_error(-32600)
    wire.quiet()


IDS = ["1.0", "1e2", "1E+2", "9007199254740993", "9223372036854775808", "1" * 40, "-0", "-1", "0", "100e-2"]


@pytest.mark.parametrize("id", IDS)
def test_J03_integers_are_echoed_token_for_token(wire, id):
    served(wire, discover(id), Number(id))


@pytest.mark.parametrize("id", ["1.5", "null", "[1]"])
def test_J03_a_notification_is_not_what_a_bad_id_makes(wire, id):
    """A message with an `id` member is a request, even if its method is a notification's."""
    wire.send_raw(b'{"jsonrpc":"2.0","id":%s,"method":"notifications/initialized"}\n' % id.encode())
    wire.stray_error(-32600)


@pytest.mark.transports("stdio")
@pytest.mark.parametrize(("first", "same"), [("100", "1e2"), ("1", "1.0"), ("0", "-0")])
def test_J03_ids_are_compared_by_value(wire, transport, first, same):
    wire.start("sleep", {"ms": 600000}, id=Number(first))
    wire.send_raw(discover(same) + b"\n")
    wire.error(Number(same), -32600)
    wire.cancel(Number(same))
    served(wire, discover(first), Number(first))


@pytest.mark.parametrize(
    "rest",
    [
        '"method":"ping"',
        '"jsonrpc":"1.0","method":"ping"',
        '"jsonrpc":2.0,"method":"ping"',
        '"jsonrpc":"2.0"',
        '"jsonrpc":"2.0","method":7',
        '"jsonrpc":"2.0","method":null',
        '"jsonrpc":"2.0","method":["ping"]',
        '"jsonrpc":"2.0","method":"ping","params":[]',
        '"jsonrpc":"2.0","method":"ping","params":"x"',
        '"jsonrpc":"2.0","method":"ping","params":1',
    ],
)
def test_J04_bad_envelopes(wire, rest):
    for id, text in ((7, "7"), ("x", '"x"'), (Number("9007199254740993"), "9007199254740993")):
        wire.send_raw(f'{{"id":{text},{rest}}}\n'.encode())
        wire.error(id, -32600)
    wire.quiet()


def test_J04_null_params_count_as_absent(wire):
    wire.send_raw(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":null}\n')
    assert wire.result(7) == {}


@pytest.mark.parametrize("line", [b"1", b'"x"', b"null", b"true", b"{}"])
def test_J04_no_message_at_all(wire, line):
    wire.send_raw(line + b"\n")
    wire.stray_error(-32600)
    wire.quiet()


@pytest.mark.parametrize("method", ["no/such", "", "Tools/list", "tools/list/", "notifications/initialized", "★"])
@pytest.mark.parametrize("modern", [True, False])
def test_J05_unknown_methods(wire, method, modern):
    wire.refuse(-32601, method=method, modern=modern)
    if not method.startswith("notifications/"):
        wire.notify(method)
        wire.notify(method, {"_meta": META()})
    wire.quiet()


@pytest.mark.parametrize("era", ["modern", *HANDSHAKE[:1]])
def test_J06_responses_that_nobody_waits_for(wire, era):
    if era != "modern":
        wire.initialize(era)
    for id in ("1", '"x"', "null", "99999999999999999999"):
        wire.send_raw(b'{"jsonrpc":"2.0","id":%s,"result":{}}\n' % id.encode())
        wire.send_raw(b'{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"x"}}\n' % id.encode())
    wire.send_raw(b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}\n')
    wire.quiet()


def batch(wire, *messages):
    wire.send_raw(encode(messages).encode() + b"\n")


def test_J07_a_batch_on_2025_03_26(wire):
    wire.initialize("2025-03-26")
    notification = {"jsonrpc": "2.0", "method": "notifications/unknown"}
    batch(
        wire,
        wire.line("ping", id="a"),
        notification,
        wire.line("tools/call", {"name": "echo", "arguments": {"text": "★"}}, id="b"),
        wire.line("no/such", id=3),
        {"jsonrpc": "2.0", "id": 4},
    )
    answers = wire.expect(lambda message: isinstance(message.value, list)).value
    found = {answer["id"]: answer.get("error", {}).get("code", answer.get("result")) for answer in answers}
    assert set(found) == {"a", "b", 3, 4} and len(answers) == 4
    assert found["a"] == {}
    assert text_of(found["b"]) == "★"
    assert (found[3], found[4]) == (-32601, -32600)
    batch(wire, notification, notification)
    wire.quiet()
    batch(wire)
    wire.stray_error(-32600)
    assert wire.ask("ping") == {}


@pytest.mark.parametrize("era", ["modern", "2024-11-05", "2025-06-18", "2025-11-25"])
def test_J07_elsewhere_a_batch_is_refused(wire, era):
    if era != "modern":
        wire.initialize(era)
    one, two = wire.line("tools/list", id=1), wire.line("prompts/list", id=2)
    batch(wire, one, two)
    wire.stray_error(-32600)
    wire.quiet()


def nested(depth):
    """A call of that depth: the message, its params and arguments are three."""
    inner = depth - 3
    request = {"jsonrpc": "2.0", "id": depth, "method": "tools/call"}
    head = encode(request | {"params": {"_meta": META(), "name": "region_echo", "arguments": {"v": 0}}})
    return head.replace('"v":0', '"v":' + "[" * inner + "]" * inner).encode() + b"\n"


def test_J08_nesting(wire):
    wire.send_raw(nested(128))
    assert "result" in wire.response(128)
    for depth in (129, 1000, 100_000):
        wire.send_raw(nested(depth))
        wire.stray_error(-32600, "128")
    wire.send_raw(b"[" * 1_000_000 + b"\n")
    wire.expect(lambda message: message.get("error", {}).get("code") in (-32600, -32700))
    served(wire)
    wire.quiet()


def test_J08_long_lines(connect):
    wire = connect("--max-message-bytes", "100000")
    wire.send_raw(b"x" * 100_001 + b"\n")
    wire.stray_error(-32600, "100000")
    # What follows within the long line is skipped with it, a message that looks whole included.
    wire.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 150_000 + discover("1") + b"\n")
    wire.stray_error(-32600, "100000")
    served(wire)
    fitting = b'{"jsonrpc":"2.0","id":"served","method":"no/such","params":{"x":""}}'
    wire.send_raw(fitting.replace(b'""', b'"' + b"x" * (100_000 - len(fitting)) + b'"') + b"\n")
    wire.error("served", -32601)
    wire.quiet()


def test_J08_the_default_bound_is_4_mib(wire):
    text = "x" * (4 * 1024 * 1024 - 1000)
    assert wire.text("echo", {"text": text}) == text
    wire.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (5 * 1024 * 1024) + b'"}\n')
    error = wire.stray_error(-32600)
    assert re.search(r"4194304|4 ?MiB", error["error"]["message"]), error
    served(wire)


def test_J09_the_last_of_duplicate_keys_wins(wire):
    wire.send_raw(b'{"jsonrpc":"1.0","id":1,"method":"no/such","params":[],' + discover('"served"')[1:] + b"\n")
    assert "result" in wire.response("served")
    params = DISCOVER[:-1] + ',"name":"echo","name":"fail","arguments":{"text":"a"},"arguments":{"message":"b"}}'
    wire.send_raw(b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":%s}\n' % params.encode())
    assert text_of(wire.result(2)) == "b"
    wire.quiet()


@pytest.mark.parametrize("escape", [r"\ud800", r"\udc00\ud800", r"a\udfffb"])
def test_J10_lone_surrogates_are_answered(wire, escape):
    params = DISCOVER[:-1] + f',"name":"echo","arguments":{{"text":"{escape}"}}}}'
    wire.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}\n' % params.encode())
    answer = wire.response(1)
    if "error" in answer:
        assert answer["error"]["code"] == -32602
        assert re.search("surrogate|UTF|Unicode", answer["error"]["message"], re.IGNORECASE), answer
    served(wire)


NUMBERS = [
    "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551616",
    "123456789012345678901234567890", "-0", "-0.0", "1e400", "0.1000000000000000055", "1e-400", "42.0", "1E5",
]  # fmt: skip


@pytest.mark.parametrize("digits", NUMBERS)
@pytest.mark.parametrize("era", ["modern", "2025-06-18"])
def test_J11_numbers_keep_their_digits(wire, server, digits, era):
    if era != "modern":
        wire.initialize(era)
    id = wire.start("region_echo", {"note": "n", "v": Number(digits)})
    answer = wire.response(id)
    result = answer.exact.get("result", {})
    if server in ("rust", "c"):
        assert result["structuredContent"] == {"note": "n", "v": Number(digits)}
        assert text_of(result) == f'{{"note":"n","v":{digits}}}'
        return
    if "error" in answer or result.get("isError"):
        assert digits == "1e400", answer  # no host number holds it; the others must come through
        return
    got = result["structuredContent"]["v"].text
    if re.fullmatch(r"-?\d+", digits):
        assert int(float(got)) == int(digits) if "e" in got else int(got.removesuffix(".0")) == int(digits)
    else:
        assert float(got) == float(digits)


@pytest.mark.parametrize(
    ("a", "b", "sum"),
    [
        ("9007199254740993", "2", "9007199254740995"),
        ("9223372036854775806", "1", "9223372036854775807"),
        ("-9223372036854775807", "-1", "-9223372036854775808"),
        ("9223372036854775807", "1", None),
        ("-9223372036854775808", "-1", None),
    ],
)
def test_J11_sums_are_exact(wire, a, b, sum):
    result = wire.response(wire.start("add", {"a": Number(a), "b": Number(b)})).exact["result"]
    if sum is None:
        assert result["isError"] is True and text_of(result) == "the sum does not fit in 64 bits"
    else:
        assert result["structuredContent"] == {"sum": Number(sum)}
        assert text_of(result) == f'{{"sum":{sum}}}'


@pytest.mark.parametrize("modern", [True, False])
def test_J13_bad_calls(wire, modern):
    for params, name in [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": 1}, "name"),
        ({"name": "no_such_tool"}, "no_such_tool"),
        ({"name": ""}, "tool"),
        *(({"name": "echo", "arguments": bad}, "arguments") for bad in ([], "x", 1, True)),
    ]:
        wire.refuse(-32602, name, method="tools/call", params=params, modern=modern)


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("add_tool", {"name": 5}, "name"),
        ("add_tool", {}, "name"),
        ("echo", {"text": None}, "text"),
        ("add", {"a": 1, "b": "2"}, "b"),
        ("add", {"a": 1, "b": 1.5}, "b"),
        ("sleep", {"ms": -1}, "ms"),
        ("sleep", {"ms": 600001}, "ms"),
        ("burst", {"count": 100001}, "count"),
        ("region_echo", {"count": None}, "count"),
        ("json_schema_2020_12_tool", {"phone": "1", "email": "e", "more": 1}, "more"),
        ("json_schema_2020_12_tool", {"email": "e", "address": {"street": 1}}, "street"),
    ],
)
def test_J14_arguments_that_break_the_schema(wire, tool, arguments, path):
    tools = wire.listen(toolsListChanged=True)
    result = wire.call(tool, arguments)
    assert result["isError"] is True
    assert path in text_of(result)
    assert "structuredContent" not in result
    wire.quiet()
    wire.cancel(tools)


def test_J14_missing_arguments_count_as_none(wire):
    result = wire.call("echo")
    assert result["isError"] is True and "text" in text_of(result)


def test_J15_failures_of_handlers(wire):
    for message in ("went wrong", "★🎉ж✓", "", "a\nb"):
        result = wire.call("fail", {"message": message})
        assert result["isError"] is True and text_of(result) == message
    first = wire.call("crash")
    assert first["isError"] is True
    text = text_of(first)
    assert text and not re.search(r"secret|panick|[Tt]raceback|/|\.(rs|py|mjs|ts|c)\b|TypeError|RuntimeError", text)
    assert wire.call("crash") == first
    assert wire.text("echo", {"text": "still here"}) == "still here"


@pytest.mark.parametrize("era", ["modern", *HANDSHAKE])
def test_J16_unknown_prompts_and_resources(wire, era):
    if era != "modern":
        wire.initialize(era)
    wire.refuse(-32602, "no_such", method="prompts/get", params={"name": "no_such"})
    wire.refuse(-32602, "name", method="prompts/get")
    for arguments, missing in (({"arg1": "x"}, "arg2"), ({}, "arg1"), (None, "arg1")):
        params = {"name": "test_prompt_with_arguments"} | ({} if arguments is None else {"arguments": arguments})
        wire.refuse(-32602, missing, method="prompts/get", params=params)
    for uri in ("test://nonexistent-resource-for-conformance-testing", "test://template/a/b/data", "x:★"):
        code = -32602 if era == "modern" else -32002
        error = wire.refuse(code, method="resources/read", params={"uri": uri})
        assert error["error"]["data"]["uri"] == uri
    wire.refuse(-32602, "uri", method="resources/read")
    wire.refuse(-32602, "uri", method="resources/read", params={"uri": 1})


@pytest.mark.parametrize("era", HANDSHAKE)
def test_J00_unreadable_ids_by_era(wire, era):
    """The ledger knows what each era gets: null before 2025-11-25, no member from then on."""
    for _ in range(2):
        wire.send_raw(b"oops\n")
        wire.stray_error(-32700)
        wire.send_raw(b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n')
        wire.stray_error(-32600)
        if not wire.ledger.version:
            wire.initialize(era)
