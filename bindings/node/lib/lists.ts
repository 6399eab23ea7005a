/** A server's lists: tools, prompts, resources and resource templates. Every edit is announced to all who listen. */

import type { Context } from "./context.js"
import type { Dispatcher, Handler } from "./dispatcher.js"
import { check } from "./errors.js"
import { completionHandler, promptHandler, resourceHandler, toolHandler } from "./handlers.js"
import { stringify } from "./json.js"
import type { List } from "./native.js"
import { type Infer, type JsonSchema, type Schema, toJsonSchema, validator } from "./schema.js"
import type {
  Annotations,
  Completer,
  Icon,
  Meta,
  PromptAnswer,
  ResourceAnswer,
  ToolAnnotations,
  ToolAnswer,
  Variables,
} from "./types.js"

type Awaitable<T> = T | Promise<T>

interface Definition {
  /** Display name. */
  title?: string
  /** What it is for. */
  description?: string
  icons?: Icon[]
  _meta?: Meta
}

/** What describes a tool. */
export interface ToolOptions<Input extends Schema, Output extends Schema | undefined> extends Definition {
  /** The schema of its arguments; arguments that do not fit never reach the handler. Default: any object. */
  input?: Input
  /** The schema of its structured content. */
  output?: Output
  annotations?: ToolAnnotations
}

/** A tool's function. */
export type ToolHandler<Input extends Schema, Output extends Schema | undefined> = (
  args: Infer<Input>,
  context: Context,
) => Awaitable<ToolAnswer<Output>>

/** One argument of a prompt. */
export interface PromptArgument {
  name: string
  title?: string
  description?: string
  required?: boolean
}

/** What describes a prompt. */
export interface PromptOptions<Input extends Schema> extends Definition {
  /** Its arguments, which are strings. */
  arguments?: readonly PromptArgument[]
  /** Its arguments, as a schema of an object of strings instead. */
  input?: Input
  /** What completes its arguments, by name. */
  complete?: { readonly [argument: string]: Completer }
}

/** A prompt's function. */
export type PromptHandler<Input extends Schema> = (
  args: Input extends JsonSchema ? Record<string, string> : Infer<Input>,
  context: Context,
) => Awaitable<PromptAnswer>

/** What describes a resource, or all resources of a template. */
export interface ResourceOptions extends Definition {
  /** Default: its URI. */
  name?: string
  /** Reads carry it too. */
  mimeType?: string
  annotations?: Annotations
  /** Size in bytes. */
  size?: number
}

/** What describes a resource template. */
export interface TemplateOptions<Uri extends string> extends Omit<ResourceOptions, "size"> {
  /** What completes its variables, by name. */
  complete?: { readonly [Variable in keyof Variables<Uri>]?: Completer }
}

/** A resource's function: `uri` is the one asked for, `variables` are a template's. */
export type ResourceHandler<Uri extends string> = (
  uri: string,
  variables: Variables<Uri>,
  context: Context,
) => Awaitable<ResourceAnswer>

abstract class Entries {
  /** @internal */
  protected readonly dispatcher: Dispatcher
  readonly #list: List

  /** @internal */
  constructor(dispatcher: Dispatcher, list: List) {
    this.dispatcher = dispatcher
    this.#list = list
  }

  /** @internal */
  protected put(how: "add" | "replace", definition: object, handler: Handler, completer?: Handler): void {
    const { dispatcher } = this
    const text = stringify(definition)
    const [run, complete] = [dispatcher.register(handler), completer && dispatcher.register(completer)]
    check(dispatcher.native[how](this.#list, text, run, complete))
  }

  /** Takes an entry out. */
  remove(name: string): void {
    check(this.dispatcher.native.remove(this.#list, name))
  }

  /** Shows an entry that was disabled, in its old place. */
  enable(name: string): void {
    check(this.dispatcher.native.enable(this.#list, name))
  }

  /** Hides an entry: it is neither listed nor served. */
  disable(name: string): void {
    check(this.dispatcher.native.disable(this.#list, name))
  }

  /** Whether an entry of that name, or URI, is there, enabled or not. */
  has(name: string): boolean {
    return this.dispatcher.native.has(this.#list, name)
  }

  /** All names, or URIs, in order, enabled or not. */
  names(): string[] {
    return this.dispatcher.native.keys(this.#list)
  }

  /** Announces that the list changed in a way that the server does not see. */
  changed(): void {
    this.dispatcher.native.listChanged(this.#list)
  }
}

/** A server's tools. */
export class Tools extends Entries {
  #put(how: "add" | "replace", name: string, options: ToolOptions<Schema, any>, handler: any): void {
    const { input, output, ...rest } = options
    const what = `tool '${name}'`
    const definition = {
      name,
      ...rest,
      inputSchema: input && toJsonSchema(input, "input", `the input of ${what}`),
      outputSchema: output && toJsonSchema(output, "output", `the output of ${what}`),
    }
    this.put(how, definition, toolHandler(handler, validator(input, what), output !== undefined))
  }

  /** Adds a tool at the end. */
  add<Input extends Schema = JsonSchema, Output extends Schema | undefined = undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): void {
    this.#put("add", name, options, handler)
  }

  /** Puts a tool in the place of the one of that name. */
  replace<Input extends Schema = JsonSchema, Output extends Schema | undefined = undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): void {
    this.#put("replace", name, options, handler)
  }
}

/** A prompt's arguments, from the schema of an object of strings. */
function promptArguments(schema: JsonSchema): PromptArgument[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { title?: string; description?: string }>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { title, description }]) => ({
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    required: required.includes(name),
  }))
}

/** A server's prompts. */
export class Prompts extends Entries {
  #put(how: "add" | "replace", name: string, options: PromptOptions<Schema>, handler: any): void {
    const { input, complete, ...rest } = options
    const what = `prompt '${name}'`
    const definition = {
      name,
      ...rest,
      ...(input && { arguments: promptArguments(toJsonSchema(input, "input", `the input of ${what}`)) }),
    }
    this.put(how, definition, promptHandler(handler, validator(input, what)), complete && completionHandler(complete))
  }

  /** Adds a prompt at the end. */
  add<Input extends Schema = JsonSchema>(
    name: string,
    options: PromptOptions<Input>,
    handler: PromptHandler<Input>,
  ): void {
    this.#put("add", name, options, handler)
  }

  /** Puts a prompt in the place of the one of that name. */
  replace<Input extends Schema = JsonSchema>(
    name: string,
    options: PromptOptions<Input>,
    handler: PromptHandler<Input>,
  ): void {
    this.#put("replace", name, options, handler)
  }
}

/** A server's resources. */
export class Resources extends Entries {
  /** Adds a resource at the end. */
  add<Uri extends string>(uri: Uri, options: ResourceOptions, handler: ResourceHandler<Uri>): void {
    this.put("add", { uri, ...options }, resourceHandler(handler as any))
  }

  /** Puts a resource in the place of the one of that URI. */
  replace<Uri extends string>(uri: Uri, options: ResourceOptions, handler: ResourceHandler<Uri>): void {
    this.put("replace", { uri, ...options }, resourceHandler(handler as any))
  }

  /** Says that what `uri` stands for was updated, be it listed or not: all who subscribed to it are told. */
  updated(uri: string): void {
    this.dispatcher.native.updated(uri)
  }
}

/** A server's resource templates. */
export class Templates extends Entries {
  #put(how: "add" | "replace", uriTemplate: string, options: TemplateOptions<any>, handler: any): void {
    const { complete, ...rest } = options
    const completer = complete && completionHandler(complete as Record<string, Completer>)
    this.put(how, { uriTemplate, ...rest }, resourceHandler(handler), completer)
  }

  /** Adds a template (RFC 6570) at the end. */
  add<Uri extends string>(uriTemplate: Uri, options: TemplateOptions<Uri>, handler: ResourceHandler<Uri>): void {
    this.#put("add", uriTemplate, options, handler)
  }

  /** Puts a template in the place of the same one. */
  replace<Uri extends string>(uriTemplate: Uri, options: TemplateOptions<Uri>, handler: ResourceHandler<Uri>): void {
    this.#put("replace", uriTemplate, options, handler)
  }
}
