/** The protocol's objects, as handlers give and get them. Members that are not named here pass too. */

import type { StandardSchema } from "./schema.js"

/** Extra members for the other side. */
export type Meta = Record<string, unknown>

/** An icon to show. */
export interface Icon {
  src: string
  mimeType?: string
  sizes?: string[]
  theme?: "light" | "dark"
}

/** Hints about content: for whom it is, and how much it matters. */
export interface Annotations {
  audience?: ("user" | "assistant")[]
  priority?: number
  lastModified?: string
}

/** Hints about what a tool does; never a promise. */
export interface ToolAnnotations {
  title?: string
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

interface Block {
  annotations?: Annotations
  _meta?: Meta
}

/** Text. */
export interface TextContent extends Block {
  type: "text"
  text: string
}

/** An image or sound, in base64. */
export interface MediaContent extends Block {
  type: "image" | "audio"
  data: string
  mimeType: string
}

/** What a resource holds: text, or bytes in base64. */
export interface ResourceContents {
  uri: string
  mimeType?: string
  text?: string
  blob?: string
  _meta?: Meta
}

/** A resource, embedded. */
export interface EmbeddedResource extends Block {
  type: "resource"
  resource: ResourceContents
}

/** A resource to read if wanted. */
export interface ResourceLink extends Block {
  type: "resource_link"
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
  icons?: Icon[]
}

/** One block of content. */
export type Content = TextContent | MediaContent | EmbeddedResource | ResourceLink

/** A tool's result as the protocol has it. */
export interface ToolResult<T = unknown> {
  content: Content[]
  structuredContent?: T
  isError?: boolean
  _meta?: Meta
}

/** Structured content; the text content is made from it. */
export interface Structured<T = unknown> {
  structured: T
}

/** One message of a prompt. */
export interface PromptMessage {
  role: "user" | "assistant"
  content: Content
}

/** A prompt's result as the protocol has it. */
export interface PromptResult {
  messages: PromptMessage[]
  description?: string
  _meta?: Meta
}

/** A read's result as the protocol has it. */
export interface ReadResult {
  contents: ResourceContents[]
  ttlMs?: number
  cacheScope?: "public" | "private"
  _meta?: Meta
}

/** Severity of a log message, least severe first. */
export type Level = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/** Who a client says that it is. Unverified. */
export interface ClientInfo {
  name: string
  version: string
  title?: string
  [member: string]: unknown
}

/** What a client says it can do. */
export interface ClientCapabilities {
  elicitation?: { form?: object; url?: object }
  sampling?: { tools?: object; context?: object }
  roots?: { listChanged?: boolean }
  [member: string]: unknown
}

/** What the user is asked for; see the protocol's `elicitation/create`. */
export interface ElicitParams {
  message: string
  requestedSchema?: object
  mode?: "form" | "url"
  [member: string]: unknown
}

/** What the user said. */
export interface ElicitResult {
  action: "accept" | "decline" | "cancel"
  content?: Record<string, any>
  [member: string]: unknown
}

/** What the client's model is asked; see the protocol's `sampling/createMessage`. */
export interface SampleParams {
  messages: { role: "user" | "assistant"; content: object | object[] }[]
  maxTokens: number
  [member: string]: unknown
}

/** What the client's model said. */
export interface SampleResult {
  role: "user" | "assistant"
  content: any
  model: string
  stopReason?: string
  [member: string]: unknown
}

/** The client's root directories. */
export interface RootsResult {
  roots: { uri: string; name?: string; [member: string]: unknown }[]
  [member: string]: unknown
}

/** What a tool's handler may return: for a tool with an output schema the value that it describes, else anything. */
export type ToolAnswer<Output> =
  Output extends StandardSchema<any, infer Value> ? Value | Structured<Value> | ToolResult<Value> : unknown

/** What a prompt's handler may return: one message of the user, messages, or the whole result. */
export type PromptAnswer = string | PromptMessage[] | PromptResult

/** What a resource's handler may return: text, bytes, or the whole result. */
export type ResourceAnswer = string | Uint8Array | ReadResult

/** Completes one argument: what it may become, given what is typed, and the arguments that have values already. */
export type Completer = (
  value: string,
  others: Record<string, string>,
) => readonly string[] | Promise<readonly string[]>

type Name<Variable extends string> = Variable extends `${"+" | "#" | "." | "/" | ";" | "?" | "&"}${infer Rest}`
  ? Name<Rest>
  : Variable extends `${infer First},${infer Others}`
    ? Name<First> | Name<Others>
    : Variable extends `${infer Bare}*` | `${infer Bare}:${number}`
      ? Bare
      : Variable

type Names<Template extends string> = Template extends `${string}{${infer Variable}}${infer Rest}`
  ? Name<Variable> | Names<Rest>
  : never

/** The variables of a URI template, by name. */
export type Variables<Template extends string> = string extends Template
  ? Record<string, string>
  : { [Variable in Names<Template>]: string }
