// The command line, which is the same in all four languages.

const LISTS = ["tools", "prompts", "resources"]

function integer(option, text, least) {
  const number = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number
  throw new Error(`${option} takes an integer of at least ${least}, not '${text}'`)
}

/** Reads the server's options; the error says in one line what was wrong and what would be right. */
export function parse(args) {
  const options = { withhold: [] }
  const upstreams = []
  let [stdio, http] = [false, false]
  const rest = args.values()
  for (const option of rest) {
    const value = () => {
      const { value, done } = rest.next()
      if (done) throw new Error(`${option} needs a value`)
      return value
    }
    switch (option) {
      case "--stdio":
        stdio = true
        break
      case "--http":
        http = Boolean(value())
        break
      case "--protocol-versions":
        options.protocolVersions = value()
          .split(",")
          .map((name) => name.trim())
        break
      case "--modern-only":
        options.modernOnly = true
        break
      case "--max-subscriptions":
        options.maxSubscriptions = integer(option, value(), 0)
        break
      case "--max-message-bytes":
        options.maxMessageBytes = integer(option, value(), 1)
        break
      case "--page-size":
        options.pageSize = integer(option, value(), 1)
        break
      case "--keepalive-ms":
        integer(option, value(), 0)
        break
      case "--allow-origin":
      case "--allow-host":
        value()
        break
      case "--no-listen-capability": {
        const name = value()
        if (!LISTS.includes(name)) throw new Error(`${option} takes tools, prompts or resources, not '${name}'`)
        options.withhold.push(name)
        break
      }
      case "--upstream": {
        const text = value()
        const name = /^([^=]+)=./s.exec(text)?.[1]
        if (!name) throw new Error(`${option} takes NAME=URL or 'NAME=command', not '${text}'`)
        if (upstreams.includes(name)) throw new Error(`two upstreams are named '${name}'; give each a name of its own`)
        upstreams.push(name)
        break
      }
      default:
        throw new Error(`unknown option '${option}'; see tests/everything in the sources`)
    }
  }
  if (stdio && http) throw new Error("--stdio and --http exclude each other; choose one")
  if (http) throw new Error("--http is not built yet; use --stdio")
  if (upstreams.length > 0) throw new Error("--upstream is not built yet")
  return options
}
