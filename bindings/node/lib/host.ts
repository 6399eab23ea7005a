/** This environment's side of the wake: which server or client has something to collect. */

import { describe } from "./errors.js"
import { native } from "./native.js"

/** Something that is woken when the engine has something for it. */
export interface Port {
  collect(): void
}

/** A record of the engine's own log. */
export interface LogRecord {
  /** `error`, `warn`, `info` or `debug`. */
  level: string
  /** What happened. */
  message: string
}

/** Takes records of the engine's log. */
export type Logger = (record: LogRecord) => void

// Weak, so that a server that nobody holds and nobody talks to can be collected.
const ports = new Map<number, WeakRef<Port>>()
const collected = new FinalizationRegistry<number>((port) => ports.delete(port))
const busy = new Set<Port>()
let lastPort = 0

/** This environment, as the engine knows it. */
export const host = new native.Host((port) => {
  if (port === 0) collectRecords()
  else ports.get(port)?.deref()?.collect()
})

/** Gives a number to a port. */
export function open(port: Port): number {
  lastPort += 1
  ports.set(lastPort, new WeakRef(port))
  collected.register(port, lastPort)
  return lastPort
}

/** Keeps a port alive as long as `work` takes. */
export async function keep<T>(port: Port, work: Promise<T>): Promise<T> {
  busy.add(port)
  try {
    return await work
  } finally {
    busy.delete(port)
  }
}

let logger: Logger | undefined

/**
 * Sends the engine's own log somewhere else than to standard error, where warnings and errors go by default. The stack
 * of an exception that a handler did not foresee is found here. One environment, the first that loaded the package, gets
 * the log of the whole process.
 *
 * @param log takes the records; without it they go to standard error again
 * @param level the least severe level to record
 */
export function setLogger(log?: Logger, level: "error" | "warn" | "info" | "debug" | "off" = "warn"): void {
  collectRecords()
  if (!host.setLog(level, log !== undefined)) {
    throw new TypeError(`unknown log level '${level}'; use error, warn, info, debug or off`)
  }
  logger = log
}

/** Passes on what the engine has recorded. */
export function collectRecords(): void {
  const records = host.records()
  for (let at = 0; at + 1 < records.length; at += 2) {
    try {
      logger?.({ level: records[at] as string, message: records[at + 1] as string })
    } catch (error) {
      // A logger that cannot log has no use.
      setLogger()
      host.report(`the logger failed: ${describe(error)}`)
    }
  }
}
