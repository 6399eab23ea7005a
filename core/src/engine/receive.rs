//! The one dispatcher: a message in, its answer on the way.

use std::borrow::Cow;
use std::sync::Arc;

use crate::protocol::message::{self, Message};
use crate::protocol::meta::{ModernMeta, Params};
use crate::protocol::{ErrorObject, Id, Level, Revision, code};

use super::call::Client;
use super::channel::error_text;
use super::session::in_use;
use super::{Channel, Session, handshake, methods};

/// How one request is to be served.
pub(super) struct Rules {
    pub revision: Arc<Revision>,
    /// Least severe log level to send.
    pub log_level: Option<Level>,
    pub client: RuleClient,
}

/// Who asks; `Modern` holds slices of the request's params.
pub(super) enum RuleClient {
    Modern { info: Option<(usize, usize)>, capabilities: (usize, usize) },
    Handshake(Arc<super::session::Handshake>),
    Unknown,
}

/// Where `inner`, a slice of `outer`, begins and ends in it.
pub(super) fn place(outer: &str, inner: &str) -> (usize, usize) {
    let start = (inner.as_ptr() as usize).saturating_sub(outer.as_ptr() as usize);
    (start, start + inner.len())
}

impl Rules {
    pub fn client(self) -> Client {
        match self.client {
            RuleClient::Modern { info, capabilities } => Client::Request {
                info: info.map(|(start, end)| start..end),
                capabilities: capabilities.0..capabilities.1,
            },
            RuleClient::Handshake(handshake) => Client::Handshake(handshake),
            RuleClient::Unknown => Client::Unknown,
        }
    }
}

impl Session {
    /// Takes one message that the client sent; its answers go to the session's own channel.
    pub fn receive(self: &Arc<Self>, message: &[u8]) {
        self.receive_on(&self.channel, message);
    }

    /// Takes one message; its answers go to `channel`.
    pub fn receive_on(self: &Arc<Self>, channel: &Channel, message: &[u8]) {
        match message::parse(message, self.engine.options.max_depth) {
            Ok(Message::Batch(members)) => self.batch(channel, &members),
            Ok(message) => self.single(channel, message),
            Err(fault) => {
                self.refuse(channel, fault.id.as_ref(), &ErrorObject::new(fault.code, fault.message));
            }
        }
    }

    /// An error for a message that may have no readable id.
    pub fn refuse(&self, channel: &Channel, id: Option<&Id>, error: &ErrorObject) {
        let null = self.handshake().is_some_and(|handshake| handshake.revision.features.null_error_id);
        let id = id.map(Id::token).or(null.then_some("null"));
        channel.reply(error_text(id, error), Some(error.code));
    }

    fn batch(self: &Arc<Self>, channel: &Channel, members: &[&str]) {
        let allowed = self.handshake().is_some_and(|handshake| handshake.revision.features.batches);
        if !allowed {
            let text = "batches are part of revision 2025-03-26 alone; send one message at a time";
            self.refuse(channel, None, &ErrorObject::invalid_request(text));
            return;
        }
        let (members_channel, batch) = channel.batch();
        for member in members {
            match message::parse(member.as_bytes(), self.engine.options.max_depth) {
                Ok(Message::Batch(_)) => {
                    members_channel.expect();
                    self.refuse(&members_channel, None, &ErrorObject::invalid_request("a batch in a batch"));
                }
                Ok(message) => {
                    if matches!(message, Message::Request { .. }) {
                        members_channel.expect();
                    }
                    self.single(&members_channel, message);
                }
                Err(fault) => {
                    members_channel.expect();
                    let error = ErrorObject::new(fault.code, fault.message);
                    self.refuse(&members_channel, fault.id.as_ref(), &error);
                }
            }
        }
        batch.seal(channel.outbox());
    }

    fn single(self: &Arc<Self>, channel: &Channel, message: Message<'_>) {
        match message {
            Message::Request { id, method, params } => {
                if let Err(error) = self.request(channel, &id, &method, params) {
                    channel.reply_error(&id, &error);
                }
            }
            Message::Notification { method, params } => self.notification(&method, params),
            Message::Response { id, result } => {
                if let Some(id) = id {
                    self.answered(&id, result);
                }
            }
            // Handled before.
            Message::Batch(_) => {}
        }
    }

    fn notification(&self, method: &str, raw: Option<&str>) {
        match method {
            "notifications/initialized" => self.complete_handshake(),
            "notifications/cancelled" => {
                let id = Params::parse(raw).ok().and_then(|params| params.members.get("requestId").and_then(Id::parse));
                if let Some(id) = id {
                    self.cancel(&id);
                }
            }
            // Roots are asked for anew whenever a handler needs them; all else is not for us.
            _ => {}
        }
    }

    fn request(
        self: &Arc<Self>,
        channel: &Channel,
        id: &Id,
        method: &str,
        raw: Option<&str>,
    ) -> Result<(), ErrorObject> {
        if self.is_in_flight(id) {
            return Err(in_use(id));
        }
        if self.engine.is_stopping() {
            return Err(ErrorObject::internal("the server is stopping"));
        }
        let params = Params::parse(raw)?;
        let raw = raw.unwrap_or("{}");
        if params.is_modern() {
            self.modern(channel, id, method, raw, &params)
        } else {
            self.handshaken(channel, id, method, raw, &params)
        }
    }

    fn modern(
        self: &Arc<Self>,
        channel: &Channel,
        id: &Id,
        method: &str,
        raw: &str,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        let meta = params.modern(&self.engine.versions)?;
        let rules = modern_rules(raw, &meta);
        let request = methods::Request { session: self, channel, id, raw, params, rules };
        match method {
            "server/discover" => methods::discover(&request),
            "subscriptions/listen" => methods::listen(request),
            _ => methods::shared(request, method),
        }
    }

    fn handshaken(
        self: &Arc<Self>,
        channel: &Channel,
        id: &Id,
        method: &str,
        raw: &str,
        params: &Params<'_>,
    ) -> Result<(), ErrorObject> {
        let handshake = self.handshake();
        let versions = &self.engine.versions;
        let rules = match &handshake {
            Some(handshake) => Rules {
                revision: Arc::clone(&handshake.revision),
                log_level: Some(handshake.level()),
                client: RuleClient::Handshake(Arc::clone(handshake)),
            },
            None => Rules { revision: Arc::clone(versions.fallback()), log_level: None, client: RuleClient::Unknown },
        };
        let reply = |result: &str| {
            channel.reply_result(id, result);
            Ok(())
        };
        match method {
            "initialize" => {
                let result = handshake::initialize(self, params)?;
                return reply(&result);
            }
            "subscriptions/listen" if handshake.is_some() => return Err(ErrorObject::method_not_found(method)),
            // Modern methods, and on a server without handshake versions all of them, need modern `_meta`.
            "server/discover" | "subscriptions/listen" => return params.modern(versions).map(drop),
            _ if rules.revision.is_modern() => return params.modern(versions).map(drop),
            "ping" => return reply("{}"),
            "logging/setLevel" => handshake::set_level(self, params)?,
            "resources/subscribe" => handshake::watch(self, method, params, true)?,
            "resources/unsubscribe" => handshake::watch(self, method, params, false)?,
            _ => {
                let request = methods::Request { session: self, channel, id, raw, params, rules };
                return methods::shared(request, method);
            }
        }
        reply("{}")
    }
}

fn modern_rules(raw: &str, meta: &ModernMeta<'_>) -> Rules {
    Rules {
        revision: Arc::clone(&meta.revision),
        log_level: meta.log_level,
        client: RuleClient::Modern {
            info: meta.client_info.map(|info| place(raw, info)),
            capabilities: place(raw, meta.capabilities),
        },
    }
}

/// -32602 for text that no language can hold.
pub(super) fn check_surrogates(raw: &str) -> Result<(), ErrorObject> {
    if crate::protocol::json::has_lone_surrogate(raw) {
        return Err(ErrorObject::new(
            code::INVALID_PARAMS,
            "params hold an escape of a lone surrogate (\\uD800 to \\uDFFF), which is not Unicode text",
        ));
    }
    Ok(())
}

/// What a name is, cut for an error text.
pub(super) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(200) {
        None => Cow::Borrowed(name),
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
    }
}
