//! The command line, which is the same in all four languages.

use tocsin::{ListKind, Options};

/// Reads the options; the error is one line that says what was wrong and what would be right.
pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::new("everything-rust", tocsin::VERSION);
    options.instructions = Some("Everything that MCP offers, on one server.".into());
    let (mut stdio, mut http, mut upstreams) = (false, false, Vec::new());
    while let Some(option) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--stdio" => stdio = true,
            "--modern-only" => options.modern_only = true,
            "--http" => http = value().map(|_| true)?,
            "--allow-origin" | "--allow-host" => drop(value()?),
            "--upstream" => upstreams.push(upstream(&value()?)?),
            "--protocol-versions" => {
                options.protocol_versions = Some(value()?.split(',').map(|name| name.trim().to_owned()).collect());
            }
            "--max-subscriptions" => options.max_subscriptions = number(&option, &value()?, 0)?,
            "--max-message-bytes" => options.max_message_bytes = number(&option, &value()?, 1)?,
            "--page-size" => options.page_size = number(&option, &value()?, 1)?,
            "--keepalive-ms" => drop(number(&option, &value()?, 0)?),
            "--no-listen-capability" => {
                let name = value()?;
                let kind = ListKind::parse(&name)
                    .ok_or_else(|| format!("{option} takes tools, prompts or resources, not '{name}'"))?;
                options.withheld.push(kind);
            }
            _ => return Err(format!("unknown option '{option}'; see tests/everything in the sources")),
        }
    }
    if stdio && http {
        return Err("--stdio and --http exclude each other; choose one".into());
    }
    if let Some(name) =
        upstreams.iter().enumerate().find_map(|(at, name)| upstreams[..at].contains(name).then_some(name))
    {
        return Err(format!("two upstreams are named '{name}'; give each a name of its own"));
    }
    if http {
        return Err("--http is not built yet; use --stdio".into());
    }
    if !upstreams.is_empty() {
        return Err("--upstream is not built yet".into());
    }
    Ok(options)
}

/// The name in `NAME=URL` or `NAME=command`.
fn upstream(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, target)) if !name.is_empty() && !target.is_empty() => Ok(name.to_owned()),
        _ => Err(format!("--upstream takes NAME=URL or 'NAME=command', not '{text}'")),
    }
}

fn number(option: &str, text: &str, least: usize) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| *number >= least)
        .ok_or_else(|| format!("{option} takes an integer of at least {least}, not '{text}'"))
}
