//! What the registry holds: checked definitions with their handlers.

use std::sync::Arc;

use crate::engine::Handler;
use crate::listen::ListKind;
use crate::protocol::Features;
use crate::protocol::json::{self, Kind, Members};

use super::definition::Definition;
use super::schema::{Role, Schema};
use super::template::UriTemplate;
use super::{RegistryError, names};

/// One kind of entry.
pub(crate) trait Entry: Send + Sync + 'static {
    /// What errors call it.
    const KIND: &'static str;
    /// The member of the list result, which also names the list's cursors.
    const METHOD: &'static str;
    /// The list whose change announces an edit.
    const LIST: ListKind;

    fn key(&self) -> &str;
    /// Appends the definition as a revision knows it.
    fn write(&self, features: &Features, out: &mut String);
}

fn invalid<E: Entry>(key: &str, reason: impl Into<String>) -> RegistryError {
    RegistryError::Invalid { kind: E::KIND, key: key.to_owned(), reason: reason.into() }
}

/// Parses a definition and reads the member that names it.
fn parse<E: Entry>(text: &str, key: &str) -> Result<(Definition, String), RegistryError> {
    let definition = Definition::parse(text).map_err(|reason| invalid::<E>("", reason))?;
    let name = definition.string(key).map_err(|reason| invalid::<E>("", reason))?;
    let name = name.ok_or_else(|| invalid::<E>("", format!("its definition has no {key}")))?;
    definition.check_common().map_err(|reason| invalid::<E>(&name, reason))?;
    Ok((definition, name))
}

/// A tool.
pub(crate) struct ToolEntry {
    name: String,
    definition: Definition,
    pub input: Schema,
    pub output: Option<Schema>,
    /// Older revisions want structured content and its schema to be an object.
    output_is_object: bool,
    pub handler: Arc<dyn Handler>,
}

impl ToolEntry {
    pub fn new(text: &str, handler: Arc<dyn Handler>) -> Result<Self, RegistryError> {
        let (mut definition, name) = parse::<Self>(text, "name")?;
        names::check_name("tool", &name).map_err(|reason| invalid::<Self>(&name, reason))?;
        definition.set_default("inputSchema", "{\"type\":\"object\"}");
        let compile = |member: &str, raw: &str, role| {
            Schema::compile(raw, role)
                .map_err(|error| invalid::<Self>(&name, format!("{member}{}: {}", error.path, error.reason)))
        };
        let input = compile("inputSchema", definition.get("inputSchema").unwrap_or("{}"), Role::Input)?;
        let output =
            definition.get("outputSchema").map(|raw| compile("outputSchema", raw, Role::Output)).transpose()?;
        let output_is_object = definition
            .get("outputSchema")
            .and_then(|raw| Members::parse(raw).ok())
            .is_some_and(|members| members.get("type") == Some("\"object\""));
        Ok(ToolEntry { definition, input, output, output_is_object, handler, name })
    }
}

impl Entry for ToolEntry {
    const KIND: &'static str = "tool";
    const METHOD: &'static str = "tools";
    const LIST: ListKind = ListKind::Tools;

    fn key(&self) -> &str {
        &self.name
    }

    fn write(&self, features: &Features, out: &mut String) {
        self.definition.write(features, out, |key, _| match key {
            "annotations" => features.audio,
            "outputSchema" => features.structured && (features.any_structured || self.output_is_object),
            _ => true,
        });
    }
}

/// A prompt.
pub(crate) struct PromptEntry {
    name: String,
    definition: Definition,
    pub required: Vec<String>,
    pub handler: Arc<dyn Handler>,
    pub completer: Option<Arc<dyn Handler>>,
}

impl PromptEntry {
    pub fn new(
        text: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<Self, RegistryError> {
        let (definition, name) = parse::<Self>(text, "name")?;
        names::check_name("prompt", &name).map_err(|reason| invalid::<Self>(&name, reason))?;
        let required =
            required_arguments(definition.get("arguments")).map_err(|reason| invalid::<Self>(&name, reason))?;
        Ok(PromptEntry { definition, required, handler, completer, name })
    }
}

fn required_arguments(raw: Option<&str>) -> Result<Vec<String>, String> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let wrong = || "arguments must be an array of objects, each with the string name".to_owned();
    let elements = Some(raw).filter(|raw| json::kind(raw) == Kind::Array).and_then(json::elements).ok_or_else(wrong)?;
    let mut required = Vec::new();
    for element in elements {
        let members = Members::parse(element).map_err(|_| wrong())?;
        let name = members.get("name").and_then(json::unescape).ok_or_else(wrong)?;
        if members.get("required") == Some("true") {
            required.push(name.into_owned());
        }
    }
    Ok(required)
}

impl Entry for PromptEntry {
    const KIND: &'static str = "prompt";
    const METHOD: &'static str = "prompts";
    const LIST: ListKind = ListKind::Prompts;

    fn key(&self) -> &str {
        &self.name
    }

    fn write(&self, features: &Features, out: &mut String) {
        self.definition.write(features, out, |_, _| true);
    }
}

/// A resource.
pub(crate) struct ResourceEntry {
    uri: String,
    definition: Definition,
    pub mime_type: Option<String>,
    pub handler: Arc<dyn Handler>,
}

impl ResourceEntry {
    pub fn new(text: &str, handler: Arc<dyn Handler>) -> Result<Self, RegistryError> {
        let (mut definition, uri) = parse::<Self>(text, "uri")?;
        names::check_uri(&uri).map_err(|reason| invalid::<Self>(&uri, reason))?;
        default_name(&mut definition, &uri);
        let mime_type = definition.string("mimeType").map_err(|reason| invalid::<Self>(&uri, reason))?;
        Ok(ResourceEntry { definition, mime_type, handler, uri })
    }
}

/// The protocol wants a name; a URI is one.
fn default_name(definition: &mut Definition, uri: &str) {
    let mut name = String::new();
    json::write_string(&mut name, uri);
    definition.set_default("name", &name);
}

impl Entry for ResourceEntry {
    const KIND: &'static str = "resource";
    const METHOD: &'static str = "resources";
    const LIST: ListKind = ListKind::Resources;

    fn key(&self) -> &str {
        &self.uri
    }

    fn write(&self, features: &Features, out: &mut String) {
        self.definition.write(features, out, |_, _| true);
    }
}

/// A resource template.
pub(crate) struct TemplateEntry {
    definition: Definition,
    pub template: UriTemplate,
    pub mime_type: Option<String>,
    pub handler: Arc<dyn Handler>,
    pub completer: Option<Arc<dyn Handler>>,
}

impl TemplateEntry {
    pub fn new(
        text: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<Self, RegistryError> {
        let (mut definition, uri) = parse::<Self>(text, "uriTemplate")?;
        let template = UriTemplate::parse(&uri).map_err(|reason| invalid::<Self>(&uri, reason))?;
        default_name(&mut definition, &uri);
        let mime_type = definition.string("mimeType").map_err(|reason| invalid::<Self>(&uri, reason))?;
        Ok(TemplateEntry { definition, template, mime_type, handler, completer })
    }
}

impl Entry for TemplateEntry {
    const KIND: &'static str = "resource template";
    const METHOD: &'static str = "resourceTemplates";
    const LIST: ListKind = ListKind::Resources;

    fn key(&self) -> &str {
        self.template.as_str()
    }

    fn write(&self, features: &Features, out: &mut String) {
        self.definition.write(features, out, |_, _| true);
    }
}
