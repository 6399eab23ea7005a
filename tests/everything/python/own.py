"""Tools for tests and benchmarks: echo and arithmetic, waiting, failing, and every way to change what is offered."""

import asyncio
import json

from tocsin import Context, SyncContext, ToolError


def schema(**properties):
    """The schema of an object with these members, all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def add(server):
    """Adds this file's tools."""
    add_plain(server)
    add_failing(server)
    add_editors(server)
    add_burst(server)

    region = {"type": "string", "x-mcp-header": "Region"}
    count = {"type": "integer", "x-mcp-header": "Count"}
    properties = {"region": region, "count": count, "note": {"type": "string"}}

    @server.tool(input_schema={"type": "object", "properties": properties})
    async def region_echo(ctx: Context):
        """Returns its arguments, two of which travel in HTTP headers as well."""
        return json.loads(ctx.arguments_json)


def add_plain(server):
    @server.tool
    async def echo(text: str):
        """Returns the text it was given."""
        return text

    @server.tool("add", output_schema=schema(sum={"type": "integer"}))
    async def add_integers(a: int, b: int):
        """Adds two signed 64-bit integers."""
        if not -(2**63) <= a + b < 2**63:
            raise ToolError("the sum does not fit in 64 bits")
        return {"sum": a + b}

    duration = {
        "type": "integer",
        "description": "How long to wait, in milliseconds.",
        "minimum": 0,
        "maximum": 600_000,
    }

    @server.tool(input_schema=schema(ms=duration))
    async def sleep(ms: int, ctx: Context):
        """Waits, reporting progress about every 50 ms."""
        waited = 0
        while waited < ms:
            step = min(50, ms - waited)
            await asyncio.sleep(step / 1000)
            waited += step
            ctx.progress(waited, ms)
        return f"slept {ms} ms"

    severity = {"type": "string", "description": "A severity, from debug to emergency."}

    @server.tool(input_schema=schema(level=severity, message={"type": "string"}))
    async def log(level: str, message: str, ctx: Context):
        """Sends one log message."""
        ctx.log(level, message, "everything")
        return "logged"

    length = {"type": "integer", "description": "Length of the text.", "minimum": 0, "maximum": 16 << 20}

    @server.tool(input_schema=schema(bytes=length))
    def big(bytes: int):
        """Returns a text of the given length."""
        return "x" * bytes


def add_failing(server):
    @server.tool
    def fail(message: str):
        """Fails with the given message."""
        raise ToolError(message)

    @server.tool
    def crash():
        """Fails in a way that nobody foresaw."""
        raise RuntimeError("secret")

    @server.tool
    def whoami(ctx: SyncContext):
        """Tells how the client is connected."""
        client = ctx.client_info and {"name": ctx.client_info["name"], "version": ctx.client_info["version"]}
        return {
            "era": ctx.era,
            "protocolVersion": ctx.protocol_version,
            "transport": ctx.transport,
            "client": client,
        }


def add_named_tool(server, name):
    """Adds a tool that says its own name."""
    server.tools.add(lambda: name, name, description="Echoes its own name.")


def add_named_prompt(server, name):
    """Adds a prompt that says its own name."""
    server.prompts.add(lambda: name, name, description="Echoes its own name.")


def add_named_resource(server, uri):
    """Adds a resource that says its own URI."""
    server.resources.add(uri, lambda: uri, name=uri, description="Echoes its own URI.", mime_type="text/plain")


def add_editors(server):
    """What an edit raises when the registry refuses it is a tool error, with the registry's words."""

    @server.tool
    def add_tool(name: str):
        """Adds a tool that echoes its own name."""
        add_named_tool(server, name)
        return f"added tool '{name}'"

    @server.tool
    def remove_tool(name: str):
        """Removes a tool."""
        server.tools.remove(name)
        return f"removed tool '{name}'"

    @server.tool
    def add_prompt(name: str):
        """Adds a prompt that echoes its own name."""
        add_named_prompt(server, name)
        return f"added prompt '{name}'"

    @server.tool
    def remove_prompt(name: str):
        """Removes a prompt."""
        server.prompts.remove(name)
        return f"removed prompt '{name}'"

    @server.tool
    def add_resource(uri: str):
        """Adds a text resource that echoes its own URI."""
        add_named_resource(server, uri)
        return f"added resource '{uri}'"

    @server.tool
    def remove_resource(uri: str):
        """Removes a resource."""
        server.resources.remove(uri)
        return f"removed resource '{uri}'"

    @server.tool
    def touch_resource(uri: str):
        """Says that a resource was updated, be it listed or not."""
        server.resources.updated(uri)
        return f"touched resource '{uri}'"


def add_burst(server):
    times = {"type": "integer", "description": "How many times.", "minimum": 0, "maximum": 100_000}

    @server.tool(input_schema=schema(count=times))
    def burst(count: int):
        """Adds and removes a tool many times and leaves it added."""
        if "burst_tool" in server.tools:
            server.tools.remove("burst_tool")
        for _ in range(count):
            add_named_tool(server, "burst_tool")
            server.tools.remove("burst_tool")
        add_named_tool(server, "burst_tool")
        return f"burst of {count} done"
