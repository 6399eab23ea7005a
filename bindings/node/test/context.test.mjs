// A handler's view of its call, in both eras.

import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { elicit, listRoots, McpError, Server, sample, ToolError } from "../index.mjs"
import { within } from "./helper.mjs"

const ERAS = ["modern", "handshake"]
const form = { message: "?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } }
const say = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 }
const answers = {
  elicit: () => ({ action: "accept", content: { name: "Ada" } }),
  sample: () => ({ role: "assistant", model: "m", content: { type: "text", text: "hello" } }),
  listRoots: () => ({ roots: [{ uri: "file:///a" }] }),
}

for (const era of ERAS) {
  test(`${era}: who calls, and how`, async () => {
    const server = new Server({ name: "x", version: "1" })
    let kept
    server.tool("who", {}, (_args, ctx) => {
      kept = ctx
      return {
        name: ctx.name,
        era: ctx.era,
        version: ctx.protocolVersion,
        transport: ctx.transport,
        client: ctx.clientInfo,
        capabilities: ctx.clientCapabilities,
        meta: ctx.meta["example.org/x"],
        progress: ctx.wantsProgress,
        asks: [ctx.canAsk("elicitation/create"), ctx.canAsk("roots/list")],
      }
    })
    const client = await server.connect({ era, ...answers, listRoots: undefined, info: { name: "c", version: "2" } })
    const params = { name: "who", _meta: { "example.org/x": 5, progressToken: "p" } }
    const { structuredContent } = await client.request("tools/call", params)
    assert.deepEqual(structuredContent, {
      name: "who",
      era,
      version: era === "modern" ? "2026-07-28" : "2025-11-25",
      transport: "stdio",
      client: { name: "c", version: "2" },
      capabilities: { elicitation: {}, sampling: {} },
      meta: 5,
      progress: true,
      asks: [true, false],
    })
    // What was read once stays; the rest of it is without effect.
    assert.equal(kept.era, era)
    assert.equal(kept.signal.aborted, true)
    kept.progress(1)
    kept.log("error", "late")
    assert.equal(kept.canAsk("elicitation/create"), false)
    server.tool("keep", {}, (_args, ctx) => {
      kept = ctx
    })
    await client.callTool("keep")
    assert.throws(() => kept.era, /the call is over/)
  })

  test(`${era}: questions, one by one and at once`, async () => {
    const server = new Server({ name: "x", version: "1" })
    let runs = 0
    server.tool("one", {}, async (_args, ctx) => {
      runs += 1
      const { content } = await ctx.elicit("name", form)
      const { content: said } = await ctx.sample("said", say)
      const { roots } = await ctx.listRoots("roots")
      return `${content.name} ${said.text} ${roots[0].uri}`
    })
    server.tool("all", {}, async (_args, ctx) => {
      const all = await ctx.ask({ name: elicit(form), said: sample(say), roots: listRoots() })
      return `${all.name.content.name} ${all.said.content.text} ${all.roots.roots[0].uri}`
    })
    server.prompt("one", {}, async (_args, ctx) => (await ctx.elicit("name", form)).content.name)
    server.resource("a://one", {}, async (_uri, _variables, ctx) => (await ctx.elicit("name", form)).content.name)
    const client = await server.connect({ era, ...answers })
    for (const name of ["one", "all"]) {
      assert.equal((await client.callTool(name)).content[0].text, "Ada hello file:///a")
    }
    assert.equal(runs, era === "modern" ? 4 : 1)
    assert.equal((await client.request("prompts/get", { name: "one" })).messages[0].content.text, "Ada")
    assert.equal((await client.request("resources/read", { uri: "a://one" })).contents[0].text, "Ada")
  })

  test(`${era}: a client that cannot or will not answer`, async () => {
    const server = new Server({ name: "x", version: "1" })
    server.tool("ask", {}, async (_args, ctx) => (await ctx.elicit("name", form)).action)
    server.tool("catch", {}, async (_args, ctx) => {
      try {
        await ctx.elicit("name", form)
      } catch (error) {
        assert.ok(error instanceof ToolError)
        return `caught: ${error.message}`
      }
    })
    const mute = await server.connect({ era })
    if (era === "modern") {
      await assert.rejects(mute.callTool("ask"), { code: -32021 })
      return
    }
    assert.match((await mute.callTool("ask")).content[0].text, /does not support elicitation/)
    const refuses = () => {
      throw new McpError(-32000, "not now")
    }
    const client = await server.connect({ era, elicit: refuses })
    const { isError, content } = await client.callTool("ask")
    assert.equal(isError, true)
    assert.match(content[0].text, /refused elicitation\/create: not now/)
    assert.match((await client.callTool("catch")).content[0].text, /^caught: .*not now/)
  })

  test(`${era}: progress and log messages, in order and before the answer`, async () => {
    const server = new Server({ name: "x", version: "1" })
    server.tool("report", {}, async (_args, ctx) => {
      ctx.progress(1, 3, "one")
      await delay(1)
      ctx.progress(2.5)
      ctx.progress(2)
      ctx.log("info", { at: 1n << 60n }, "me")
      ctx.log("debug", "unwanted")
      return "done"
    })
    server.tool("wrong", {}, (_args, ctx) => ctx.log("Info", "x"))
    const seen = []
    const onNotification = (method, params) => seen.push([method.replace("notifications/", ""), params])
    const client = await server.connect({ era, logLevel: "info", onNotification })
    if (era === "handshake") await client.request("logging/setLevel", { level: "info" })
    await client.request("tools/call", { name: "report", _meta: { progressToken: 9 } })
    assert.deepEqual(seen, [
      ["progress", { progressToken: 9, progress: 1, total: 3, message: "one" }],
      ["progress", { progressToken: 9, progress: 2.5 }],
      ["message", { level: "info", logger: "me", data: { at: 1n << 60n } }],
    ])
    const text = "unknown log level 'Info'; use debug, info, notice, warning, error, critical, alert or emergency"
    assert.equal((await client.callTool("wrong")).content[0].text, text)
  })

  test(`${era}: the signal aborts when the client cancels, and only then`, async () => {
    const server = new Server({ name: "x", version: "1" })
    const calls = []
    server.tool("wait", {}, async (_args, ctx) => {
      const { promise, resolve } = deferred()
      calls.push({ ctx, aborted: promise })
      ctx.signal.addEventListener("abort", () => resolve(ctx.signal.reason))
      await promise
      throw new Error("of no interest")
    })
    const late = deferred()
    server.tool("late", {}, async (_args, ctx) => {
      await late.promise
      late.seen = ctx.signal.aborted
    })
    const client = await server.connect({ era })
    const first = client.callTool("wait")
    first.catch(() => {})
    await until(() => calls.length === 1)
    assert.equal(calls[0].ctx.signal.aborted, false)
    const requestId = era === "modern" ? 1 : 2
    client.notify("notifications/cancelled", { requestId })
    assert.equal((await within(5000, calls[0].aborted)).name, "AbortError")

    // Touched only after the fact.
    client.callTool("late").catch(() => {})
    client.notify("notifications/cancelled", { requestId: requestId + 1 })
    await client.request(era === "modern" ? "server/discover" : "ping")
    late.resolve()
    await until(() => late.seen !== undefined)
    assert.equal(late.seen, true)
  })
}

test("a question may be caught, and what the handler says then is of no effect", async () => {
  const server = new Server({ name: "x", version: "1" })
  server.tool("stubborn", {}, async (_args, ctx) => {
    try {
      return (await ctx.elicit("name", form)).content.name
    } catch {
      return "never heard"
    }
  })
  const client = await server.connect(answers)
  assert.equal((await client.callTool("stubborn")).content[0].text, "Ada")
})

function deferred() {
  const parts = {}
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }))
  return parts
}

async function until(condition) {
  for (let tries = 0; !condition(); tries += 1) {
    assert.ok(tries < 1000, String(condition))
    await delay(2)
  }
}
