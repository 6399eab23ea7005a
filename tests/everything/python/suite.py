"""What the public conformance suite asks of a server: every kind of content, reports, schemas, changes, prompts,
resources and completions."""

import asyncio
import base64
import json

from own import add_named_prompt, add_named_tool
from tocsin import Audio, Context, Embedded, Image, Message, ToolError

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="


def add_content(server):
    """Adds tools that return each kind of content."""

    @server.tool
    async def test_simple_text():
        """Returns one text block."""
        return "This is a simple text response for testing."

    @server.tool
    async def test_image_content():
        """Returns one image block."""
        return Image(PNG)

    @server.tool
    async def test_audio_content():
        """Returns one audio block."""
        return Audio(WAV)

    @server.tool
    async def test_embedded_resource():
        """Returns one embedded resource."""
        return Embedded("test://embedded-resource", "This is an embedded resource content.", "text/plain")

    @server.tool
    async def test_multiple_content_types():
        """Returns a text, an image and an embedded resource."""
        data = '{"test":"data","value":123}'
        return [
            "Multiple content types test:",
            Image(PNG),
            Embedded("test://mixed-content-resource", data, "application/json"),
        ]


def add_reports(server):
    """Adds tools that log, fail and report progress."""

    @server.tool
    async def test_tool_with_logging(ctx: Context):
        """Sends three log messages while it runs."""
        ctx.info("Tool execution started", "everything")
        await asyncio.sleep(0.05)
        ctx.info("Tool processing data", "everything")
        await asyncio.sleep(0.05)
        ctx.info("Tool execution completed", "everything")
        return "Tool with logging executed successfully"

    @server.tool
    async def test_error_handling():
        """Always fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool
    async def test_tool_with_progress(ctx: Context):
        """Reports progress three times while it runs."""
        for step in (0, 50, 100):
            if step > 0:
                await asyncio.sleep(0.05)
            ctx.progress(step, 100, f"Completed step {step} of 100")
        return "Tool with progress executed successfully"


CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add_schemas(server):
    """Adds the tool with a demanding schema, and the one whose client reconnects."""

    @server.tool(description="Tool with JSON Schema 2020-12 features", input_schema=CONTACT)
    async def json_schema_2020_12_tool(ctx: Context):
        return f"JSON Schema 2020-12 tool called with: {ctx.arguments_json}"

    @server.tool
    async def test_reconnection():
        """Closes its response stream and answers after the client reconnects."""
        # On stdio there is no response stream to close.
        await asyncio.sleep(0.1)
        return "Reconnection test completed successfully"


def add_changes(server):
    """Adds tools that change a list and change it back, in one batch each."""

    @server.tool
    async def test_logging_tool(ctx: Context):
        """Sends one log message."""
        ctx.info("Diagnostic trace logging activated", "everything")
        return "Logging evaluated"

    @server.tool
    async def test_trigger_tool_change():
        """Changes the list of tools and changes it back."""
        with server.changes():
            add_named_tool(server, "test_dynamic_tool")
            server.tools.remove("test_dynamic_tool")
        return "Mutation triggered"

    @server.tool
    async def test_trigger_prompt_change():
        """Changes the list of prompts and changes it back."""
        with server.changes():
            add_named_prompt(server, "test_dynamic_prompt")
            server.prompts.remove("test_dynamic_prompt")
        return "Mutation triggered"


def complete(**candidates):
    """Completes with those of an argument's candidates that begin with what is typed."""

    async def completer(name: str, value: str, others: dict):
        chosen = candidates.get(name, [])
        if callable(chosen):
            chosen = chosen(others)
        return [candidate for candidate in chosen if candidate.startswith(value)]

    return completer


def words(others):
    france = ["france"] if others.get("arg1") == "paris" else []
    return [*france, "world", "testValue2"]


def argument(name, description):
    return {"name": name, "description": description, "required": True}


def add_prompts(server):
    """Adds prompts."""

    @server.prompt(description="A prompt without arguments.")
    async def test_simple_prompt():
        return "This is a simple prompt for testing."

    @server.prompt(
        description="A prompt with two arguments.",
        arguments=[argument("arg1", "First test argument."), argument("arg2", "Second test argument.")],
        completer=complete(arg1=["paris", "park", "party", "testValue1"], arg2=words),
    )
    async def test_prompt_with_arguments(arg1: str, arg2: str):
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(
        description="A prompt that embeds a resource.",
        arguments=[argument("resourceUri", "URI of the resource to embed.")],
        completer=complete(resourceUri=["test://static-text", "test://static-binary", "test://watched-resource"]),
    )
    async def test_prompt_with_embedded_resource(resourceUri: str):
        return [
            Message(Embedded(resourceUri, "Embedded resource content for testing.", "text/plain")),
            Message("Please process the embedded resource above."),
        ]

    @server.prompt(description="A prompt with an image.")
    async def test_prompt_with_image():
        return [Image(PNG), "Please analyze the image above."]


def add_resources(server):
    """Adds resources and a template."""

    @server.resource("test://static-text", name="static-text", mime_type="text/plain")
    async def static_text():
        """A text that never changes."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", mime_type="image/png")
    async def static_binary():
        """An image that never changes."""
        return base64.b64decode(PNG)

    @server.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
    async def watched_resource():
        """A text to subscribe to."""
        return "Watched resource content"

    @server.resource(
        "test://template/{id}/data",
        name="template",
        mime_type="application/json",
        completer=complete(id=["1", "12", "123", "2"]),
    )
    async def template(id: str):
        """A document for each id."""
        document = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
