// When the process ends, and how: nothing of ours may keep it, and nothing may crash it.

import assert from "node:assert/strict"
import { test } from "node:test"
import { line, start, within } from "./helper.mjs"

const SLEEPER = `
  globalThis.server = new Server({ name: "x", version: "1", shutdownGraceMs: 100 })
  server.tool("sleep", {}, (_args, ctx) => new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 60_000)
    ctx.signal.addEventListener("abort", () => { clearTimeout(timer); reject(ctx.signal.reason) })
  }))
  server.tool("echo", {}, ({ text }) => text)
`

test("a server that serves nothing keeps no process", async () => {
  const running = start(
    `${SLEEPER}; const client = await server.connect(); await client.callTool("echo", { text: "x" })`,
  )
  assert.equal(await within(5000, running.exited), 0)
  assert.equal(running.stderr, "")
})

test("end of input ends serve(), and the process", async () => {
  const running = start(`${SLEEPER}; await server.serve(); console.error("served")`)
  assert.equal((await running.call(1, "echo", { text: "x" })).result.content[0].text, "x")
  assert.equal(await within(5000, running.end()), 0)
  assert.equal(running.stderr, "served\n")
})

test("close() from a handler ends serve(); the answer arrives", async () => {
  const running = start(`${SLEEPER}
    server.tool("stop", {}, () => { void server.close(); return "stopping" })
    await server.serve()
    await server.close()
  `)
  assert.equal((await running.call(1, "stop")).result.content[0].text, "stopping")
  assert.equal(await within(5000, running.exited), 0)
  assert.equal(running.stderr, "")
})

test("nobody needs to hold the server while it serves", async () => {
  const running = start(
    `(() => { const server = new Server({ name: "x", version: "1" }); server.tool("gc", {}, () => { gc(); return "x" }); server.serve() })()
    setImmediate(gc)`,
    { args: ["--expose-gc"] },
  )
  for (let id = 1; id < 10; id += 1) assert.ok((await running.call(id, "gc")).result)
  assert.equal(await within(5000, running.end()), 0)
})

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} stops gracefully: calls have their grace, listens their result`, async () => {
    const running = start(`${SLEEPER}
      server.tool("slow", {}, () => new Promise((resolve) => setTimeout(resolve, 50, "in time")))
      await server.serve()
      console.error("served")
    `)
    const acknowledged = running.message("notifications/subscriptions/acknowledged")
    const ended = running.request(1, "subscriptions/listen", { notifications: { toolsListChanged: true } })
    await acknowledged
    running.write(line(2, "tools/call", { name: "sleep" }))
    const slow = running.call(3, "slow")
    await running.call(4, "echo", { text: "x" })
    running.child.kill(signal)
    assert.equal((await slow).result.content[0].text, "in time")
    assert.equal((await ended).result.resultType, "complete")
    assert.equal(await within(5000, running.exited), 0)
    assert.equal(running.stderr, "served\n")
  })
}

test("a second signal ends the process at once", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1", shutdownGraceMs: 60_000 })
    server.tool("hang", {}, () => new Promise(() => setInterval(() => {}, 1000)))
    server.tool("echo", {}, () => "x")
    process.once("SIGTERM", () => console.error("first"))
    await server.serve()
  `)
  running.write(line(1, "tools/call", { name: "hang" }))
  await running.call(2, "echo")
  running.child.kill("SIGTERM")
  while (!running.stderr) await new Promise((resolve) => setTimeout(resolve, 5))
  running.child.kill("SIGTERM")
  assert.equal(await within(5000, running.exited), 143)
})

test("without signals, they are the program's own", async () => {
  const running = start(
    `${SLEEPER}; process.on("SIGTERM", () => process.exit(7)); await server.serve({ signals: false })`,
  )
  await running.call(1, "echo", { text: "x" })
  running.child.kill("SIGTERM")
  assert.equal(await within(5000, running.exited), 7)
})

test("serving twice at once is refused, and the first goes on", async () => {
  const running = start(`${SLEEPER}
    const served = server.serve()
    await server.serve().catch((error) => console.error(error.message))
    await served
  `)
  assert.ok((await running.call(1, "echo", { text: "x" })).result)
  assert.equal(await within(5000, running.end()), 0)
  assert.match(running.stderr, /serves its standard streams already/)
})

test("process.exit() in a handler keeps its code", async () => {
  const running = start(`${SLEEPER}; server.tool("exit", {}, () => process.exit(3)); await server.serve()`)
  for (let id = 1; id <= 50; id += 1) running.write(line(id, "tools/call", { name: "sleep" }))
  running.write(line(99, "tools/call", { name: "exit" }))
  assert.equal(await within(5000, running.exited), 3)
})

/** One life: calls and listens in flight, then the end, in one of several ways. */
async function live(index) {
  const running = start(`${SLEEPER}; await server.serve()`)
  running.write(line("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }))
  for (let id = 1; id <= 20; id += 1)
    running.write(line(id, "tools/call", { name: id % 2 ? "echo" : "sleep", arguments: { text: "x" } }))
  await running.call("last", "echo", { text: "x" })
  if (index % 4 === 0) running.child.kill("SIGTERM")
  else if (index % 4 === 1) running.child.stdout.destroy()
  const status = await within(20_000, index % 4 === 0 ? running.exited : running.end())
  return status === 0 && running.stderr === "" ? "clean" : `${status} ${running.stderr}`
}

test("200 of 200 exits are clean, with calls and listens in flight", async () => {
  const outcomes = []
  const lives = Array.from({ length: 200 }, (_, index) => index).values()
  const worker = async () => {
    for (const index of lives) outcomes.push(await live(index))
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  assert.deepEqual(
    outcomes.filter((outcome) => outcome !== "clean"),
    [],
  )
  assert.equal(outcomes.length, 200)
})
