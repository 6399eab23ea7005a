/** The native half, as `src/` declares it: handlers are numbers, and JSON is text. */

export type List = "tools" | "prompts" | "resources" | "templates"

export interface Fault {
  reason: "exists" | "missing" | "invalid"
  message: string
}

export interface CallInfo {
  name: string
  protocolVersion: string
  modern: boolean
  transport: "stdio" | "http"
  wantsProgress: boolean
  clientInfo?: string
  clientCapabilities: string
  meta: string
}

export interface NativeServer {
  add(list: List, definition: string, handler: number, completer?: number): Fault | null
  replace(list: List, definition: string, handler: number, completer?: number): Fault | null
  remove(list: List, key: string): Fault | null
  enable(list: List, key: string): Fault | null
  disable(list: List, key: string): Fault | null
  has(list: List, key: string): boolean
  keys(list: List): string[]
  listChanged(list: List): void
  updated(uri: string): void
  hold(): void
  release(): void
  onListen(handler?: number): void
  onWatch(wanted: boolean): void
  subscriptions(): number
  serveStdio(): Promise<void>
  stop(): void
  connect(port: number): NativeClient
}

export interface NativeClient {
  send(message: string): void
  receive(): string[]
  finish(): Promise<void>
}

export interface NativeHost {
  records(): string[]
  setLog(level: string, wanted: boolean): boolean
  report(text: string): void
}

interface Native {
  VERSION: string
  Host: new (wake: (port: number) => void) => NativeHost
  NativeServer: new (host: NativeHost, port: number, options: string[]) => NativeServer

  drain(port: number, max: number): unknown[]
  complete(key: number, result: string): void
  completeText(key: number, text: string): void
  completeStructured(key: number, value: string): void
  completeBlob(key: number, base64: string): void
  completeValues(key: number, values: string[]): void
  fail(key: number, text: string): void
  failWith(key: number, code: number, message: string, data?: string): void
  crash(key: number, detail: string): void
  discard(key: number): void
  cancelled(key: number): boolean
  info(key: number): CallInfo | null
  progress(key: number, progress: number, total?: number, message?: string): void
  log(key: number, level: string, data: string, logger?: string): string | null
  canAsk(key: number, method: string): boolean
  ask(key: number, token: number, questions: string[]): void
}

// Beside the package's root, where the build puts it.
export const native: Native = require("../tocsin.node")
