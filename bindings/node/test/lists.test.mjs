// Edits of the lists, who hears of them, and hooks on listen requests.

import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { McpError, RegistryError, Server } from "../index.mjs"

const KINDS = {
  tools: (server, how, name, text) => server.tools[how](name, {}, () => text),
  prompts: (server, how, name, text) => server.prompts[how](name, {}, () => text),
  resources: (server, how, name, text) => server.resources[how](`a://${name}`, {}, () => text),
  templates: (server, how, name, text) => server.templates[how](`a://${name}/{x}`, {}, () => text),
}
const METHODS = { tools: "tools", prompts: "prompts", resources: "resources", templates: "resources/templates" }
const MEMBERS = { tools: "tools", prompts: "prompts", resources: "resources", templates: "resourceTemplates" }

for (const [kind, put] of Object.entries(KINDS)) {
  test(`${kind}: add, replace, disable, enable, remove`, async () => {
    const server = new Server({ name: "x", version: "1" })
    const client = await server.connect()
    const list = server[kind]
    const listed = async () => (await client.request(`${METHODS[kind]}/list`))[MEMBERS[kind]].length
    for (const name of ["one", "two", "three"]) put(server, "add", name, name)
    const names = list.names()
    assert.equal(names.length, 3)
    assert.throws(() => put(server, "add", "one", "again"), { name: "RegistryError", reason: "exists" })
    assert.throws(() => put(server, "replace", "four", "x"), { reason: "missing" })
    put(server, "replace", "two", "new two")
    assert.deepEqual(list.names(), names)
    list.disable(names[1])
    assert.equal(await listed(), 2)
    assert.ok(list.has(names[1]))
    list.enable(names[1])
    assert.equal(await listed(), 3)
    list.remove(names[0])
    assert.deepEqual(list.names(), names.slice(1))
    assert.equal(list.has(names[0]), false)
    for (const edit of ["remove", "enable", "disable"]) {
      assert.throws(
        () => list[edit](names[0]),
        (error) => error instanceof RegistryError && error.reason === "missing",
      )
    }
  })
}

test("a replaced handler answers at once", async () => {
  const server = new Server({ name: "x", version: "1" })
  const client = await server.connect()
  server.tool("t", {}, () => "old")
  server.tools.replace("t", { description: "d" }, () => "new")
  assert.equal((await client.callTool("t")).content[0].text, "new")
  assert.equal((await client.request("tools/list")).tools[0].description, "d")
})

test("a definition that cannot be served is refused, with the place", () => {
  const server = new Server({ name: "x", version: "1" })
  const refused = { name: "RegistryError", reason: "invalid" }
  assert.throws(() => server.tool("bad name", {}, () => {}), refused)
  assert.throws(() => server.tool("t", { input: { type: "string" } }, () => {}), refused)
  assert.throws(
    () => server.tool("t", { input: { type: "object", properties: { a: { type: 7 } } } }, () => {}),
    /properties/,
  )
  assert.throws(() => server.resource("relative", {}, () => ""), refused)
  assert.throws(() => server.resource("a://{", {}, () => ""), refused)
  assert.deepEqual(server.tools.names(), [])
})

/** A client that listens to everything, and what it has heard. */
async function listening(server, filter) {
  const heard = []
  const client = await server.connect({
    onNotification: (method, params) => heard.push(params?.uri ?? method.replace("notifications/", "")),
  })
  const all = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["a://1"],
  }
  const listen = await client.listen(filter ?? all)
  heard.length = 0
  // Whatever was queued is here when this is answered and a moment has passed.
  const settle = async () => {
    await client.request("server/discover")
    await delay(20)
    return heard.splice(0).sort()
  }
  return { client, listen, settle }
}

test("everybody hears of every kind of edit", async () => {
  const server = new Server({ name: "x", version: "1" })
  const { listen, settle } = await listening(server)
  assert.deepEqual(listen.filter.resourceSubscriptions, ["a://1"])
  assert.equal(server.subscriptions, 1)
  const expectations = [
    [() => KINDS.tools(server, "add", "t"), ["tools/list_changed"]],
    [() => server.tools.disable("t"), ["tools/list_changed"]],
    [() => KINDS.prompts(server, "add", "p"), ["prompts/list_changed"]],
    [() => KINDS.resources(server, "add", "r"), ["resources/list_changed"]],
    [() => KINDS.templates(server, "add", "s"), ["resources/list_changed"]],
    [() => server.resources.updated("a://1"), ["a://1"]],
    [() => server.resources.updated("a://2"), []],
    [() => server.tools.changed(), ["tools/list_changed"]],
    [() => server.templates.changed(), ["resources/list_changed"]],
  ]
  for (const [edit, expected] of expectations) {
    edit()
    assert.deepEqual(await settle(), expected, String(edit))
  }
  listen.close()
  server.tools.changed()
  assert.deepEqual(await settle(), [])
  assert.equal(server.subscriptions, 0)
})

test("a batch is announced once, at its end", async () => {
  const server = new Server({ name: "x", version: "1" })
  const { settle } = await listening(server)
  const edit = (name) => {
    KINDS.tools(server, "add", name)
    KINDS.prompts(server, "add", name)
    server.tools.remove(name)
  }
  const both = ["prompts/list_changed", "tools/list_changed"]
  const result = server.changes(() => {
    edit("a")
    server.changes(() => edit("b"))
    return 7
  })
  assert.equal(result, 7)
  assert.deepEqual(await settle(), both)

  const slow = server.changes(async () => {
    edit("c")
    assert.deepEqual(await settle(), [])
    edit("d")
    return 8
  })
  assert.equal(await slow, 8)
  assert.deepEqual(await settle(), both)

  const fails = () => {
    edit("e")
    throw new Error("half way")
  }
  assert.throws(() => server.changes(fails), /half way/)
  assert.deepEqual(await settle(), both)
  await assert.rejects(
    server.changes(async () => fails()),
    /registry|exists|half way/,
  )
  server.tools.changed()
  assert.ok((await settle()).length > 0, "the batch was closed")
})

test("onWatch tells of the first and the last subscriber", async () => {
  const server = new Server({ name: "x", version: "1" })
  const watched = []
  server.onWatch((uri, on) => {
    watched.push([uri, on])
    throw new Error("reported, not thrown")
  })
  const first = await listening(server)
  const second = await listening(server)
  first.listen.close()
  await first.settle()
  assert.deepEqual(watched, [["a://1", true]])
  second.listen.close()
  await second.settle()
  assert.deepEqual(watched, [
    ["a://1", true],
    ["a://1", false],
  ])
})

test("onListen may refuse", async () => {
  const server = new Server({ name: "x", version: "1" })
  server.tool("t", {}, () => "")
  let filter
  server.onListen(async (wanted, ctx) => {
    filter = wanted
    await delay(1)
    if (ctx.clientInfo.name === "stranger") throw new McpError(-32001, "members only")
  })
  const stranger = await server.connect({ info: { name: "stranger", version: "1" } })
  await assert.rejects(stranger.listen({ toolsListChanged: true }), { code: -32001, message: "members only" })
  assert.deepEqual(filter, { toolsListChanged: true })
  const friend = await server.connect()
  const { filter: agreed } = await friend.listen({ toolsListChanged: true })
  assert.deepEqual(agreed, { toolsListChanged: true })
  server.onListen(undefined)
  await stranger.listen({ toolsListChanged: true })
})

test("completions", async () => {
  const server = new Server({ name: "x", version: "1" })
  server.prompt(
    "p",
    {
      arguments: [{ name: "city" }],
      complete: {
        city: async (value, { country }) => [`${country}:${value}`],
        many: () => Array.from({ length: 150 }, String),
      },
    },
    () => "",
  )
  server.resource("a://{id}", { complete: { id: (value) => [`${value}1`] } }, () => "")
  const client = await server.connect()
  const complete = async (ref, name, value, context) =>
    (await client.request("completion/complete", { ref, argument: { name, value }, ...(context && { context }) }))
      .completion
  const p = { type: "ref/prompt", name: "p" }
  const context = { arguments: { country: "no" } }
  assert.deepEqual(await complete(p, "city", "Os", context), { values: ["no:Os"], total: 1, hasMore: false })
  assert.deepEqual((await complete(p, "toString", "")).values, [])
  const many = await complete(p, "many", "")
  assert.deepEqual([many.values.length, many.total, many.hasMore], [100, 150, true])
  assert.deepEqual((await complete({ type: "ref/resource", uri: "a://{id}" }, "id", "4")).values, ["41"])
})

test("options reach the engine, and are checked", async () => {
  const make = (options) => () => new Server({ name: "x", version: "1", ...options })
  assert.throws(make({ pageSize: 0 }), { name: "TypeError", message: "pageSize must be an integer of at least 1" })
  assert.throws(make({ pageSiez: 1 }), /has no member 'pageSiez'/)
  assert.throws(make({ protocolVersions: ["2026-07-28"] }), /set modernOnly/)
  assert.throws(make({ name: "" }), /name must not be empty/)
  assert.throws(make({ maxInFlight: Number.NaN }), /NaN/)
  const server = make({
    pageSize: 1,
    instructions: "ask",
    websiteUrl: "https://example.org",
    protocolVersions: ["2026-07-28"],
    modernOnly: true,
    withhold: ["prompts"],
    stateKey: new Uint8Array(32),
    title: undefined,
  })()
  for (const name of ["a", "b"]) server.tool(name, {}, () => "")
  const client = await server.connect()
  const discovered = await client.request("server/discover")
  assert.deepEqual(discovered.supportedVersions, ["2026-07-28"])
  assert.equal(discovered.instructions, "ask")
  const { tools, nextCursor } = await client.request("tools/list")
  assert.equal(tools.length, 1)
  assert.equal((await client.request("tools/list", { cursor: nextCursor })).tools[0].name, "b")
})
