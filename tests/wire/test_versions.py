"""Group V: protocol versions. V4 needs HTTP, V9 a hook."""

import pytest

from connection import CLIENT, META
from ledger import HANDSHAKE, KEY, MODERN, VERSIONS
from wirejson import SID


def initialize(version, **others):
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT} | others


def test_V01_discover(wire):
    result = wire.ask("server/discover")
    assert result["supportedVersions"] == VERSIONS
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert result["capabilities"]["prompts"] == {"listChanged": True}
    assert result["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}
    assert result["resultType"] == "complete"
    assert result["ttlMs"] == 0
    assert result["cacheScope"] == "private"
    assert set(result["_meta"][f"{KEY}serverInfo"]) >= {"name", "version"}
    assert result["_meta"][f"{KEY}serverInfo"]["name"].startswith("everything-")


@pytest.mark.parametrize("listed", ["2025-06-18,2026-07-28", "2026-07-28,2024-11-05,2025-11-25"])
def test_V01_discover_lists_the_allowed_newest_first(connect, listed):
    wire = connect("--protocol-versions", listed)
    assert wire.ask("server/discover")["supportedVersions"] == sorted(listed.split(","), reverse=True)


@pytest.mark.parametrize("version", ["1999-01-01", "2027-01-01", "v999.0.0", "", "★"])
@pytest.mark.parametrize("method", ["server/discover", "tools/list", "subscriptions/listen", "no/such"])
def test_V02_unsupported_version(wire, method, version):
    error = wire.refuse(-32022, method=method, meta=META(version=version))
    assert error["error"]["data"] == {"supported": VERSIONS, "requested": version}
    wire.quiet()


def test_V03_modern_is_not_allowed(connect):
    wire = connect("--protocol-versions", "2025-06-18,2025-11-25")
    error = wire.refuse(-32022, method="server/discover")
    assert error["error"]["data"] == {"supported": ["2025-11-25", "2025-06-18"], "requested": MODERN}
    result = wire.initialize(MODERN)
    assert result["protocolVersion"] == "2025-11-25"
    assert result["capabilities"]["tools"]["listChanged"] is True
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed")


def test_V03_an_unknown_version_lands_on_the_newest_allowed(connect):
    wire = connect("--protocol-versions", "2025-06-18,2025-11-25")
    assert wire.initialize("9999-01-01")["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("asked", ["2024-11-05", "2025-11-25", MODERN])
def test_V05_a_version_that_is_not_allowed(connect, asked):
    wire = connect("--protocol-versions", "2025-03-26,2025-06-18,2026-07-28")
    assert wire.initialize(asked)["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("version", HANDSHAKE)
def test_V06_each_handshake_version(wire, version):
    result = wire.initialize(version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"].startswith("everything-")
    assert result["instructions"]
    assert wire.ask("ping") == {}


@pytest.mark.parametrize("version", [MODERN, "2025-07-01", "x", "", "2025-11-25 ", "★"])
def test_V06_other_text_gets_the_newest(wire, version):
    assert wire.initialize(version)["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("version", [None, 1, {}, []], ids=repr)
def test_V06_a_version_that_is_no_string(wire, version):
    wire.refuse(-32602, "protocolVersion", method="initialize", params=initialize(version), modern=False)
    # It was not negotiated, so it may be tried again.
    assert wire.initialize()["protocolVersion"] == "2025-11-25"


def test_V06_a_missing_version(wire):
    params = initialize("x")
    del params["protocolVersion"]
    wire.refuse(-32602, "protocolVersion", method="initialize", params=params, modern=False)
    wire.refuse(-32602, "protocolVersion", method="initialize", modern=False)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--protocol-versions", "1999-01-01"], ["1999-01-01", *VERSIONS]),
        (["--protocol-versions", "2025-11-25,nonsense"], ["nonsense", *VERSIONS]),
        (["--protocol-versions", ""], VERSIONS),
        (["--protocol-versions", "2026-07-28"], ["2026-07-28"]),
    ],
)
@pytest.mark.transports("stdio")
def test_V07_a_bad_list_is_refused(launch, transport, options, names):
    status, stdout, stderr = launch(*options)
    assert (status, stdout) == (2, b"")
    assert len(stderr.splitlines()) == 1
    for name in names:
        assert name in stderr


def test_V08_initialize_of_a_modern_server_names_its_versions(connect):
    wire = connect("--modern-only", "--protocol-versions", MODERN)
    for version in ("2025-11-25", "2024-11-05", MODERN):
        error = wire.response(wire.request("initialize", initialize(version), modern=False))
        assert "error" in error and MODERN in error.raw.decode(), error
    # Nothing was negotiated by it: an edit goes to nobody.
    wire.notify("notifications/initialized")
    wire.text("add_tool", {"name": "extra"})
    wire.quiet()
    assert wire.ask("server/discover")["supportedVersions"] == [MODERN]


def test_V10_probing_pins_nothing(wire):
    first, second = wire.ask("server/discover"), wire.ask("server/discover")
    assert first == second
    wire.refuse(-32022, method="server/discover", meta=META(version="1999-01-01"))
    assert wire.initialize()["protocolVersion"] == "2025-11-25"
    assert wire.ask("ping") == {}
    assert wire.ask("server/discover", modern=True) == first


def test_V10_modern_requests_after_initialize(wire):
    wire.initialize("2025-06-18")
    assert wire.call("whoami")["structuredContent"]["protocolVersion"] == "2025-06-18"
    who = wire.call("whoami", modern=True)
    assert who["structuredContent"]["protocolVersion"] == MODERN
    assert who["resultType"] == "complete"
    id = wire.listen(promptsListChanged=True)
    wire.text("add_prompt", {"name": "extra"}, modern=True)
    assert wire.change("prompts/list_changed", id).params["_meta"] == {SID: id}
    wire.change("prompts/list_changed")


@pytest.mark.transports("stdio")
def test_V11_a_second_initialize(wire, transport):
    wire.initialize("2025-06-18")
    wire.refuse(-32600, method="initialize", params=initialize("2025-11-25"), modern=False)
    assert wire.call("whoami")["structuredContent"]["protocolVersion"] == "2025-06-18"


def members(value):
    """The names of all members at any depth."""
    if isinstance(value, dict):
        return set(value).union(*map(members, value.values()))
    if isinstance(value, list):
        return set().union(*map(members, value))
    return set()


@pytest.mark.parametrize("version", HANDSHAKE)
def test_V12_only_what_the_revision_knows(wire, version):
    wire.initialize(version)
    tools = wire.ask("tools/list")["tools"]
    sum_ = wire.call("add", {"a": 1, "b": 2})
    assert sum_["content"] == [{"type": "text", "text": '{"sum":3}'}]
    audio = wire.call("test_audio_content")["content"]
    if version < "2025-06-18":
        assert "structuredContent" not in sum_
        for tool in tools:
            assert not {"outputSchema", "title", "icons", "_meta"} & set(tool)
        for kind in ("prompts", "resources"):
            assert not {"title", "icons"} & members(wire.ask(f"{kind}/list"))
    else:
        assert sum_["structuredContent"] == {"sum": 3}
        assert next(tool for tool in tools if tool["name"] == "add")["outputSchema"]["required"] == ["sum"]
    if version < "2025-03-26":
        assert all(block["type"] != "audio" for block in audio)
    else:
        assert audio[0]["mimeType"] == "audio/wav"


@pytest.mark.parametrize("version", HANDSHAKE)
def test_D3_a_handshake_version_in_meta(wire, version):
    """Decision 3: such a version is negotiated by `initialize`."""
    wire.refuse(-32602, "initialize", method="tools/list", meta=META(version=version))
    wire.initialize(version)
    wire.refuse(-32602, "initialize", method="tools/list", meta=META(version=version))


@pytest.mark.transports("stdio")
def test_D2_before_initialize_requests_are_served_under_the_default(wire, transport):
    """Decision 2, and the catalogue's `whoami`."""
    who = wire.call("whoami", modern=False)
    assert "structuredContent" not in who
    assert who["content"][0]["text"] == (
        '{"era":"handshake","protocolVersion":"2025-03-26","transport":"stdio","client":null}'
    )
    assert wire.ask("ping", modern=False) == {}


@pytest.mark.transports("stdio")
def test_D2_the_default_where_it_is_not_allowed(connect, transport):
    wire = connect("--protocol-versions", "2026-07-28,2025-06-18,2025-11-25")
    who = wire.call("whoami", modern=False)
    assert '"protocolVersion":"2025-11-25"' in who["content"][0]["text"]


@pytest.mark.transports("stdio")
def test_D2_discover_and_listen_need_modern_meta(wire, transport):
    for method in ("server/discover", "subscriptions/listen"):
        for params in (None, {"_meta": {}}, {"_meta": {"progressToken": 1}}):
            wire.refuse(-32602, "protocolVersion", method=method, params=params, modern=False)
