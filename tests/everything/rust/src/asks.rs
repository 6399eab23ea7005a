//! Handlers that ask the client: the user, the model, or for its roots. Each is written once, for both eras.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tocsin::{Context, InputRequest, Prompt, RegistryError, Server, Tool, handler, minify};

use crate::suite::tool;

#[derive(Deserialize)]
struct Nothing {}

/// What a user did with a form.
#[derive(Deserialize)]
struct Elicited {
    action: String,
    content: Option<Box<RawValue>>,
}

impl Elicited {
    fn field(&self, name: &str) -> String {
        let content = self.content.as_ref().filter(|_| self.action == "accept");
        let content: Option<Value> = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
        content.and_then(|content| Some(content.get(name)?.as_str()?.to_owned())).unwrap_or_else(|| "unknown".into())
    }

    fn confirmed(&self) -> bool {
        let content = self.content.as_ref().filter(|_| self.action == "accept");
        let content: Option<Value> = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
        content.is_some_and(|content| content.get("ok") == Some(&Value::Bool(true)))
    }

    fn content(&self) -> String {
        self.content.as_ref().map_or_else(|| "{}".into(), |raw| minify(raw.get()).into_owned())
    }
}

/// What a model said.
#[derive(Deserialize)]
struct Sampled {
    content: Value,
}

impl Sampled {
    fn said(&self) -> &str {
        let blocks = self.content.as_array().map_or(std::slice::from_ref(&self.content), Vec::as_slice);
        let text = blocks.iter().find(|block| block.get("type").is_some_and(|kind| kind == "text"));
        text.and_then(|block| block.get("text")?.as_str()).unwrap_or("no text")
    }
}

#[derive(Deserialize)]
struct Roots {
    roots: Vec<Root>,
}

#[derive(Deserialize)]
struct Root {
    uri: String,
}

const NAME: &str = r#"{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#;
const CONFIRM: &str = r#"{"message":"Please confirm","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}"#;
const STEP_1: &str = r#"{"message":"Step 1: What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#;
const STEP_2: &str = r#"{"message":"Step 2: What is your favorite color?","requestedSchema":{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}}"#;
const CONTEXT: &str = r#"{"message":"What context should the prompt use?","requestedSchema":{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}}"#;
const VALUE: &str = r#"{"message":"Elicitation input","requestedSchema":{"type":"object","properties":{"value":{"type":"string"}},"required":["value"]}}"#;
const DEFAULTS: &str = r#"{"message":"Please review the form","requestedSchema":{"type":"object","properties":{"name":{"type":"string","description":"User name","default":"John Doe"},"age":{"type":"integer","description":"User age","default":30},"score":{"type":"number","description":"User score","default":95.5},"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","description":"Verification status","default":true}}}}"#;
const ENUMS: &str = r#"{"message":"Please choose","requestedSchema":{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}}"#;

/// Params as they stand: the order of members is part of what tests compare.
fn raw(params: &str) -> Box<RawValue> {
    RawValue::from_string(params.into()).unwrap_or_default()
}

/// Params that ask the model to say something.
fn say(text: &str, max_tokens: u32) -> String {
    let text = json!(text);
    format!(r#"{{"messages":[{{"role":"user","content":{{"type":"text","text":{text}}}}}],"maxTokens":{max_tokens}}}"#)
}

/// Tools that ask handshake clients and modern ones alike.
pub fn forms(server: &Server) -> Result<(), RegistryError> {
    #[derive(Deserialize)]
    struct Ask {
        prompt: String,
    }
    let tools = server.tools();
    tools.add(
        Tool::new("test_sampling").description("Asks the client's model.").input_schema(
            r#"{"type":"object","properties":{"prompt":{"type":"string","description":"What to ask the model."}},"required":["prompt"]}"#,
        ),
        handler(async |args: Ask, ctx: Context| {
            let answer: Sampled = ctx.sample("sample", raw(&say(&args.prompt, 100))).await?;
            Ok(format!("LLM response: {}", answer.said()))
        }),
    )?;
    #[derive(Deserialize)]
    struct Show {
        message: String,
    }
    tools.add(
        Tool::new("test_elicitation").description("Asks the user for a name and an address.").input_schema(
            r#"{"type":"object","properties":{"message":{"type":"string","description":"What to show to the user."}},"required":["message"]}"#,
        ),
        handler(async |args: Show, ctx: Context| {
            let message = json!(args.message);
            let params = format!(
                r#"{{"message":{message},"requestedSchema":{{"type":"object","properties":{{"username":{{"type":"string","description":"User's response"}},"email":{{"type":"string","description":"User's email address"}}}},"required":["username","email"]}}}}"#
            );
            let answer: Elicited = ctx.elicit("user", raw(&params)).await?;
            Ok(format!("User response: action={}, content={}", answer.action, answer.content()))
        }),
    )?;
    for (name, description, form) in [
        ("test_elicitation_sep1034_defaults", "Asks the user with a form that has defaults.", DEFAULTS),
        ("test_elicitation_sep1330_enums", "Asks the user with a form that has every kind of enum.", ENUMS),
    ] {
        tools.add(
            tool(name, description),
            handler(move |_: Nothing, ctx: Context| async move {
                let answer: Elicited = ctx.elicit("form", raw(form)).await?;
                Ok(format!("Elicitation completed: action={}, content={}", answer.action, answer.content()))
            }),
        )?;
    }
    Ok(())
}

/// Tools that need a capability, or report before they ask.
pub fn streams(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        tool("test_missing_capability", "Needs a client that offers sampling."),
        handler(async |_: Nothing, ctx: Context| {
            let _: Sampled = ctx.sample("sample", raw(&say("Say yes.", 10))).await?;
            Ok("Success")
        }),
    )?;
    tools.add(
        tool("test_streaming_elicitation", "Reports progress, then asks the user."),
        handler(async |_: Nothing, ctx: Context| {
            ctx.progress(50.0, Some(100.0), None);
            let _: Elicited = ctx.elicit("confirm", raw(CONFIRM)).await?;
            Ok("Streaming complete")
        }),
    )
}

/// Tools that need one round, several questions at once, or several rounds.
pub fn rounds(server: &Server) -> Result<(), RegistryError> {
    let tools = server.tools();
    tools.add(
        tool("test_input_required_result_elicitation", "Asks the user for a name."),
        handler(async |_: Nothing, ctx: Context| {
            let answer: Elicited = ctx.elicit("user_name", raw(NAME)).await?;
            Ok(format!("Hello, {}!", answer.field("name")))
        }),
    )?;
    tools.add(
        tool("test_input_required_result_sampling", "Asks the client's model for a capital."),
        handler(async |_: Nothing, ctx: Context| {
            let question = say("What is the capital of France?", 100);
            let answer: Sampled = ctx.sample("capital_question", raw(&question)).await?;
            Ok(format!("Sampling result: {}", answer.said()))
        }),
    )?;
    tools.add(
        tool("test_input_required_result_list_roots", "Asks for the client's roots."),
        handler(async |_: Nothing, ctx: Context| {
            let answer: Roots = ctx.list_roots("client_roots").await?;
            let uris: Vec<&str> = answer.roots.iter().map(|root| root.uri.as_str()).collect();
            let list = if uris.is_empty() { String::new() } else { format!(": {}", uris.join(", ")) };
            Ok(format!("Found {} root(s){list}", uris.len()))
        }),
    )?;
    confirming(
        server,
        "test_input_required_result_request_state",
        "Asks the user to confirm; the state travels with the client.",
        "state-ok: requestState validated",
    )?;
    tools.add(
        tool("test_input_required_result_multiple_inputs", "Asks the user, the model and for the roots at once."),
        handler(async |_: Nothing, ctx: Context| {
            let answers = ctx
                .ask_all(&[
                    InputRequest::elicit("user_name", NAME),
                    InputRequest::sample("greeting", say("Generate a greeting", 50)),
                    InputRequest::list_roots("client_roots"),
                ])
                .await?;
            let (name, greeting): (Elicited, Sampled) = (answers.get("user_name")?, answers.get("greeting")?);
            let roots: Roots = answers.get("client_roots")?;
            let (name, said) = (name.field("name"), greeting.said());
            Ok(format!("Name: {name}; Greeting: {said}; Roots: {}", roots.roots.len()))
        }),
    )?;
    tools.add(
        tool("test_input_required_result_multi_round", "Asks the user twice, one question after the other."),
        handler(async |_: Nothing, ctx: Context| {
            let name: Elicited = ctx.elicit("step1", raw(STEP_1)).await?;
            let color: Elicited = ctx.elicit("step2", raw(STEP_2)).await?;
            Ok(format!("Multi-round complete for {} who likes {}", name.field("name"), color.field("color")))
        }),
    )?;
    confirming(
        server,
        "test_input_required_result_tampered_state",
        "Asks the user to confirm; a changed state is refused.",
        "integrity-ok: state verified",
    )?;
    tools.add(
        tool("test_input_required_result_capabilities", "Asks only what the client can answer."),
        handler(async |_: Nothing, ctx: Context| {
            let mut requests = Vec::new();
            if ctx.can_ask("elicitation/create") {
                requests.push(InputRequest::elicit("elicit_input", VALUE));
            }
            if ctx.can_ask("sampling/createMessage") {
                requests.push(InputRequest::sample("sample_input", say("Sample request", 50)));
            }
            if requests.is_empty() {
                return Ok("No supported capabilities declared".to_owned());
            }
            ctx.ask_all(&requests).await?;
            let keys: Vec<&str> = requests.iter().map(|request| request.key.as_str()).collect();
            Ok(format!("capabilities-ok: received {}", keys.join(",")))
        }),
    )
}

/// A tool that asks for a yes.
fn confirming(server: &Server, name: &str, description: &str, yes: &'static str) -> Result<(), RegistryError> {
    server.tools().add(
        tool(name, description),
        handler(move |_: Nothing, ctx: Context| async move {
            let answer: Elicited = ctx.elicit("confirm", raw(CONFIRM)).await?;
            Ok(if answer.confirmed() { yes } else { "not confirmed" })
        }),
    )
}

/// A prompt that asks.
pub fn prompt(server: &Server) -> Result<(), RegistryError> {
    server.prompts().add(
        Prompt::new("test_input_required_result_prompt").description("A prompt that asks the user for its context."),
        handler(async |_: Nothing, ctx: Context| {
            let answer: Elicited = ctx.elicit("user_context", raw(CONTEXT)).await?;
            Ok(format!("Prompt with context: {}", answer.field("context")))
        }),
    )
}
