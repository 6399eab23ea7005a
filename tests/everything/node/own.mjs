// Tools for tests and benchmarks: echo and arithmetic, waiting, failing, and every way to change what is offered.

import { setTimeout as delay } from "node:timers/promises"
import { ToolError } from "tocsin"

/** The schema of an object with these members, all required. */
const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) })
const string = { type: "string" }
const integer = { type: "integer" }

/** The schema of no arguments. */
export const nothing = { type: "object", properties: {} }

/** Adds this file's tools. */
export function add(server) {
  addPlain(server)
  addFailing(server)
  addEditors(server)
  addBurst(server)

  server.tool(
    "region_echo",
    {
      description: "Returns its arguments, two of which travel in HTTP headers as well.",
      input: {
        type: "object",
        properties: {
          region: { type: "string", "x-mcp-header": "Region" },
          count: { type: "integer", "x-mcp-header": "Count" },
          note: { type: "string" },
        },
      },
    },
    (args) => ({ structured: args }),
  )
}

function addPlain(server) {
  server.tool(
    "echo",
    { description: "Returns the text it was given.", input: object({ text: string }) },
    ({ text }) => text,
  )

  server.tool(
    "add",
    {
      description: "Adds two signed 64-bit integers.",
      input: object({ a: integer, b: integer }),
      output: object({ sum: integer }),
    },
    ({ a, b }) => {
      const sum = BigInt(a) + BigInt(b)
      if (BigInt.asIntN(64, sum) !== sum) throw new ToolError("the sum does not fit in 64 bits")
      return { sum }
    },
  )

  server.tool(
    "sleep",
    {
      description: "Waits, reporting progress about every 50 ms.",
      input: object({
        ms: { type: "integer", description: "How long to wait, in milliseconds.", minimum: 0, maximum: 600_000 },
      }),
    },
    async ({ ms }, ctx) => {
      for (let waited = 0; waited < ms; ) {
        const slice = Math.min(50, ms - waited)
        await delay(slice, undefined, { signal: ctx.signal })
        waited += slice
        ctx.progress(waited, ms)
      }
      return `slept ${ms} ms`
    },
  )

  server.tool(
    "log",
    {
      description: "Sends one log message.",
      input: object({
        level: { type: "string", description: "A severity, from debug to emergency." },
        message: string,
      }),
    },
    ({ level, message }, ctx) => {
      ctx.log(level, message, "everything")
      return "logged"
    },
  )

  server.tool(
    "big",
    {
      description: "Returns a text of the given length.",
      input: object({
        bytes: { type: "integer", description: "Length of the text.", minimum: 0, maximum: 16 * 1024 * 1024 },
      }),
    },
    ({ bytes }) => "x".repeat(bytes),
  )
}

function addFailing(server) {
  server.tool(
    "fail",
    { description: "Fails with the given message.", input: object({ message: string }) },
    ({ message }) => {
      throw new ToolError(message)
    },
  )

  server.tool("crash", { description: "Fails in a way that nobody foresaw.", input: nothing }, () => {
    throw new TypeError("secret")
  })

  server.tool("whoami", { description: "Tells how the client is connected.", input: nothing }, (_args, ctx) => {
    const { era, protocolVersion, transport, clientInfo } = ctx
    const client = clientInfo ? { name: clientInfo.name, version: clientInfo.version } : null
    return { era, protocolVersion, transport, client }
  })
}

/** Adds a tool that says its own name. */
export function addNamedTool(server, name) {
  server.tool(name, { description: "Echoes its own name.", input: nothing }, () => name)
}

/** Adds a prompt that says its own name. */
export function addNamedPrompt(server, name) {
  server.prompt(name, { description: "Echoes its own name." }, () => name)
}

/** Adds a resource that says its own URI. */
function addNamedResource(server, uri) {
  const options = { name: uri, description: "Echoes its own URI.", mimeType: "text/plain" }
  server.resources.add(uri, options, (uri) => uri)
}

// What an edit throws when the registry refuses it is a tool error, with the registry's words.
function addEditors(server) {
  const named = object({ name: string })
  const addressed = object({ uri: string })

  server.tool("add_tool", { description: "Adds a tool that echoes its own name.", input: named }, ({ name }) => {
    addNamedTool(server, name)
    return `added tool '${name}'`
  })

  server.tool("remove_tool", { description: "Removes a tool.", input: named }, ({ name }) => {
    server.tools.remove(name)
    return `removed tool '${name}'`
  })

  server.tool("add_prompt", { description: "Adds a prompt that echoes its own name.", input: named }, ({ name }) => {
    addNamedPrompt(server, name)
    return `added prompt '${name}'`
  })

  server.tool("remove_prompt", { description: "Removes a prompt.", input: named }, ({ name }) => {
    server.prompts.remove(name)
    return `removed prompt '${name}'`
  })

  server.tool(
    "add_resource",
    { description: "Adds a text resource that echoes its own URI.", input: addressed },
    ({ uri }) => {
      addNamedResource(server, uri)
      return `added resource '${uri}'`
    },
  )

  server.tool("remove_resource", { description: "Removes a resource.", input: addressed }, ({ uri }) => {
    server.resources.remove(uri)
    return `removed resource '${uri}'`
  })

  server.tool(
    "touch_resource",
    { description: "Says that a resource was updated, be it listed or not.", input: addressed },
    ({ uri }) => {
      server.resources.updated(uri)
      return `touched resource '${uri}'`
    },
  )
}

function addBurst(server) {
  server.tool(
    "burst",
    {
      description: "Adds and removes a tool many times and leaves it added.",
      input: object({ count: { type: "integer", description: "How many times.", minimum: 0, maximum: 100_000 } }),
    },
    ({ count }) => {
      if (server.tools.has("burst_tool")) server.tools.remove("burst_tool")
      for (let done = 0; done < count; done += 1) {
        addNamedTool(server, "burst_tool")
        server.tools.remove("burst_tool")
      }
      addNamedTool(server, "burst_tool")
      return `burst of ${count} done`
    },
  )
}
