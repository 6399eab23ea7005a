//! Results, built piece by piece.

use serde::Serialize;

use crate::engine::Call;
use crate::handlers::IntoAnswer;
use crate::protocol::json;

/// One block of content in a tool result or a prompt message, as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content(String);

fn member(out: &mut String, key: &str, value: &str) {
    out.push_str(",\"");
    out.push_str(key);
    out.push_str("\":");
    json::write_string(out, value);
}

fn close(mut out: String) -> Content {
    out.push('}');
    Content(out)
}

impl Content {
    /// Text.
    pub fn text(text: &str) -> Content {
        let mut out = String::from("{\"type\":\"text\"");
        member(&mut out, "text", text);
        close(out)
    }

    /// An image, in base64.
    pub fn image(base64: &str, mime_type: &str) -> Content {
        let mut out = String::from("{\"type\":\"image\"");
        member(&mut out, "data", base64);
        member(&mut out, "mimeType", mime_type);
        close(out)
    }

    /// Sound, in base64. Revisions before 2025-03-26 get a word about it instead.
    pub fn audio(base64: &str, mime_type: &str) -> Content {
        let mut out = String::from("{\"type\":\"audio\"");
        member(&mut out, "data", base64);
        member(&mut out, "mimeType", mime_type);
        close(out)
    }

    /// A resource's text, embedded.
    pub fn resource(uri: &str, mime_type: &str, text: &str) -> Content {
        let mut out = String::from("{\"type\":\"resource\",\"resource\":{\"uri\":");
        json::write_string(&mut out, uri);
        member(&mut out, "mimeType", mime_type);
        member(&mut out, "text", text);
        out.push('}');
        close(out)
    }

    /// A link to a resource. Revisions before 2025-06-18 get its name and URI as text.
    pub fn resource_link(uri: &str, name: &str) -> Content {
        let mut out = String::from("{\"type\":\"resource_link\"");
        member(&mut out, "uri", uri);
        member(&mut out, "name", name);
        close(out)
    }

    /// Any block of the protocol, as JSON text.
    pub fn raw(json: impl Into<String>) -> Content {
        Content(json.into())
    }
}

/// A tool's result.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    content: Vec<Content>,
    structured: Option<String>,
    is_error: bool,
}

impl ToolResult {
    /// An empty result.
    pub fn new() -> ToolResult {
        ToolResult::default()
    }

    /// Adds a block.
    #[must_use]
    pub fn with(mut self, content: Content) -> ToolResult {
        self.content.push(content);
        self
    }

    /// Sets the structured content, as JSON text.
    #[must_use]
    pub fn structured(mut self, json: impl Into<String>) -> ToolResult {
        self.structured = Some(json.into());
        self
    }

    /// Marks it as a tool error.
    #[must_use]
    pub fn error(mut self) -> ToolResult {
        self.is_error = true;
        self
    }
}

fn array(blocks: &[Content]) -> String {
    let mut out = String::from("[");
    for (index, Content(block)) in blocks.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(block);
    }
    out.push(']');
    out
}

impl IntoAnswer for ToolResult {
    fn answer(self, call: Call) {
        let mut out = format!("{{\"content\":{}", array(&self.content));
        if let Some(structured) = &self.structured {
            out.push_str(",\"structuredContent\":");
            out.push_str(structured);
        }
        if self.is_error {
            out.push_str(",\"isError\":true");
        }
        out.push('}');
        call.complete(out);
    }
}

/// A prompt's messages.
#[derive(Clone, Debug, Default)]
pub struct PromptResult {
    description: Option<String>,
    messages: Vec<(&'static str, Content)>,
}

impl PromptResult {
    /// Without messages.
    pub fn new() -> PromptResult {
        PromptResult::default()
    }

    /// Describes the prompt.
    #[must_use]
    pub fn description(mut self, text: impl Into<String>) -> PromptResult {
        self.description = Some(text.into());
        self
    }

    /// Adds a message of the user.
    #[must_use]
    pub fn user(mut self, content: Content) -> PromptResult {
        self.messages.push(("user", content));
        self
    }

    /// Adds a message of the assistant.
    #[must_use]
    pub fn assistant(mut self, content: Content) -> PromptResult {
        self.messages.push(("assistant", content));
        self
    }
}

impl IntoAnswer for PromptResult {
    fn answer(self, call: Call) {
        let mut out = String::from("{");
        if let Some(description) = &self.description {
            out.push_str("\"description\":");
            json::write_string(&mut out, description);
            out.push(',');
        }
        out.push_str("\"messages\":[");
        for (index, (role, Content(content))) in self.messages.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&format!("{{\"role\":\"{role}\",\"content\":{content}}}"));
        }
        out.push_str("]}");
        call.complete(out);
    }
}

/// What a read gives, under the URI and MIME type of the resource.
#[derive(Clone, Debug)]
pub enum ResourceResult {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
    /// The protocol's result object, `{"contents":[…]}`, as JSON text.
    Raw(String),
}

impl IntoAnswer for ResourceResult {
    fn answer(self, call: Call) {
        match self {
            ResourceResult::Text(text) => call.complete_text(text),
            ResourceResult::Blob(base64) => call.complete_blob(base64),
            ResourceResult::Raw(json) => call.complete(json),
        }
    }
}

/// Structured content of a tool, from anything that serializes.
#[derive(Clone, Copy, Debug)]
pub struct Structured<T>(pub T);

impl<T: Serialize> IntoAnswer for Structured<T> {
    fn answer(self, call: Call) {
        match serde_json::to_string(&self.0) {
            Ok(json) => call.complete_structured(json),
            Err(error) => call.crash(&format!("its result does not serialize: {error}")),
        }
    }
}
