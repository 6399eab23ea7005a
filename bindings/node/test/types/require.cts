// The same types by require.

import tocsin = require("tocsin")

const server: tocsin.Server = new tocsin.Server({ name: "x", version: "1" })
server.tool("t", {}, () => "x")
const version: string = tocsin.VERSION
export = version
