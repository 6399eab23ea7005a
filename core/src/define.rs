//! Definitions, built piece by piece; each becomes the protocol's object as JSON text.

use crate::protocol::json;

/// Members of a JSON object under construction.
#[derive(Clone, Debug)]
struct Object(String);

impl Object {
    fn new(key: &str, value: &str) -> Object {
        let mut out = format!("{{\"{key}\":");
        json::write_string(&mut out, value);
        Object(out)
    }

    fn text(mut self, key: &str, value: &str) -> Object {
        self.0.push_str(&format!(",\"{key}\":"));
        json::write_string(&mut self.0, value);
        self
    }

    fn raw(mut self, key: &str, value: &str) -> Object {
        self.0.push_str(&format!(",\"{key}\":{value}"));
        self
    }

    fn close(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Builder methods that several definitions share.
macro_rules! shared {
    ($name:ident: $($method:ident => $key:literal, $doc:literal;)*) => {
        impl $name {
            $(
                #[doc = $doc]
                #[must_use]
                pub fn $method(mut self, value: impl AsRef<str>) -> Self {
                    self.object = self.object.text($key, value.as_ref());
                    self
                }
            )*

            /// Sets any other member, as JSON text.
            #[must_use]
            pub fn member(mut self, key: &str, json: impl AsRef<str>) -> Self {
                self.object = self.object.raw(key, json.as_ref());
                self
            }
        }
    };
}

/// A tool's definition.
#[derive(Clone, Debug)]
pub struct Tool {
    object: Object,
}

shared!(Tool:
    title => "title", "Sets the display name.";
    description => "description", "Says what it does, for a model.";
);

impl Tool {
    /// A tool of that name: 1 to 128 of `A-Z a-z 0-9 _ - .`.
    pub fn new(name: impl AsRef<str>) -> Tool {
        Tool { object: Object::new("name", name.as_ref()) }
    }

    /// Sets the JSON Schema of its arguments, as JSON text; its root type is `object`. Default: any object.
    #[must_use]
    pub fn input_schema(mut self, json: impl AsRef<str>) -> Tool {
        self.object = self.object.raw("inputSchema", json.as_ref());
        self
    }

    /// Sets the JSON Schema of its structured content, as JSON text.
    #[must_use]
    pub fn output_schema(mut self, json: impl AsRef<str>) -> Tool {
        self.object = self.object.raw("outputSchema", json.as_ref());
        self
    }

    /// Takes the schema of its arguments from a type.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn input<T: schemars::JsonSchema>(self) -> Tool {
        self.input_schema(schema::<T>())
    }

    /// Takes the schema of its structured content from a type.
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn output<T: schemars::JsonSchema>(self) -> Tool {
        self.output_schema(schema::<T>())
    }
}

#[cfg(feature = "schemars")]
fn schema<T: schemars::JsonSchema>() -> String {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    // 2020-12 is the protocol's default, and a tool has a name of its own.
    schema.remove("$schema");
    schema.remove("title");
    schema.as_value().to_string()
}

impl From<Tool> for String {
    fn from(tool: Tool) -> String {
        tool.object.close()
    }
}

/// A prompt's definition.
#[derive(Clone, Debug)]
pub struct Prompt {
    object: Object,
    arguments: Vec<String>,
}

shared!(Prompt:
    title => "title", "Sets the display name.";
    description => "description", "Says what it is for.";
);

impl Prompt {
    /// A prompt of that name: 1 to 128 of `A-Z a-z 0-9 _ - .`.
    pub fn new(name: impl AsRef<str>) -> Prompt {
        Prompt { object: Object::new("name", name.as_ref()), arguments: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, name: &str, description: &str, required: bool) -> Prompt {
        let object = Object::new("name", name).text("description", description);
        self.arguments.push(object.raw("required", if required { "true" } else { "false" }).close());
        self
    }
}

impl From<Prompt> for String {
    fn from(prompt: Prompt) -> String {
        match prompt.arguments.as_slice() {
            [] => prompt.object.close(),
            arguments => prompt.object.raw("arguments", &format!("[{}]", arguments.join(","))).close(),
        }
    }
}

/// A resource's definition.
#[derive(Clone, Debug)]
pub struct Resource {
    object: Object,
}

shared!(Resource:
    title => "title", "Sets the display name.";
    description => "description", "Says what it holds.";
    mime_type => "mimeType", "Sets the MIME type, which reads carry too.";
);

impl Resource {
    /// A resource at that absolute URI.
    pub fn new(uri: impl AsRef<str>, name: impl AsRef<str>) -> Resource {
        Resource { object: Object::new("uri", uri.as_ref()).text("name", name.as_ref()) }
    }
}

impl From<Resource> for String {
    fn from(resource: Resource) -> String {
        resource.object.close()
    }
}

/// A resource template's definition.
#[derive(Clone, Debug)]
pub struct ResourceTemplate {
    object: Object,
}

shared!(ResourceTemplate:
    title => "title", "Sets the display name.";
    description => "description", "Says what the resources hold.";
    mime_type => "mimeType", "Sets the MIME type of all its resources, which reads carry too.";
);

impl ResourceTemplate {
    /// A template such as `weather://{city}` (RFC 6570).
    pub fn new(uri_template: impl AsRef<str>, name: impl AsRef<str>) -> ResourceTemplate {
        ResourceTemplate { object: Object::new("uriTemplate", uri_template.as_ref()).text("name", name.as_ref()) }
    }
}

impl From<ResourceTemplate> for String {
    fn from(template: ResourceTemplate) -> String {
        template.object.close()
    }
}
