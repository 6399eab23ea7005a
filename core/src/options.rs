//! A server's settings: who it is, what it allows, and every bound with its default.

use std::time::Duration;

use crate::listen::ListKind;
use crate::protocol::json::{self, Kind};
use crate::protocol::{BuildVersionsError, Features, Versions};

/// Who may share a cached result (`server/utilities/caching`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheScope {
    /// Only the caller.
    Private,
    /// Anybody.
    Public,
}

impl CacheScope {
    pub(crate) fn name(self) -> &'static str {
        match self {
            CacheScope::Private => "private",
            CacheScope::Public => "public",
        }
    }
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The protocol versions do not fit together.
    #[error(transparent)]
    Versions(#[from] BuildVersionsError),
    /// An option has a value that cannot be used.
    #[error("{option} {reason}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// The system gives no random key for `requestState`.
    #[error("no random key could be made: {0}")]
    Random(String),
}

/// Settings of a server. Every field may be set; the defaults are those of [`Options::new`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Name in `serverInfo`.
    pub name: String,
    /// Version in `serverInfo`.
    pub version: String,
    /// Display name in `serverInfo`.
    pub title: Option<String>,
    /// Description in `serverInfo`, from 2025-11-25 on.
    pub description: Option<String>,
    /// Website in `serverInfo`, from 2025-11-25 on.
    pub website_url: Option<String>,
    /// Icons in `serverInfo` as a JSON array, from 2025-11-25 on.
    pub icons: Option<String>,
    /// How to use this server, for a model.
    pub instructions: Option<String>,
    /// Allowed protocol versions; `None`: all.
    pub protocol_versions: Option<Vec<String>>,
    /// Accepts that handshake clients are shut out.
    pub modern_only: bool,
    /// Further versions, each with the known one whose rules it has.
    pub extension_versions: Vec<(String, String)>,
    /// Lists whose `listChanged` (for resources: `subscribe` too) is not declared.
    pub withheld: Vec<ListKind>,
    /// `capabilities.extensions` as a JSON object.
    pub extensions: Option<String>,
    /// `capabilities.experimental` as a JSON object.
    pub experimental: Option<String>,
    /// `ttlMs` of cacheable results, in milliseconds. Default 0.
    pub ttl_ms: u64,
    /// `cacheScope` of cacheable results. Default private.
    pub cache_scope: CacheScope,
    /// Entries on one list page. Default 1,000.
    pub page_size: usize,
    /// Longest message in bytes. Default 4 MiB.
    pub max_message_bytes: usize,
    /// Deepest nesting of a message. Default 128.
    pub max_depth: usize,
    /// Most listen requests open at once, 0 for any number. Default 1,000.
    pub max_subscriptions: usize,
    /// Most URIs in one listen filter, and in one handshake session. Default 1,000.
    pub max_uris_per_subscription: usize,
    /// Most requests in flight on one connection. Default 4,096.
    pub max_in_flight: usize,
    /// Bytes that may wait for a slow reader before no more requests are read from it and progress and log messages to
    /// it are dropped. Default 8 MiB.
    pub max_output_bytes: usize,
    /// How long calls in flight may go on after the server was told to stop. Default 5 s.
    pub shutdown_grace: Duration,
    /// How long they may go on after the end of the input. Default 1 s: clients that end the input wait about 2 s for
    /// the process before they kill it.
    pub input_end_grace: Duration,
    /// After so long a call without an answer gets a tool error. Default: never.
    pub handler_timeout: Option<Duration>,
    /// How long a sealed `requestState` is good for. Default 10 minutes.
    pub state_ttl: Duration,
    /// Key that seals `requestState`; processes that serve the same clients share one. Default: random.
    pub state_key: Option<[u8; 32]>,
    /// Threads of the shared runtime, if this server is the first to need it; 0: one per core, at most four.
    pub worker_threads: usize,
}

impl Options {
    /// The defaults, for a server of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Options {
        Options {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            icons: None,
            instructions: None,
            protocol_versions: None,
            modern_only: false,
            extension_versions: Vec::new(),
            withheld: Vec::new(),
            extensions: None,
            experimental: None,
            ttl_ms: 0,
            cache_scope: CacheScope::Private,
            page_size: 1_000,
            max_message_bytes: 4 << 20,
            max_depth: 128,
            max_subscriptions: 1_000,
            max_uris_per_subscription: 1_000,
            max_in_flight: 4_096,
            max_output_bytes: 8 << 20,
            shutdown_grace: Duration::from_secs(5),
            input_end_grace: Duration::from_secs(1),
            handler_timeout: None,
            state_ttl: Duration::from_secs(600),
            state_key: None,
            worker_threads: 0,
        }
    }

    /// Sets one option by its name, from JSON text: the road by which C, Python and Node set all of them.
    ///
    /// # Errors
    /// The name is unknown, or the value is not of its kind.
    pub fn set_json(&mut self, option: &str, value: &str) -> Result<(), BuildError> {
        match option {
            "name" => self.name = text("name", value)?,
            "version" => self.version = text("version", value)?,
            "title" => self.title = Some(text("title", value)?),
            "description" => self.description = Some(text("description", value)?),
            "website_url" => self.website_url = Some(text("website_url", value)?),
            "icons" => self.icons = Some(raw("icons", value, Kind::Array, "a JSON array")?),
            "instructions" => self.instructions = Some(text("instructions", value)?),
            "protocol_versions" => self.protocol_versions = Some(texts("protocol_versions", value)?),
            "modern_only" => self.modern_only = flag("modern_only", value)?,
            "extension_versions" => self.extension_versions = pairs("extension_versions", value)?,
            "withhold" => self.withheld = lists("withhold", value)?,
            "extensions" => self.extensions = Some(raw("extensions", value, Kind::Object, "a JSON object")?),
            "experimental" => self.experimental = Some(raw("experimental", value, Kind::Object, "a JSON object")?),
            "ttl_ms" => self.ttl_ms = number("ttl_ms", value, 0)?,
            "cache_scope" => {
                self.cache_scope = match text("cache_scope", value)?.as_str() {
                    "private" => CacheScope::Private,
                    "public" => CacheScope::Public,
                    _ => return Err(wrong("cache_scope", "must be \"private\" or \"public\"")),
                }
            }
            "page_size" => self.page_size = size("page_size", value, 1)?,
            "max_message_bytes" => self.max_message_bytes = size("max_message_bytes", value, 1)?,
            "max_depth" => self.max_depth = size("max_depth", value, 1)?,
            "max_subscriptions" => self.max_subscriptions = size("max_subscriptions", value, 0)?,
            "max_uris_per_subscription" => {
                self.max_uris_per_subscription = size("max_uris_per_subscription", value, 0)?;
            }
            "max_in_flight" => self.max_in_flight = size("max_in_flight", value, 1)?,
            "max_output_bytes" => self.max_output_bytes = size("max_output_bytes", value, 1)?,
            "shutdown_grace_ms" => {
                self.shutdown_grace = Duration::from_millis(number("shutdown_grace_ms", value, 0)?);
            }
            "input_end_grace_ms" => {
                self.input_end_grace = Duration::from_millis(number("input_end_grace_ms", value, 0)?);
            }
            "handler_timeout_ms" => {
                let ms = number("handler_timeout_ms", value, 0)?;
                self.handler_timeout = (ms > 0).then(|| Duration::from_millis(ms));
            }
            "state_ttl_ms" => self.state_ttl = Duration::from_millis(number("state_ttl_ms", value, 1)?),
            "state_key" => self.state_key = Some(key("state_key", value)?),
            "worker_threads" => self.worker_threads = size("worker_threads", value, 0)?,
            _ => {
                return Err(BuildError::Option { option: "options", reason: format!("has no member '{option}'") });
            }
        }
        Ok(())
    }

    pub(crate) fn versions(&self) -> Result<Versions, BuildError> {
        if self.name.is_empty() {
            return Err(wrong("name", "must not be empty"));
        }
        if self.page_size == 0 {
            return Err(wrong("page_size", "must be at least 1"));
        }
        Ok(Versions::build(self.protocol_versions.as_deref(), self.modern_only, &self.extension_versions)?)
    }

    /// `serverInfo` as JSON, as a handshake revision knows it, or (`None`) with all there is.
    pub(crate) fn server_info(&self, features: Option<&Features>) -> String {
        let mut out = String::from("{\"name\":");
        json::write_string(&mut out, &self.name);
        out.push_str(",\"version\":");
        json::write_string(&mut out, &self.version);
        let mut member = |key: &str, value: &Option<String>, known: bool| {
            if let Some(value) = value.as_deref().filter(|_| known) {
                out.push_str(&format!(",\"{key}\":"));
                json::write_string(&mut out, value);
            }
        };
        member("title", &self.title, features.is_none_or(|features| features.structured));
        let icons = features.is_none_or(|features| features.icons);
        member("description", &self.description, icons);
        member("websiteUrl", &self.website_url, icons);
        if let Some(value) = self.icons.as_deref().filter(|_| icons) {
            out.push_str(",\"icons\":");
            out.push_str(value);
        }
        out.push('}');
        out
    }
}

fn wrong(option: &'static str, reason: impl Into<String>) -> BuildError {
    BuildError::Option { option, reason: reason.into() }
}

fn parse<T: serde::de::DeserializeOwned>(option: &'static str, value: &str, what: &str) -> Result<T, BuildError> {
    serde_json::from_str(value).map_err(|_| wrong(option, format!("must be {what}")))
}

fn text(option: &'static str, value: &str) -> Result<String, BuildError> {
    parse(option, value, "a string")
}

fn texts(option: &'static str, value: &str) -> Result<Vec<String>, BuildError> {
    parse(option, value, "an array of strings")
}

fn flag(option: &'static str, value: &str) -> Result<bool, BuildError> {
    parse(option, value, "true or false")
}

fn number(option: &'static str, value: &str, least: u64) -> Result<u64, BuildError> {
    let what = format!("an integer of at least {least}");
    let number: u64 = parse(option, value, &what)?;
    if number < least { Err(wrong(option, format!("must be {what}"))) } else { Ok(number) }
}

fn size(option: &'static str, value: &str, least: usize) -> Result<usize, BuildError> {
    let number = number(option, value, least as u64)?;
    usize::try_from(number).map_err(|_| wrong(option, "is too large for this machine"))
}

fn raw(option: &'static str, value: &str, kind: Kind, what: &str) -> Result<String, BuildError> {
    let value: Box<serde_json::value::RawValue> = parse(option, value, what)?;
    if json::kind(value.get()) == kind {
        Ok(json::minify(value.get()).into_owned())
    } else {
        Err(wrong(option, format!("must be {what}")))
    }
}

/// `{"x-2027-test": "2026-07-28"}`.
fn pairs(option: &'static str, value: &str) -> Result<Vec<(String, String)>, BuildError> {
    let pairs: std::collections::BTreeMap<String, String> =
        parse(option, value, "an object of version names, each with the known version it derives from")?;
    Ok(pairs.into_iter().collect())
}

fn lists(option: &'static str, value: &str) -> Result<Vec<ListKind>, BuildError> {
    let unknown = |name: &str| wrong(option, format!("names '{name}'; it may name tools, prompts and resources"));
    texts(option, value)?.iter().map(|name| ListKind::parse(name).ok_or_else(|| unknown(name))).collect()
}

fn key(option: &'static str, value: &str) -> Result<[u8; 32], BuildError> {
    use base64::Engine as _;
    let what = "must be 32 bytes in base64";
    let bytes = base64::prelude::BASE64_STANDARD.decode(text(option, value)?).map_err(|_| wrong(option, what))?;
    bytes.try_into().map_err(|_| wrong(option, what))
}
