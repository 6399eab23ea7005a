//! From what a handler said to the response on the wire, as the caller's revision knows it.

use crate::protocol::json::{self, Kind, Members};
use crate::protocol::{ErrorObject, Features, code};
use crate::registry::Violation;

use super::CallKind;
use super::call::{CallInner, Target};

/// What a handler answers with.
pub(crate) enum Answer {
    /// A result object, as JSON text.
    Result(String),
    Text(String),
    Structured(String),
    Blob(String),
    Values(Vec<String>),
    ToolError(String),
    Error(ErrorObject),
    /// A result that asks for input; whole.
    InputRequired(String),
    /// Failed without anything fit for a client.
    Crash,
}

/// Most values in a completion (`server/utilities/completion`).
const MAX_VALUES: usize = 100;

/// Appends the whole response message; returns the code if it is an error.
pub(super) fn write_answer(call: &CallInner, answer: Answer, out: &mut String) -> Option<i32> {
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(call.id.token());
    let body = match body(call, answer) {
        Ok(body) => body,
        Err(error) => {
            out.push_str(",\"error\":");
            error.write(out);
            out.push('}');
            return Some(error.code);
        }
    };
    out.reserve(body.len() + 64);
    out.push_str(",\"result\":");
    out.push_str(&body);
    out.push('}');
    None
}

fn body(call: &CallInner, answer: Answer) -> Result<String, ErrorObject> {
    match answer {
        Answer::InputRequired(result) => Ok(result),
        Answer::Error(error) => Err(error),
        Answer::Crash => failure(call, "the handler failed"),
        Answer::ToolError(text) => failure(call, &text),
        Answer::Text(text) => {
            if let Some(error) = unstructured(call) {
                return failure(call, &error);
            }
            Ok(finished(call, &text_members(call, &text)?))
        }
        Answer::Structured(value) => match structured(call, &value) {
            Ok(members) => Ok(finished(call, &members)),
            Err(text) => failure(call, &text),
        },
        Answer::Blob(base64) => {
            let CallKind::Resource = call.kind else { return Err(wrong_kind(call)) };
            let mut out = contents_head(call);
            out.push_str("\"blob\":");
            json::write_string(&mut out, &base64);
            out.push_str("}]");
            Ok(finished(call, &out))
        }
        Answer::Values(values) => {
            let CallKind::Completion = call.kind else { return Err(wrong_kind(call)) };
            Ok(finished(call, &values_members(&values)))
        }
        Answer::Result(result) => match check_result(call, &result) {
            Ok(members) => Ok(finished(call, &members)),
            Err(text) => {
                log::error!("the handler of '{}' gave a bad result: {text}", call.name);
                failure(call, &text)
            }
        },
    }
}

fn wrong_kind(call: &CallInner) -> ErrorObject {
    log::error!("the handler of '{}' gave an answer of another kind", call.name);
    ErrorObject::internal("the handler's answer does not fit the request")
}

/// A tool error, or an internal error for all but tools.
fn failure(call: &CallInner, text: &str) -> Result<String, ErrorObject> {
    if call.kind != CallKind::Tool {
        return Err(ErrorObject::internal(text));
    }
    let mut out = String::from("\"content\":[{\"type\":\"text\",\"text\":");
    json::write_string(&mut out, text);
    out.push_str("}],\"isError\":true");
    Ok(finished(call, &out))
}

fn text_members(call: &CallInner, text: &str) -> Result<String, ErrorObject> {
    let mut out;
    match call.kind {
        CallKind::Tool => {
            out = String::with_capacity(text.len() + 64);
            out.push_str("\"content\":[{\"type\":\"text\",\"text\":");
            json::write_string(&mut out, text);
            out.push_str("}]");
        }
        CallKind::Prompt => {
            out = String::from("\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
            json::write_string(&mut out, text);
            out.push_str("}}]");
        }
        CallKind::Resource => {
            out = contents_head(call);
            out.push_str("\"text\":");
            json::write_string(&mut out, text);
            out.push_str("}]");
        }
        CallKind::Completion | CallKind::Listen => return Err(wrong_kind(call)),
    }
    Ok(out)
}

fn contents_head(call: &CallInner) -> String {
    let mut out = String::from("\"contents\":[{\"uri\":");
    json::write_string(&mut out, &call.name);
    let mime_type = match &call.target {
        Target::Resource(entry) => entry.mime_type.as_deref(),
        Target::Template(entry) => entry.mime_type.as_deref(),
        _ => None,
    };
    if let Some(mime_type) = mime_type {
        out.push_str(",\"mimeType\":");
        json::write_string(&mut out, mime_type);
    }
    out.push(',');
    out
}

fn values_members(values: &[String]) -> String {
    let mut out = String::from("\"completion\":{\"values\":[");
    for (index, value) in values.iter().take(MAX_VALUES).enumerate() {
        if index > 0 {
            out.push(',');
        }
        json::write_string(&mut out, value);
    }
    out.push_str(&format!("],\"total\":{},\"hasMore\":{}}}", values.len(), values.len() > MAX_VALUES));
    out
}

/// Why a plain text answer will not do: the tool promised structured content.
fn unstructured(call: &CallInner) -> Option<String> {
    let Target::Tool(tool) = &call.target else { return None };
    tool.output.as_ref()?;
    log::error!("the handler of '{}' gave no structured content, though its tool has an output schema", call.name);
    Some(format!("tool '{}' gave no structured content, which its output schema demands", call.name))
}

fn structured(call: &CallInner, value: &str) -> Result<String, String> {
    let Target::Tool(tool) = &call.target else { return Err("only tools have structured content".to_owned()) };
    let raw: &serde_json::value::RawValue =
        serde_json::from_str(value).map_err(|error| format!("the structured content is not JSON: {error}"))?;
    let value = json::minify(raw.get());
    if let Some(schema) = &tool.output {
        schema.check(&value).map_err(|violations| breach(call, &violations))?;
    }
    let mut out = String::with_capacity(value.len() * 2 + 80);
    out.push_str("\"content\":[{\"type\":\"text\",\"text\":");
    json::write_string(&mut out, &value);
    out.push_str("}]");
    if carries_structured(&call.revision.features, &value) {
        out.push_str(",\"structuredContent\":");
        out.push_str(&value);
    }
    Ok(out)
}

fn carries_structured(features: &Features, value: &str) -> bool {
    features.structured && (features.any_structured || json::kind(value) == Kind::Object)
}

fn breach(call: &CallInner, violations: &[Violation]) -> String {
    let text = format!(
        "the structured content of tool '{}' does not match its output schema: {}",
        call.name,
        describe(violations)
    );
    log::error!("{text}");
    text
}

/// Violations as one line for a model to read.
pub(super) fn describe(violations: &[Violation]) -> String {
    let texts: Vec<String> = violations
        .iter()
        .map(|violation| match violation.path.as_str() {
            "" => violation.message.clone(),
            path => format!("{path}: {}", violation.message),
        })
        .collect();
    texts.join("; ")
}

/// Checks a result object that the handler wrote itself, and cuts it to what the revision knows.
fn check_result(call: &CallInner, result: &str) -> Result<String, String> {
    // Members trusts its input to be JSON.
    let raw: &serde_json::value::RawValue =
        serde_json::from_str(result).map_err(|error| format!("the result is not JSON: {error}"))?;
    let members = Members::parse(raw.get()).map_err(|_| "the result must be a JSON object".to_owned())?;
    let (required, kind, what) = match call.kind {
        CallKind::Tool => ("content", Kind::Array, "an array"),
        CallKind::Prompt => ("messages", Kind::Array, "an array"),
        CallKind::Resource => ("contents", Kind::Array, "an array"),
        CallKind::Completion => ("completion", Kind::Object, "an object"),
        CallKind::Listen => return Ok(String::new()),
    };
    if members.get(required).is_none_or(|raw| json::kind(raw) != kind) {
        return Err(format!("the result must have {required}, {what}"));
    }
    let is_error = members.get("isError") == Some("true");
    let structured = members.get("structuredContent");
    if let Target::Tool(tool) = &call.target
        && let Some(schema) = &tool.output
        && !is_error
    {
        match structured {
            Some(value) => schema.check(value).map_err(|violations| breach(call, &violations))?,
            None => return Err(unstructured(call).unwrap_or_default()),
        }
    }
    let features = &call.revision.features;
    let mut out = String::with_capacity(result.len());
    for (key, value) in &members.0 {
        // What the engine says itself is not the handler's to say.
        let own = matches!(key.as_ref(), "resultType" | "ttlMs" | "cacheScope" if !features_let_hints(call, key));
        if own || (key == "structuredContent" && !carries_structured(features, value)) {
            continue;
        }
        if !out.is_empty() {
            out.push(',');
        }
        json::write_string(&mut out, key);
        out.push(':');
        if !features.structured && matches!(key.as_ref(), "content" | "messages") {
            super::methods::downgrade::write(features, value, &mut out);
        } else {
            // The same bytes in every language, and no line end in a message.
            out.push_str(&json::minify(value));
        }
    }
    Ok(out)
}

/// A read's own caching hints stand, for modern callers.
fn features_let_hints(call: &CallInner, key: &str) -> bool {
    key != "resultType" && call.kind == CallKind::Resource && call.revision.is_modern()
}

/// Wraps a result's members, adding what modern results end with.
fn finished(call: &CallInner, members: &str) -> String {
    let mut out = String::with_capacity(members.len() + 160);
    out.push('{');
    if !call.revision.is_modern() {
        out.push_str(members);
        out.push('}');
        return out;
    }
    let engine = &call.session.engine;
    // Rare: the handler gave a _meta, into which serverInfo must go, or hints of its own.
    let own = (members.contains("\"_meta\"") || members.contains("\"ttlMs\"") || members.contains("\"cacheScope\""))
        .then(|| format!("{{{members}}}"));
    let own = own.as_deref().and_then(|text| Members::parse(text).ok()).unwrap_or(Members(Vec::new()));
    let meta = own.get("_meta");
    if meta.is_none() {
        out.push_str(members);
    } else {
        for (index, (key, value)) in own.0.iter().filter(|(key, _)| key != "_meta").enumerate() {
            if index > 0 {
                out.push(',');
            }
            json::write_string(&mut out, key);
            out.push(':');
            out.push_str(value);
        }
    }
    if out.len() > 1 {
        out.push(',');
    }
    out.push_str("\"resultType\":\"complete\"");
    if call.kind == CallKind::Resource {
        match (own.get("ttlMs"), own.get("cacheScope")) {
            (None, None) => engine.push_hints(&mut out),
            (ttl, scope) => engine.push_missing_hints(ttl.is_none(), scope.is_none(), &mut out),
        }
    }
    match meta.and_then(|raw| Members::parse(raw).ok()) {
        None => out.push_str(&engine.meta_tail),
        Some(meta) => engine.push_meta(&meta, &mut out),
    }
    out.push('}');
    out
}

/// The error for a name that is not there.
pub(super) fn unknown(kind: &str, name: &str) -> ErrorObject {
    ErrorObject::new(code::INVALID_PARAMS, format!("Unknown {kind}: {name}"))
}
