/** The author's functions, made into handlers: what they get, and what may come back from them. */

import type { Context } from "./context.js"
import type { Handler } from "./dispatcher.js"
import { parse, stringify } from "./json.js"
import { native } from "./native.js"
import type { Completer } from "./types.js"

type Validate = ((value: unknown) => unknown) | undefined

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}

/** Runs `author` with the arguments, validated if need be. */
function withArguments(author: (args: any, context: Context) => unknown, validate: Validate): Handler["run"] {
  if (!validate) return (context, text) => author(parse(text), context)
  return (context, text) => {
    const args = validate(parse(text))
    return args instanceof Promise ? args.then((args) => author(args, context)) : author(args, context)
  }
}

/** A tool without an output schema: text, the protocol's result, nothing, or else structured content. */
function answerTool(key: number, value: unknown): void {
  if (typeof value === "string") native.completeText(key, value)
  else if (value === undefined || value === null) native.complete(key, '{"content":[]}')
  else if (isObject(value) && Array.isArray(value.content)) native.complete(key, stringify(value))
  else answerStructured(key, value)
}

/** A tool with an output schema: the value it describes, or the protocol's result. */
function answerStructured(key: number, value: unknown): void {
  if (isObject(value)) {
    const whole = Array.isArray(value.content) && ("structuredContent" in value || value.isError === true)
    if (whole) {
      native.complete(key, stringify(value))
      return
    }
    const keys = Object.keys(value)
    if (keys.length === 1 && keys[0] === "structured") value = value.structured
  }
  // The engine says that a structured value is missing.
  if (value === undefined) native.completeText(key, "")
  else native.completeStructured(key, stringify(value))
}

/** A tool's handler. */
export function toolHandler(
  author: (args: any, context: Context) => unknown,
  validate: Validate,
  hasOutput: boolean,
): Handler {
  return { run: withArguments(author, validate), answer: hasOutput ? answerStructured : answerTool }
}

/** A prompt's handler. */
export function promptHandler(author: (args: any, context: Context) => unknown, validate: Validate): Handler {
  return {
    run: withArguments(author, validate),
    answer(key, value) {
      if (typeof value === "string") native.completeText(key, value)
      else native.complete(key, stringify(Array.isArray(value) ? { messages: value } : value))
    },
  }
}

/** A resource's or template's handler. */
export function resourceHandler(author: (uri: string, variables: any, context: Context) => unknown): Handler {
  return {
    reads: true,
    run: (context, text, uri) => author(uri, parse(text), context),
    answer(key, value) {
      if (typeof value === "string") native.completeText(key, value)
      else if (value instanceof Uint8Array) native.completeBlob(key, base64(value))
      else native.complete(key, stringify(value))
    },
  }
}

/** Bytes as base64 text. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
}

/** Completes the arguments of a prompt or the variables of a template. */
export function completionHandler(completers: Record<string, Completer | undefined>): Handler {
  return {
    run(_context, text) {
      const { argument, context } = parse(text)
      const completer = Object.hasOwn(completers, argument.name) ? completers[argument.name] : undefined
      return completer?.(argument.value, context?.arguments ?? {})
    },
    answer: (key, values) => native.completeValues(key, [...((values as string[] | undefined) ?? [])]),
  }
}

/** Decides on listen requests: the filter is accepted unless the author's function throws. */
export function listenHandler(author: (filter: any, context: Context) => unknown): Handler {
  return { run: withArguments(author, undefined), answer: (key) => native.completeText(key, "") }
}
