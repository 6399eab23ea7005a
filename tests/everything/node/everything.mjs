// The everything server in Node: one of everything that MCP offers, with tocsin's public API alone.
//
// own.mjs has the tools of tests and benchmarks, suite.mjs what the public conformance suite asks for, asks.mjs the
// handlers that ask the client something.

import { Server, VERSION } from "tocsin"
import * as asks from "./asks.mjs"
import { parse } from "./cli.mjs"
import * as own from "./own.mjs"
import * as suite from "./suite.mjs"

function build() {
  const instructions = "Everything that MCP offers, on one server."
  const server = new Server({
    name: "everything-node",
    version: VERSION,
    instructions,
    ...parse(process.argv.slice(2)),
  })
  own.add(server)
  suite.addContent(server)
  suite.addReports(server)
  asks.addForms(server)
  suite.addSchemas(server)
  asks.addStreams(server)
  suite.addChanges(server)
  asks.addRounds(server)
  suite.addPrompts(server)
  asks.addPrompt(server)
  suite.addResources(server)
  return server
}

try {
  await build().serve()
} catch (error) {
  console.error(`everything-node: ${error.message}`)
  process.exitCode = 2
}
