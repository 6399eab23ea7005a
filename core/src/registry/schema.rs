//! JSON Schema: what a tool takes and gives (`basic/index`, "JSON Schema Usage").

mod survey;

use std::fmt::{self, Write};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use survey::{Survey, dialect};

/// Longest schema, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 64;
/// Most memory of one compiled pattern.
const MAX_PATTERN: usize = 4 << 20;
/// Most steps back in a pattern that looks around (others are matched in linear time).
const MAX_BACKTRACKS: usize = 50_000;
/// Violations told of one instance.
const MAX_VIOLATIONS: usize = 8;
/// Most values of an instance of which every violation is collected: the library keeps them all in memory.
const MAX_VALUES: usize = 10_000;
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
#[error("#{path}: {reason}")]
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
    /// Has `anyOf` or `oneOf`, whose violations are those of every branch.
    branches: bool,
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
        let survey = Survey::of(&schema)?;
        let draft = root.get("$schema").map_or(Some(Draft::Draft202012), dialect).unwrap_or_default();
        let bare = |(key, value): (&String, &Value)| match key.as_str() {
            "type" | "$schema" => true,
            "title" | "description" | "$comment" => value.is_string(),
            "properties" => value.as_object().is_some_and(Map::is_empty),
            _ => false,
        };
        if role == Role::Input && root.iter().all(bare) {
            return Ok(Schema { validator: None, branches: false });
        }
        let validator = build(&schema, draft).map_err(|fault| survey.explain(&fault))?;
        Ok(Schema { validator: Some(validator), branches: survey.branches })
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
        let describe = |fault: ValidationError<'_>| Violation {
            path: shortened(&fault.instance_path().to_string()),
            message: message(&fault),
        };
        if values(&instance) <= MAX_VALUES {
            return Err(validator.iter_errors(&instance).take(MAX_VIOLATIONS).map(describe).collect());
        }
        if self.branches {
            let message = format!("does not match the schema (where is not told beyond {MAX_VALUES} values)");
            return Err(vec![Violation { path: String::new(), message }]);
        }
        Err(validator.validate(&instance).err().map(describe).into_iter().collect())
    }
}

/// Builds a validator that fetches nothing.
fn build(schema: &Value, draft: Draft) -> Result<Validator, ValidationError<'static>> {
    let options = || jsonschema::options().with_draft(draft).offline();
    let linear = PatternOptions::regex().size_limit(MAX_PATTERN);
    options().with_pattern_options(linear).build(schema).or_else(|fault| {
        // Linear time whatever the pattern, if it can be had; patterns that look around (the one zod writes for e-mail
        // addresses does) need the other engine, which gives up after a bounded number of steps.
        if !matches!(fault.kind(), ValidationErrorKind::Format { format } if format == "regex") {
            return Err(fault);
        }
        let bounded = PatternOptions::fancy_regex().size_limit(MAX_PATTERN).backtrack_limit(MAX_BACKTRACKS);
        options().with_pattern_options(bounded).build(schema)
    })
}

/// How many values an instance holds, itself included.
fn values(instance: &Value) -> usize {
    match instance {
        Value::Array(elements) => 1 + elements.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

/// The text of a violation: with the value, or where that is long, without it.
fn message(fault: &ValidationError<'_>) -> String {
    bounded(&format_args!("{fault}")).unwrap_or_else(|_| match bounded(&fault.masked()) {
        Ok(text) => text,
        Err(text) => format!("{text}…"),
    })
}

fn shortened(text: &str) -> String {
    bounded(&text).unwrap_or_else(|text| format!("{text}…"))
}

/// At most [`MAX_TEXT`] characters; what did not fit is never written at all.
fn bounded(text: &dyn fmt::Display) -> Result<String, String> {
    struct Bounded(String, usize);
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for c in text.chars() {
                self.1 = self.1.checked_sub(1).ok_or(fmt::Error)?;
                self.0.push(c);
            }
            Ok(())
        }
    }
    let mut out = Bounded(String::new(), MAX_TEXT);
    match write!(out, "{text}") {
        Ok(()) => Ok(out.0),
        Err(_) => Err(out.0),
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
        assert_eq!(violations[0].message, "\"ten\" is not of type \"integer\"");
        let long = schema.check(&format!(r#"{{"a":"{}"}}"#, "x".repeat(1000))).unwrap_err();
        assert_eq!(long[0].message, "value is not of type \"integer\"");
        let many = schema.check(&format!(r#"{{"a":1,"b":[{}1]}}"#, "1,".repeat(100))).unwrap_err();
        assert_eq!(many.len(), MAX_VIOLATIONS);
    }

    #[test]
    fn violations_of_large_instances_are_not_collected() {
        let large = format!(r#"{{"b":[{}1]}}"#, "1,".repeat(MAX_VALUES));
        let schema = input(r#"{"type":"object","properties":{"b":{"items":{"type":"string"}}}}"#).unwrap();
        let violations = schema.check(&large).unwrap_err();
        assert_eq!((violations.len(), violations[0].path.as_str()), (1, "/b/0"));
        let branches =
            r#"{"type":"object","properties":{"b":{"anyOf":[{"items":{"type":"string"}},{"type":"null"}]}}}"#;
        assert_eq!(input(branches).unwrap().check(&large).unwrap_err().len(), 1);
    }

    #[test]
    fn patterns_may_look_around_and_take_no_time() {
        let email = r#"{"type":"object","properties":{"a":{"pattern":"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"}}}"#;
        let email = input(email).unwrap();
        assert!(
            email.check(r#"{"a":"me@example.com"}"#).is_ok() && email.check(r#"{"a":"m..e@example.com"}"#).is_err()
        );
        for pattern in ["^(a+)+$", "^(?!b)(a+)+$"] {
            let schema =
                input(&format!(r#"{{"type":"object","properties":{{"a":{{"pattern":"{pattern}"}}}}}}"#)).unwrap();
            assert!(schema.check(&format!(r#"{{"a":"{}!"}}"#, "a".repeat(10_000))).is_err());
        }
    }

    #[test]
    fn a_bare_schema_is_not_checked_again() {
        for raw in [r#"{"type":"object"}"#, r#"{"type":"object","title":"T","properties":{}}"#] {
            assert!(input(raw).unwrap().validator.is_none());
        }
        assert!(input(r#"{"type":"object","required":["a"]}"#).unwrap().validator.is_some());
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
            (r#"{"type":"object","$schema":7}"#, "/$schema"),
            (r#"{"type":"object","properties":{"a":{"$schema":"https://e.com/x"}}}"#, "/properties/a/$schema"),
            (r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#, "/properties/a/pattern"),
            (r#"{"type":"object","title":5}"#, "/title"),
            (r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#, "/properties/a/type"),
        ];
        for (raw, path) in cases {
            assert_eq!(input(raw).err().map(|fault| fault.path).as_deref(), Some(path), "{raw}");
        }
        let deep = format!("{}{}{}", r#"{"type":"object","not":"#.repeat(70), "{}", "}".repeat(70));
        assert!(input(&deep).is_err());
        assert!(Schema::compile(r#"{"type":"array"}"#, Role::Output).is_ok());
        assert!(input(r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#"}"#).is_ok());
    }
}
