//! JSON Schema: what a tool takes and gives (`basic/index`, "JSON Schema Usage").

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

/// Longest schema, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 64;
/// Most objects and arrays in a schema, which bounds its subschemas.
const MAX_NODES: usize = 10_000;
/// Violations told of one instance.
const MAX_VIOLATIONS: usize = 8;
/// Longest text of a violation, in characters.
const MAX_TEXT: usize = 200;

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A tool's arguments: the root type is `object`.
    Input,
    /// A tool's structured content.
    Output,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {reason}")]
pub(crate) struct SchemaError {
    /// JSON pointer to the fault.
    pub path: String,
    pub reason: String,
}

/// Where an instance breaks its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// JSON pointer into the instance.
    pub path: String,
    pub message: String,
}

/// A compiled schema.
pub(crate) struct Schema {
    /// `None`: any JSON object is right, and the engine has checked that it is one.
    validator: Option<Validator>,
}

fn error(path: impl Into<String>, reason: impl Into<String>) -> SchemaError {
    SchemaError { path: path.into(), reason: reason.into() }
}

impl Schema {
    /// Compiles a schema. Nothing is ever fetched: a reference out of the document is refused.
    pub fn compile(raw: &str, role: Role) -> Result<Schema, SchemaError> {
        if raw.len() > MAX_BYTES {
            return Err(error("", format!("the schema is longer than {MAX_BYTES} bytes")));
        }
        if crate::protocol::json::depth_exceeds(raw, MAX_DEPTH) {
            return Err(error("", format!("the schema nests deeper than {MAX_DEPTH}")));
        }
        let schema: Value = serde_json::from_str(raw).map_err(|fault| error("", format!("not JSON: {fault}")))?;
        let Some(root) = schema.as_object() else { return Err(error("", "a schema must be a JSON object")) };
        if role == Role::Input && root.get("type").and_then(Value::as_str) != Some("object") {
            return Err(error("/type", "the schema of a tool's arguments must have \"type\": \"object\""));
        }
        let mut nodes = 0;
        survey(&schema, "", &mut nodes)?;
        let annotations = ["type", "title", "description", "$schema", "$comment"];
        let bare = root.iter().all(|(key, value)| {
            annotations.contains(&key.as_str())
                || (key == "properties" && value.as_object().is_some_and(|map| map.is_empty()))
        });
        if role == Role::Input && bare && dialect(root)? == Draft::Draft202012 {
            return Ok(Schema { validator: None });
        }
        let validator = jsonschema::options()
            .with_draft(dialect(root)?)
            .offline()
            // Linear time, whatever the pattern.
            .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
            .build(&schema)
            .map_err(|fault| error(fault.instance_path().to_string(), shortened(&fault.to_string())))?;
        Ok(Schema { validator: Some(validator) })
    }

    /// Checks an instance, given as JSON text.
    pub fn check(&self, instance: &str) -> Result<(), Vec<Violation>> {
        let Some(validator) = &self.validator else { return Ok(()) };
        let instance: Value = serde_json::from_str(instance)
            // A number that no double holds is as good as the largest one, for this check.
            .or_else(|_| serde_json::from_str(&clamp_numbers(instance)))
            .map_err(|fault| vec![Violation { path: String::new(), message: fault.to_string() }])?;
        if validator.is_valid(&instance) {
            return Ok(());
        }
        let violations = validator.iter_errors(&instance).take(MAX_VIOLATIONS);
        Err(violations
            .map(|fault| Violation { path: fault.instance_path().to_string(), message: shortened(&fault.to_string()) })
            .collect())
    }
}

fn dialect(root: &serde_json::Map<String, Value>) -> Result<Draft, SchemaError> {
    let Some(name) = root.get("$schema") else { return Ok(Draft::Draft202012) };
    let name = name.as_str().unwrap_or_default().trim_end_matches('#');
    match name.split_once("://").map_or(name, |(_, rest)| rest) {
        "json-schema.org/draft/2020-12/schema" => Ok(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Ok(Draft::Draft201909),
        "json-schema.org/draft-07/schema" => Ok(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Ok(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Ok(Draft::Draft4),
        _ => Err(error(
            "/$schema",
            "the dialect is not supported; use JSON Schema 2020-12, 2019-09, draft-07, -06 or -04",
        )),
    }
}

/// Counts nodes, and refuses references that lead out of the document.
fn survey(value: &Value, path: &str, nodes: &mut usize) -> Result<(), SchemaError> {
    *nodes += 1;
    if *nodes > MAX_NODES {
        return Err(error("", format!("the schema has more than {MAX_NODES} parts")));
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let place = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                if let ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) = (key.as_str(), member)
                    && !target.starts_with('#')
                    && target.contains(':')
                {
                    return Err(error(
                        place,
                        format!("'{}' leads out of the schema, and is never fetched; use $defs", shortened(target)),
                    ));
                }
                // Values that are data, not schemas.
                if !matches!(key.as_str(), "const" | "enum" | "default" | "examples") {
                    survey(member, &place, nodes)?;
                }
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                survey(element, &format!("{path}/{index}"), nodes)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A copy in which numbers beyond a double are the largest doubles.
fn clamp_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                out.push_str(&text[start..at]);
            }
            b'-' | b'0'..=b'9' => {
                while at < bytes.len() && matches!(bytes[at], b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
                    at += 1;
                }
                let number = &text[start..at];
                match number.parse::<f64>() {
                    Ok(value) if value.is_infinite() => {
                        out.push_str(if value > 0.0 { "1.7976931348623157e308" } else { "-1.7976931348623157e308" })
                    }
                    _ => out.push_str(number),
                }
            }
            _ => {
                while at < bytes.len() && !matches!(bytes[at], b'"' | b'-' | b'0'..=b'9') {
                    at += 1;
                }
                out.push_str(&text[start..at]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(raw: &str) -> Result<Schema, SchemaError> {
        Schema::compile(raw, Role::Input)
    }

    #[test]
    fn violations_name_the_path() {
        let schema = input(r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"type":"string"}}},"required":["a"]}"#).unwrap();
        assert!(schema.check(r#"{"a":1,"b":["x"]}"#).is_ok());
        let violations = schema.check(r#"{"a":"ten","b":["x",2]}"#).unwrap_err();
        let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
        assert!(paths.contains(&"/a") && paths.contains(&"/b/1"), "{paths:?}");
        assert!(schema.check("{}").unwrap_err()[0].message.contains('a'));
    }

    #[test]
    fn integers_of_any_size_and_spelling() {
        let schema = input(r#"{"type":"object","properties":{"a":{"type":"integer"},"n":{"type":"number"}}}"#).unwrap();
        for good in [
            "1",
            "1.0",
            "1e2",
            "9223372036854775807",
            "18446744073709551616",
            "1234567890123456789012345678901234567890",
        ] {
            assert!(schema.check(&format!("{{\"a\":{good}}}")).is_ok(), "{good}");
        }
        assert!(schema.check("{\"a\":1.5}").is_err());
        assert!(
            schema.check("{\"n\":1e400}").is_ok() && schema.check("{\"n\":-1e400,\"s\":\"1e999 \\\" 1e999\"}").is_ok()
        );
    }

    #[test]
    fn faults_are_refused_with_their_place() {
        let cases = [
            ("[]", ""),
            ("{}", "/type"),
            (r#"{"type":"array"}"#, "/type"),
            (r#"{"type":"object","$schema":"https://example.com/x"}"#, "/$schema"),
            (r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}"#, "/properties/a/$ref"),
            (r#"{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}"#, "/properties/a/$ref"),
            (r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#, "/properties/a/type"),
        ];
        for (raw, path) in cases {
            assert_eq!(input(raw).err().map(|fault| fault.path).as_deref(), Some(path), "{raw}");
        }
        assert!(input(r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#).is_err());
        let deep = format!("{}{}{}", r#"{"type":"object","not":"#.repeat(70), "{}", "}".repeat(70));
        assert!(input(&deep).is_err());
        assert!(
            input(r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}"##)
                .is_ok()
        );
        assert!(Schema::compile(r#"{"type":"array"}"#, Role::Output).is_ok());
        assert!(input(r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}"#).is_ok());
    }
}
