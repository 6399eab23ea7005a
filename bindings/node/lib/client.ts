/** A client in the same process, for tests of a server. */

import type { Dispatcher } from "./dispatcher.js"
import { McpError } from "./errors.js"
import { open } from "./host.js"
import { parse, stringify } from "./json.js"
import type { NativeClient } from "./native.js"
import type { ListenFilter } from "./server.js"
import type {
  ClientCapabilities,
  ClientInfo,
  ElicitParams,
  ElicitResult,
  Level,
  RootsResult,
  SampleParams,
  SampleResult,
} from "./types.js"

type Awaitable<T> = T | Promise<T>

/** Who a client is, and what it can do. */
export interface ClientOptions {
  /** Whether each request stands for itself, or a handshake comes first. Default: modern. */
  era?: "modern" | "handshake"
  /** Default: the era's newest. */
  protocolVersion?: string
  /** Who it is. Default: `test`. */
  info?: ClientInfo
  /** What it can do. Default: what the functions below say. */
  capabilities?: ClientCapabilities
  /** Answers for the user. */
  elicit?: (params: ElicitParams) => Awaitable<ElicitResult>
  /** Answers for the model. */
  sample?: (params: SampleParams) => Awaitable<SampleResult>
  /** Names the roots. */
  listRoots?: () => Awaitable<RootsResult>
  /** Least severe log messages that it wants, in modern requests. */
  logLevel?: Level
  /** Gets every notification, progress and log messages included. */
  onNotification?: (method: string, params: any) => void
  /** How long to wait for an answer, in milliseconds. Default: 10,000. */
  timeoutMs?: number
}

/** An open listen request. */
export interface Listening {
  /** What the server agreed to. */
  readonly filter: ListenFilter
  /** Resolves when the server ends it. */
  readonly ended: Promise<void>
  /** Ends it. */
  close(): void
}

interface Pending {
  resolve(result: any): void
  reject(error: unknown): void
}

const META = "io.modelcontextprotocol/"

/** A client, made by `server.connect()`. */
export class Client {
  /** What `initialize` gave, after a handshake. */
  serverInfo: any
  readonly #options: ClientOptions
  readonly #native: NativeClient
  /** @internal Held, so that the server lives as long as its client. */
  readonly dispatcher: Dispatcher
  readonly #meta: Record<string, unknown> | undefined
  readonly #pending = new Map<number, Pending>()
  readonly #acknowledged = new Map<number, (filter: ListenFilter) => void>()
  #lastId = 0

  private constructor(dispatcher: Dispatcher, options: ClientOptions) {
    this.dispatcher = dispatcher
    this.#options = options
    this.#native = dispatcher.native.connect(open(this))
    if (options.era !== "handshake") {
      this.#meta = {
        [`${META}protocolVersion`]: options.protocolVersion ?? "2026-07-28",
        [`${META}clientInfo`]: this.#info,
        [`${META}clientCapabilities`]: this.#capabilities,
        ...(options.logLevel && { [`${META}logLevel`]: options.logLevel }),
      }
    }
  }

  /** @internal */
  static async connect(dispatcher: Dispatcher, options: ClientOptions): Promise<Client> {
    const client = new Client(dispatcher, options)
    if (!client.#meta) {
      client.serverInfo = await client.request("initialize", {
        protocolVersion: options.protocolVersion ?? "2025-11-25",
        clientInfo: client.#info,
        capabilities: client.#capabilities,
      })
      client.notify("notifications/initialized")
    }
    return client
  }

  get #info(): ClientInfo {
    return this.#options.info ?? { name: "test", version: "1" }
  }

  get #capabilities(): ClientCapabilities {
    const { capabilities, elicit, sample, listRoots } = this.#options
    return (
      capabilities ?? {
        ...(elicit && { elicitation: {} }),
        ...(sample && { sampling: {} }),
        ...(listRoots && { roots: {} }),
      }
    )
  }

  /** Sends a notification. */
  notify(method: string, params?: object): void {
    this.#native.send(stringify({ jsonrpc: "2.0", method, params }))
  }

  /**
   * Makes a request, and answers the questions of the server on the way.
   *
   * @throws McpError if the answer is an error
   */
  async request(method: string, params: Record<string, unknown> = {}): Promise<any> {
    let result = await this.#ask(method, params)
    while (result.resultType === "input_required") {
      const inputResponses: Record<string, unknown> = {}
      for (const [key, question] of Object.entries<any>(result.inputRequests)) {
        inputResponses[key] = await this.#reply(question.method, question.params)
      }
      result = await this.#ask(method, { ...params, inputResponses, requestState: result.requestState })
    }
    return result
  }

  /** Calls a tool. */
  callTool(name: string, args: Record<string, unknown> = {}): Promise<any> {
    return this.request("tools/call", { name, arguments: args })
  }

  /** Opens a listen request (modern clients); changes come to `onNotification`. */
  async listen(filter: ListenFilter): Promise<Listening> {
    const method = "subscriptions/listen"
    const [id, answer] = this.#send(method, { notifications: filter })
    const ended = answer.then(() => {})
    const acknowledged = new Promise<ListenFilter>((resolve, reject) => {
      this.#acknowledged.set(id, resolve)
      ended.catch(reject)
    })
    return {
      filter: await this.#inTime(method, acknowledged),
      ended,
      close: () => {
        this.#pending.delete(id)
        this.notify("notifications/cancelled", { requestId: id })
      },
    }
  }

  /** Ends the connection; calls in flight have the server's grace. */
  async close(): Promise<void> {
    await this.#native.finish()
    this.collect()
    for (const { reject } of this.#pending.values()) reject(new Error("the client was closed"))
    this.#pending.clear()
  }

  #send(method: string, params: Record<string, unknown>): [number, Promise<any>] {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<any>((resolve, reject) => this.#pending.set(id, { resolve, reject }))
    if (this.#meta) params = { ...params, _meta: { ...this.#meta, ...(params._meta as object | undefined) } }
    this.#native.send(stringify({ jsonrpc: "2.0", id, method, params }))
    return [id, answer]
  }

  /** The timer keeps the process alive, too, which a pending promise alone does not. */
  #inTime<T>(method: string, promise: Promise<T>): Promise<T> {
    const ms = this.#options.timeoutMs ?? 10_000
    let timer: NodeJS.Timeout
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${method} was not answered within ${ms} ms`)), ms)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }

  #ask(method: string, params: Record<string, unknown>): Promise<any> {
    return this.#inTime(method, this.#send(method, params)[1])
  }

  async #reply(method: string, params: any): Promise<unknown> {
    const { elicit, sample, listRoots } = this.#options
    const reply: ((params: any) => unknown) | undefined = {
      "elicitation/create": elicit,
      "sampling/createMessage": sample,
      "roots/list": listRoots,
    }[method]
    if (!reply) throw new McpError(-32601, `this client does not answer ${method}`)
    return reply(params ?? {})
  }

  async #answer(id: unknown, method: string, params: unknown): Promise<void> {
    let answer: object
    try {
      answer = { result: await this.#reply(method, params) }
    } catch (error) {
      const { code = -32603, message } = error as Partial<McpError>
      answer = { error: { code, message } }
    }
    this.#native.send(stringify({ jsonrpc: "2.0", id, ...answer }))
  }

  /** @internal */
  collect(): void {
    for (const text of this.#native.receive()) {
      const message = parse(text)
      if (message.method === undefined) this.#settle(message)
      else if (message.id !== undefined) void this.#answer(message.id, message.method, message.params)
      else this.#notified(message.method, message.params)
    }
  }

  #settle({ id, result, error }: any): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error) pending?.reject(new McpError(error.code, error.message, error.data))
    else pending?.resolve(result)
  }

  #notified(method: string, params: any): void {
    if (method === "notifications/subscriptions/acknowledged") {
      const id = params._meta[`${META}subscriptionId`]
      this.#acknowledged.get(id)?.(params.notifications)
      this.#acknowledged.delete(id)
    }
    this.#options.onNotification?.(method, params)
  }
}
