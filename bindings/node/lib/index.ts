/** An MCP server engine that tells every client the moment its tools, prompts or resources change. */

export { Client, type ClientOptions, type Listening } from "./client.js"
export { type Context, elicit, listRoots, type Question, sample } from "./context.js"
export { McpError, RegistryError, ToolError } from "./errors.js"
export { type Logger, type LogRecord, setLogger } from "./host.js"
export { parse as parseJson, stringify as stringifyJson } from "./json.js"
export type {
  PromptArgument,
  PromptHandler,
  PromptOptions,
  Prompts,
  ResourceHandler,
  ResourceOptions,
  Resources,
  TemplateOptions,
  Templates,
  ToolHandler,
  ToolOptions,
  Tools,
} from "./lists.js"
export type { Infer, JsonSchema, Schema, StandardSchema } from "./schema.js"
export { type ListenFilter, type ServeOptions, Server, type ServerOptions } from "./server.js"
export type * from "./types.js"

import { native } from "./native.js"

/** This package's version. */
export const VERSION: string = native.VERSION
