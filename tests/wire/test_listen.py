"""Group L: `subscriptions/listen`. (L14 is here as tool errors, L15 and L16 through `burst` and the trigger tools.)"""

import re

import pytest

from connection import META
from ledger import KEY
from wirejson import SID, Number, encode

ALL = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["test://watched-resource"],
}
LISTEN = "subscriptions/listen"


def listen(wire, filter, **how):
    return wire.request(LISTEN, {"notifications": filter}, meta=META(), **how)


def ended(wire, id):
    """The complete result that ends a subscription."""
    result = wire.result(id)
    assert result["resultType"] == "complete"
    assert result["_meta"][SID] == id
    assert set(result) == {"resultType", "_meta"}
    assert set(result["_meta"]) == {SID, f"{KEY}serverInfo"}  # M9: on every result


def test_L01_acknowledges_all_four_kinds(wire):
    id = listen(wire, ALL, id=1)
    ack = wire.ack(id)
    assert ack.params["_meta"][SID] == 1
    assert ack.params["notifications"] == ALL
    wire.quiet()


@pytest.mark.parametrize(
    ("kind", "field"),
    [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")],
)
def test_L02_a_withheld_kind_is_missing_in_ack_and_discover(connect, kind, field):
    wire = connect("--no-listen-capability", kind)
    capabilities = wire.ask("server/discover")["capabilities"]
    granted = wire.ack(listen(wire, ALL)).params["notifications"]
    without = {field} | ({"resourceSubscriptions"} if kind == "resources" else set())
    assert granted == {name: value for name, value in ALL.items() if name not in without}
    for name in ("tools", "prompts", "resources"):
        flags = {flag for flag, set_ in capabilities[name].items() if set_}
        full = {"listChanged", "subscribe"} if name == "resources" else {"listChanged"}
        assert flags == (set() if name == kind else full)


def test_L02_nothing_of_a_withheld_kind_is_sent(connect):
    wire = connect("--no-listen-capability", "tools")
    wire.listen(**ALL)
    wire.text("add_tool", {"name": "extra"})
    wire.quiet()


def test_L03_false_and_missing_fields_are_not_subscribed(wire):
    id = listen(wire, {"toolsListChanged": False, "promptsListChanged": True})
    granted = wire.ack(id).params["notifications"]
    assert not granted.get("toolsListChanged", False)
    assert {name for name, value in granted.items() if value} == {"promptsListChanged"}
    wire.text("add_tool", {"name": "extra"})
    wire.text("add_resource", {"uri": "test://extra"})
    wire.quiet()


@pytest.mark.parametrize("id", [1, "1", "a b", "", 0, -1, Number("9007199254740993")], ids=repr)
def test_L04_ids_keep_type_and_digits(connect, id):
    wire = connect()
    listen(wire, {"toolsListChanged": True}, id=id)
    assert wire.ack(id).subscription == encode(id)
    wire.text("add_tool", {"name": "extra"}, id="call")
    wire.change("tools/list_changed", id)
    wire.end_input()
    final = wire.response(id)
    assert final.key == encode(id)
    assert final.subscription == encode(id)


@pytest.mark.parametrize("params", [{}, *({"notifications": bad} for bad in (None, [], "x", 1, True))], ids=repr)
def test_L05_notifications_must_be_an_object(wire, params):
    wire.refuse(-32602, "notifications", method=LISTEN, params=params)
    wire.quiet()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, value) for field in list(ALL)[:3] for value in ("yes", 1, None, {}, [])),
        *(("resourceSubscriptions", value) for value in ("test://a", ["test://a", 1], [""], [None], {}, 1, True)),
    ],
)
def test_L06_fields_of_a_wrong_type_are_named(wire, field, value):
    wire.refuse(-32602, field, method=LISTEN, params={"notifications": {field: value}})
    wire.quiet()


def test_L06_unknown_fields_are_ignored(wire):
    id = listen(wire, {"toolsListChanged": True, "tasksListChanged": True, "x": {"y": [1]}})
    assert wire.ack(id).params["notifications"] == {"toolsListChanged": True}


def test_L07_more_uris_than_the_bound(wire):
    def uris(count):
        return {"resourceSubscriptions": [f"test://r/{n}" for n in range(count)]}

    error = wire.refuse(-32602, "resourceSubscriptions", method=LISTEN, params={"notifications": uris(50_000)})
    bound = int(re.search(r"\d[\d,]*", error["error"]["message"])[0].replace(",", ""))
    wire.refuse(-32602, str(bound), method=LISTEN, params={"notifications": uris(bound + 1)})
    id = listen(wire, uris(bound))
    assert wire.ack(id).params["notifications"] == uris(bound)
    wire.text("touch_resource", {"uri": f"test://r/{bound - 1}"})
    assert wire.change("resources/updated", id).params["uri"] == f"test://r/{bound - 1}"


def test_L07_the_same_uri_twice_counts_once(wire):
    uri = "test://watched-resource"
    id = listen(wire, {"resourceSubscriptions": [uri, uri, "test://other", uri]})
    assert sorted(wire.ack(id).params["notifications"]["resourceSubscriptions"]) == sorted([uri, "test://other"])
    wire.text("touch_resource", {"uri": uri})
    wire.change("resources/updated", id)
    wire.quiet()


@pytest.mark.parametrize("filter", [{}, {"unknown": True}, {"toolsListChanged": False}, {"resourceSubscriptions": []}])
def test_L08_a_stream_that_can_never_deliver_ends_at_once(wire, filter):
    id = listen(wire, filter)
    granted = wire.ack(id).params["notifications"]
    assert not any(granted.values())
    ended(wire, id)
    # The id is free again.
    wire.ack(listen(wire, {"toolsListChanged": True}, id=id))


def test_L08_only_what_is_not_declared(connect):
    wire = connect("--no-listen-capability", "resources")
    id = listen(wire, {"resourcesListChanged": True, "resourceSubscriptions": ["test://watched-resource"]})
    assert wire.ack(id).params["notifications"] == {}
    ended(wire, id)


def test_L09_listen_as_a_notification_is_ignored(wire):
    wire.notify(LISTEN, {"notifications": ALL, "_meta": META()})
    wire.text("add_tool", {"name": "extra"})
    wire.quiet()


def test_L10_every_tool_edit_is_told_and_shows_in_the_list(wire):
    id = wire.listen(toolsListChanged=True)
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed", id)
    assert wire.names()[-1] == "extra"
    wire.text("remove_tool", {"name": "extra"})
    wire.change("tools/list_changed", id)
    assert "extra" not in wire.names()
    wire.text("remove_tool", {"name": "fail"})
    wire.change("tools/list_changed", id)
    assert "fail" not in wire.names()
    wire.quiet()


def test_L11_prompts(wire):
    id = wire.listen(promptsListChanged=True)
    wire.text("add_prompt", {"name": "extra"})
    wire.change("prompts/list_changed", id)
    assert "extra" in wire.names("prompts")
    wire.text("remove_prompt", {"name": "extra"})
    wire.change("prompts/list_changed", id)
    assert "extra" not in wire.names("prompts")


def test_L11_resources(wire):
    id = wire.listen(resourcesListChanged=True)
    wire.text("add_resource", {"uri": "test://extra"})
    wire.change("resources/list_changed", id)
    assert "test://extra" in wire.names("resources", "uri")
    wire.text("remove_resource", {"uri": "test://extra"})
    wire.change("resources/list_changed", id)
    assert "test://extra" not in wire.names("resources", "uri")


def test_L12_other_kinds_are_not_told(wire):
    wire.listen(promptsListChanged=True)
    wire.text("add_tool", {"name": "extra"})
    wire.text("add_resource", {"uri": "test://extra"})
    wire.text("touch_resource", {"uri": "test://watched-resource"})
    wire.quiet()


# The last ones are equal to `test://watched-resource` only to somebody who normalises.
@pytest.mark.parametrize("uri", ["test://watched-resource", "test://not/listed", "test://a%20b/%C3%A9", "TEST://Ünï/★"])
def test_L13_updates_reach_those_who_subscribed_to_that_uri(wire, uri):
    id = wire.listen(resourceSubscriptions=[uri])
    wire.listen(resourcesListChanged=True)
    wire.text("touch_resource", {"uri": uri})
    assert wire.change("resources/updated", id).params == {"uri": uri, "_meta": {SID: id}}
    for other in ("test://static-text", uri + "/", uri + "?x", uri.swapcase()):
        wire.text("touch_resource", {"uri": other})
    wire.quiet()


def test_L14_refused_edits_tell_nobody(wire):
    wire.listen(**ALL)
    for tool, arguments in [
        ("add_tool", {"name": "echo"}),
        ("remove_tool", {"name": "nope"}),
        ("add_prompt", {"name": "test_simple_prompt"}),
        ("remove_prompt", {"name": "nope"}),
        ("add_resource", {"uri": "test://static-text"}),
        ("remove_resource", {"uri": "test://nope"}),
        ("add_tool", {"name": "not a name!"}),
        ("add_tool", {"name": ""}),
        ("add_tool", {"name": "x" * 129}),
        ("add_resource", {"uri": "relative/path"}),
    ]:
        assert wire.call(tool, arguments)["isError"] is True, (tool, arguments)
    wire.quiet()


@pytest.mark.parametrize("kind", ["tool", "prompt"])
def test_L15_a_batch_is_told_once_even_if_it_cancels_itself_out(wire, kind):
    id = wire.listen(**{f"{kind}sListChanged": True})
    before = wire.names(f"{kind}s")
    assert wire.text(f"test_trigger_{kind}_change") == "Mutation triggered"
    wire.change(f"{kind}s/list_changed", id)
    wire.quiet()
    assert wire.names(f"{kind}s") == before


def test_L16_a_burst_is_told_at_least_once_after_its_end(wire):
    count = 1000
    id = wire.listen(toolsListChanged=True)
    assert wire.text("burst", {"count": count}) == f"burst of {count} done"
    told = wire.drain()
    assert all(message.method == "notifications/tools/list_changed" for message in told)
    assert all(message.subscription == encode(id) for message in told)
    assert 1 <= len(told) <= 2 * count + 1
    assert wire.names()[-1] == "burst_tool"


def test_L17_overlapping_subscriptions_get_their_own_copies(wire):
    first = wire.listen(toolsListChanged=True, promptsListChanged=True)
    second = wire.listen(id="second", toolsListChanged=True, resourceSubscriptions=["test://x"])
    wire.text("add_tool", {"name": "extra"})
    wire.change("tools/list_changed", first)
    wire.change("tools/list_changed", second)
    wire.text("add_prompt", {"name": "extra"})
    wire.change("prompts/list_changed", first)
    wire.text("touch_resource", {"uri": "test://x"})
    wire.change("resources/updated", second)
    wire.quiet()


def test_L18_racing_edits_never_come_before_the_ack(wire):
    """The ledger holds every tag against the acks; 10,000 rounds of it run in core/tests."""
    for round in range(200):
        name = f"race_{round}"
        adding = wire.start("add_tool", {"name": name})
        id = listen(wire, {"toolsListChanged": True})
        removing = wire.start("remove_tool", {"name": name}) if round % 2 else None
        wire.ack(id)
        wire.result(adding)
        if removing:
            wire.result(removing)
        wire.drain()
        wire.text("burst", {"count": 0})
        wire.change("tools/list_changed", id)
        wire.cancel(id)
    wire.drain()


def test_L19_end_of_input_completes_open_subscriptions(wire):
    ids = [wire.listen(id=id, **ALL) for id in (7, "7", "listen:0")]
    wire.end_input()
    for id in ids:
        ended(wire, id)
    assert wire.wait() == 0
    assert not wire.unseen


@pytest.mark.parametrize("cap", [1, 3])
def test_L22_the_cap_is_named_and_a_freed_slot_can_be_used_again(connect, cap):
    wire = connect("--max-subscriptions", str(cap))
    ids = [wire.listen(toolsListChanged=True) for _ in range(cap)]
    for _ in range(3):
        wire.refuse(-32603, str(cap), method=LISTEN, params={"notifications": ALL})
    wire.cancel(ids[0])
    wire.listen(toolsListChanged=True)
    wire.refuse(-32603, str(cap), method=LISTEN, params={"notifications": ALL})
    # A refused one is not registered.
    wire.text("add_tool", {"name": "extra"})
    assert len(wire.drain()) == cap


def test_L22_a_cap_of_zero_is_none(connect):
    wire = connect("--max-subscriptions", "0")
    for _ in range(1500):
        listen(wire, {"toolsListChanged": True})
    for _ in range(1500):
        wire.expect(lambda message: message.method == "notifications/subscriptions/acknowledged")
    wire.quiet()


def test_L23_changes_from_handlers_that_run_at_once_are_all_delivered(wire):
    tools = wire.listen(toolsListChanged=True)
    uris = [f"test://r/{n}" for n in range(20)]
    updates = wire.listen(resourceSubscriptions=uris)
    calls = [wire.start("touch_resource", {"uri": uri}) for uri in uris]
    calls += [wire.start("add_tool", {"name": f"extra_{n}"}) for n in range(20)]
    for id in calls:
        wire.result(id)
    wire.change("tools/list_changed", tools)
    told = [message for message in wire.drain() if message.subscription == encode(updates)]
    assert sorted(message.params["uri"] for message in told) == sorted(uris)
    assert {f"extra_{n}" for n in range(20)} <= set(wire.names())
