/** A running call, as its handler sees it. */

import type { Dispatcher } from "./dispatcher.js"
import { ToolError } from "./errors.js"
import { parse, stringify } from "./json.js"
import { type CallInfo, native } from "./native.js"
import type {
  ClientCapabilities,
  ClientInfo,
  ElicitParams,
  ElicitResult,
  Level,
  Meta,
  RootsResult,
  SampleParams,
  SampleResult,
} from "./types.js"

/** A question to the client, as {@link Context.ask} takes it; `Answer` is what comes back. */
export interface Question<Answer = unknown> {
  /** The protocol's method. */
  readonly method: string
  /** Its params. */
  readonly params: object
  /** There for its type alone. */
  readonly answer?: Answer
}

/** Asks the user. */
export const elicit = (params: ElicitParams): Question<ElicitResult> => ({ method: "elicitation/create", params })

/** Asks the client's model. */
export const sample = (params: SampleParams): Question<SampleResult> => ({ method: "sampling/createMessage", params })

/** Asks for the client's root directories. */
export const listRoots = (): Question<RootsResult> => ({ method: "roots/list", params: {} })

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

/** A running call. */
export class Context {
  /** The arguments as JSON text, to the letter as the client sent them. */
  readonly argumentsJson: string
  /** @internal */
  readonly key: number
  readonly #dispatcher: Dispatcher
  #info: CallInfo | undefined
  #abort: AbortController | undefined

  /** @internal */
  constructor(dispatcher: Dispatcher, key: number, argumentsJson: string) {
    this.#dispatcher = dispatcher
    this.key = key
    this.argumentsJson = argumentsJson
  }

  // Fetched as a whole, by those who ask.
  get #known(): CallInfo {
    this.#info ??= native.info(this.key) ?? undefined
    if (!this.#info) throw new Error("the call is over; read what you need of its context before it is answered")
    return this.#info
  }

  /** Name of the tool or prompt, URI of the resource. */
  get name(): string {
    return this.#known.name
  }

  /** The protocol version that the request is served by. */
  get protocolVersion(): string {
    return this.#known.protocolVersion
  }

  /** Whether that version has every request stand for itself, or begins with a handshake. */
  get era(): "modern" | "handshake" {
    return this.#known.modern ? "modern" : "handshake"
  }

  /** How the client reached the server. */
  get transport(): "stdio" | "http" {
    return this.#known.transport
  }

  /** Who the client says that it is, if it does. */
  get clientInfo(): ClientInfo | undefined {
    const { clientInfo } = this.#known
    return clientInfo === undefined ? undefined : parse(clientInfo)
  }

  /** What the client says it can do. */
  get clientCapabilities(): ClientCapabilities {
    return parse(this.#known.clientCapabilities)
  }

  /** The request's `_meta`. */
  get meta(): Meta {
    return parse(this.#known.meta)
  }

  /** Whether the client wants to hear of progress. */
  get wantsProgress(): boolean {
    return this.#known.wantsProgress
  }

  /** Aborted when nobody waits for the answer any more. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController()
      if (native.cancelled(this.key)) this.cancel()
      else this.#dispatcher.watch(this)
    }
    return this.#abort.signal
  }

  /** @internal The call was cancelled. */
  cancel(): void {
    this.#abort?.abort(new DOMException("the call was cancelled", "AbortError"))
  }

  /** Reports progress, if the client wants it. Values that do not increase are left out. */
  progress(progress: number, total?: number, message?: string): void {
    native.progress(this.key, progress, total, message)
  }

  /**
   * Sends a log message to the client, if it wants messages of this level.
   *
   * @param data any JSON value
   * @param logger who says it
   */
  log(level: Level, data: unknown, logger?: string): void {
    if (!LEVELS.includes(level)) {
      const [last, ...others] = [...LEVELS].reverse()
      throw new ToolError(`unknown log level '${level}'; use ${others.reverse().join(", ")} or ${last}`)
    }
    native.log(this.key, level, stringify(data), logger)
  }

  /** Whether the client says that it can answer such a question. */
  canAsk(method: "elicitation/create" | "sampling/createMessage" | "roots/list"): boolean {
    return native.canAsk(this.key, method)
  }

  /**
   * Asks the client several things at once; the answers come under the same keys.
   *
   * A modern client is answered that input is required, and calls again: then the handler runs from the top, and this
   * question has its answers. So let a rejection pass, and do what must not happen twice after the last question.
   *
   * @throws ToolError if the client cannot or will not answer
   */
  async ask<Questions extends Record<string, Question>>(
    questions: Questions,
  ): Promise<{ [Key in keyof Questions]: Questions[Key] extends Question<infer Answer> ? Answer : unknown }> {
    const texts: string[] = []
    for (const [key, { method, params }] of Object.entries(questions)) texts.push(key, method, stringify(params))
    return parse(await this.#dispatcher.ask(this.key, texts))
  }

  async #askOne<Answer>(key: string, question: Question<Answer>): Promise<Answer> {
    return (await this.ask({ [key]: question }))[key] as Answer
  }

  /** Asks the user; `key` tells this question from others of the same call. See {@link Context.ask}. */
  elicit(key: string, params: ElicitParams): Promise<ElicitResult> {
    return this.#askOne(key, elicit(params))
  }

  /** Asks the client's model. See {@link Context.ask}. */
  sample(key: string, params: SampleParams): Promise<SampleResult> {
    return this.#askOne(key, sample(params))
  }

  /** Asks for the client's root directories. See {@link Context.ask}. */
  listRoots(key: string): Promise<RootsResult> {
    return this.#askOne(key, listRoots())
  }
}
