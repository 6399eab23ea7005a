// Builds the addon and puts it beside the package. CARGO_PROFILE_NODE chooses the profile; the default is release.
import { execFileSync } from "node:child_process"
import { copyFileSync, renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const here = join(dirname(fileURLToPath(import.meta.url)), "..")
const profile = process.env.CARGO_PROFILE_NODE ?? "release"
execFileSync("cargo", ["build", "-p", "tocsin-node", "--profile", profile], { cwd: here, stdio: "inherit" })

const metadata = execFileSync("cargo", ["metadata", "--format-version=1", "--no-deps"], { cwd: here, encoding: "utf8" })
const library = { darwin: "libtocsin_node.dylib", win32: "tocsin_node.dll" }[process.platform] ?? "libtocsin_node.so"
// Renamed into place: a process that has the old file loaded keeps it.
copyFileSync(join(JSON.parse(metadata).target_directory, profile, library), join(here, "tocsin.node.new"))
renameSync(join(here, "tocsin.node.new"), join(here, "tocsin.node"))
