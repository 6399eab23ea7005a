"""The fixed script of test_same_bytes.py. A step is a line to send, or a function that makes one of the last answer."""

from connection import CLIENT, META
from wirejson import Number, encode

FULL = {"elicitation": {}, "sampling": {}, "roots": {}}
ACCEPT = {"action": "accept", "content": {"name": "Ada ★", "ok": True, "color": "red", "more": [1, None, {"x": 0.5}]}}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "Paris"}], "model": "m"}
ROOTS = {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]}


def line(method, params=None, id=1, meta=None):
    params = dict(params or {}) | ({"_meta": meta} if meta is not None else {})
    message = {"jsonrpc": "2.0", "id": id, "method": method} | ({"params": params} if params else {})
    return encode(message).encode()


def notification(method, params=None):
    return encode({"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})).encode()


def calls(meta):
    """Tools with fixed inputs, right and wrong."""
    inputs = [
        *(("echo", {"text": text}) for text in ("", "a", "★🎉ж✓", "a\"\\\n\t\u2028\x7f", "x" * 5000)),
        *(("echo", bad) for bad in ({}, {"text": 1}, {"text": None})),
        ("add", {"a": 1, "b": 2}),
        ("add", {"a": -5, "b": 5}),
        ("add", {"a": Number("9007199254740993"), "b": 2}),
        ("add", {"a": Number("9223372036854775807"), "b": 1}),
        ("add", {"a": "1", "b": 2}),
        ("add", {"a": 1}),
        ("add", {"a": 1.5, "b": 2}),
        ("sleep", {"ms": 0}),
        ("sleep", {"ms": 10}),
        ("sleep", {"ms": -1}),
        ("sleep", {"ms": 600001}),
        ("log", {"level": "info", "message": "m"}),
        ("log", {"level": "Info", "message": "m"}),
        ("log", {"level": "info"}),
        ("big", {"bytes": 0}),
        ("big", {"bytes": 3000}),
        ("big", {"bytes": 16777217}),
        ("fail", {"message": "went wrong ★"}),
        ("fail", {"message": ""}),
        ("crash", {}),
        ("whoami", {}),
        ("region_echo", {}),
        ("region_echo", {"region": "Hello", "count": 42, "note": "★"}),
        ("region_echo", {"z": [1, {"y": None}], "a": {"b": [True, False]}, "region": "x", "d": 0.5}),
        ("region_echo", {"count": None}),
        ("region_echo", {"region": 1, "count": "1"}),
        *((name, {}) for name in (
            "test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource",
            "test_multiple_content_types", "test_tool_with_logging", "test_error_handling", "test_tool_with_progress",
            "test_reconnection", "test_logging_tool", "test_trigger_tool_change", "test_trigger_prompt_change",
        )),
        ("json_schema_2020_12_tool", {}),
        ("json_schema_2020_12_tool", {"email": "e@x", "address": {"street": "s", "city": "c"}}),
        ("json_schema_2020_12_tool", {"contactMethod": "phone", "phone": "1"}),
        ("json_schema_2020_12_tool", {"contactMethod": "phone", "email": "e"}),
        ("json_schema_2020_12_tool", {"contactMethod": "fax", "email": "e"}),
        ("json_schema_2020_12_tool", {"email": "e", "more": 1}),
        ("no_such_tool", {}),
    ]  # fmt: skip
    for name, arguments in inputs:
        yield line("tools/call", {"name": name, "arguments": arguments}, meta=meta)
    yield line("tools/call", {"name": "test_simple_text"}, meta=meta)
    yield line("tools/call", {"name": "echo"}, meta=meta)
    for params in ({}, {"name": 1}, {"name": "echo", "arguments": []}, {"name": "echo", "arguments": None}):
        yield line("tools/call", params, meta=meta)


def edits(meta):
    for name in ("extra", "extra", "a" * 128, "a" * 129, "", "no spaces", "★", "echo"):
        yield line("tools/call", {"name": "add_tool", "arguments": {"name": name}}, meta=meta)
    for name in ("p1", "p1", "", "no spaces", "test_simple_prompt"):
        yield line("tools/call", {"name": "add_prompt", "arguments": {"name": name}}, meta=meta)
    for uri in ("test://r1", "test://r1", "", "relative", "test://a b", "test://★", "x:", "test://template/1/data"):
        yield line("tools/call", {"name": "add_resource", "arguments": {"uri": uri}}, meta=meta)
    yield line("tools/call", {"name": "extra", "arguments": {}}, meta=meta)
    yield line("prompts/get", {"name": "p1"}, meta=meta)
    for uri in ("test://r1", "test://template/1/data", "test://★"):
        yield line("resources/read", {"uri": uri}, meta=meta)
    for method in ("tools/list", "prompts/list", "resources/list"):
        yield line(method, meta=meta)
    for tool, argument, value in (
        ("tool", "name", "extra"),
        ("prompt", "name", "p1"),
        ("resource", "uri", "test://r1"),
    ):
        for _ in range(2):
            yield line("tools/call", {"name": f"remove_{tool}", "arguments": {argument: value}}, meta=meta)
    yield line("tools/call", {"name": "touch_resource", "arguments": {"uri": "test://watched-resource"}}, meta=meta)
    yield line("tools/call", {"name": "burst", "arguments": {"count": 0}}, meta=meta)
    yield line("tools/call", {"name": "burst", "arguments": {"count": -1}}, meta=meta)


def reads(meta):
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        yield line(method, meta=meta)
        yield line(method, {"cursor": "x"}, meta=meta)
    for uri in (
        "test://static-text", "test://static-binary", "test://watched-resource", "test://template/123/data",
        "test://template/a%20b%E2%98%85%22/data", "test://template//data", "test://template/a/b/data", "test://nope",
        "",
    ):  # fmt: skip
        yield line("resources/read", {"uri": uri}, meta=meta)
    yield line("resources/read", meta=meta)
    for name, arguments in [
        ("test_simple_prompt", None),
        ("test_prompt_with_image", {}),
        ("test_prompt_with_arguments", {"arg1": "a ★", "arg2": ""}),
        ("test_prompt_with_arguments", {"arg1": "a"}),
        ("test_prompt_with_arguments", {"arg1": 1, "arg2": "b"}),
        ("test_prompt_with_arguments", None),
        ("test_prompt_with_embedded_resource", {"resourceUri": "test://x"}),
        ("nope", None),
    ]:
        yield line("prompts/get", {"name": name} | ({} if arguments is None else {"arguments": arguments}), meta=meta)
    prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    embedded = {"type": "ref/prompt", "name": "test_prompt_with_embedded_resource"}
    template = {"type": "ref/resource", "uri": "test://template/{id}/data"}
    for ref, name, value, context in [
        (prompt, "arg1", "", None), (prompt, "arg1", "PAR", None), (prompt, "arg2", "", None),
        (prompt, "arg2", "f", {"arguments": {"arg1": "paris"}}), (prompt, "nope", "", None),
        (template, "id", "1", None),
        (embedded, "resourceUri", "test://s", None), ({"type": "ref/prompt", "name": "nope"}, "a", "", None),
        ({"type": "ref/resource", "uri": "test://nope"}, "a", "", None), ({"type": "ref/x"}, "a", "", None),
    ]:  # fmt: skip
        params = {"ref": ref, "argument": {"name": name, "value": value}} | ({"context": context} if context else {})
        yield line("completion/complete", params, meta=meta)
    yield line("completion/complete", meta=meta)


def pages():
    def next_page(method):
        return lambda last: line(method, {"cursor": last["result"]["nextCursor"]}, meta=META())

    for method, count in (("tools/list", 3), ("prompts/list", 1), ("resources/list", 1)):
        yield line(method, meta=META())
        yield from [next_page(method)] * count


def asks():
    def retry(params, answers):
        def again(last):
            state = last["result"]["requestState"]
            return line("tools/call", params | {"inputResponses": answers, "requestState": state}, meta=META(FULL))

        return again

    answers = {
        "user": ACCEPT, "form": ACCEPT, "user_name": ACCEPT, "confirm": ACCEPT, "step1": ACCEPT, "elicit_input": ACCEPT,
        "sample": SAID, "capital_question": SAID, "greeting": SAID, "sample_input": SAID, "client_roots": ROOTS,
    }  # fmt: skip
    tools = [("test_sampling", {"prompt": "★"}), ("test_elicitation", {"message": "m"})]
    tools += [(f"test_{name}", None) for name in (
        "elicitation_sep1034_defaults", "elicitation_sep1330_enums", "missing_capability", "streaming_elicitation",
    )]  # fmt: skip
    tools += [(f"test_input_required_result_{name}", None) for name in (
        "elicitation", "sampling", "list_roots", "request_state", "multiple_inputs", "multi_round", "tampered_state",
        "capabilities",
    )]  # fmt: skip
    for name, arguments in tools:
        params = {"name": name} | ({} if arguments is None else {"arguments": arguments})
        yield line("tools/call", params, meta=META())
        yield line("tools/call", params, meta=META(FULL))
        yield retry(params, answers)
        declined = dict.fromkeys(answers, {"action": "decline"}) | {
            key: value for key, value in answers.items() if value is not ACCEPT
        }
        yield line("tools/call", params | {"inputResponses": declined}, meta=META(FULL))
        yield line("tools/call", params | {"requestState": "x"}, meta=META(FULL))
    params = {"name": "test_input_required_result_elicitation"}
    for wrong in (None, 1, {"user_name": 12345}, {"user_name": None}, {"user_name": {}}):
        yield line("tools/call", params | {"inputResponses": wrong}, meta=META(FULL))


def envelopes():
    yield from (
        b"hello",
        b"{",
        b"[]",
        b"[1]",
        b"1",
        b'"x"',
        b"null",
        b"{}",
        b'{"jsonrpc":"2.0","id":1}',
        b"\xff",
        b"NaN",
    )
    yield from (b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id for id in (b"null", b"1.5", b"true", b"{}", b"[]"))
    yield from (b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id for id in (b"1.0", b"1e2", b"-0", b"1" * 40, b'""'))
    yield from (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":%s}' % bad for bad in (b"[]", b'"x"', b"1", b"null"))
    yield b'{"id":7,"method":"ping"}'
    yield b'{"jsonrpc":"2.0","id":7,"method":1}'
    yield b"[" * 129 + b"]" * 129
    yield line("no/such")
    yield line("no/such", meta=META())
    for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        yield line(method, {"uri": "a:b", "level": "info"}, meta=META())
    for method in ("server/discover", "subscriptions/listen"):
        yield line(method)
    for name in META():
        yield line("tools/list", meta={key: value for key, value in META().items() if key != name})
        yield line("tools/list", meta=META() | {name: 1})
    for others in ({"logLevel": "bogus"}, {"progressToken": None}, {"progressToken": 1.5}, {"version": "1999-01-01"}):
        yield line("tools/list", meta=META(**others))
    for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"):
        yield line("server/discover", meta=META(version=version))


def listens():
    def listen(filter, id):
        return line("subscriptions/listen", {"notifications": filter}, id=id, meta=META())

    for filter in (None, [], {"toolsListChanged": 1}, {"resourceSubscriptions": "x"}, {"resourceSubscriptions": [""]}):
        yield listen(filter, 1)
    yield listen({}, "empty")
    yield listen({"toolsListChanged": True, "promptsListChanged": True, "unknown": 1}, "lists")
    yield listen({"resourcesListChanged": True, "resourceSubscriptions": ["test://a", "test://b", "test://a"]}, 5)
    yield listen({"toolsListChanged": True}, "lists")
    yield listen({f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources")}, "too many")
    for tool, arguments in [
        ("add_tool", {"name": "x"}), ("add_prompt", {"name": "x"}), ("add_resource", {"uri": "x:y"}),
        ("touch_resource", {"uri": "test://b"}), ("touch_resource", {"uri": "test://c"}),
        ("test_trigger_tool_change", {}),
    ]:  # fmt: skip
        yield line("tools/call", {"name": tool, "arguments": arguments}, id="call", meta=META())
    yield notification("notifications/cancelled", {"requestId": 5})
    yield line("tools/call", {"name": "touch_resource", "arguments": {"uri": "test://b"}}, id="call", meta=META())


def handshake(version):
    yield line("initialize", {"capabilities": {}})
    yield line("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT})
    yield notification("notifications/initialized")
    yield line("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT})
    yield b"oops"
    yield b"[]"
    yield line("logging/setLevel", {"level": "notice"})
    yield line("logging/setLevel", {"level": "x"})
    yield line("resources/subscribe", {"uri": "test://watched-resource"})
    yield line("resources/subscribe")
    yield from calls(None)
    yield from reads(None)
    yield from edits(None)
    yield line("tools/call", {"name": "test_elicitation", "arguments": {"message": "m"}})
    yield line("subscriptions/listen", {"notifications": {}})


# name: (options of the server, steps)
SECTIONS = {
    "calls": ([], [line("server/discover", meta=META()), *calls(META(logLevel="debug", progressToken="★"))]),
    "quiet calls": ([], list(calls(META(client=None)))),
    "edits": ([], list(edits(META()))),
    "reads": ([], list(reads(META()))),
    "pages": (["--page-size", "2"], list(pages())),
    "asks": ([], list(asks())),
    "envelopes": ([], list(envelopes())),
    "listens": (["--max-subscriptions", "2"], list(listens())),
    "before initialize": ([], [*calls(None), *reads(None)]),
    "modern only": (
        ["--modern-only", "--protocol-versions", "2026-07-28"],
        [line("server/discover", meta=META()), *handshake("2025-11-25")],
    ),
    **{version: ([], list(handshake(version))) for version in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")},
}
