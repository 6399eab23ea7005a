//! A walk over a schema before it is compiled: its size, its dialects, and where its references lead.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ReferencingError, ValidationError};
use serde_json::Value;

use super::{SchemaError, error, message, shortened};

/// Most subschemas of a schema.
const MAX_PARTS: usize = 10_000;
/// The dialect that a `$schema` names, if we know it.
pub(super) fn dialect(name: &Value) -> Option<Draft> {
    let name = name.as_str()?;
    let name = name.strip_suffix('#').unwrap_or(name);
    match name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))? {
        "json-schema.org/draft/2020-12/schema" => Some(Draft::Draft202012),
        "json-schema.org/draft/2019-09/schema" => Some(Draft::Draft201909),
        "json-schema.org/draft-07/schema" => Some(Draft::Draft7),
        "json-schema.org/draft-06/schema" => Some(Draft::Draft6),
        "json-schema.org/draft-04/schema" => Some(Draft::Draft4),
        _ => None,
    }
}

/// What stands at a place of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Schema,
    /// An object whose keys are names of the author's, not keywords: a property may be called `$ref`.
    Names,
}

/// What a walk over a schema finds.
#[derive(Default)]
pub(super) struct Survey<'a> {
    parts: usize,
    /// Has `anyOf` or `oneOf`.
    pub branches: bool,
    /// Does any part have a URI of its own, to which a reference may lead?
    has_ids: bool,
    /// References and where they stand.
    refs: Vec<(String, &'a str)>,
}

impl<'a> Survey<'a> {
    /// Walks over a schema; refuses one that is too large, of an unknown dialect, or that leads out of itself.
    pub fn of(schema: &'a Value) -> Result<Survey<'a>, SchemaError> {
        let mut survey = Survey::default();
        survey.visit(schema, "", Position::Schema)?;
        survey.check_refs()?;
        Ok(survey)
    }

    fn visit(&mut self, value: &'a Value, path: &str, position: Position) -> Result<(), SchemaError> {
        match value {
            Value::Object(members) => {
                self.count()?;
                for (key, member) in members {
                    let place = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                    match position {
                        Position::Names => self.visit(member, &place, Position::Schema)?,
                        Position::Schema => self.keyword(key, member, place)?,
                    }
                }
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.visit(element, &format!("{path}/{index}"), Position::Schema)?;
                }
            }
            // A schema that is always or never right.
            Value::Bool(_) => self.count()?,
            _ => {}
        }
        Ok(())
    }

    fn keyword(&mut self, key: &str, member: &'a Value, place: String) -> Result<(), SchemaError> {
        match (key, member) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => self.refs.push((place, target)),
            ("$id" | "id", Value::String(_)) => self.has_ids = true,
            ("$schema", _) if dialect(member).is_none() => {
                let reason = "the dialect is not supported; use JSON Schema 2020-12, 2019-09, draft-07, -06 or -04";
                return Err(error(place, reason));
            }
            // Data, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies", _) => {
                self.visit(member, &place, Position::Names)?;
            }
            _ => {
                self.branches |= matches!(key, "anyOf" | "oneOf");
                self.visit(member, &place, Position::Schema)?;
            }
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), SchemaError> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(error("", format!("the schema has more than {MAX_PARTS} subschemas")));
        }
        Ok(())
    }

    /// Refuses references that must lead out of the document. (The library knows the metaschemas, clients need not.)
    fn check_refs(&self) -> Result<(), SchemaError> {
        let leads_out = |target: &str| match document(target) {
            "" => false,
            uri => !self.has_ids || dialect(&Value::from(uri)).is_some(),
        };
        match self.refs.iter().find(|(_, target)| leads_out(target)) {
            None => Ok(()),
            Some((place, target)) => Err(outside(place, target)),
        }
    }

    /// Where and why a schema does not compile.
    pub fn explain(&self, fault: &ValidationError<'_>) -> SchemaError {
        let ValidationErrorKind::Referencing(reason) = fault.kind() else {
            return error(fault.instance_path().to_string(), message(fault));
        };
        // The library resolves references without telling where they stand.
        let find = |fits: &dyn Fn(&str) -> bool| self.refs.iter().find(|(_, target)| fits(target));
        let found = match reason {
            ReferencingError::Unretrievable { uri, .. } => {
                let uri = document(uri);
                let found = find(&|target| !document(target).is_empty() && uri.ends_with(document(target)));
                return match found.or_else(|| find(&|target| !target.starts_with('#'))) {
                    Some((place, target)) => outside(place, target),
                    None => error("", shortened(&reason.to_string())),
                };
            }
            ReferencingError::PointerToNowhere { pointer } => find(&|target| target.ends_with(pointer.as_str())),
            ReferencingError::NoSuchAnchor { anchor } | ReferencingError::InvalidAnchor { anchor } => {
                find(&|target| target.ends_with(anchor.as_str()))
            }
            _ => None,
        };
        match found {
            Some((place, target)) => error(place, format!("'{}' leads nowhere in the schema", shortened(target))),
            None => error("", shortened(&reason.to_string())),
        }
    }
}

/// A reference without its fragment; empty for one within its own document.
fn document(target: &str) -> &str {
    target.split('#').next().unwrap_or_default()
}

fn outside(place: &str, target: &str) -> SchemaError {
    error(place, format!("'{}' leads out of the schema, and is never fetched; use $defs", shortened(target)))
}

#[cfg(test)]
mod tests {
    use super::super::{Role, Schema};

    #[test]
    fn references_stay_within() {
        for good in [
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}"##,
            r##"{"type":"object","properties":{"a":{"$ref":"#x"}},"$defs":{"x":{"$anchor":"x"}}}"##,
            r##"{"$id":"https://e.com/r","type":"object","properties":{"a":{"$ref":"https://e.com/r#/$defs/x"}},"$defs":{"x":{}}}"##,
            r##"{"$id":"https://e.com/r","type":"object","properties":{"a":{"$ref":"x"}},"$defs":{"x":{"$id":"x"}}}"##,
            r##"{"type":"object","properties":{"$ref":{"type":"string"}}}"##,
            r##"{"type":"object","properties":{"a":{"enum":[{"$ref":"https://e.com/x"}]}}}"##,
            r##"{"type":"object","$ref":"#"}"##,
        ] {
            assert!(Schema::compile(good, Role::Input).is_ok(), "{good}");
        }
        for target in [
            "https://e.com/x",
            "file:///etc/passwd",
            "x.json",
            "//e.com/x",
            "#/$defs/no",
            "#no",
            "https://json-schema.org/draft/2020-12/schema",
        ] {
            for id in ["", r#""$id":"https://e.com/root","#] {
                for key in ["$ref", "$dynamicRef"] {
                    let raw = format!(r#"{{{id}"type":"object","properties":{{"const":{{"{key}":"{target}"}}}}}}"#);
                    let fault = Schema::compile(&raw, Role::Input).err().map(|fault| fault.path);
                    assert_eq!(fault, Some(format!("/properties/const/{key}")), "{raw}");
                }
            }
        }
    }

    #[test]
    fn only_subschemas_count() {
        let named = |count: usize, part: &str| {
            let parts: Vec<String> = (0..count).map(|n| format!(r#""p{n}":{part}"#)).collect();
            Schema::compile(&format!(r#"{{"type":"object","properties":{{{}}}}}"#, parts.join(",")), Role::Input)
        };
        assert!(named(4000, r#"{"type":"string","title":"T","description":"D"}"#).is_ok());
        assert!(named(10_001, "true").is_err());
        let values = (0..20_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        assert!(named(1, &format!(r#"{{"enum":[{values}]}}"#)).is_ok());
    }
}
