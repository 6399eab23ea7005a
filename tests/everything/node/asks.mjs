// Handlers that ask the client: the user, the model, or for its roots. Each is written once, for both eras.

import { elicit, listRoots, sample, stringifyJson } from "tocsin"
import { addTool } from "./suite.mjs"

/** A form that asks for one thing. */
const form = (message, name, type = "string") => ({
  message,
  requestedSchema: { type: "object", properties: { [name]: { type } }, required: [name] },
})

const NAME = form("What is your name?", "name")
const CONFIRM = form("Please confirm", "ok", "boolean")

const DEFAULTS = {
  message: "Please review the form",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "User name", default: "John Doe" },
      age: { type: "integer", description: "User age", default: 30 },
      score: { type: "number", description: "User score", default: 95.5 },
      status: {
        type: "string",
        description: "User status",
        enum: ["active", "inactive", "pending"],
        default: "active",
      },
      verified: { type: "boolean", description: "Verification status", default: true },
    },
  },
}

const titled = (...titles) => titles.map((title, at) => ({ const: `value${at + 1}`, title }))

const ENUMS = {
  message: "Please choose",
  requestedSchema: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
    },
  },
}

/** What asks the model to say something. */
const say = (text, maxTokens) => ({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens })

/** What the user accepted, if so. */
const accepted = ({ action, content }) => (action === "accept" ? (content ?? {}) : {})

function field(answer, name) {
  const value = accepted(answer)[name]
  return typeof value === "string" ? value : "unknown"
}

function said({ content }) {
  const blocks = Array.isArray(content) ? content : [content]
  return blocks.find(({ type }) => type === "text")?.text ?? "no text"
}

const outcome = ({ action, content = {} }) => `action=${action}, content=${stringifyJson(content)}`

/** Adds tools that ask handshake clients and modern ones alike. */
export function addForms(server) {
  server.tool(
    "test_sampling",
    {
      description: "Asks the client's model.",
      input: {
        type: "object",
        properties: { prompt: { type: "string", description: "What to ask the model." } },
        required: ["prompt"],
      },
    },
    async ({ prompt }, ctx) => `LLM response: ${said(await ctx.sample("sample", say(prompt, 100)))}`,
  )
  server.tool(
    "test_elicitation",
    {
      description: "Asks the user for a name and an address.",
      input: {
        type: "object",
        properties: { message: { type: "string", description: "What to show to the user." } },
        required: ["message"],
      },
    },
    async ({ message }, ctx) => {
      const answer = await ctx.elicit("user", {
        message,
        requestedSchema: {
          type: "object",
          properties: {
            username: { type: "string", description: "User's response" },
            email: { type: "string", description: "User's email address" },
          },
          required: ["username", "email"],
        },
      })
      return `User response: ${outcome(answer)}`
    },
  )
  const forms = [
    ["test_elicitation_sep1034_defaults", "Asks the user with a form that has defaults.", DEFAULTS],
    ["test_elicitation_sep1330_enums", "Asks the user with a form that has every kind of enum.", ENUMS],
  ]
  for (const [name, description, form] of forms) {
    addTool(server, name, description, async (_args, ctx) => {
      return `Elicitation completed: ${outcome(await ctx.elicit("form", form))}`
    })
  }
}

/** Adds tools that need a capability, or report before they ask. */
export function addStreams(server) {
  addTool(server, "test_missing_capability", "Needs a client that offers sampling.", async (_args, ctx) => {
    await ctx.sample("sample", say("Say yes.", 10))
    return "Success"
  })
  addTool(server, "test_streaming_elicitation", "Reports progress, then asks the user.", async (_args, ctx) => {
    ctx.progress(50, 100)
    await ctx.elicit("confirm", CONFIRM)
    return "Streaming complete"
  })
}

/** Adds tools that need one round, several questions at once, or several rounds. */
export function addRounds(server) {
  addTool(server, "test_input_required_result_elicitation", "Asks the user for a name.", async (_args, ctx) => {
    return `Hello, ${field(await ctx.elicit("user_name", NAME), "name")}!`
  })
  addTool(
    server,
    "test_input_required_result_sampling",
    "Asks the client's model for a capital.",
    async (_args, ctx) => {
      return `Sampling result: ${said(await ctx.sample("capital_question", say("What is the capital of France?", 100)))}`
    },
  )
  addTool(server, "test_input_required_result_list_roots", "Asks for the client's roots.", async (_args, ctx) => {
    const { roots } = await ctx.listRoots("client_roots")
    return `Found ${roots.length} root(s)${roots.length > 0 ? `: ${roots.map(({ uri }) => uri).join(", ")}` : ""}`
  })
  addConfirming(
    server,
    "test_input_required_result_request_state",
    "Asks the user to confirm; the state travels with the client.",
    "state-ok: requestState validated",
  )
  addTool(
    server,
    "test_input_required_result_multiple_inputs",
    "Asks the user, the model and for the roots at once.",
    async (_args, ctx) => {
      const answers = await ctx.ask({
        user_name: elicit(NAME),
        greeting: sample(say("Generate a greeting", 50)),
        client_roots: listRoots(),
      })
      const name = field(answers.user_name, "name")
      return `Name: ${name}; Greeting: ${said(answers.greeting)}; Roots: ${answers.client_roots.roots.length}`
    },
  )
  addTool(
    server,
    "test_input_required_result_multi_round",
    "Asks the user twice, one question after the other.",
    async (_args, ctx) => {
      const name = await ctx.elicit("step1", form("Step 1: What is your name?", "name"))
      const color = await ctx.elicit("step2", form("Step 2: What is your favorite color?", "color"))
      return `Multi-round complete for ${field(name, "name")} who likes ${field(color, "color")}`
    },
  )
  addConfirming(
    server,
    "test_input_required_result_tampered_state",
    "Asks the user to confirm; a changed state is refused.",
    "integrity-ok: state verified",
  )
  addTool(
    server,
    "test_input_required_result_capabilities",
    "Asks only what the client can answer.",
    async (_args, ctx) => {
      const questions = {
        ...(ctx.canAsk("elicitation/create") && { elicit_input: elicit(form("Elicitation input", "value")) }),
        ...(ctx.canAsk("sampling/createMessage") && { sample_input: sample(say("Sample request", 50)) }),
      }
      const keys = Object.keys(questions)
      if (keys.length === 0) return "No supported capabilities declared"
      await ctx.ask(questions)
      return `capabilities-ok: received ${keys.join(",")}`
    },
  )
}

/** Adds a tool that asks for a yes. */
function addConfirming(server, name, description, yes) {
  addTool(server, name, description, async (_args, ctx) => {
    const answer = await ctx.elicit("confirm", CONFIRM)
    return accepted(answer).ok === true ? yes : "not confirmed"
  })
}

/** Adds a prompt that asks. */
export function addPrompt(server) {
  const description = "A prompt that asks the user for its context."
  server.prompt("test_input_required_result_prompt", { description }, async (_args, ctx) => {
    const answer = await ctx.elicit("user_context", form("What context should the prompt use?", "context"))
    return `Prompt with context: ${field(answer, "context")}`
  })
}
