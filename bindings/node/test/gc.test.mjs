// What nobody holds is collected, though handlers hold their server.

import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Server } from "../index.mjs"

setFlagsFromString("--expose-gc")
const gc = runInNewContext("gc")

async function collected(ref) {
  for (let tries = 0; tries < 100 && ref.deref(); tries += 1) {
    // Looking keeps it for the rest of this turn.
    await delay(1)
    gc()
    await delay(1)
  }
  return ref.deref() === undefined
}

function make() {
  const server = new Server({ name: "x", version: "1" })
  // A circle through the engine: the handler holds its server.
  const big = new Uint8Array(1_000_000)
  server.tool("t", {}, () => `${big.length} ${server.subscriptions}`)
  server.onWatch(() => server)
  server.onListen(() => server)
  return server
}

test("a server", async () => {
  assert.ok(await collected(new WeakRef(make())))
})

test("a server, after calls, when its client is gone too", async () => {
  const use = async () => {
    const server = make()
    const client = await server.connect()
    assert.equal((await client.callTool("t")).content[0].text, "1000000 0")
    return new WeakRef(server)
  }
  assert.ok(await collected(await use()))
})

test("a client holds its server", async () => {
  const client = await make().connect()
  for (let round = 0; round < 5; round += 1) {
    gc()
    await delay(1)
    assert.ok((await client.callTool("t")).content)
  }
})

test("handlers of entries that are gone, and the contexts of calls that are over", async () => {
  const server = new Server({ name: "x", version: "1" })
  const client = await server.connect()
  const add = () => {
    const handler = () => "x"
    server.tool("t", {}, handler)
    return new WeakRef(handler)
  }
  const handler = add()
  let context
  server.tool("keep", {}, (_args, ctx) => {
    ctx.signal
    context = new WeakRef(ctx)
  })
  await client.callTool("t")
  await client.callTool("keep")
  server.tools.remove("t")
  assert.ok(await collected(handler))
  assert.ok(await collected(context))
})

test("a thousand servers leave nothing behind", async () => {
  const round = async () => {
    for (let made = 0; made < 250; made += 1) make()
    gc()
    await delay(10)
    gc()
    return process.memoryUsage().rss
  }
  await round()
  const before = await round()
  await round()
  const after = await round()
  assert.ok(after - before < 30_000_000, `${after - before} bytes more`)
})
