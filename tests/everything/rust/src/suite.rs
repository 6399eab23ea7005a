//! What the public conformance suite asks of a server, under the names that it uses.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tocsin::{
    Content, Context, Level, Prompt, PromptResult, RegistryError, Resource, ResourceResult, ResourceTemplate, Server,
    Tool, ToolResult, handler, handler_sync, minify,
};

use crate::own;

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
/// One sample of silence.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

#[derive(Deserialize)]
struct Nothing {}

pub fn tool(name: &str, description: &str) -> Tool {
    Tool::new(name).description(description).input_schema(r#"{"type":"object","properties":{}}"#)
}

/// Tools whose results show every kind of content.
pub fn content(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        tool("test_simple_text", "Returns one text block."),
        handler_sync(|_: Nothing, _: &Context| Ok("This is a simple text response for testing.")),
    )?;
    tools.add(
        tool("test_image_content", "Returns one image block."),
        handler_sync(|_: Nothing, _: &Context| Ok(ToolResult::new().with(Content::image(PNG, "image/png")))),
    )?;
    tools.add(
        tool("test_audio_content", "Returns one audio block."),
        handler_sync(|_: Nothing, _: &Context| Ok(ToolResult::new().with(Content::audio(WAV, "audio/wav")))),
    )?;
    tools.add(
        tool("test_embedded_resource", "Returns one embedded resource."),
        handler_sync(|_: Nothing, _: &Context| {
            let text = "This is an embedded resource content.";
            Ok(ToolResult::new().with(Content::resource("test://embedded-resource", "text/plain", text)))
        }),
    )?;
    tools.add(
        tool("test_multiple_content_types", "Returns a text, an image and an embedded resource."),
        handler_sync(|_: Nothing, _: &Context| {
            let text = r#"{"test":"data","value":123}"#;
            Ok(ToolResult::new()
                .with(Content::text("Multiple content types test:"))
                .with(Content::image(PNG, "image/png"))
                .with(Content::resource("test://mixed-content-resource", "application/json", text)))
        }),
    )
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Tools that log, fail, and report progress.
pub fn reporting(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        tool("test_tool_with_logging", "Sends three log messages while it runs."),
        handler(async |_: Nothing, ctx: Context| {
            ctx.log(Level::Info, Some("everything"), r#""Tool execution started""#)?;
            pause().await;
            ctx.log(Level::Info, Some("everything"), r#""Tool processing data""#)?;
            pause().await;
            ctx.log(Level::Info, Some("everything"), r#""Tool execution completed""#)?;
            Ok("Tool with logging executed successfully")
        }),
    )?;
    tools.add(
        tool("test_error_handling", "Always fails."),
        handler_sync(|_: Nothing, _: &Context| {
            Err::<String, _>("This tool intentionally returns an error for testing".into())
        }),
    )?;
    tools.add(
        tool("test_tool_with_progress", "Reports progress three times while it runs."),
        handler(async |_: Nothing, ctx: Context| {
            for step in [0, 50, 100] {
                if step > 0 {
                    pause().await;
                }
                let message = format!("Completed step {step} of 100");
                ctx.progress(f64::from(step), Some(100.0), Some(&message));
            }
            Ok("Tool with progress executed successfully")
        }),
    )
}

/// A tool with a schema beyond the usual, and one for clients that reconnect.
pub fn schemas(server: &Server) -> Result<(), RegistryError> {
    let schema = r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    }"##;
    let tools = server.tools();
    tools.add(
        Tool::new("json_schema_2020_12_tool")
            .description("Tool with JSON Schema 2020-12 features")
            .input_schema(schema),
        handler_sync(|args: Box<RawValue>, _: &Context| {
            Ok(format!("JSON Schema 2020-12 tool called with: {}", minify(args.get())))
        }),
    )?;
    tools.add(
        tool("test_reconnection", "Closes its response stream and answers after the client reconnects."),
        handler(async |_: Nothing, _: Context| {
            pause().await;
            pause().await;
            Ok("Reconnection test completed successfully")
        }),
    )
}

/// Tools that log or change lists while somebody looks.
pub fn changes(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        tool("test_logging_tool", "Sends one log message."),
        handler_sync(|_: Nothing, ctx: &Context| {
            ctx.log(Level::Info, Some("everything"), r#""Diagnostic trace logging activated""#)?;
            Ok("Logging evaluated")
        }),
    )?;
    let me = server.clone();
    tools.add(
        tool("test_trigger_tool_change", "Changes the list of tools and changes it back."),
        handler_sync(move |_: Nothing, _: &Context| {
            let _batch = me.changes();
            own::add_named_tool(&me, "test_dynamic_tool")?;
            me.tools().remove("test_dynamic_tool")?;
            Ok("Mutation triggered")
        }),
    )?;
    let me = server.clone();
    tools.add(
        tool("test_trigger_prompt_change", "Changes the list of prompts and changes it back."),
        handler_sync(move |_: Nothing, _: &Context| {
            let _batch = me.changes();
            own::add_named_prompt(&me, "test_dynamic_prompt")?;
            me.prompts().remove("test_dynamic_prompt")?;
            Ok("Mutation triggered")
        }),
    )
}

/// Prompts, two of them with completions.
pub fn prompts(server: &Server) -> Result<(), RegistryError> {
    let prompts = server.prompts();
    prompts.add(
        Prompt::new("test_simple_prompt").description("A prompt without arguments."),
        handler_sync(|_: Nothing, _: &Context| Ok("This is a simple prompt for testing.")),
    )?;
    #[derive(Deserialize)]
    struct Two {
        arg1: String,
        arg2: String,
    }
    prompts.add_completed(
        Prompt::new("test_prompt_with_arguments")
            .description("A prompt with two arguments.")
            .argument("arg1", "First test argument.", true)
            .argument("arg2", "Second test argument.", true),
        handler_sync(|args: Two, _: &Context| {
            Ok(format!("Prompt with arguments: arg1='{}', arg2='{}'", args.arg1, args.arg2))
        }),
        handler_sync(|asked: Completion, _: &Context| {
            let candidates: &[&str] = match asked.argument.name.as_str() {
                "arg1" => &["paris", "park", "party", "testValue1"],
                "arg2" if asked.context.arguments.get("arg1").is_some_and(|city| city == "paris") => {
                    &["france", "world", "testValue2"]
                }
                "arg2" => &["world", "testValue2"],
                _ => &[],
            };
            Ok(asked.starting(candidates))
        }),
    )?;
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Embedded {
        resource_uri: String,
    }
    prompts.add_completed(
        Prompt::new("test_prompt_with_embedded_resource").description("A prompt that embeds a resource.").argument(
            "resourceUri",
            "URI of the resource to embed.",
            true,
        ),
        handler_sync(|args: Embedded, _: &Context| {
            let text = "Embedded resource content for testing.";
            Ok(PromptResult::new()
                .user(Content::resource(&args.resource_uri, "text/plain", text))
                .user(Content::text("Please process the embedded resource above.")))
        }),
        handler_sync(|asked: Completion, _: &Context| {
            let uris = ["test://static-text", "test://static-binary", "test://watched-resource"];
            Ok(asked.starting(if asked.argument.name == "resourceUri" { &uris } else { &[] }))
        }),
    )?;
    prompts.add(
        Prompt::new("test_prompt_with_image").description("A prompt with an image."),
        handler_sync(|_: Nothing, _: &Context| {
            Ok(PromptResult::new()
                .user(Content::image(PNG, "image/png"))
                .user(Content::text("Please analyze the image above.")))
        }),
    )
}

/// Params of `completion/complete`.
#[derive(Deserialize)]
struct Completion {
    argument: Argument,
    #[serde(default)]
    context: Known,
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
struct Known {
    #[serde(default)]
    arguments: std::collections::HashMap<String, String>,
}

impl Completion {
    fn starting(&self, candidates: &[&str]) -> Vec<String> {
        let found = candidates.iter().filter(|candidate| candidate.starts_with(&self.argument.value));
        found.map(|candidate| (*candidate).to_owned()).collect()
    }
}

/// Resources, and a template with completions.
pub fn resources(server: &Server) -> Result<(), RegistryError> {
    let resources = server.resources();
    resources.add(
        Resource::new("test://static-text", "static-text")
            .description("A text that never changes.")
            .mime_type("text/plain"),
        handler_sync(|_: Nothing, _: &Context| Ok("This is the content of the static text resource.")),
    )?;
    resources.add(
        Resource::new("test://static-binary", "static-binary")
            .description("An image that never changes.")
            .mime_type("image/png"),
        handler_sync(|_: Nothing, _: &Context| Ok(ResourceResult::Blob(PNG.into()))),
    )?;
    resources.add(
        Resource::new("test://watched-resource", "watched-resource")
            .description("A text to subscribe to.")
            .mime_type("text/plain"),
        handler_sync(|_: Nothing, _: &Context| Ok("Watched resource content")),
    )?;
    #[derive(Deserialize)]
    struct Variables {
        id: String,
    }
    #[derive(serde::Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Document {
        id: String,
        template_test: bool,
        data: String,
    }
    server.templates().add_completed(
        ResourceTemplate::new("test://template/{id}/data", "template")
            .description("A document for each id.")
            .mime_type("application/json"),
        handler_sync(|variables: Variables, _: &Context| {
            let data = format!("Data for ID: {}", variables.id);
            let document = Document { id: variables.id, template_test: true, data };
            serde_json::to_string(&document).map_err(|error| error.to_string().into())
        }),
        handler_sync(|asked: Completion, _: &Context| {
            Ok(asked.starting(if asked.argument.name == "id" { &["1", "12", "123", "2"] } else { &[] }))
        }),
    )
}
