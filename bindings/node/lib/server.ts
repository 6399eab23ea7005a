/** What a server's author holds. */

import { constants } from "node:os"
import { Client, type ClientOptions } from "./client.js"
import type { Context } from "./context.js"
import { Dispatcher } from "./dispatcher.js"
import { base64, listenHandler } from "./handlers.js"
import { collectRecords, keep } from "./host.js"
import { stringify } from "./json.js"
import {
  type PromptHandler,
  type PromptOptions,
  Prompts,
  type ResourceHandler,
  type ResourceOptions,
  Resources,
  type TemplateOptions,
  Templates,
  type ToolHandler,
  type ToolOptions,
  Tools,
} from "./lists.js"
import type { JsonSchema, Schema } from "./schema.js"
import type { Icon } from "./types.js"

/** Settings of a server. */
export interface ServerOptions {
  /** Name in `serverInfo`. */
  name: string
  /** Version in `serverInfo`. */
  version: string
  /** Display name in `serverInfo`. */
  title?: string
  /** Description in `serverInfo`. */
  description?: string
  /** Website in `serverInfo`. */
  websiteUrl?: string
  /** Icons in `serverInfo`. */
  icons?: Icon[]
  /** How to use this server, for a model. */
  instructions?: string
  /** Allowed protocol versions. Default: all that the engine knows. */
  protocolVersions?: string[]
  /** Accepts that clients which begin with a handshake are shut out. */
  modernOnly?: boolean
  /** Further versions, each with the known one whose rules it has. */
  extensionVersions?: Record<string, string>
  /** Lists whose changes are not offered to clients. */
  withhold?: ("tools" | "prompts" | "resources")[]
  /** `capabilities.extensions`. */
  extensions?: Record<string, object>
  /** `capabilities.experimental`. */
  experimental?: Record<string, object>
  /** How long results may be cached, in milliseconds. Default 0. */
  ttlMs?: number
  /** Who may share a cached result. Default `private`. */
  cacheScope?: "private" | "public"
  /** Entries on one list page. Default 1,000. */
  pageSize?: number
  /** Longest message in bytes. Default 4 MiB. */
  maxMessageBytes?: number
  /** Deepest nesting of a message. Default 128. */
  maxDepth?: number
  /** Most listen requests open at once, 0 for any number. Default 1,000. */
  maxSubscriptions?: number
  /** Most URIs in one listen filter, and in one handshake session. Default 1,000. */
  maxUrisPerSubscription?: number
  /** Most requests in flight on one connection. Default 4,096. */
  maxInFlight?: number
  /** Bytes that may wait for a slow reader before no more requests are read from it. Default 8 MiB. */
  maxOutputBytes?: number
  /** How long calls in flight may go on after the server was told to stop, in milliseconds. Default 5,000. */
  shutdownGraceMs?: number
  /** How long calls in flight may go on after the input has ended, in milliseconds. Default 1,000. */
  inputEndGraceMs?: number
  /** After so long a call without an answer gets a tool error, in milliseconds. Default: never. */
  handlerTimeoutMs?: number
  /** How long a client may take to answer a question, in milliseconds. Default 10 minutes. */
  stateTtlMs?: number
  /** 32 bytes, or their base64, that seal `requestState`; processes that serve the same clients share them. */
  stateKey?: string | Uint8Array
  /** Threads of the engine's own runtime. Default: one per core, at most four. */
  workerThreads?: number
}

/** What a client wants to hear of, as a listen hook sees it. */
export interface ListenFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
}

/** How to serve. */
export interface ServeOptions {
  /** Stop on SIGINT and SIGTERM; a second one ends the process at once. Default: true. */
  signals?: boolean
}

const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const toCamel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

function makeDispatcher(options: ServerOptions): Dispatcher {
  const texts: string[] = []
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) texts.push(toSnake(name), stringify(value instanceof Uint8Array ? base64(value) : value))
  }
  try {
    return new Dispatcher(texts)
  } catch (error) {
    // The engine speaks of its options as Rust and C know them.
    throw new TypeError((error as Error).message.replace(/\b[a-z]+(_[a-z]+)+\b/g, toCamel))
  }
}

/** How long signals are looked after once serving has ended, for a process that has nothing more to do. */
const WINDING_UP_MS = 1_000

/** An MCP server. */
export class Server {
  /** Its tools. */
  readonly tools: Tools
  /** Its prompts. */
  readonly prompts: Prompts
  /** Its resources. */
  readonly resources: Resources
  /** Its resource templates. */
  readonly templates: Templates
  readonly #dispatcher: Dispatcher
  #served: Promise<void> | undefined

  /** @throws TypeError if an option cannot be used */
  constructor(options: ServerOptions) {
    const dispatcher = makeDispatcher(options)
    this.#dispatcher = dispatcher
    this.tools = new Tools(dispatcher, "tools")
    this.prompts = new Prompts(dispatcher, "prompts")
    this.resources = new Resources(dispatcher, "resources")
    this.templates = new Templates(dispatcher, "templates")
  }

  /** Adds a tool; the same as `server.tools.add`. */
  tool<Input extends Schema = JsonSchema, Output extends Schema | undefined = undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): void {
    this.tools.add(name, options, handler)
  }

  /** Adds a prompt; the same as `server.prompts.add`. */
  prompt<Input extends Schema = JsonSchema>(
    name: string,
    options: PromptOptions<Input>,
    handler: PromptHandler<Input>,
  ): void {
    this.prompts.add(name, options, handler)
  }

  /** Adds a resource, or with variables as in `weather://{city}` a template: `server.resources.add` or `server.templates.add`. */
  resource<Uri extends string>(
    uri: Uri,
    options: ResourceOptions & TemplateOptions<Uri>,
    handler: ResourceHandler<Uri>,
  ): void {
    if (uri.includes("{")) this.templates.add(uri, options, handler)
    else this.resources.add(uri, options, handler)
  }

  /**
   * Makes several changes, of which each list is announced once, at the end. Batches nest.
   *
   * @returns what `edit` returns; if that is a promise, the batch ends when it settles
   */
  changes<T>(edit: () => T): T {
    const { native } = this.#dispatcher
    native.hold()
    let later = false
    try {
      const result = edit()
      if (result instanceof Promise) {
        later = true
        return result.finally(() => native.release()) as T
      }
      return result
    } finally {
      if (!later) native.release()
    }
  }

  /** Has `watch` called when the first subscriber of a URI comes, and when the last one goes. */
  onWatch(watch: ((uri: string, watched: boolean) => unknown) | undefined): void {
    this.#dispatcher.onWatch = watch
    this.#dispatcher.native.onWatch(watch !== undefined)
  }

  /** Lets `hook` refuse listen requests, by throwing an `McpError`. */
  onListen(hook: ((filter: ListenFilter, context: Context) => unknown) | undefined): void {
    const dispatcher = this.#dispatcher
    dispatcher.native.onListen(hook && dispatcher.register(listenHandler(hook)))
  }

  /** How many listen requests are open. */
  get subscriptions(): number {
    return this.#dispatcher.native.subscriptions()
  }

  /**
   * Serves standard input and output. Meanwhile what is printed (`console.log`) goes to standard error.
   *
   * @returns a promise that resolves when the input has ended or the server was closed, and until then keeps the
   * process alive
   */
  serve(options: ServeOptions = {}): Promise<void> {
    this.#served = this.#serve(options.signals ?? true)
    return this.#served
  }

  async #serve(signals: boolean): Promise<void> {
    const { native } = this.#dispatcher
    let [stopping, over] = [false, false]
    const stop = (signal: NodeJS.Signals) => {
      // Clients end the input and send SIGTERM at once: to a process that winds up, that is no failure.
      if (over) process.exit()
      // As the shell would say it, had the signal not been caught.
      if (stopping) process.exit(128 + constants.signals[signal])
      stopping = true
      native.stop()
    }
    const forget = () => process.off("SIGINT", stop).off("SIGTERM", stop)
    // First of all: the engine answers before this function goes on, and who has an answer may send a signal.
    if (signals) process.on("SIGINT", stop).on("SIGTERM", stop)
    try {
      await keep(this.#dispatcher, native.serveStdio())
      over = true
      setTimeout(forget, WINDING_UP_MS).unref()
    } catch (error) {
      forget()
      throw error
    } finally {
      collectRecords()
    }
  }

  /** Stops serving, for good; the promise resolves when that is done. */
  async close(): Promise<void> {
    this.#dispatcher.native.stop()
    // Whoever called serve() gets its error.
    await this.#served?.catch(() => {})
  }

  /** A client in the same process, for tests. */
  connect(options: ClientOptions = {}): Promise<Client> {
    return Client.connect(this.#dispatcher, options)
  }
}
