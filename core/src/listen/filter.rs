//! The notification filter of a listen request, and the subset that a server honours.

use crate::protocol::ErrorObject;
use crate::protocol::json::{self, Kind, Members};

use super::ListKind;

/// What a transport of this server can announce. `server/discover`, `initialize` and the acknowledgement all follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Honoured {
    lists: u8,
    pub resource_updates: bool,
}

impl Honoured {
    /// Everything except what is `withheld`.
    pub fn all_but(withheld: &[ListKind]) -> Honoured {
        let lists =
            ListKind::ALL.into_iter().filter(|kind| !withheld.contains(kind)).fold(0, |bits, kind| bits | kind.bit());
        Honoured { lists, resource_updates: !withheld.contains(&ListKind::Resources) }
    }

    pub fn list(self, kind: ListKind) -> bool {
        self.lists & kind.bit() != 0
    }
}

/// What a client asked to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    lists: u8,
    pub uris: Vec<String>,
}

const FIELDS: [(ListKind, &str); 3] = [
    (ListKind::Tools, "toolsListChanged"),
    (ListKind::Prompts, "promptsListChanged"),
    (ListKind::Resources, "resourcesListChanged"),
];

impl Filter {
    /// Reads `params.notifications`; unknown fields are ignored, a URI named twice counts once.
    pub fn parse(raw: Option<&str>, max_uris: usize) -> Result<Filter, ErrorObject> {
        let members = raw.and_then(|raw| Members::parse(raw).ok()).ok_or_else(|| {
            ErrorObject::invalid_params("params.notifications must be an object: the filter of a listen")
        })?;
        let mut filter = Filter::default();
        for (kind, field) in FIELDS {
            match members.get(field) {
                None | Some("false") => {}
                Some("true") => filter.lists |= kind.bit(),
                Some(_) => {
                    return Err(ErrorObject::invalid_params(format!(
                        "params.notifications.{field} must be true or false"
                    )));
                }
            }
        }
        if let Some(raw) = members.get("resourceSubscriptions") {
            filter.uris = uris(raw, max_uris)?;
        }
        Ok(filter)
    }

    /// Every list, and no resource: what a handshake connection hears by itself.
    pub fn all_lists() -> Filter {
        Filter { lists: ListKind::ALL.into_iter().fold(0, |bits, kind| bits | kind.bit()), uris: Vec::new() }
    }

    /// The part of this filter that is honoured.
    pub fn honoured(mut self, by: Honoured) -> Filter {
        self.lists &= by.lists;
        if !by.resource_updates {
            self.uris.clear();
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.lists == 0 && self.uris.is_empty()
    }

    pub fn list(&self, kind: ListKind) -> bool {
        self.lists & kind.bit() != 0
    }

    /// The filter as JSON, for the acknowledgement.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        for (kind, field) in FIELDS {
            if self.list(kind) {
                separate(&mut out);
                out.push('"');
                out.push_str(field);
                out.push_str("\":true");
            }
        }
        if !self.uris.is_empty() {
            separate(&mut out);
            out.push_str("\"resourceSubscriptions\":[");
            for (index, uri) in self.uris.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json::write_string(&mut out, uri);
            }
            out.push(']');
        }
        out.push('}');
        out
    }
}

fn separate(out: &mut String) {
    if out.len() > 1 {
        out.push(',');
    }
}

fn uris(raw: &str, max: usize) -> Result<Vec<String>, ErrorObject> {
    let wrong = || {
        ErrorObject::invalid_params(
            "params.notifications.resourceSubscriptions must be an array of non-empty URI strings",
        )
    };
    if json::kind(raw) != Kind::Array {
        return Err(wrong());
    }
    let elements = json::elements(raw).ok_or_else(wrong)?;
    let mut seen = std::collections::HashSet::new();
    let mut uris = Vec::new();
    for element in elements {
        let uri = json::unescape(element).filter(|uri| !uri.is_empty()).ok_or_else(wrong)?;
        if seen.insert(uri.clone()) {
            uris.push(uri.into_owned());
        }
        if uris.len() > max {
            return Err(ErrorObject::invalid_params(format!(
                "params.notifications.resourceSubscriptions names more than {max} URIs, the bound of this server \
                 (max_uris_per_subscription)"
            )));
        }
    }
    Ok(uris)
}
