//! Tools for tests and benchmarks: echo and arithmetic, waiting, failing, and every way to change what is offered.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tocsin::{
    Context, HandlerError, Level, Prompt, RegistryError, Resource, Server, Structured, Tool, handler, handler_sync,
    parse_integer,
};

#[derive(Deserialize)]
struct Nothing {}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
struct Pair {
    a: Box<RawValue>,
    b: Box<RawValue>,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize)]
struct Message {
    message: String,
}

#[derive(Deserialize)]
struct LogMessage {
    level: String,
    message: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Uri {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Who {
    era: &'static str,
    protocol_version: String,
    transport: &'static str,
    client: Option<Client>,
}

#[derive(Deserialize, Serialize)]
struct Client {
    name: String,
    version: String,
}

/// Adds this file's tools.
pub fn add(server: &Server) -> Result<(), RegistryError> {
    plain(server)?;
    failing(server)?;
    lists(server)
}

fn plain(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        Tool::new("echo")
            .description("Returns the text it was given.")
            .input_schema(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#),
        handler_sync(|args: Text, _: &Context| Ok(args.text)),
    )?;
    tools.add(
        Tool::new("add")
            .description("Adds two signed 64-bit integers.")
            .input_schema(
                r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#,
            )
            .output_schema(r#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#),
        handler_sync(|args: Pair, _: &Context| {
            let sum = parse_integer(args.a.get()).zip(parse_integer(args.b.get())).and_then(|(a, b)| a.checked_add(b));
            let sum = sum.and_then(|sum| i64::try_from(sum).ok());
            sum.map(|sum| Structured(Sum { sum })).ok_or_else(|| "the sum does not fit in 64 bits".into())
        }),
    )?;
    tools.add(
        Tool::new("sleep")
            .description("Waits, reporting progress about every 50 ms.")
            .input_schema(
                r#"{"type":"object","properties":{"ms":{"type":"integer","description":"How long to wait, in milliseconds.","minimum":0,"maximum":600000}},"required":["ms"]}"#,
            ),
        handler(sleep),
    )?;
    tools.add(
        Tool::new("log").description("Sends one log message.").input_schema(
            r#"{"type":"object","properties":{"level":{"type":"string","description":"A severity, from debug to emergency."},"message":{"type":"string"}},"required":["level","message"]}"#,
        ),
        handler_sync(|args: LogMessage, ctx: &Context| {
            let level = Level::parse(&args.level).ok_or_else(|| {
                format!(
                    "unknown log level '{}'; use debug, info, notice, warning, error, critical, alert or emergency",
                    args.level
                )
            })?;
            ctx.log(level, Some("everything"), &serde_json::Value::from(args.message).to_string())?;
            Ok("logged")
        }),
    )?;
    #[derive(Deserialize)]
    struct Big {
        bytes: f64,
    }
    tools.add(
        Tool::new("big").description("Returns a text of the given length.").input_schema(
            r#"{"type":"object","properties":{"bytes":{"type":"integer","description":"Length of the text.","minimum":0,"maximum":16777216}},"required":["bytes"]}"#,
        ),
        handler_sync(|args: Big, _: &Context| Ok("x".repeat(args.bytes as usize))),
    )
}

async fn sleep(args: Sleep, ctx: Context) -> Result<String, HandlerError> {
    let mut waited = 0.0;
    while waited < args.ms {
        let slice = f64::min(50.0, args.ms - waited);
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(slice as u64)) => {}
            // Nobody hears what is said from here on.
            () = ctx.cancelled() => break,
        }
        waited += slice;
        ctx.progress(waited, Some(args.ms), None);
    }
    Ok(format!("slept {} ms", args.ms))
}

#[derive(Deserialize)]
struct Sleep {
    ms: f64,
}

fn failing(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        Tool::new("fail")
            .description("Fails with the given message.")
            .input_schema(r#"{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}"#),
        handler_sync(|args: Message, _: &Context| Err::<String, _>(HandlerError::tool(args.message))),
    )?;
    tools.add(
        Tool::new("crash")
            .description("Fails in a way that nobody foresaw.")
            .input_schema(r#"{"type":"object","properties":{}}"#),
        handler_sync(|_: Nothing, _: &Context| -> Result<String, HandlerError> { panic!("secret") }),
    )?;
    tools.add(
        Tool::new("whoami")
            .description("Tells how the client is connected.")
            .input_schema(r#"{"type":"object","properties":{}}"#),
        handler_sync(|_: Nothing, ctx: &Context| {
            Ok(Structured(Who {
                era: if ctx.is_modern() { "modern" } else { "handshake" },
                protocol_version: ctx.protocol_version().to_owned(),
                transport: ctx.transport().name(),
                client: ctx.client_info().and_then(|json| serde_json::from_str(json).ok()),
            }))
        }),
    )
}

const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const URI: &str = r#"{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}"#;

/// A tool that says its own name.
pub fn add_named_tool(server: &Server, name: &str) -> Result<(), RegistryError> {
    let definition =
        Tool::new(name).description("Echoes its own name.").input_schema(r#"{"type":"object","properties":{}}"#);
    let name = name.to_owned();
    server.tools().add(definition, handler_sync(move |_: Nothing, _: &Context| Ok(name.clone())))
}

/// A prompt that says its own name.
pub fn add_named_prompt(server: &Server, name: &str) -> Result<(), RegistryError> {
    let definition = Prompt::new(name).description("Echoes its own name.");
    let name = name.to_owned();
    server.prompts().add(definition, handler_sync(move |_: Nothing, _: &Context| Ok(name.clone())))
}

fn add_named_resource(server: &Server, uri: &str) -> Result<(), RegistryError> {
    let definition = Resource::new(uri, uri).description("Echoes its own URI.").mime_type("text/plain");
    let uri = uri.to_owned();
    server.resources().add(definition, handler_sync(move |_: Nothing, _: &Context| Ok(uri.clone())))
}

/// Adds a tool whose handler edits the server; `edit` gets the argument and says what it did.
fn add_editor<A: serde::de::DeserializeOwned>(
    server: &Server,
    (name, description, schema): (&str, &str, &str),
    edit: impl Fn(&Server, A) -> Result<String, RegistryError> + Send + Sync + 'static,
) -> Result<(), RegistryError> {
    let me = server.clone();
    server.tools().add(
        Tool::new(name).description(description).input_schema(schema),
        handler_sync(move |args: A, _: &Context| Ok(edit(&me, args)?)),
    )
}

fn lists(server: &Server) -> Result<(), RegistryError> {
    add_editor(server, ("add_tool", "Adds a tool that echoes its own name.", NAME), |server, args: Named| {
        add_named_tool(server, &args.name).map(|()| format!("added tool '{}'", args.name))
    })?;
    add_editor(server, ("remove_tool", "Removes a tool.", NAME), |server, args: Named| {
        server.tools().remove(&args.name).map(|()| format!("removed tool '{}'", args.name))
    })?;
    add_editor(server, ("add_prompt", "Adds a prompt that echoes its own name.", NAME), |server, args: Named| {
        add_named_prompt(server, &args.name).map(|()| format!("added prompt '{}'", args.name))
    })?;
    add_editor(server, ("remove_prompt", "Removes a prompt.", NAME), |server, args: Named| {
        server.prompts().remove(&args.name).map(|()| format!("removed prompt '{}'", args.name))
    })?;
    add_editor(server, ("add_resource", "Adds a text resource that echoes its own URI.", URI), |server, args: Uri| {
        add_named_resource(server, &args.uri).map(|()| format!("added resource '{}'", args.uri))
    })?;
    add_editor(server, ("remove_resource", "Removes a resource.", URI), |server, args: Uri| {
        server.resources().remove(&args.uri).map(|()| format!("removed resource '{}'", args.uri))
    })?;
    let touch = ("touch_resource", "Says that a resource was updated, be it listed or not.", URI);
    add_editor(server, touch, |server, args: Uri| {
        server.resources().updated(&args.uri);
        Ok(format!("touched resource '{}'", args.uri))
    })?;
    #[derive(Deserialize)]
    struct Burst {
        count: f64,
    }
    let burst = (
        "burst",
        "Adds and removes a tool many times and leaves it added.",
        r#"{"type":"object","properties":{"count":{"type":"integer","description":"How many times.","minimum":0,"maximum":100000}},"required":["count"]}"#,
    );
    add_editor(server, burst, |server, args: Burst| {
        if server.tools().contains("burst_tool") {
            server.tools().remove("burst_tool")?;
        }
        for _ in 0..args.count as u64 {
            add_named_tool(server, "burst_tool")?;
            server.tools().remove("burst_tool")?;
        }
        add_named_tool(server, "burst_tool")?;
        Ok(format!("burst of {} done", args.count))
    })?;
    server.tools().add(
        Tool::new("region_echo")
            .description("Returns its arguments, two of which travel in HTTP headers as well.")
            .input_schema(
                r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"Count"},"note":{"type":"string"}}}"#,
            ),
        handler_sync(|args: Box<RawValue>, _: &Context| Ok(Structured(args))),
    )
}
