//! `initialize` and what only handshake clients ask (`basic/lifecycle` of 2025-11-25).

use std::sync::Arc;

use crate::protocol::json::{self, Kind};
use crate::protocol::meta::{Params, unsupported};
use crate::protocol::{ErrorObject, Level};

use super::Session;
use super::session::Handshake;

/// Answers `initialize`; the result is a whole result object.
pub(super) fn initialize(session: &Arc<Session>, params: &Params<'_>) -> Result<String, ErrorObject> {
    let engine = &session.engine;
    let requested = params.string("protocolVersion")?;
    let revision = engine.versions.negotiate(&requested).ok_or_else(|| {
        let names = engine.versions.allowed().iter().map(|revision| revision.name.as_str()).collect::<Vec<_>>();
        let mut error = unsupported(&engine.versions, &requested);
        error.message =
            format!("This server has no 'initialize'; it supports the protocol versions {}", names.join(", "));
        error
    })?;
    let object = |name: &str| match params.members.get(name) {
        None => Ok(None),
        Some(raw) if json::kind(raw) == Kind::Object => Ok(Some(json::minify(raw).into_owned())),
        Some(_) => Err(ErrorObject::invalid_params(format!("params.{name} must be an object"))),
    };
    let capabilities = object("capabilities")?.unwrap_or_else(|| "{}".to_owned());
    let handshake = Handshake::new(Arc::clone(revision), object("clientInfo")?, capabilities);
    let mut out = String::from("{\"protocolVersion\":");
    json::write_string(&mut out, &revision.name);
    out.push_str(",\"capabilities\":");
    out.push_str(&engine.capabilities(session.transport, revision));
    out.push_str(",\"serverInfo\":");
    out.push_str(&engine.options.server_info(Some(&revision.features)));
    if let Some(instructions) = &engine.options.instructions {
        out.push_str(",\"instructions\":");
        json::write_string(&mut out, instructions);
    }
    out.push('}');
    if !session.open_handshake(handshake) {
        return Err(ErrorObject::invalid_request("this connection is initialized already; open another one"));
    }
    Ok(out)
}

/// Answers `logging/setLevel`.
pub(super) fn set_level(session: &Session, params: &Params<'_>) -> Result<(), ErrorObject> {
    let name = params.string("level")?;
    let level = Level::parse(&name).ok_or_else(|| {
        ErrorObject::invalid_params(format!("params.level must be one of {}", Level::ALL.map(Level::name).join(", ")))
    })?;
    if let Some(handshake) = session.handshake() {
        handshake.set_level(level);
    }
    Ok(())
}

/// Answers `resources/subscribe`, or with `wanted` false `resources/unsubscribe`.
pub(super) fn watch(session: &Session, method: &str, params: &Params<'_>, wanted: bool) -> Result<(), ErrorObject> {
    let honoured = session.engine.honoured(session.transport);
    if !honoured.resource_updates {
        return Err(ErrorObject::method_not_found(method));
    }
    let uri = params.string("uri")?;
    if uri.is_empty() {
        return Err(ErrorObject::invalid_params("params.uri must not be empty"));
    }
    if wanted {
        session.watch(&uri)
    } else {
        session.unwatch(&uri);
        Ok(())
    }
}
