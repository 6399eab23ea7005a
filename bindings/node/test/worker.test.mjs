// Workers load the addon again; it must outlive none of them, and no one of them may end the others.

import assert from "node:assert/strict"
import { test } from "node:test"
import { Worker } from "node:worker_threads"
import { Server } from "../index.mjs"
import { start, within } from "./helper.mjs"

const BUSY = `
  const { Server } = require(${JSON.stringify(new URL("../dist/index.js", import.meta.url).pathname)})
  const { parentPort } = require("node:worker_threads")
  const server = new Server({ name: "worker", version: "1" })
  server.tool("echo", {}, ({ text }) => text)
  server.tool("hang", {}, () => new Promise(() => {}))
  ;(async () => {
    const client = await server.connect({ elicit: () => new Promise(() => {}) })
    await client.listen({ toolsListChanged: true })
    for (let call = 0; call < 20; call += 1) client.callTool("hang").catch(() => {})
    await client.callTool("echo", { text: "x" })
    parentPort.postMessage("ready")
    for (;;) await Promise.all(Array.from({ length: 64 }, () => client.callTool("echo", { text: "x" })))
  })()
`

const ready = (worker) =>
  within(
    10_000,
    new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject)),
    "a worker's start",
  )

test("workers may be terminated in the middle of calls", async () => {
  const server = new Server({ name: "main", version: "1" })
  server.tool("echo", {}, ({ text }) => text)
  const client = await server.connect()
  for (let round = 0; round < 10; round += 1) {
    const workers = [new Worker(BUSY, { eval: true }), new Worker(BUSY, { eval: true })]
    await Promise.all(workers.map(ready))
    await within(10_000, Promise.all(workers.map((worker) => worker.terminate())), "terminate()")
    assert.equal((await client.callTool("echo", { text: "main" })).content[0].text, "main")
  }
})

test("a worker that has done its work ends by itself", async () => {
  const code = `${BUSY.slice(0, BUSY.indexOf(";(async"))}
    server.connect().then((client) => client.callTool("echo", { text: "x" })).then(() => parentPort.postMessage("done"))`
  const worker = new Worker(code, { eval: true })
  const exited = new Promise((resolve) => worker.once("exit", resolve))
  await ready(worker)
  assert.equal(await within(5000, exited), 0)
})

test("the addon may be loaded by workers alone, again and again", async () => {
  const running = start(
    `
    const { Worker } = await import("node:worker_threads")
    for (let round = 0; round < 10; round += 1) {
      const worker = new Worker(${JSON.stringify(BUSY)}, { eval: true, execArgv: [] })
      await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject))
      await worker.terminate()
    }
    console.error("done")
  `,
    { bare: true },
  )
  assert.equal(await within(30_000, running.exited), 0)
  assert.equal(running.stderr, "done\n")
})

test("a worker may serve the standard streams; its end ends serving", async () => {
  const serving = `${BUSY.slice(0, BUSY.indexOf(";(async"))}; server.serve(); parentPort.postMessage("serving")`
  const running = start(`
    const { Worker } = await import("node:worker_threads")
    const worker = new Worker(${JSON.stringify(serving)}, { eval: true, execArgv: [] })
    worker.once("message", () => setTimeout(() => worker.terminate(), 500))
    worker.once("exit", () => console.error("ended"))
  `)
  assert.equal((await running.call(1, "echo", { text: "x" })).result.content[0].text, "x")
  running.call(2, "hang")
  assert.equal(await within(10_000, running.exited), 0)
  assert.equal(running.stderr, "ended\n")
})

test("process.exit() in a worker ends that worker alone", async () => {
  const worker = new Worker(`${BUSY}; parentPort.postMessage("x"); setTimeout(() => process.exit(5), 100)`, {
    eval: true,
  })
  assert.equal(await within(5000, new Promise((resolve) => worker.once("exit", resolve))), 5)
})
