import { Server } from "tocsin"

const server = new Server({ name: "weather", version: "1.0" })

const input = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
server.tool("forecast", { description: "The weather of a city.", input }, async ({ city }) => `Rain in ${city}.`)

const description = "A storm comes up: adds a tool, and every client hears of it."
server.tool("storm", { description }, async () => {
  server.tools.add("warning", { description: "The storm warning." }, () => "Stay at home!")
  return "A storm comes up."
})

await server.serve()
