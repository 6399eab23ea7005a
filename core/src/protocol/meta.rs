//! A request's `_meta`: the per-request protocol fields (`basic/index`, "_meta").

use std::sync::Arc;

use super::json::{self, Kind, Members};
use super::{ErrorObject, Id, Level, Revision, Versions, code};

/// Prefix of the keys that the protocol itself defines.
const PREFIX: &str = "io.modelcontextprotocol/";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Tags a message with its subscription.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Names the server in a result.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A request's params, split into members once.
pub(crate) struct Params<'a> {
    pub members: Members<'a>,
    /// Raw `_meta`, if present and not null.
    pub meta: Option<&'a str>,
    meta_members: Option<Members<'a>>,
}

/// What a modern request says of its client.
pub(crate) struct ModernMeta<'a> {
    pub revision: Arc<Revision>,
    pub client_info: Option<&'a str>,
    pub capabilities: &'a str,
    pub log_level: Option<Level>,
}

impl<'a> Params<'a> {
    /// Splits raw params (`None`: the request has none).
    pub fn parse(raw: Option<&'a str>) -> Result<Params<'a>, ErrorObject> {
        let members = match raw {
            None => Members(Vec::new()),
            Some(raw) => Members::parse(raw).map_err(|_| ErrorObject::invalid_request("params must be an object"))?,
        };
        let meta = members.get("_meta").filter(|raw| json::kind(raw) != Kind::Null);
        let meta_members = match meta {
            None => None,
            Some(raw) => {
                Some(Members::parse(raw).map_err(|_| ErrorObject::invalid_params("params._meta must be an object"))?)
            }
        };
        Ok(Params { members, meta, meta_members })
    }

    fn meta_value(&self, key: &str) -> Option<&'a str> {
        self.meta_members.as_ref().and_then(|members| members.get(key))
    }

    /// Whether the request falls under modern rules: any of the protocol's own request keys is there.
    pub fn is_modern(&self) -> bool {
        self.meta_members.as_ref().is_some_and(|members| {
            members.0.iter().any(|(key, _)| key.starts_with(PREFIX) && key != SUBSCRIPTION_ID && key != SERVER_INFO)
        })
    }

    /// Checks the per-request fields; the version first, so that a client of another revision learns what would do.
    pub fn modern(&self, versions: &Versions) -> Result<ModernMeta<'a>, ErrorObject> {
        let name = match self.meta_value(VERSION) {
            None => return Err(missing(VERSION, "a protocol version string")),
            Some(raw) => json::unescape(raw).ok_or_else(|| missing(VERSION, "a protocol version string"))?,
        };
        let revision = versions.get(&name).ok_or_else(|| unsupported(versions, &name))?;
        if !revision.is_modern() {
            return Err(ErrorObject::invalid_params(format!(
                "_meta \"{VERSION}\" names {name}, which is negotiated by 'initialize', not per request"
            )));
        }
        let capabilities = self
            .meta_value(CAPABILITIES)
            .filter(|raw| json::kind(raw) == Kind::Object)
            .ok_or_else(|| missing(CAPABILITIES, "an object"))?;
        let client_info = match self.meta_value(CLIENT_INFO) {
            None => None,
            Some(raw) if is_implementation(raw) => Some(raw),
            Some(_) => return Err(missing(CLIENT_INFO, "an object with the strings name and version")),
        };
        let log_level = match self.meta_value(LOG_LEVEL) {
            None => None,
            Some(raw) => Some(json::unescape(raw).and_then(|name| Level::parse(&name)).ok_or_else(|| {
                let names = Level::ALL.map(Level::name).join(", ");
                missing(LOG_LEVEL, &format!("one of {names}"))
            })?),
        };
        Ok(ModernMeta { revision: Arc::clone(revision), client_info, capabilities, log_level })
    }

    /// The progress token, if the client wants progress (`basic/patterns/progress`).
    pub fn progress_token(&self) -> Result<Option<Id>, ErrorObject> {
        match self.meta_value("progressToken") {
            None => Ok(None),
            Some(raw) => Id::parse(raw).map(Some).ok_or_else(|| missing("progressToken", "a string or an integer")),
        }
    }

    /// A required string parameter.
    pub fn string(&self, name: &str) -> Result<std::borrow::Cow<'a, str>, ErrorObject> {
        self.members
            .get(name)
            .and_then(json::unescape)
            .ok_or_else(|| ErrorObject::invalid_params(format!("params.{name} must be a string")))
    }
}

/// -32022 with what would do.
pub(crate) fn unsupported(versions: &Versions, requested: &str) -> ErrorObject {
    let mut data = format!("{{\"supported\":{},\"requested\":", versions.names_json());
    json::write_string(&mut data, requested);
    data.push('}');
    ErrorObject::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(data)
}

fn missing(key: &str, what: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("_meta \"{key}\" must be {what}"))
}

fn is_implementation(raw: &str) -> bool {
    let Ok(members) = Members::parse(raw) else { return false };
    ["name", "version"].iter().all(|key| members.get(key).is_some_and(|raw| json::kind(raw) == Kind::String))
}
