/** Errors that a handler throws on purpose, and what becomes of others. */

import { inspect } from "node:util"
import type { Fault } from "./native.js"

/** For the model to read: a tool result that says `isError`, with this message. */
export class ToolError extends Error {
  override name = "ToolError"
}

/** For the client: a JSON-RPC error. */
export class McpError extends Error {
  override name = "McpError"

  /**
   * @param code the error's code, such as -32602
   * @param message what was wrong and what would be right
   * @param data more, as a JSON value
   */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }
}

/** An edit of the registry was refused: `exists`, `missing` or `invalid`. Thrown on in a handler, a tool error. */
export class RegistryError extends ToolError {
  override name = "RegistryError"

  constructor(
    message: string,
    readonly reason: "exists" | "missing" | "invalid",
  ) {
    super(message)
  }
}

/** Throws what the registry has to say against an edit, if anything. */
export function check(fault: Fault | null): void {
  if (fault) throw new RegistryError(fault.message, fault.reason)
}

/** Unwinds a handler whose call is over for now: the client was asked, and will call again. */
export const SUSPENDED: unique symbol = Symbol("tocsin: the call waits for input; let this pass")

/** Anything thrown, for the log; never fails. */
export function describe(thrown: unknown): string {
  try {
    return thrown instanceof Error && thrown.stack ? thrown.stack : `threw ${inspect(thrown)}`
  } catch {
    return "threw something that cannot be shown"
  }
}
