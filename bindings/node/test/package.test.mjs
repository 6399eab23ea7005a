// The package as a whole: one identity, one version, nothing to install beside it.

import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { test } from "node:test"
import * as tocsin from "../index.mjs"
import { root } from "./helper.mjs"

const require = createRequire(import.meta.url)
const read = (path) => readFileSync(new URL(path, `file://${root}`), "utf8")
const manifest = JSON.parse(read("package.json"))

test("import and require give the same classes, under the same names", () => {
  const required = require("../dist/index.js")
  assert.deepEqual(Object.keys(tocsin).sort(), Object.keys(required).sort())
  for (const name of Object.keys(required)) assert.equal(Reflect.get(tocsin, name), required[name])
})

test("the package resolves by its own name, from both module systems", () => {
  const print = "console.log(tocsin.VERSION)"
  const esm = execFileSync(
    process.execPath,
    ["--input-type=module", "-e", `import * as tocsin from "tocsin"; ${print}`],
    { cwd: root },
  )
  const cjs = execFileSync(process.execPath, ["-e", `const tocsin = require("tocsin"); ${print}`], { cwd: root })
  assert.equal(String(esm), String(cjs))
})

test("one version everywhere", () => {
  const cargo = /\[workspace\.package\]\nversion = "([^"]+)"/.exec(read("../../Cargo.toml"))[1]
  assert.equal(manifest.version, cargo)
  assert.equal(tocsin.VERSION, cargo)
})

test("no runtime dependency, no install script", () => {
  for (const field of ["dependencies", "optionalDependencies", "peerDependencies"])
    assert.equal(manifest[field], undefined)
  for (const script of ["preinstall", "install", "postinstall"]) assert.equal(manifest.scripts[script], undefined)
})

test("every option of the engine has a type, and no other has", () => {
  const engine = /fn set_json.*?\n {4}}\n/s.exec(read("../../core/src/options.rs"))[0]
  const known = [...engine.matchAll(/^ {12}"([a-z_]+)" =>/gm)].map(([, name]) => name)
  const types = /^export interface ServerOptions {.*?^}/ms.exec(read("lib/server.ts"))[0]
  const typed = [...types.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  )
  assert.ok(known.length > 20)
  assert.deepEqual(typed.sort(), known.sort())
})

test("every type condition comes with an implementation", () => {
  for (const system of ["import", "require"]) {
    const { types, default: implementation } = manifest.exports["."][system]
    assert.ok(read(types))
    assert.ok(read(implementation))
  }
})

test("the napi that frees what it cannot deliver is used", () => {
  const [, major, minor] = /name = "napi"\nversion = "(\d+)\.(\d+)/.exec(read("../../Cargo.lock"))
  assert.ok(Number(major) > 3 || Number(minor) >= 16)
})
