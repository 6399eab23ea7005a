// What handlers return and throw, and what the client sees of it.

import assert from "node:assert/strict"
import { after, test } from "node:test"
import { McpError, parseJson, RegistryError, Server, setLogger, stringifyJson, ToolError } from "../index.mjs"

const server = new Server({ name: "results", version: "1" })
const client = await server.connect()
const records = []
setLogger((record) => records.push(record))
after(() => setLogger())

let count = 0
/** The result of a tool whose handler is `handler`. */
async function call(handler, options = {}, args = {}) {
  count += 1
  server.tool(`t${count}`, options, handler)
  const { _meta, resultType, ...result } = await client.callTool(`t${count}`, args)
  return result
}
const text = (text) => ({ content: [{ type: "text", text }] })
const error = (message) => ({ ...text(message), isError: true })
const structured = (value) => ({ ...text(stringifyJson(value)), structuredContent: value })
const generic = error("the handler failed")

test("results of tools", async () => {
  assert.deepEqual(await call(() => "plain"), text("plain"))
  assert.deepEqual(await call(async () => "late"), text("late"))
  assert.deepEqual(await call(() => {}), { content: [] })
  assert.deepEqual(await call(() => null), { content: [] })
  assert.deepEqual(await call(() => ({ city: "Oslo" })), structured({ city: "Oslo" }))
  assert.deepEqual(await call(() => ({ structured: { structured: 1 } })), structured({ structured: 1 }))
  assert.deepEqual(await call(() => [1, undefined, "x"]), structured([1, null, "x"]))
  assert.deepEqual(await call(() => 7), structured(7))
  assert.deepEqual(await call(() => ({ a: 1, gone: undefined })), structured({ a: 1 }))
  const whole = { content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } }
  assert.deepEqual(await call(() => whole), whole)
})

test("results of tools with an output schema", async () => {
  const output = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] }
  assert.deepEqual(await call(() => ({ sum: 3 }), { output }), structured({ sum: 3 }))
  assert.deepEqual(await call(() => ({ structured: { sum: 3 } }), { output }), structured({ sum: 3 }))
  assert.deepEqual(await call(() => ({ content: [], isError: true }), { output }), { content: [], isError: true })
  for (const wrong of [() => ({ sum: "x" }), () => {}, () => null, () => "text"]) {
    assert.equal((await call(wrong, { output })).isError, true)
  }
  const content = { type: "object", properties: { content: { type: "array" } } }
  assert.deepEqual(await call(() => ({ content: [1] }), { output: content }), structured({ content: [1] }))
})

test("errors that are meant for somebody", async () => {
  const thrower = (error) => () => {
    throw error
  }
  class Mine extends ToolError {}
  assert.deepEqual(await call(thrower(new ToolError("try Bergen"))), error("try Bergen"))
  assert.deepEqual(await call(async () => thrower(new Mine("mine"))()), error("mine"))
  assert.deepEqual(await call(() => server.tools.remove("nope")), error("no tool 'nope'"))
  await assert.rejects(call(thrower(new McpError(-32602, "no", { at: 1n << 60n }))), {
    name: "McpError",
    code: -32602,
    message: "no",
    data: { at: 1n << 60n },
  })
  assert.throws(
    () => server.tools.remove("nope"),
    (error) => error instanceof RegistryError && error.reason === "missing",
  )
})

test("whatever else is thrown, the client sees no more than that, and the log has it", async () => {
  const evil = new Proxy(new Error("x"), {
    get() {
      throw new Error("trap")
    },
  })
  const throwers = [
    () => {
      throw new TypeError("secret")
    },
    () => Promise.reject(new Error("secret")),
    () => Promise.reject("secret"),
    () => Promise.reject(undefined),
    () => {
      throw null
    },
    () => {
      throw { secret: true }
    },
    () => {
      throw evil
    },
    // biome-ignore-start lint/suspicious/noThenProperty: thenables are what is tested
    () => ({ then: (_resolve, reject) => reject("secret") }),
    () => ({
      then() {
        throw new Error("secret")
      },
    }),
    () => ({
      get then() {
        throw new Error("secret")
      },
    }),
    // biome-ignore-end lint/suspicious/noThenProperty: as above
    () => ({ toJSON: () => undefined.x }),
    () => {
      const circle = {}
      circle.circle = circle
      return circle
    },
    () => Symbol("secret"),
    () => () => {},
  ]
  for (const thrower of throwers) {
    const before = records.length
    assert.deepEqual(await call(thrower), generic, String(thrower))
    assert.equal(records.length, before + 1, String(thrower))
    assert.equal(records.at(-1).level, "error")
  }
  assert.ok(records.some(({ message }) => message.includes("TypeError: secret\n    at ")))
})

test("thenables are awaited, once", async () => {
  // biome-ignore-start lint/suspicious/noThenProperty: thenables are what is tested
  assert.deepEqual(await call(() => ({ then: (resolve) => resolve("thenable") })), text("thenable"))
  const twice = {
    then(resolve, reject) {
      resolve("first")
      reject("second")
      resolve("third")
    },
  }
  // biome-ignore-end lint/suspicious/noThenProperty: as above
  assert.deepEqual(await call(() => twice), text("first"))
})

test("whole numbers keep their digits, both ways", async () => {
  const big = 9007199254740993n
  const numbers = [big, -big, 2n ** 64n, Number.MAX_SAFE_INTEGER, -1, 0.1, 1e300]
  const echo = (args) => ({ structured: args })
  const answer = await call(echo, {}, { numbers, text: `not a number: ${big}, "${big}"`, [`${big}`]: 1 })
  assert.deepEqual(answer.structuredContent, {
    numbers: [big, -big, 2n ** 64n, Number.MAX_SAFE_INTEGER, -1, 0.1, 1e300],
    text: `not a number: ${big}, "${big}"`,
    [`${big}`]: 1,
  })
  let raw
  await call(
    (args, ctx) => {
      assert.equal(typeof args.a, "bigint")
      raw = ctx.argumentsJson
    },
    {},
    { a: 123456789012345678901234567890n },
  )
  assert.equal(raw, '{"a":123456789012345678901234567890}')
})

test("JSON texts with long numbers", () => {
  const cases = [
    ["12345678901234567890", 12345678901234567890n],
    ["-9007199254740992", -9007199254740992n],
    ["9007199254740991", 9007199254740991],
    ["0.12345678901234567890", Number("0.12345678901234567890")],
    ["12345678901234567890.5", Number("12345678901234567890.5")],
    ["12345678901234567890e3", Number("12345678901234567890e3")],
    ['"12345678901234567890"', "12345678901234567890"],
    ['"\\\\\\"12345678901234567890"', '\\"12345678901234567890'],
    ['{"\\\\":12345678901234567890}', { "\\": 12345678901234567890n }],
    ['["x\\\\",12345678901234567890,"y"]', ["x\\", 12345678901234567890n, "y"]],
  ]
  for (const [json, value] of cases) assert.deepEqual(parseJson(json), value, json)
  // Wherever in the text the digits stand.
  for (let pad = 0; pad < 40; pad += 1) {
    assert.deepEqual(parseJson(`${" ".repeat(pad)}[1,9007199254740993]`), [1, 9007199254740993n])
  }
  for (const broken of ["12345678901234567890,", '{"a":12345678901234567890', '"12345678901234567890']) {
    assert.throws(() => parseJson(broken), SyntaxError)
  }
  assert.equal(
    stringifyJson({ a: [2n ** 70n], b: "null", c: null }),
    '{"a":[1180591620717411303424],"b":"null","c":null}',
  )
})

test("numbers that JSON does not have are tool errors that say so", async () => {
  const message = (value, place) => `the result holds ${value}${place}, which JSON cannot express`
  assert.deepEqual(await call(() => ({ ratio: Number.NaN })), error(message("NaN", " at 'ratio'")))
  assert.deepEqual(await call(() => [1, Number.NEGATIVE_INFINITY]), error(message("-Infinity", " at '1'")))
  assert.deepEqual(await call(() => Number.POSITIVE_INFINITY), error(message("Infinity", "")))
})

test("results of prompts", async () => {
  const message = (text) => ({ role: "user", content: { type: "text", text } })
  server.prompt("text", {}, () => "one")
  server.prompt("messages", {}, async () => [
    message("one"),
    { role: "assistant", content: { type: "text", text: "two" } },
  ])
  server.prompt("whole", {}, () => ({ description: "d", messages: [] }))
  server.prompt("nothing", {}, () => {})
  const get = async (name) => {
    const { _meta, resultType, ...result } = await client.request("prompts/get", { name })
    return result
  }
  assert.deepEqual(await get("text"), { messages: [message("one")] })
  assert.equal((await get("messages")).messages[1].role, "assistant")
  assert.deepEqual(await get("whole"), { description: "d", messages: [] })
  await assert.rejects(get("nothing"), { code: -32603 })
})

test("results of reads", async () => {
  const bytes = new Uint8Array([0, 1, 254, 255])
  server.resource("a://text", { mimeType: "text/plain" }, (uri) => `at ${uri}`)
  server.resource("a://buffer", {}, () => Buffer.from(bytes))
  server.resource("a://part", {}, () => new Uint8Array([9, ...bytes, 9]).subarray(1, 5))
  server.resource("a://whole", {}, (uri) => ({
    contents: [
      { uri, text: "x" },
      { uri: `${uri}/2`, text: "y" },
    ],
  }))
  server.resource("a://number", {}, () => 7)
  const read = async (uri) => (await client.request("resources/read", { uri })).contents
  assert.deepEqual(await read("a://text"), [{ uri: "a://text", mimeType: "text/plain", text: "at a://text" }])
  for (const uri of ["a://buffer", "a://part"]) assert.deepEqual(await read(uri), [{ uri, blob: "AAH+/w==" }])
  assert.equal((await read("a://whole")).length, 2)
  await assert.rejects(read("a://number"), { code: -32603 })
})

test("text of any kind arrives whole", async () => {
  for (const value of ["", "\u0000", "é\u2028😀", "x".repeat(1_000_000)]) {
    assert.deepEqual(await call(({ value }) => value, {}, { value }), text(value))
  }
  // Half a character cannot be sent.
  assert.deepEqual(await call(() => "\ud83d"), text("\ufffd"))
})
