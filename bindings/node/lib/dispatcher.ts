/** From events to handlers, and from what they return or throw to answers. */

import { Context } from "./context.js"
import { describe, McpError, SUSPENDED, ToolError } from "./errors.js"
import { host, open, type Port } from "./host.js"
import { stringify } from "./json.js"
import { type NativeServer, native } from "./native.js"

/** How a call is run, and its result sent. Made once for an entry, by `handlers.ts`. */
export interface Handler {
  /** Calls the author's function. `uri` is there for reads. */
  run(context: Context, argumentsJson: string, uri: string): unknown
  /** Answers with what the function returned. */
  answer(key: number, value: unknown): void
  /** Whether this is a read, whose event has one element more. */
  readonly reads?: boolean
}

/** Most events in one go, so that timers and sockets of the host get their turn. */
const BATCH = 256

/** The tags of events, as `src/calls.rs` has them. */
const CANCELLED = -1
const ASKED = -2
const WATCH = -3

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function"
}

/** One server's side of the queue. */
export class Dispatcher implements Port {
  /** Its registry and transports. */
  readonly native: NativeServer
  readonly #port: number
  /** Told when the first subscriber of a URI comes and the last one goes. */
  onWatch: ((uri: string, watched: boolean) => unknown) | undefined
  readonly #handlers = new Map<number, Handler>()
  #lastHandler = 0
  /** Calls whose signal somebody looks at. */
  readonly #watched = new Map<number, Context>()
  readonly #questions = new Map<number, { resolve(answers: string): void; reject(error: unknown): void }>()
  #lastQuestion = 0

  constructor(options: string[]) {
    this.#port = open(this)
    this.native = new native.NativeServer(host, this.#port, options)
  }

  /** Gives a handler its number; the engine says when it is not needed any more. */
  register(handler: Handler): number {
    this.#lastHandler += 1
    this.#handlers.set(this.#lastHandler, handler)
    return this.#lastHandler
  }

  /** Passes the call's cancellation on. */
  watch(context: Context): void {
    this.#watched.set(context.key, context)
  }

  /** Asks the client. */
  ask(key: number, questions: string[]): Promise<string> {
    this.#lastQuestion = (this.#lastQuestion + 1) >>> 0
    const token = this.#lastQuestion
    return new Promise((resolve, reject) => {
      this.#questions.set(token, { resolve, reject })
      native.ask(key, token, questions)
    })
  }

  /** Takes a batch of events. */
  collect(): void {
    const events = native.drain(this.#port, BATCH)
    if (events[0]) setImmediate(() => this.collect())
    for (let at = 1; at < events.length; ) {
      const first = events[at] as number
      if (first >= 0) {
        const handler = this.#handlers.get(first) as Handler
        const uri = handler.reads ? (events[at + 3] as string) : ""
        this.#call(handler, events[at + 1] as number, events[at + 2] as string, uri)
        at += handler.reads ? 4 : 3
      } else if (first === CANCELLED) {
        this.#watched.get(events[at + 1] as number)?.cancel()
        at += 2
      } else if (first === ASKED) {
        this.#asked(events[at + 1] as number, events[at + 2] as number, events[at + 3] as string)
        at += 4
      } else if (first === WATCH) {
        this.#watch(events[at + 1] as string, events[at + 2] as boolean)
        at += 3
      } else {
        this.#handlers.delete(events[at + 1] as number)
        at += 2
      }
    }
  }

  #call(handler: Handler, key: number, argumentsJson: string, uri: string): void {
    const context = new Context(this, key, argumentsJson)
    try {
      const value = handler.run(context, argumentsJson, uri)
      if (isThenable(value)) {
        Promise.resolve(value).then(
          (value) => this.#answer(handler, key, value),
          (thrown) => this.#fail(key, thrown),
        )
      } else {
        this.#answer(handler, key, value)
      }
    } catch (thrown) {
      this.#fail(key, thrown)
    }
  }

  #answer(handler: Handler, key: number, value: unknown): void {
    this.#watched.delete(key)
    try {
      handler.answer(key, value)
    } catch (thrown) {
      this.#fail(key, thrown)
    }
  }

  #fail(key: number, thrown: unknown): void {
    this.#watched.delete(key)
    // What a cancelled handler throws on its way out is of no interest.
    if (thrown === SUSPENDED || native.cancelled(key)) native.discard(key)
    else if (!this.#refuse(key, thrown)) native.crash(key, describe(thrown))
  }

  /** Answers with an error that is meant for somebody. */
  #refuse(key: number, thrown: unknown): boolean {
    try {
      if (thrown instanceof ToolError) {
        native.fail(key, String(thrown.message))
      } else if (thrown instanceof McpError) {
        const data = thrown.data === undefined ? undefined : stringify(thrown.data)
        native.failWith(key, thrown.code, String(thrown.message), data)
      } else {
        return false
      }
      return true
    } catch {
      return false
    }
  }

  #asked(token: number, fate: number, text: string): void {
    const question = this.#questions.get(token)
    this.#questions.delete(token)
    if (fate === 0) question?.resolve(text)
    else question?.reject(fate === 1 ? SUSPENDED : new ToolError(text))
  }

  #watch(uri: string, watched: boolean): void {
    const report = (thrown: unknown) => host.report(`onWatch failed: ${describe(thrown)}`)
    try {
      const done: unknown = this.onWatch?.(uri, watched)
      if (isThenable(done)) Promise.resolve(done).catch(report)
    } catch (thrown) {
      report(thrown)
    }
  }
}
