// Every snippet of the guide runs.

import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { promisify } from "node:util"
import { root } from "./helper.mjs"

const guide = readFileSync(`${root}../../docs/node.md`, "utf8")
const snippets = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code)
const SERVER = 'const server = new (await import("tocsin")).Server({ name: "weather", version: "1.0" })\n'

assert.ok(snippets.length > 5)
for (const code of snippets) {
  const first = code.split("\n").find((line) => line.startsWith("server.")) ?? code
  test(first, async () => {
    const whole = code.includes("new Server(") ? code : SERVER + code
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", whole], { cwd: root })
    // Serving ends with the input.
    run.child.stdin.end()
    await run
  })
}
