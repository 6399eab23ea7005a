/** Schemas: JSON Schema, or any library's through the Standard Schema interface. */

import { ToolError } from "./errors.js"

/** A JSON Schema, revision 2020-12, as a plain object. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** What a Standard Schema found wrong with a value. */
export interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<Issue> }

/** A schema of zod, valibot, arktype or any other library that follows the Standard Schema specification. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    }
  }
}

/** A schema as a tool or prompt takes it. */
export type Schema = JsonSchema | StandardSchema<any, any>

type Types<S> = S extends { readonly "~standard": { readonly types?: infer T } } ? NonNullable<T> : never

/** What a handler gets for a schema: its output type, or for plain JSON Schema any object. */
export type Infer<S> = [Types<S>] extends [never]
  ? Record<string, any>
  : Types<S> extends { readonly output: infer Output }
    ? Output
    : Record<string, any>

function standardOf(schema: Schema): StandardSchema["~standard"] | undefined {
  return "~standard" in schema ? (schema as StandardSchema)["~standard"] : undefined
}

const DRAFT = "https://json-schema.org/draft/2020-12/schema"

/**
 * The JSON Schema of a schema.
 *
 * @param what names the schema in an error
 */
export function toJsonSchema(schema: Schema, side: "input" | "output", what: string): JsonSchema {
  const standard = standardOf(schema)
  if (!standard) return schema as JsonSchema
  // Zod before it spoke the standard's JSON Schema part has a method of its own.
  const own = (schema as { toJSONSchema?: (options: object) => Record<string, unknown> }).toJSONSchema
  let json: Record<string, unknown>
  if (standard.jsonSchema) {
    json = standard.jsonSchema[side]({ target: "draft-2020-12" })
  } else if (typeof own === "function") {
    json = own.call(schema, { target: "draft-2020-12", io: side })
  } else {
    throw new TypeError(
      `${what} is a schema of ${standard.vendor} that gives no JSON Schema; wrap it so that it does ` +
        "(valibot: toStandardJsonSchema of @valibot/to-json-schema), or give a JSON Schema",
    )
  }
  // The protocol's default; it need not be sent.
  const { $schema, ...rest } = json
  return $schema === DRAFT || $schema === undefined ? rest : json
}

function place(path: Issue["path"]): string {
  return (path ?? []).map((part) => `/${String(typeof part === "object" ? part.key : part)}`).join("")
}

function accept<T>(validated: Validated<T>, what: string): T {
  if (!validated.issues) return validated.value
  const texts = validated.issues.map(({ message, path }) => (path?.length ? `${place(path)}: ${message}` : message))
  throw new ToolError(`Invalid arguments for ${what}: ${texts.join("; ")}`)
}

/** What has to be done to arguments before the handler gets them, if anything. */
export function validator(schema: Schema | undefined, what: string): ((value: unknown) => unknown) | undefined {
  const standard = schema && standardOf(schema)
  if (!standard) return undefined
  return (value) => {
    const validated = standard.validate(value)
    return validated instanceof Promise
      ? validated.then((validated) => accept(validated, what))
      : accept(validated, what)
  }
}
