//! Content for revisions older than the kinds of content in it.

use crate::protocol::Features;
use crate::protocol::json::{self, Kind, Members};

/// Appends `content` of a tool result or `messages` of a prompt with what the revision does not know turned into text.
pub(in crate::engine) fn write(features: &Features, list: &str, out: &mut String) {
    let Some(elements) = Some(list).filter(|raw| json::kind(raw) == Kind::Array).and_then(json::elements) else {
        out.push_str(list);
        return;
    };
    out.push('[');
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_block(features, element, out);
    }
    out.push(']');
}

fn write_block(features: &Features, block: &str, out: &mut String) {
    let Ok(members) = Members::parse(block) else {
        out.push_str(block);
        return;
    };
    let text = |key: &str| members.get(key).and_then(json::unescape).unwrap_or_default();
    let described = match text("type").as_ref() {
        "resource_link" if !features.structured => Some(format!("{}: {}", text("name"), text("uri"))),
        "audio" if !features.audio => Some(format!("[audio: {}]", text("mimeType"))),
        _ => None,
    };
    if let Some(described) = described {
        out.push_str("{\"type\":\"text\",\"text\":");
        json::write_string(out, &described);
        out.push('}');
        return;
    }
    out.push('{');
    let mut first = true;
    for (key, value) in &members.0 {
        if key == "_meta" || key == "icons" {
            continue;
        }
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        json::write_string(out, key);
        out.push(':');
        match key.as_ref() {
            // A prompt message holds one block.
            "content" => write_block(features, value, out),
            _ => out.push_str(&json::minify(value)),
        }
    }
    out.push('}');
}
