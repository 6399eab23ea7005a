// One implementation, so that a class is the same however it was loaded.
import tocsin from "./dist/index.js"

export const { Client, McpError, RegistryError, Server, ToolError, VERSION } = tocsin
export const { elicit, listRoots, parseJson, sample, setLogger, stringifyJson } = tocsin
