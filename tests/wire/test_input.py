"""M5: calls that need input, in the modern era. An expired state is tested in core/tests, where time can be set."""

import pytest

from connection import META, check_error, text_of

FULL = {"elicitation": {}, "sampling": {}, "roots": {}}
NAME = {
    "method": "elicitation/create",
    "params": {
        "message": "What is your name?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}
SAID = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}
ROOTS = {"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]}


def accept(**content):
    return {"action": "accept", "content": content}


def say(text, tokens):
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}}


def start(wire, tool, answers=None, state=None, arguments=None, capabilities=FULL, method="tools/call"):
    params = {"name": f"test_input_required_result_{tool}" if not tool.startswith("test_") else tool}
    if arguments is not None:
        params["arguments"] = arguments
    if answers is not None:
        params["inputResponses"] = answers
    if state is not None:
        params["requestState"] = state
    return wire.request(method, params, meta=META(capabilities))


def round_(wire, *args, **how):
    return wire.result(start(wire, *args, **how))


def asked(result):
    assert result["resultType"] == "input_required"
    assert result["requestState"] and isinstance(result["requestState"], str)
    assert not {"ttlMs", "cacheScope", "content"} & set(result)
    assert "io.modelcontextprotocol/serverInfo" in result["_meta"]
    return result["inputRequests"]


def refused(wire, *args, **how):
    """-32602, and the handler did not run."""
    return check_error(wire.response(start(wire, *args, **how)), -32602)


def test_M05_question_and_answer(wire):
    first = round_(wire, "elicitation")
    assert asked(first) == {"user_name": NAME}
    last = round_(wire, "elicitation", {"user_name": accept(name="Ada ★")}, first["requestState"])
    assert last["resultType"] == "complete" and text_of(last) == "Hello, Ada ★!"
    wire.quiet()


@pytest.mark.parametrize(
    ("tool", "arguments", "questions", "answers", "text"),
    [
        ("sampling", None, {"capital_question": say("What is the capital of France?", 100)},
         {"capital_question": SAID}, "Sampling result: Paris"),
        ("list_roots", None, {"client_roots": {"method": "roots/list", "params": {}}},
         {"client_roots": ROOTS}, "Found 2 root(s): file:///a, file:///b"),
        ("list_roots", None, {"client_roots": {"method": "roots/list", "params": {}}},
         {"client_roots": {"roots": []}}, "Found 0 root(s)"),
        ("test_sampling", {"prompt": "Say ★"}, {"sample": say("Say ★", 100)}, {"sample": SAID}, "LLM response: Paris"),
        ("multiple_inputs", None,
         {"user_name": NAME, "greeting": say("Generate a greeting", 50),
          "client_roots": {"method": "roots/list", "params": {}}},
         {"client_roots": ROOTS, "user_name": accept(name="Ada"), "greeting": SAID},
         "Name: Ada; Greeting: Paris; Roots: 2"),
    ],
)  # fmt: skip
def test_M05_every_kind_of_question(wire, tool, arguments, questions, answers, text):
    first = round_(wire, tool, arguments=arguments)
    assert asked(first) == questions
    assert list(first["inputRequests"]) == list(questions)
    assert text_of(round_(wire, tool, answers, first["requestState"], arguments)) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (accept(name="Ada"), "Hello, Ada!"),
        ({"action": "decline"}, "Hello, unknown!"),
        ({"action": "cancel"}, "Hello, unknown!"),
    ],
)
def test_M05_answers_without_any_state_count(wire, answer, text):
    """With unknown keys beside them, as the conformance suite sends them."""
    answers = {"extra": {"action": "accept", "content": {}}, "user_name": answer, "more": {"roots": []}}
    assert text_of(round_(wire, "elicitation", answers)) == text


def test_M05_a_retry_without_the_answer_is_asked_again(wire):
    state = round_(wire, "elicitation")["requestState"]
    for answers, kept in (({}, state), (None, state), ({"wrong_key": accept(name="x")}, None), ({}, None)):
        assert asked(round_(wire, "elicitation", answers, kept)) == {"user_name": NAME}


def test_M05_partial_answers_are_kept(wire):
    first = round_(wire, "multiple_inputs")
    second = round_(wire, "multiple_inputs", {"greeting": SAID}, first["requestState"])
    left = asked(second)
    assert "user_name" in left and "client_roots" in left
    answers = {"user_name": accept(name="Ada"), "client_roots": ROOTS}
    last = round_(wire, "multiple_inputs", answers, second["requestState"])
    if "greeting" not in left:
        assert text_of(last) == "Name: Ada; Greeting: Paris; Roots: 2"


def test_M05_rounds_carry_earlier_answers(wire):
    first = round_(wire, "multi_round")
    assert list(asked(first)) == ["step1"]
    second = round_(wire, "multi_round", {"step1": accept(name="Ada")}, first["requestState"])
    assert list(asked(second)) == ["step2"]
    assert second["requestState"] != first["requestState"]
    last = round_(wire, "multi_round", {"step2": accept(color="red")}, second["requestState"])
    assert text_of(last) == "Multi-round complete for Ada who likes red"


@pytest.mark.parametrize("answers", [None, 1, "x", [], True], ids=repr)
def test_M05_answers_that_are_no_object(wire, answers):
    params = {"name": "test_input_required_result_elicitation", "inputResponses": answers}
    wire.refuse(-32602, "inputResponses", method="tools/call", params=params, meta=META(FULL))


@pytest.mark.parametrize("answer", [12345, None, "x", [], True], ids=repr)
def test_M05_an_answer_that_is_no_object_is_named(wire, answer):
    error = refused(wire, "elicitation", {"user_name": answer})
    assert "user_name" in error["error"]["message"]


@pytest.mark.parametrize("answer", [{}, {"action": "maybe"}, {"action": 1}, {"content": {"name": "x"}}], ids=repr)
def test_M05_an_answer_of_another_shape_is_never_taken(wire, answer):
    """No row says how it is refused; that the handler goes on as if it had been declined would be wrong."""
    message = wire.response(start(wire, "elicitation", {"user_name": answer}))
    if "error" in message:
        check_error(message, -32602, "user_name")
    else:
        result = message["result"]
        assert result.get("isError") is True or result["resultType"] == "input_required", message


CONFIRMED = {"confirm": accept(ok=True)}


def test_M05_changed_states_are_refused(wire):
    state = round_(wire, "tampered_state")["requestState"]
    middle = len(state) // 2
    flipped = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
    for changed in (state + "-TAMPERED", state + "=", state + "A", state[:-1], state[1:], flipped, "", "x", "★"):
        refused(wire, "tampered_state", CONFIRMED, changed)
    for wrong in (1, None, {}, []):
        params = {"name": "test_input_required_result_tampered_state", "requestState": wrong}
        wire.refuse(-32602, "requestState", method="tools/call", params=params, meta=META(FULL))
    assert text_of(round_(wire, "tampered_state", CONFIRMED, state)) == "integrity-ok: state verified"


def test_M05_foreign_states_are_refused(connect):
    wire = connect()
    state = round_(wire, "request_state")["requestState"]
    refused(wire, "tampered_state", CONFIRMED, state)  # another tool
    refused(wire, "request_state", CONFIRMED, state, arguments={"other": 1})  # other arguments
    refused(wire, "prompt", {}, state, method="prompts/get")  # another method
    refused(connect(), "request_state", CONFIRMED, state)  # another process, so another key
    assert text_of(round_(wire, "request_state", CONFIRMED, state)) == "state-ok: requestState validated"


def test_M05_only_what_was_declared_is_asked(wire):
    for capabilities, keys in (({"sampling": {}}, ["sample_input"]), (FULL, ["elicit_input", "sample_input"])):
        assert list(asked(round_(wire, "capabilities", capabilities=capabilities))) == keys
    last = round_(wire, "capabilities", {"sample_input": SAID}, capabilities={"sampling": {}})
    assert text_of(last) == "capabilities-ok: received sample_input"
    assert text_of(round_(wire, "capabilities", capabilities={})) == "No supported capabilities declared"


def test_M05_prompts_ask_too(wire):
    first = round_(wire, "prompt", method="prompts/get")
    assert list(asked(first)) == ["user_context"]
    answers = {"user_context": accept(context="★")}
    last = round_(wire, "prompt", answers, first["requestState"], method="prompts/get")
    text = {"type": "text", "text": "Prompt with context: ★"}
    assert last["messages"] == [{"role": "user", "content": text}]


def test_M05_content_comes_back_as_it_was_sent(wire):
    answers = {"user": accept(username="Ada", email="a@b", more=[1, {"x": None}])}
    last = round_(wire, "test_elicitation", answers, arguments={"message": "m"})
    content = '{"username":"Ada","email":"a@b","more":[1,{"x":null}]}'
    assert text_of(last) == f"User response: action=accept, content={content}"


def test_M05_a_question_ends_the_call(wire):
    """Its id is free, cancelling it does nothing, progress came before it and nothing after."""
    params = {"name": "test_streaming_elicitation"}
    id = wire.request("tools/call", params, id=7, meta=META(FULL, progressToken="p"))
    progress = wire.notification("progress")
    first = wire.response(id)
    assert progress.index < first.index and progress.params["progress"] == 50
    asked(first["result"])
    wire.cancel(7)
    answer = {"inputResponses": CONFIRMED, "requestState": first["result"]["requestState"]}
    wire.request("tools/call", params | answer, id=7, meta=META(FULL))
    assert text_of(wire.result(7)) == "Streaming complete"
    wire.quiet()
