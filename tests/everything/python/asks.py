"""Handlers that ask the client: the user, the model, or for its roots. Each is written once, for both eras."""

import json

from tocsin import Context, elicit, list_roots, sample


def form(name, kind="string"):
    """The schema of a form that asks for one thing."""
    return {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}


NAME = ("What is your name?", form("name"))
CONFIRM = ("Please confirm", form("ok", "boolean"))

STATUS = {
    "type": "string",
    "description": "User status",
    "enum": ["active", "inactive", "pending"],
    "default": "active",
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": STATUS,
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
}


def titled(*titles):
    return [{"const": f"value{number}", "title": title} for number, title in enumerate(titles, 1)]


ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled("First Option", "Second Option", "Third Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("First Choice", "Second Choice", "Third Choice")}},
    },
}


def say(text):
    """Messages that ask the model to say something."""
    return [{"role": "user", "content": {"type": "text", "text": text}}]


def accepted(answer):
    """What the user accepted, if so."""
    return answer.get("content", {}) if answer["action"] == "accept" else {}


def field(answer, name):
    value = accepted(answer).get(name)
    return value if isinstance(value, str) else "unknown"


def said(answer):
    content = answer["content"]
    blocks = content if isinstance(content, list) else [content]
    return next((block["text"] for block in blocks if block.get("type") == "text"), "no text")


def outcome(answer):
    content = json.dumps(answer.get("content", {}), ensure_ascii=False, separators=(",", ":"))
    return f"action={answer['action']}, content={content}"


def text_argument(name, description):
    """The schema of one text argument."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
    }


def add_forms(server):
    """Adds tools that ask handshake clients and modern ones alike."""

    @server.tool(input_schema=text_argument("prompt", "What to ask the model."))
    async def test_sampling(prompt: str, ctx: Context):
        """Asks the client's model."""
        return f"LLM response: {said(await ctx.sample('sample', say(prompt), 100))}"

    @server.tool(input_schema=text_argument("message", "What to show to the user."))
    async def test_elicitation(message: str, ctx: Context):
        """Asks the user for a name and an address."""
        user = {
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            },
            "required": ["username", "email"],
        }
        return f"User response: {outcome(await ctx.elicit('user', message, user))}"

    @server.tool
    async def test_elicitation_sep1034_defaults(ctx: Context):
        """Asks the user with a form that has defaults."""
        return f"Elicitation completed: {outcome(await ctx.elicit('form', 'Please review the form', DEFAULTS))}"

    @server.tool
    async def test_elicitation_sep1330_enums(ctx: Context):
        """Asks the user with a form that has every kind of enum."""
        return f"Elicitation completed: {outcome(await ctx.elicit('form', 'Please choose', ENUMS))}"


def add_streams(server):
    """Adds tools that need a capability, or report before they ask."""

    @server.tool
    async def test_missing_capability(ctx: Context):
        """Needs a client that offers sampling."""
        await ctx.sample("sample", say("Say yes."), 10)
        return "Success"

    @server.tool
    async def test_streaming_elicitation(ctx: Context):
        """Reports progress, then asks the user."""
        ctx.progress(50, 100)
        await ctx.elicit("confirm", *CONFIRM)
        return "Streaming complete"


def add_rounds(server):
    """Adds tools that need one round, several questions at once, or several rounds."""

    @server.tool
    async def test_input_required_result_elicitation(ctx: Context):
        """Asks the user for a name."""
        return f"Hello, {field(await ctx.elicit('user_name', *NAME), 'name')}!"

    @server.tool
    async def test_input_required_result_sampling(ctx: Context):
        """Asks the client's model for a capital."""
        answer = await ctx.sample("capital_question", say("What is the capital of France?"), 100)
        return f"Sampling result: {said(answer)}"

    @server.tool
    async def test_input_required_result_list_roots(ctx: Context):
        """Asks for the client's roots."""
        uris = [root["uri"] for root in await ctx.list_roots("client_roots")]
        return f"Found {len(uris)} root(s)" + (f": {', '.join(uris)}" if uris else "")

    @server.tool
    async def test_input_required_result_request_state(ctx: Context):
        """Asks the user to confirm; the state travels with the client."""
        answer = await ctx.elicit("confirm", *CONFIRM)
        return "state-ok: requestState validated" if accepted(answer).get("ok") is True else "not confirmed"

    @server.tool
    async def test_input_required_result_multiple_inputs(ctx: Context):
        """Asks the user, the model and for the roots at once."""
        answers = await ctx.ask(
            {
                "user_name": elicit(*NAME),
                "greeting": sample(say("Generate a greeting"), 50),
                "client_roots": list_roots(),
            }
        )
        name, roots = field(answers["user_name"], "name"), answers["client_roots"]["roots"]
        return f"Name: {name}; Greeting: {said(answers['greeting'])}; Roots: {len(roots)}"

    @server.tool
    async def test_input_required_result_multi_round(ctx: Context):
        """Asks the user twice, one question after the other."""
        name = await ctx.elicit("step1", "Step 1: What is your name?", form("name"))
        color = await ctx.elicit("step2", "Step 2: What is your favorite color?", form("color"))
        return f"Multi-round complete for {field(name, 'name')} who likes {field(color, 'color')}"

    @server.tool
    async def test_input_required_result_tampered_state(ctx: Context):
        """Asks the user to confirm; a changed state is refused."""
        answer = await ctx.elicit("confirm", *CONFIRM)
        return "integrity-ok: state verified" if accepted(answer).get("ok") is True else "not confirmed"

    @server.tool
    async def test_input_required_result_capabilities(ctx: Context):
        """Asks only what the client can answer."""
        questions = {}
        if ctx.can_ask("elicitation/create"):
            questions["elicit_input"] = elicit("Elicitation input", form("value"))
        if ctx.can_ask("sampling/createMessage"):
            questions["sample_input"] = sample(say("Sample request"), 50)
        if not questions:
            return "No supported capabilities declared"
        await ctx.ask(questions)
        return f"capabilities-ok: received {','.join(questions)}"


def add_prompt(server):
    """Adds a prompt that asks."""

    @server.prompt(description="A prompt that asks the user for its context.")
    async def test_input_required_result_prompt(ctx: Context):
        answer = await ctx.elicit("user_context", "What context should the prompt use?", form("context"))
        return f"Prompt with context: {field(answer, 'context')}"
