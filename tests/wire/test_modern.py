"""Group M: what requests with modern `_meta` get."""

import pytest

from connection import META, text_of
from ledger import KEY, MODERN
from wirejson import Number, encode

CATALOGUE = [
    ("server/discover", None),
    ("tools/list", None),
    ("prompts/list", None),
    ("resources/list", None),
    ("resources/templates/list", None),
    ("resources/read", {"uri": "test://static-text"}),
    ("resources/read", {"uri": "test://template/1/data"}),
    ("prompts/get", {"name": "test_simple_prompt"}),
    ("tools/call", {"name": "test_simple_text"}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "fail", "arguments": {"message": "x"}}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "par"},
        },
    ),
]
CACHEABLE = {"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
             "resources/read"}  # fmt: skip
LISTS = [("tools", "tools/list", "name"), ("prompts", "prompts/list", "name"), ("resources", "resources/list", "uri")]


def without(meta, name):
    return {key: value for key, value in meta.items() if key != f"{KEY}{name}"}


def replaced(name, value):
    return META() | {f"{KEY}{name}": value}


@pytest.mark.parametrize(("method", "params"), CATALOGUE)
def test_M01_required_members_of_meta(wire, method, params):
    for name in ("protocolVersion", "clientCapabilities"):
        wire.refuse(-32602, name, method=method, params=params, meta=without(META(), name))
        for value in (None, 1, [], True, *([{}] if name == "protocolVersion" else ["x"])):
            wire.refuse(-32602, name, method=method, params=params, meta=replaced(name, value))
    assert wire.ask(method, params, meta=META(client=None))["resultType"] == "complete"


@pytest.mark.parametrize("client", [1, "x", [], {"name": "x"}, {"version": "1"}, {"name": 1, "version": "1"}], ids=repr)
def test_M01_a_client_info_that_is_none_is_never_silence(wire, client):
    """The spec lets it be missing; a broken one is refused or ignored."""
    answer = wire.response(wire.request("tools/list", meta=META(client=client)))
    assert "result" in answer or answer["error"]["code"] == -32602


@pytest.mark.parametrize("meta", [None, 1, "x", [], True], ids=repr)
def test_M01_meta_that_is_no_object(wire, meta):
    wire.send({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
    wire.error(1, -32602)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
        ),
        ("ping", None),
        ("logging/setLevel", {"level": "info"}),
        ("resources/subscribe", {"uri": "test://watched-resource"}),
        ("resources/unsubscribe", {"uri": "test://watched-resource"}),
    ],
)
def test_M02_methods_of_the_handshake_era(wire, method, params):
    wire.refuse(-32601, method=method, params=params, modern=True)
    wire.text("touch_resource", {"uri": "test://watched-resource"})
    wire.text("add_tool", {"name": "extra"})
    wire.quiet()


ASKS = [
    ("test_missing_capability", None, "sampling"),
    ("test_sampling", {"prompt": "x"}, "sampling"),
    ("test_elicitation", {"message": "x"}, "elicitation"),
    ("test_input_required_result_list_roots", None, "roots"),
    ("test_streaming_elicitation", None, "elicitation"),
]


@pytest.mark.parametrize(("tool", "arguments", "capability"), ASKS)
def test_M03_undeclared_capabilities(wire, tool, arguments, capability):
    others = {name: {} for name in ("sampling", "elicitation", "roots") if name != capability}
    for declared in ({}, others):
        error = wire.error(wire.start(tool, arguments, meta=META(declared)), -32021)
        required = error["error"]["data"]["requiredCapabilities"]
        assert set(required) == {capability} and isinstance(required[capability], dict)


def test_M03_elicitation_declared_empty_means_forms(wire):
    for declared in ({}, {"form": {}}, {"form": {}, "url": {}}):
        result = wire.call("test_elicitation", {"message": "x"}, meta=META({"elicitation": declared}))
        assert result["resultType"] == "input_required"
    wire.error(wire.start("test_elicitation", {"message": "x"}, meta=META({"elicitation": {"url": {}}})), -32021)


LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def test_M04_no_level_no_logs(wire):
    for level in LEVELS:
        assert wire.text("log", {"level": level, "message": "m"}) == "logged"
    wire.text("test_logging_tool")
    wire.quiet()


@pytest.mark.parametrize("least", LEVELS)
def test_M04_only_that_level_and_above_and_before_the_result(wire, least):
    for level in LEVELS:
        id = wire.start("log", {"level": level, "message": f"★ {level}"}, meta=META(logLevel=least))
        result = wire.response(id)
        if LEVELS.index(level) >= LEVELS.index(least):
            message = wire.notification("message")
            assert message.index < result.index
            assert message.params == {"level": level, "logger": "everything", "data": f"★ {level}"}
    wire.quiet()


@pytest.mark.parametrize("level", ["bogus", "", "Warning", 1, None, {}], ids=repr)
def test_M04_bogus_levels(wire, level):
    for method in ("tools/list", "server/discover"):
        wire.refuse(-32602, "logLevel", method=method, meta=META(logLevel=level))


@pytest.mark.parametrize(("kind", "method", "key"), LISTS)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_M06_pages(connect, kind, method, key, size):
    wire = connect("--page-size", str(size))
    whole = connect().names(kind, key)
    seen, cursor, pages = [], None, 0
    while True:
        page = wire.ask(method, {"cursor": cursor} if cursor else None)
        seen += [entry[key] for entry in page[kind]]
        pages += 1
        cursor = page.get("nextCursor")
        if "nextCursor" not in page:
            break
        assert isinstance(cursor, str) and len(page[kind]) == size
    assert seen == whole
    assert pages == max(1, -(-len(whole) // size))


def test_M06_edits_between_pages(connect):
    wire = connect("--page-size", "2")
    standing = [name for name in connect().names() if name not in ("add", "sleep", "big")]
    wire.text("remove_tool", {"name": "sleep"})
    seen, cursor, page_number = [], None, 0
    while True:
        page = wire.ask("tools/list", {"cursor": cursor} if cursor else None)
        seen += [tool["name"] for tool in page["tools"]]
        page_number += 1
        if page_number == 1:
            # One that was listed, one that the cursor may stand on, one to come; and some at the end.
            wire.text("remove_tool", {"name": "add"})
            wire.text("remove_tool", {"name": "big"})
        wire.text("add_tool", {"name": f"extra_{page_number}"}) if page_number <= 3 else None
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert [name for name in seen if name in standing] == standing
    assert seen[-3:] == ["extra_1", "extra_2", "extra_3"]


def test_M06_an_exact_multiple_grown_and_shrunk(connect):
    wire = connect("--page-size", "3")
    page = wire.ask("resources/list")
    assert len(page["resources"]) == 3 and "nextCursor" not in page
    wire.text("add_resource", {"uri": "test://fourth"})
    page = wire.ask("resources/list")
    wire.text("remove_resource", {"uri": "test://fourth"})
    last = wire.ask("resources/list", {"cursor": page["nextCursor"]})
    assert last["resources"] == [] and "nextCursor" not in last


def test_M07_cursors_that_were_not_minted_for_this(connect):
    wire = connect("--page-size", "2")
    minted = wire.ask("tools/list")["nextCursor"]
    prompts = wire.ask("prompts/list")["nextCursor"]
    assert wire.ask("tools/list", {"cursor": minted})["tools"]
    for method, cursor in [
        ("prompts/list", minted),
        ("resources/list", minted),
        ("resources/templates/list", minted),
        ("tools/list", prompts),
        *(
            ("tools/list", bad)
            for bad in ("", "x", "0", "2", minted + "x", minted[:-1], minted[::-1], "★", " " + minted)
        ),
        *(("tools/list", bad) for bad in (1, [], {}, True)),
    ]:
        wire.refuse(-32602, "cursor", method=method, params={"cursor": cursor})


TOKENS = ["t", "", "★", 1, 0, -7, Number("9007199254740993"), Number("123456789012345678901234567890")]


@pytest.mark.parametrize("token", TOKENS, ids=repr)
def test_M08_progress_tokens(wire, token):
    id = wire.start("sleep", {"ms": 120}, meta=META(progressToken=token))
    result = wire.response(id)
    assert text_of(result["result"]) == "slept 120 ms"
    told = wire.drain()
    assert [message.method for message in told] == ["notifications/progress"] * 3
    assert all(message.index < result.index for message in told)
    for message, value in zip(told, (50, 100, 120), strict=True):
        params = message.exact["params"]
        assert encode(params["progressToken"]) == encode(token)
        assert (params["progress"], params["total"]) == (Number(str(value)), Number("120"))


def test_M08_progress_with_a_message(wire):
    wire.text("test_tool_with_progress", meta=META(progressToken="p"))
    steps = [(message.params["progress"], message.params["message"]) for message in wire.drain()]
    assert steps == [(step, f"Completed step {step} of 100") for step in (0, 50, 100)]


def test_M08_no_token_no_progress(wire):
    wire.text("sleep", {"ms": 120})
    wire.text("test_tool_with_progress")
    wire.quiet()


@pytest.mark.parametrize("token", [None, 1.5, {}, [], True], ids=repr)
@pytest.mark.parametrize("modern", [True, False])
def test_M08_tokens_of_a_wrong_kind(wire, token, modern):
    meta = META(progressToken=token) if modern else {"progressToken": token}
    wire.error(wire.start("sleep", {"ms": 0}, meta=meta), -32602, "progressToken")


@pytest.mark.parametrize(("method", "params"), CATALOGUE)
def test_M09_every_result(wire, method, params):
    result = wire.ask(method, params)
    assert result["resultType"] == "complete"
    info = result["_meta"][f"{KEY}serverInfo"]
    assert info["name"].startswith("everything-") and isinstance(info["version"], str)
    if method in CACHEABLE:
        assert type(result["ttlMs"]) is int and result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    else:
        assert not {"ttlMs", "cacheScope"} & set(result)


def test_M10_whoami(wire):
    """Each request speaks for itself: nothing of an earlier one is remembered."""
    for client in ({"name": "a", "version": "1", "title": "A"}, None, {"name": "★", "version": ""}):
        told = wire.call("whoami", meta=META(client=client))["structuredContent"]
        assert told["client"] == (client and {name: client[name] for name in ("name", "version")})
        assert (told["era"], told["protocolVersion"]) == ("modern", MODERN)


def test_M11_extra_members_and_unknown_meta_are_tolerated(wire):
    meta = META({"roots": {"listChanged": True}, "x": {"y": 1}}) | {"traceparent": "x", "com.example/a": [1]}
    params = {"name": "echo", "arguments": {"text": "a", "more": 1}, "task": None, "unknown": {}}
    assert text_of(wire.ask("tools/call", params, meta=meta)) == "a"


def test_M12_completion(wire):
    prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    template = {"type": "ref/resource", "uri": "test://template/{id}/data"}

    def complete(ref, name, value, **context):
        params = {"ref": ref, "argument": {"name": name, "value": value}} | context
        return wire.ask("completion/complete", params)["completion"]

    assert complete(prompt, "arg1", "par")["values"] == ["paris", "park", "party"]
    assert complete(prompt, "arg2", "", context={"arguments": {"arg1": "paris"}})["values"][0] == "france"
    assert complete(template, "id", "12") == {"values": ["12", "123"], "total": 2, "hasMore": False}
    assert complete(prompt, "nope", "") == {"values": [], "total": 0, "hasMore": False}
    for ref in ({"type": "ref/prompt", "name": "nope"}, {"type": "ref/resource", "uri": "test://nope"}, {"type": "x"}):
        params = {"ref": ref, "argument": {"name": "a", "value": ""}}
        wire.refuse(-32602, method="completion/complete", params=params)


def test_M13_templates_decode_one_segment(wire):
    for segment, id in (("123", "123"), ("a%20b", "a b"), ("%E2%98%85", "★"), ("%22", '\\"')):
        uri = f"test://template/{segment}/data"
        contents = wire.ask("resources/read", {"uri": uri})["contents"]
        text = f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'
        assert contents == [{"uri": uri, "mimeType": "application/json", "text": text}]
