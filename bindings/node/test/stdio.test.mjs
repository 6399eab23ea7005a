// The standard streams while serving: nobody but the engine reaches the client.

import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { test } from "node:test"
import { start, within } from "./helper.mjs"

test("prints and child processes go to standard error, and cannot take the client's input", async () => {
  const running = start(
    `
    import { execFileSync, spawnSync } from "node:child_process"
    import { readFileSync, writeSync } from "node:fs"
    const server = new Server({ name: "x", version: "1" })
    server.tool("noise", {}, () => {
      console.log("from console.log")
      process.stdout.write("from stdout.write\\n")
      writeSync(1, "from writeSync\\n")
      spawnSync("sh", ["-c", "echo from child"], { stdio: "inherit" })
      return spawnSync("cat", { stdio: ["inherit", "pipe", "inherit"] }).stdout.length + readFileSync(0).length
    })
    server.tool("echo", {}, ({ text }) => text)
    console.log(JSON.stringify({ id: "before" }))
    await server.serve()
    console.log(JSON.stringify({ id: "after" }))
  `.replace(/import \{ (.*?) \} from "(.*?)"/g, 'const { $1 } = await import("$2")'),
  )
  await running.message("before")
  const noise = running.call(1, "noise")
  const echo = running.call(2, "echo", { text: "still here" })
  assert.equal((await noise).result.structuredContent, 0)
  assert.equal((await echo).result.content[0].text, "still here")
  assert.equal(await within(5000, running.end()), 0)
  for (const from of ["console.log", "stdout.write", "writeSync", "child"])
    assert.match(running.stderr, new RegExp(`^from ${from}$`, "m"))
  assert.deepEqual(
    running.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
    ["before", 1, 2, "after"],
  )
})

test("a large answer reaches a slow reader whole, though Node makes pipes non-blocking", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1" })
    server.tool("big", {}, ({ bytes }) => "x".repeat(bytes))
    process.stdout.on("error", () => {})
    await server.serve()
  `)
  running.child.stdout.pause()
  const answers = [1, 2, 3].map((id) => running.call(id, "big", { bytes: 3_000_000 }))
  setTimeout(() => running.child.stdout.resume(), 200)
  for (const answer of answers) assert.equal((await answer).result.content[0].text.length, 3_000_000)
  assert.equal(await within(5000, running.end()), 0)
})

test("a busy program is fair: timers run while calls pour in", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1" })
    let ticks = 0
    setInterval(() => { ticks += 1 }, 1).unref()
    server.tool("ticks", {}, () => ticks)
    server.tool("work", {}, () => { for (const end = performance.now() + 0.05; performance.now() < end; ); return "x" })
    await server.serve()
  `)
  await running.call("first", "ticks")
  for (let id = 0; id < 4000; id += 1) running.call(id, "work")
  const { result } = await running.call("last", "ticks")
  assert.ok(result.structuredContent >= 5, `${result.structuredContent} ticks in 200 ms of work`)
  assert.equal(await within(5000, running.end()), 0)
})

test("the log of a crash goes to standard error, and its stack not to the client", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1" })
    server.tool("crash", {}, () => { throw new TypeError("secret") })
    await server.serve()
  `)
  const { result } = await running.call(1, "crash")
  assert.deepEqual(result.content, [{ type: "text", text: "the handler failed" }])
  assert.equal(await within(5000, running.end()), 0)
  assert.match(running.stderr, /^tocsin: error: the handler of 'crash' failed: TypeError: secret\n +at /)
})

test("a client that never reads standard error blocks nothing", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1" })
    server.tool("crash", {}, () => { throw new Error("x".repeat(10_000)) })
    await server.serve()
  `)
  running.child.stderr.removeAllListeners("data").pause()
  for (let id = 0; id < 500; id += 1) running.call(id, "crash")
  assert.equal((await within(10_000, running.call("last", "crash"))).result.isError, true)
  running.child.stdin.end()
  const exited = new Promise((resolve) => running.child.once("exit", resolve))
  assert.equal(await within(5000, exited), 0)
  running.child.stderr.destroy()
})

test("setLogger gets the log, until it fails", async () => {
  const running = start(`
    const server = new Server({ name: "x", version: "1" })
    server.tool("crash", {}, () => { throw "secret" })
    let count = 0
    setLogger(({ level, message }) => {
      count += 1
      if (count > 1) throw new Error("full")
      console.error("mine", level, message)
    })
    await server.serve()
  `)
  for (let id = 0; id < 3; id += 1) await running.call(id, "crash")
  assert.equal(await within(5000, running.end()), 0)
  const lines = running.stderr.split("\n").filter((line) => !line.startsWith(" "))
  assert.equal(lines[0], "mine error the handler of 'crash' failed: threw 'secret'")
  assert.match(lines[1], /^tocsin: error: the logger failed: Error: full/)
  assert.match(lines[2], /^tocsin: error: the handler of 'crash' failed/)
})

test("closed standard streams are no crash", async () => {
  for (const stdio of [
    ["ignore", "pipe", "pipe"],
    ["pipe", "ignore", "ignore"],
  ]) {
    const child = spawn(
      process.execPath,
      [new URL("../../../tests/everything/node/everything.mjs", import.meta.url).pathname],
      { stdio },
    )
    child.stdin?.end()
    assert.equal(await within(5000, new Promise((resolve) => child.on("close", resolve))), 0)
  }
})
