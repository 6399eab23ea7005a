// What the public conformance suite asks of a server: every kind of content, reports, schemas, changes, prompts,
// resources and completions.

import { setTimeout as delay } from "node:timers/promises"
import { stringifyJson, ToolError } from "tocsin"
import { addNamedPrompt, addNamedTool, nothing } from "./own.mjs"

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="

const text = (text) => ({ type: "text", text })
const image = { type: "image", data: PNG, mimeType: "image/png" }
const audio = { type: "audio", data: WAV, mimeType: "audio/wav" }
const resource = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } })
const user = (content) => ({ role: "user", content })

/** Adds a tool without arguments. */
export function addTool(server, name, description, handler) {
  server.tool(name, { description, input: nothing }, handler)
}

/** Adds tools that return each kind of content. */
export function addContent(server) {
  addTool(server, "test_simple_text", "Returns one text block.", () => "This is a simple text response for testing.")
  addTool(server, "test_image_content", "Returns one image block.", () => ({ content: [image] }))
  addTool(server, "test_audio_content", "Returns one audio block.", () => ({ content: [audio] }))
  addTool(server, "test_embedded_resource", "Returns one embedded resource.", () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }))
  addTool(server, "test_multiple_content_types", "Returns a text, an image and an embedded resource.", () => ({
    content: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }))
}

/** Adds tools that log, fail and report progress. */
export function addReports(server) {
  addTool(server, "test_tool_with_logging", "Sends three log messages while it runs.", async (_args, ctx) => {
    ctx.log("info", "Tool execution started", "everything")
    await delay(50)
    ctx.log("info", "Tool processing data", "everything")
    await delay(50)
    ctx.log("info", "Tool execution completed", "everything")
    return "Tool with logging executed successfully"
  })
  addTool(server, "test_error_handling", "Always fails.", () => {
    throw new ToolError("This tool intentionally returns an error for testing")
  })
  addTool(server, "test_tool_with_progress", "Reports progress three times while it runs.", async (_args, ctx) => {
    for (const step of [0, 50, 100]) {
      if (step > 0) await delay(50)
      ctx.progress(step, 100, `Completed step ${step} of 100`)
    }
    return "Tool with progress executed successfully"
  })
}

/** Adds the tool with a demanding schema, and the one whose client reconnects. */
export function addSchemas(server) {
  server.tool(
    "json_schema_2020_12_tool",
    {
      description: "Tool with JSON Schema 2020-12 features",
      input: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: {
          address: {
            $anchor: "addressDef",
            type: "object",
            properties: { street: { type: "string" }, city: { type: "string" } },
          },
        },
        properties: {
          name: { type: "string" },
          address: { $ref: "#/$defs/address" },
          contactMethod: { type: "string", enum: ["phone", "email"] },
          phone: { type: "string" },
          email: { type: "string" },
        },
        allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
        if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ["phone"] },
        else: { required: ["email"] },
        additionalProperties: false,
      },
    },
    (args) => `JSON Schema 2020-12 tool called with: ${stringifyJson(args)}`,
  )
  // On stdio there is no response stream to close.
  addTool(
    server,
    "test_reconnection",
    "Closes its response stream and answers after the client reconnects.",
    async () => {
      await delay(100)
      return "Reconnection test completed successfully"
    },
  )
}

/** Adds tools that change a list and change it back, in one batch each. */
export function addChanges(server) {
  addTool(server, "test_logging_tool", "Sends one log message.", (_args, ctx) => {
    ctx.log("info", "Diagnostic trace logging activated", "everything")
    return "Logging evaluated"
  })
  addTool(server, "test_trigger_tool_change", "Changes the list of tools and changes it back.", () => {
    server.changes(() => {
      addNamedTool(server, "test_dynamic_tool")
      server.tools.remove("test_dynamic_tool")
    })
    return "Mutation triggered"
  })
  addTool(server, "test_trigger_prompt_change", "Changes the list of prompts and changes it back.", () => {
    server.changes(() => {
      addNamedPrompt(server, "test_dynamic_prompt")
      server.prompts.remove("test_dynamic_prompt")
    })
    return "Mutation triggered"
  })
}

/** What of `candidates` begins with what is typed. */
const complete =
  (...candidates) =>
  (value) =>
    candidates.filter((candidate) => candidate.startsWith(value))

/** Adds prompts. */
export function addPrompts(server) {
  server.prompt(
    "test_simple_prompt",
    { description: "A prompt without arguments." },
    () => "This is a simple prompt for testing.",
  )
  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with two arguments.",
      arguments: [
        { name: "arg1", description: "First test argument.", required: true },
        { name: "arg2", description: "Second test argument.", required: true },
      ],
      complete: {
        arg1: complete("paris", "park", "party", "testValue1"),
        arg2: (value, { arg1 }) => complete(...(arg1 === "paris" ? ["france"] : []), "world", "testValue2")(value),
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  )
  server.prompt(
    "test_prompt_with_embedded_resource",
    {
      description: "A prompt that embeds a resource.",
      arguments: [{ name: "resourceUri", description: "URI of the resource to embed.", required: true }],
      complete: { resourceUri: complete("test://static-text", "test://static-binary", "test://watched-resource") },
    },
    ({ resourceUri }) => [
      user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
      user(text("Please process the embedded resource above.")),
    ],
  )
  server.prompt("test_prompt_with_image", { description: "A prompt with an image." }, () => [
    user(image),
    user(text("Please analyze the image above.")),
  ])
}

/** Adds resources and a template. */
export function addResources(server) {
  server.resource(
    "test://static-text",
    { name: "static-text", description: "A text that never changes.", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  )
  server.resource(
    "test://static-binary",
    { name: "static-binary", description: "An image that never changes.", mimeType: "image/png" },
    () => Buffer.from(PNG, "base64"),
  )
  server.resource(
    "test://watched-resource",
    { name: "watched-resource", description: "A text to subscribe to.", mimeType: "text/plain" },
    () => "Watched resource content",
  )
  server.resource(
    "test://template/{id}/data",
    {
      name: "template",
      description: "A document for each id.",
      mimeType: "application/json",
      complete: { id: complete("1", "12", "123", "2") },
    },
    (_uri, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  )
}
