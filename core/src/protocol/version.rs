//! The one table of protocol revisions: what each has, and which a server allows.

use std::sync::Arc;

/// How a revision carries version, identity and capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Agreed once, by `initialize`.
    Handshake,
    /// Said anew in every request's `_meta`.
    Modern,
}

/// What a revision has that others lack. Code asks these, never a version's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Handshake or modern.
    pub era: Era,
    /// JSON-RPC batches are allowed.
    pub batches: bool,
    /// An error for a message without readable id carries `"id":null`.
    pub null_error_id: bool,
    /// The `completions` capability is declared.
    pub completions_capability: bool,
    /// `audio` content and tool annotations.
    pub audio: bool,
    /// `title`, `resource_link`, `structuredContent`, `outputSchema`, `_meta` on definitions.
    pub structured: bool,
    /// `elicitation/create`.
    pub elicitation: bool,
    /// Icons, website addresses, and the `mode` of an elicitation.
    pub icons: bool,
    /// Structured content may be any JSON value, an output schema any schema.
    pub any_structured: bool,
}

const V2024_11_05: Features = Features {
    era: Era::Handshake,
    batches: false,
    null_error_id: true,
    completions_capability: false,
    audio: false,
    structured: false,
    elicitation: false,
    icons: false,
    any_structured: false,
};
const V2025_03_26: Features = Features { batches: true, completions_capability: true, audio: true, ..V2024_11_05 };
const V2025_06_18: Features = Features { batches: false, structured: true, elicitation: true, ..V2025_03_26 };
const V2025_11_25: Features = Features { null_error_id: false, icons: true, ..V2025_06_18 };
const V2026_07_28: Features = Features { era: Era::Modern, any_structured: true, ..V2025_11_25 };

/// Newest first.
const TABLE: [(&str, Features); 5] = [
    ("2026-07-28", V2026_07_28),
    ("2025-11-25", V2025_11_25),
    ("2025-06-18", V2025_06_18),
    ("2025-03-26", V2025_03_26),
    ("2024-11-05", V2024_11_05),
];

/// Assumed where a handshake request names no version and there is no session (basic/transports of 2025-06-18).
const DEFAULT_HANDSHAKE: &str = "2025-03-26";

/// One protocol version and what it has.
#[derive(Debug, PartialEq, Eq)]
pub struct Revision {
    /// Its name on the wire, such as `2026-07-28`.
    pub name: String,
    /// What it has.
    pub features: Features,
}

impl Revision {
    /// Whether requests of this revision carry their own `_meta`.
    pub fn is_modern(&self) -> bool {
        self.features.era == Era::Modern
    }
}

/// Why a list of allowed versions cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildVersionsError {
    /// A name that is neither in the table nor registered.
    #[error("protocol version '{name}' is unknown; known versions: {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names that would do, comma-separated.
        known: String,
    },
    /// Nothing is allowed.
    #[error("the list of protocol versions is empty; name at least one of: {0}")]
    Empty(String),
    /// Handshake clients would be shut out by accident.
    #[error(
        "the protocol versions {0} leave no handshake version, so clients that send 'initialize' could not connect; \
         add one, or set modern_only"
    )]
    NoHandshake(String),
    /// `modern_only` contradicts the list.
    #[error("modern_only is set, but '{0}' is a handshake version; remove it from the list, or unset modern_only")]
    ModernOnly(String),
    /// An extension version is registered badly.
    #[error("{0}")]
    Extension(String),
}

/// The versions that one server allows, newest first.
#[derive(Debug, Clone)]
pub struct Versions {
    allowed: Vec<Arc<Revision>>,
    /// Serves handshake requests that name no version; also the shape of errors where there is no version at all.
    fallback: Arc<Revision>,
}

impl Versions {
    /// Builds the table of a server.
    ///
    /// `allow` is the allow-list (`None`: all); `extensions` are further versions, each with the known one it derives
    /// from, which rank as newer than all known ones of their era, the last registered first.
    ///
    /// # Errors
    /// A name is unknown, the list is empty, or no handshake version is left without `modern_only`.
    pub fn build(
        allow: Option<&[String]>,
        modern_only: bool,
        extensions: &[(String, String)],
    ) -> Result<Versions, BuildVersionsError> {
        let mut table: Vec<(String, Features)> =
            TABLE.iter().map(|(name, features)| ((*name).to_owned(), *features)).collect();
        for (name, base) in extensions {
            if name.is_empty() || table.iter().any(|(known, _)| known == name) {
                return Err(BuildVersionsError::Extension(format!(
                    "extension version '{name}' is empty or already known; choose another name"
                )));
            }
            let Some((_, features)) = table.iter().find(|(known, _)| known == base) else {
                return Err(unknown(base, &table));
            };
            table.insert(0, (name.clone(), *features));
        }
        let default: Vec<String>;
        let names = match allow {
            Some(names) => names,
            None => {
                default = table
                    .iter()
                    .filter(|(_, features)| !modern_only || features.era == Era::Modern)
                    .map(|(name, _)| name.clone())
                    .collect();
                &default
            }
        };
        if names.is_empty() {
            return Err(BuildVersionsError::Empty(join(&table)));
        }
        if let Some(name) = names.iter().find(|name| !table.iter().any(|(known, _)| known == *name)) {
            return Err(unknown(name, &table));
        }
        let allowed: Vec<Arc<Revision>> = table
            .into_iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(name, features)| Arc::new(Revision { name, features }))
            .collect();
        let handshake = allowed.iter().find(|revision| !revision.is_modern());
        let fallback = match handshake {
            None if !modern_only => return Err(BuildVersionsError::NoHandshake(names.join(", "))),
            Some(revision) if modern_only => return Err(BuildVersionsError::ModernOnly(revision.name.clone())),
            None => Arc::clone(&allowed[0]),
            Some(newest) => {
                Arc::clone(allowed.iter().find(|revision| revision.name == DEFAULT_HANDSHAKE).unwrap_or(newest))
            }
        };
        Ok(Versions { allowed, fallback })
    }

    /// The allowed version of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Revision>> {
        self.allowed.iter().find(|revision| revision.name == name)
    }

    /// Allowed versions, newest first.
    pub fn allowed(&self) -> &[Arc<Revision>] {
        &self.allowed
    }

    /// What `initialize` is answered with: the version asked for, or the newest allowed handshake version; `None` if
    /// the server allows none (`basic/lifecycle` of 2025-11-25, "Version Negotiation").
    pub fn negotiate(&self, requested: &str) -> Option<&Arc<Revision>> {
        let mut handshake = self.allowed.iter().filter(|revision| !revision.is_modern());
        let newest = handshake.clone().next();
        handshake.find(|revision| revision.name == requested).or(newest)
    }

    /// The newest allowed modern version.
    pub fn newest_modern(&self) -> Option<&Arc<Revision>> {
        self.allowed.iter().find(|revision| revision.is_modern())
    }

    /// The version of a handshake request that names none.
    pub fn fallback(&self) -> &Arc<Revision> {
        &self.fallback
    }

    /// Names of the allowed versions as a JSON array.
    pub(crate) fn names_json(&self) -> String {
        let mut out = String::from("[");
        for (index, revision) in self.allowed.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            super::json::write_string(&mut out, &revision.name);
        }
        out.push(']');
        out
    }
}

fn join(table: &[(String, Features)]) -> String {
    table.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}

fn unknown(name: &str, table: &[(String, Features)]) -> BuildVersionsError {
    BuildVersionsError::Unknown { name: name.to_owned(), known: join(table) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn all_versions_newest_first_by_default() {
        let versions = Versions::build(None, false, &[]).unwrap();
        assert_eq!(versions.names_json(), r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#);
        assert_eq!(versions.fallback().name, "2025-03-26");
        assert_eq!(versions.negotiate("2024-11-05").unwrap().name, "2024-11-05");
        assert_eq!(versions.negotiate("2026-07-28").unwrap().name, "2025-11-25");
    }

    #[test]
    fn an_allow_list_orders_and_restricts() {
        let versions = Versions::build(Some(&names(&["2025-06-18", "2025-11-25"])), false, &[]).unwrap();
        assert_eq!(versions.names_json(), r#"["2025-11-25","2025-06-18"]"#);
        assert_eq!(versions.fallback().name, "2025-11-25");
        assert!(versions.get("2026-07-28").is_none());
    }

    #[test]
    fn lists_that_cannot_serve_are_refused() {
        let unknown = Versions::build(Some(&names(&["1999-01-01"])), false, &[]).unwrap_err();
        assert!(unknown.to_string().contains("1999-01-01") && unknown.to_string().contains("2025-11-25"));
        assert!(matches!(Versions::build(Some(&[]), false, &[]), Err(BuildVersionsError::Empty(_))));
        let modern = names(&["2026-07-28"]);
        assert!(matches!(Versions::build(Some(&modern), false, &[]), Err(BuildVersionsError::NoHandshake(_))));
        assert!(Versions::build(Some(&modern), true, &[]).is_ok());
        let mixed = names(&["2026-07-28", "2025-11-25"]);
        assert!(matches!(Versions::build(Some(&mixed), true, &[]), Err(BuildVersionsError::ModernOnly(_))));
    }

    #[test]
    fn an_extension_version_derives_from_a_known_one() {
        let extension = [("x-2027-test".to_owned(), "2026-07-28".to_owned())];
        let versions = Versions::build(None, false, &extension).unwrap();
        assert!(versions.get("x-2027-test").unwrap().is_modern());
        assert_eq!(versions.allowed()[0].name, "x-2027-test");
        let listed = Versions::build(Some(&names(&["2025-11-25"])), false, &extension).unwrap();
        assert!(listed.get("x-2027-test").is_none());
    }
}
