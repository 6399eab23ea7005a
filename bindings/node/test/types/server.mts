// Compiled, never run: what the types let pass, and what they do not.

import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import {
  type Context,
  elicit,
  type Infer,
  listRoots,
  McpError,
  RegistryError,
  Server,
  sample,
  ToolError,
  type ToolResult,
  type Variables,
} from "tocsin"
import * as v from "valibot"
import { z } from "zod"

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(_equal: Equal<A, B>): void {}

const server = new Server({ name: "x", version: "1", protocolVersions: ["2026-07-28"], modernOnly: true })
// @ts-expect-error a version is needed
new Server({ name: "x" })
// @ts-expect-error there is no such option
new Server({ name: "x", version: "1", pageSiez: 1 })

const zod = z.object({ city: z.string(), days: z.int().default(3) })
server.tool("zod", { input: zod }, ({ city, days }, ctx) => {
  same<typeof city, string>(true)
  same<typeof days, number>(true)
  same<typeof ctx, Context>(true)
  return city
})
server.tool("date", { input: z.object({ day: z.string().pipe(z.transform((day) => new Date(day))) }) }, ({ day }) => {
  same<typeof day, Date>(true)
  // @ts-expect-error a date has no such method
  day.toLowerCase()
})
server.tool("valibot", { input: toStandardJsonSchema(v.object({ city: v.string() })) }, ({ city }) => {
  same<typeof city, string>(true)
})
server.tool("arktype", { input: type({ city: "string", "days?": "number" }) }, ({ city, days }) => {
  same<typeof city, string>(true)
  same<typeof days, number | undefined>(true)
})
server.tool("json", { input: { type: "object", properties: { a: { type: "integer" } } } }, ({ a }) => {
  same<typeof a, any>(true)
})
server.tool("none", {}, async () => {})
server.tool("result", {}, (): ToolResult => ({ content: [{ type: "text", text: "x" }] }))
// @ts-expect-error a description is text
server.tool("wrong", { description: 7 }, () => "x")
// @ts-expect-error a handler is needed
server.tool("wrong", {})

const output = z.object({ degrees: z.number() })
server.tool("good", { output }, () => ({ degrees: 7 }))
server.tool("good", { output }, async () => ({ structured: { degrees: 7 } }))
server.tool("good", { output }, () => ({ content: [], structuredContent: { degrees: 7 } }))
server.tool("good", { output }, () => ({ content: [], isError: true }))
// @ts-expect-error degrees are a number
server.tool("bad", { output }, () => ({ degrees: "warm" }))
// @ts-expect-error text is not what the schema says
server.tool("bad", { output }, () => "warm")
server.tool("any", { output: { type: "object" } }, () => ({ anything: true }))

same<Infer<typeof zod>, { city: string; days: number }>(true)
same<Infer<{ type: "object" }>, Record<string, any>>(true)

server.prompt("p", { arguments: [{ name: "city", required: true }] }, ({ city }) => {
  same<typeof city, string | undefined>(true)
  return `About ${city}`
})
server.prompt("q", { input: z.object({ city: z.string() }) }, ({ city }) => {
  same<typeof city, string>(true)
  return [{ role: "user", content: { type: "text", text: city } }]
})
// @ts-expect-error a prompt has to say something
server.prompt("r", {}, () => {})

same<Variables<"a://{city}/{day}">, { city: string; day: string }>(true)
same<Variables<"a://{+path}{?from,to*}">, { path: string; from: string; to: string }>(true)
same<keyof Variables<"a://fixed">, never>(true)
same<Variables<string>, Record<string, string>>(true)

server.resource("weather://{city}", { mimeType: "text/plain", complete: { city: () => ["Oslo"] } }, (uri, { city }) => {
  same<typeof uri, string>(true)
  same<typeof city, string>(true)
  return city
})
// @ts-expect-error there is no such variable
server.resource("weather://{city}", {}, (_uri, { town }) => town)
// @ts-expect-error nor one to complete
server.templates.add("weather://{city}", { complete: { town: () => [] } }, () => "")
server.resources.add("weather://Oslo", {}, () => new Uint8Array(2))
// @ts-expect-error a number is no contents
server.resources.add("weather://Oslo", {}, () => 7)

server.tool("ask", {}, async (_args, ctx) => {
  const { action, content } = await ctx.elicit("name", { message: "?", requestedSchema: {} })
  same<typeof action, "accept" | "decline" | "cancel">(true)
  const all = await ctx.ask({
    name: elicit({ message: "?" }),
    said: sample({ messages: [], maxTokens: 1 }),
    roots: listRoots(),
  })
  same<typeof all.name.action, typeof action>(true)
  same<(typeof all.roots.roots)[0] extends undefined ? never : string, string>(true)
  // @ts-expect-error not asked
  all.nothing
  // @ts-expect-error not a level
  ctx.log("loud", "x")
  ctx.log("warning", { any: ["value"] })
  same<typeof ctx.era, "modern" | "handshake">(true)
  return content?.name
})

same<ReturnType<typeof server.changes<number>>, number>(true)
const result: Promise<string> = server.changes(async () => "x")
const closed: Promise<void> = server.close()
const served: Promise<void> = server.serve({ signals: false })
const client = await server.connect({ era: "handshake", elicit: () => ({ action: "cancel" }) })
const { filter } = await client.listen({ toolsListChanged: true })
same<typeof filter.resourceSubscriptions, string[] | undefined>(true)

const tool: Error = new ToolError("x")
const registry: ToolError = new RegistryError("x", "missing")
const protocol = new McpError(-32602, "x", { any: 1 })
same<typeof protocol.code, number>(true)

export { closed, registry, result, served, tool }
