// A server in a process of its own, spoken to over its standard streams.

import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("..", import.meta.url))

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
}

/** A modern request as a line. */
export function line(id, method, params = {}) {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...META, ...params._meta } } })}\n`
}

/** Runs `code`, a module that finds everything of the package as globals, unless it is to be `bare`. */
export function start(code, { args = [], bare = false, ...options } = {}) {
  const index = new URL("../index.mjs", import.meta.url)
  const script = bare ? "" : `import * as tocsin from "${index}"\nObject.assign(globalThis, tocsin);\n`
  const url = `data:text/javascript,${encodeURIComponent(script + code)}`
  return new Running(spawn(process.execPath, [...args, "--input-type=module", "-e", `await import("${url}")`], options))
}

class Running {
  stdout = ""
  stderr = ""
  #waiting = new Map()

  constructor(child) {
    this.child = child
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text
    })
    child.stdin.on("error", () => {})
    createInterface({ input: child.stdout }).on("line", (text) => {
      this.stdout += `${text}\n`
      const message = JSON.parse(text)
      this.#waiting.get(message.id)?.resolve(message)
      this.#waiting.get(message.method)?.resolve(message)
    })
    this.exited = new Promise((resolve) => {
      child.on("close", (code, signal) => {
        const error = new Error(`the server exited (${signal ?? code}): ${this.stderr}`)
        for (const { reject } of this.#waiting.values()) reject(error)
        resolve(signal ?? code)
      })
    })
  }

  /** Waits for the message with that id or method. */
  message(key) {
    const message = new Promise((resolve, reject) => this.#waiting.set(key, { resolve, reject }))
    // Not every test waits for every message.
    message.catch(() => {})
    return message
  }

  write(text) {
    this.child.stdin.write(text)
  }

  /** Makes a request and waits for the answer. */
  request(id, method, params) {
    const answer = this.message(id)
    this.write(line(id, method, params))
    return answer
  }

  call(id, name, args = {}, meta = {}) {
    return this.request(id, "tools/call", { name, arguments: args, _meta: meta })
  }

  /** Ends the input, and waits for the exit. */
  end() {
    this.child.stdin.end()
    return this.exited
  }
}

/** `promise`, or an error after `ms`. */
export function within(ms, promise, what = "it") {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
