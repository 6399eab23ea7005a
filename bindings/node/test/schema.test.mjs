// Schemas of arguments and results: plain, and of any library that follows Standard Schema.

import assert from "node:assert/strict"
import { test } from "node:test"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { z } from "zod"
import { Server } from "../index.mjs"

const JSON_SCHEMA = {
  type: "object",
  properties: { city: { type: "string", minLength: 2 }, days: { type: "integer" } },
  required: ["city"],
}

const LIBRARIES = {
  "JSON Schema": JSON_SCHEMA,
  zod: z.object({ city: z.string().min(2), days: z.int().optional() }),
  valibot: toStandardJsonSchema(
    v.object({ city: v.pipe(v.string(), v.minLength(2)), days: v.optional(v.pipe(v.number(), v.integer())) }),
  ),
  arktype: type({ city: "string >= 2", "days?": "number.integer" }),
}

for (const [name, input] of Object.entries(LIBRARIES)) {
  test(`${name}: listed, enforced, and passed on`, async () => {
    const server = new Server({ name: "x", version: "1" })
    server.tool("t", { input }, (args) => ({ args }))
    const client = await server.connect()
    const { inputSchema } = (await client.request("tools/list")).tools[0]
    assert.equal(inputSchema.type, "object")
    assert.deepEqual(inputSchema.required, ["city"])
    assert.equal(inputSchema.properties.city.minLength, 2)
    assert.equal(inputSchema.$schema, undefined)
    const args = { city: "Oslo", days: 3 }
    assert.deepEqual((await client.callTool("t", args)).structuredContent.args, args)
    for (const wrong of [{}, { city: "O" }, { city: 7 }, { city: "Oslo", days: 1.5 }]) {
      const { isError, content } = await client.callTool("t", wrong)
      assert.equal(isError, true)
      assert.match(content[0].text, /^Invalid arguments for tool 't': .*city|days/)
    }
  })
}

test("what JSON Schema cannot say is validated too, and transformed", async () => {
  const server = new Server({ name: "x", version: "1" })
  const even = (days) => days % 2 === 0
  server.tool("sync", { input: z.object({ days: z.int().default(2).refine(even, "must be even") }) }, ({ days }) =>
    String(days),
  )
  server.tool(
    "async",
    { input: z.object({ days: z.int().refine(async (days) => even(days), "must be even") }) },
    ({ days }) => String(days),
  )
  server.tool("date", { input: z.object({ day: z.string().pipe(z.transform((day) => new Date(day))) }) }, ({ day }) =>
    String(day.getUTCFullYear()),
  )
  const client = await server.connect()
  const text = async (name, args) => (await client.callTool(name, args)).content[0].text
  assert.equal(await text("sync", {}), "2")
  assert.equal(await text("sync", { days: 3 }), "Invalid arguments for tool 'sync': /days: must be even")
  assert.equal(await text("async", { days: 4 }), "4")
  assert.equal(await text("async", { days: 3 }), "Invalid arguments for tool 'async': /days: must be even")
  assert.equal(await text("date", { day: "2026-07-28" }), "2026")
})

test("output schemas are listed and enforced", async () => {
  const server = new Server({ name: "x", version: "1" })
  const output = z.object({ degrees: z.number() })
  server.tool("good", { output }, () => ({ degrees: 7.5 }))
  server.tool("bad", { output }, () => ({ degrees: "warm" }))
  const client = await server.connect()
  assert.equal((await client.request("tools/list")).tools[0].outputSchema.properties.degrees.type, "number")
  assert.deepEqual((await client.callTool("good")).structuredContent, { degrees: 7.5 })
  assert.equal((await client.callTool("bad")).isError, true)
})

test("arguments of prompts from a schema", async () => {
  const server = new Server({ name: "x", version: "1" })
  const input = z.object({ city: z.string().min(2).describe("Where."), tone: z.string().optional() })
  server.prompt("p", { input }, ({ city, tone = "plain" }) => `${city}, ${tone}`)
  const client = await server.connect()
  assert.deepEqual((await client.request("prompts/list")).prompts[0].arguments, [
    { name: "city", description: "Where.", required: true },
    { name: "tone", required: false },
  ])
  const get = (args) => client.request("prompts/get", { name: "p", arguments: args })
  assert.equal((await get({ city: "Oslo" })).messages[0].content.text, "Oslo, plain")
  await assert.rejects(get({}), { code: -32602 })
  await assert.rejects(get({ city: "O" }), /Invalid arguments for prompt 'p': \/city/)
})

test("a schema that gives no JSON Schema is refused, with the way out", () => {
  const server = new Server({ name: "x", version: "1" })
  assert.throws(
    () => server.tool("t", { input: v.object({}) }, () => ""),
    /the input of tool 't' is a schema of valibot that gives no JSON Schema; .*toStandardJsonSchema/,
  )
})

test("an older zod is asked by its own method", async () => {
  const server = new Server({ name: "x", version: "1" })
  const schema = z.object({ city: z.string() })
  const { jsonSchema, ...standard } = schema["~standard"]
  assert.ok(jsonSchema)
  const older = { "~standard": standard, toJSONSchema: (options) => z.toJSONSchema(schema, options) }
  server.tool("t", { input: older }, ({ city }) => city)
  const client = await server.connect()
  assert.equal((await client.callTool("t", { city: "Oslo" })).content[0].text, "Oslo")
})
