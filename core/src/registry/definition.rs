//! A definition as its author gave it: JSON members, to the letter, in one order for all languages.

use crate::protocol::Features;
use crate::protocol::json::{self, Kind, Members};

/// Members come out in this order, unknown ones after them as given.
const ORDER: [&str; 15] = [
    "uri",
    "uriTemplate",
    "name",
    "title",
    "description",
    "mimeType",
    "size",
    "icons",
    "arguments",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "_meta",
    "",
];

/// The JSON members of a tool, prompt, resource or template.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    members: Vec<(String, String)>,
}

impl Definition {
    /// Takes a JSON object apart; white space outside strings is dropped, all else stays to the letter.
    pub fn parse(text: &str) -> Result<Definition, String> {
        // RawValue trusts its input to be JSON, so the whole text is checked first.
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(text).map_err(|error| format!("the definition is not JSON: {error}"))?;
        let members = Members::parse(raw.get()).map_err(|_| "the definition must be a JSON object".to_owned())?;
        let mut members: Vec<(String, String)> =
            members.0.into_iter().map(|(key, value)| (key.into_owned(), json::minify(value).into_owned())).collect();
        let place = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
        members.sort_by_key(|(key, _)| place(key));
        Ok(Definition { members })
    }

    /// Raw value of a member.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// A member that must be a string, if present.
    pub fn string(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key)
            .map(|raw| {
                json::unescape(raw).map(std::borrow::Cow::into_owned).ok_or_else(|| format!("{key} must be a string"))
            })
            .transpose()
    }

    /// Adds a member where it belongs, if it is not there.
    pub fn set_default(&mut self, key: &str, value: &str) {
        if self.get(key).is_none() {
            let place = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
            let at = self.members.partition_point(|(name, _)| place(name) <= place(key));
            self.members.insert(at, (key.to_owned(), value.to_owned()));
        }
    }

    /// Checks what all definitions share.
    pub fn check_common(&self) -> Result<(), String> {
        for key in ["title", "description", "mimeType"] {
            self.string(key)?;
        }
        for (key, kind, what) in [
            ("annotations", Kind::Object, "an object"),
            ("_meta", Kind::Object, "an object"),
            ("icons", Kind::Array, "an array"),
        ] {
            if self.get(key).is_some_and(|raw| json::kind(raw) != kind) {
                return Err(format!("{key} must be {what}"));
            }
        }
        Ok(())
    }

    /// Appends the definition as a revision knows it; `keep` decides on members beyond the common ones.
    pub fn write(&self, features: &Features, out: &mut String, keep: impl Fn(&str, &str) -> bool) {
        out.push('{');
        let mut first = true;
        for (key, value) in &self.members {
            let known = match key.as_str() {
                "title" | "_meta" => features.structured,
                "icons" | "execution" => features.icons,
                key => keep(key, value),
            };
            if !known {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            json::write_string(out, key);
            out.push(':');
            if key == "arguments" && !features.structured {
                write_untitled(value, out);
            } else {
                out.push_str(value);
            }
        }
        out.push('}');
    }
}

/// Prompt arguments without the `title` that older revisions do not know.
fn write_untitled(arguments: &str, out: &mut String) {
    out.push('[');
    for (index, argument) in json::elements(arguments).unwrap_or_default().into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let Ok(members) = Members::parse(argument) else { continue };
        out.push('{');
        for (index, (key, value)) in members.0.iter().filter(|(key, _)| key != "title").enumerate() {
            if index > 0 {
                out.push(',');
            }
            json::write_string(out, key);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
    }
    out.push(']');
}
