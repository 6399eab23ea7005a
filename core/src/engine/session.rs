//! One client's connection (stdio) or session (HTTP): its handshake, its requests in flight, our questions to it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::listen::{Filter, Outbox, Subscription};
use crate::protocol::{ErrorObject, Id, Level, Revision};

use super::call::CallInner;
use super::{Channel, Engine};

/// How a client reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Lines: standard streams, an in-memory pair, or bytes that a host moves.
    Stdio,
    /// Streamable HTTP.
    Http,
}

impl Transport {
    /// `stdio` or `http`.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        }
    }
}

/// What `initialize` agreed on.
pub(crate) struct Handshake {
    pub revision: Arc<Revision>,
    /// `clientInfo` as JSON, if the client named itself.
    pub client_info: Option<String>,
    /// `capabilities` as JSON.
    pub capabilities: String,
    /// Set by `logging/setLevel`; before, everything is sent.
    log_level: AtomicU8,
    /// `notifications/initialized` has come.
    pub complete: AtomicBool,
}

impl Handshake {
    pub fn new(revision: Arc<Revision>, client_info: Option<String>, capabilities: String) -> Handshake {
        let log_level = AtomicU8::new(Level::Debug as u8);
        Handshake { revision, client_info, capabilities, log_level, complete: AtomicBool::new(false) }
    }

    pub fn set_level(&self, level: Level) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    pub fn level(&self) -> Level {
        let level = self.log_level.load(Ordering::Relaxed);
        Level::ALL.into_iter().find(|known| *known as u8 == level).unwrap_or(Level::Debug)
    }
}

/// A request that has no answer yet.
pub(crate) enum InFlight {
    Call(Arc<CallInner>),
    Listen(Arc<Subscription>, Filter),
}

/// Takes what a client says to one of our questions.
pub(crate) type Waiter = Box<dyn FnOnce(Result<String, String>) + Send>;

/// A client, as far as it has state here.
pub(crate) struct Session {
    pub engine: Arc<Engine>,
    pub transport: Transport,
    /// Where messages go that belong to no request.
    pub channel: Channel,
    key: u64,
    handshake: Mutex<Option<Arc<Handshake>>>,
    in_flight: Mutex<HashMap<Id, InFlight>>,
    /// Hears of changes by itself once the handshake is complete.
    untagged: Arc<Subscription>,
    /// What `untagged` is registered for.
    watched: Mutex<Filter>,
    questions: Mutex<HashMap<Id, Waiter>>,
    next_question: AtomicI64,
    closed: AtomicBool,
    /// Calls that got their answer, ever.
    answered: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A new client of `engine`, written to through `outbox`.
    pub fn new(engine: &Arc<Engine>, transport: Transport, outbox: Arc<Outbox>) -> Arc<Session> {
        Arc::new_cyclic(|weak: &std::sync::Weak<Session>| {
            let key = engine.register(weak.clone());
            Session {
                engine: Arc::clone(engine),
                transport,
                untagged: Subscription::new(None, Arc::clone(&outbox)),
                channel: Channel::new(outbox),
                key,
                handshake: Mutex::default(),
                in_flight: Mutex::default(),
                watched: Mutex::default(),
                questions: Mutex::default(),
                next_question: AtomicI64::new(1),
                closed: AtomicBool::new(false),
                answered: AtomicU64::new(0),
            }
        })
    }

    pub fn handshake(&self) -> Option<Arc<Handshake>> {
        lock(&self.handshake).clone()
    }

    /// Opens the handshake; false if it was opened before.
    pub fn open_handshake(&self, handshake: Handshake) -> bool {
        let mut slot = lock(&self.handshake);
        if slot.is_some() {
            return false;
        }
        *slot = Some(Arc::new(handshake));
        drop(slot);
        let lists = Filter::all_lists().honoured(self.engine.honoured(self.transport));
        let mut watched = lock(&self.watched);
        // Never full: only listen requests are counted. Silent until `notifications/initialized`.
        if self.engine.hub.register(&self.untagged, &lists).is_ok() {
            let uris = std::mem::take(&mut watched.uris);
            *watched = lists;
            watched.uris = uris;
        }
        true
    }

    /// `notifications/initialized`: what changed since `initialize` is announced now.
    pub fn complete_handshake(&self) {
        if let Some(handshake) = self.handshake()
            && !handshake.complete.swap(true, Ordering::AcqRel)
        {
            self.untagged.open();
        }
    }

    /// `resources/subscribe`; the error says the bound.
    pub fn watch(&self, uri: &str) -> Result<(), ErrorObject> {
        let max = self.engine.options.max_uris_per_subscription;
        let mut watched = lock(&self.watched);
        if watched.uris.iter().any(|known| known == uri) {
            return Ok(());
        }
        if watched.uris.len() >= max {
            return Err(ErrorObject::invalid_params(format!(
                "this session has {max} resource subscriptions, the bound of this server (max_uris_per_subscription)"
            )));
        }
        watched.uris.push(uri.to_owned());
        self.engine.hub.subscribe_uri(&self.untagged, uri);
        Ok(())
    }

    /// `resources/unsubscribe`.
    pub fn unwatch(&self, uri: &str) {
        let mut watched = lock(&self.watched);
        watched.uris.retain(|known| known != uri);
        self.engine.hub.unsubscribe_uri(&self.untagged, uri);
    }

    /// Takes `id` into flight, or says why not (`basic/index`, "Requests").
    pub fn begin(&self, id: &Id, request: InFlight) -> Result<(), ErrorObject> {
        let max = self.engine.options.max_in_flight;
        let mut in_flight = lock(&self.in_flight);
        if in_flight.contains_key(id) {
            return Err(in_use(id));
        }
        if in_flight.len() >= max {
            return Err(ErrorObject::internal(format!(
                "{max} requests are in flight on this connection, the bound of this server (max_in_flight); \
                 wait for answers"
            )));
        }
        in_flight.insert(id.clone(), request);
        Ok(())
    }

    pub fn is_in_flight(&self, id: &Id) -> bool {
        lock(&self.in_flight).contains_key(id)
    }

    /// Turns an accepted listen call into its subscription; false if it was cancelled meanwhile.
    pub fn promote(&self, call: &Arc<CallInner>, subscription: &Arc<Subscription>, filter: &Filter) -> bool {
        let mut in_flight = lock(&self.in_flight);
        if !matches!(in_flight.get(&call.id), Some(InFlight::Call(known)) if Arc::ptr_eq(known, call)) {
            return false;
        }
        in_flight.insert(call.id.clone(), InFlight::Listen(Arc::clone(subscription), filter.clone()));
        true
    }

    /// How many calls got their answer, if so many are in flight that the reader had better wait for more of that.
    pub fn crowded(&self) -> Option<u64> {
        let max = self.engine.options.max_in_flight;
        let crowded = lock(&self.in_flight).len() >= max - max / 4;
        crowded.then(|| self.answered.load(Ordering::Relaxed))
    }

    /// A call has its answer.
    pub fn finished(&self, call: &Arc<CallInner>) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        let mut in_flight = lock(&self.in_flight);
        if matches!(in_flight.get(&call.id), Some(InFlight::Call(known)) if Arc::ptr_eq(known, call)) {
            in_flight.remove(&call.id);
        }
    }

    /// `notifications/cancelled`: nothing more is sent for `id`, whatever it is.
    pub fn cancel(&self, id: &Id) {
        let request = lock(&self.in_flight).remove(id);
        match request {
            None => {}
            Some(InFlight::Call(call)) => call.cancel(),
            Some(InFlight::Listen(subscription, filter)) => self.drop_subscription(&subscription, &filter),
        }
    }

    fn drop_subscription(&self, subscription: &Arc<Subscription>, filter: &Filter) {
        subscription.end();
        self.engine.hub.unregister(subscription, filter);
    }

    /// Sends a question to a handshake client; `waiter` gets the raw result, or why there is none.
    pub fn ask(&self, channel: &Channel, method: &str, params: &str, waiter: Waiter) -> Option<Id> {
        let id = Id::number(self.next_question.fetch_add(1, Ordering::Relaxed));
        let mut questions = lock(&self.questions);
        if self.closed.load(Ordering::Acquire) {
            drop(questions);
            waiter(Err("the client is gone".to_owned()));
            return None;
        }
        questions.insert(id.clone(), waiter);
        drop(questions);
        let id_token = id.token();
        channel
            .request(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id_token},\"method\":\"{method}\",\"params\":{params}}}"));
        Some(id)
    }

    /// A question is no longer of interest.
    pub fn unask(&self, channel: &Channel, id: &Id) {
        let waiter = lock(&self.questions).remove(id);
        if let Some(waiter) = waiter {
            channel.notify_surely(format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{}}}}}",
                id.token()
            ));
            waiter(Err("the call was cancelled".to_owned()));
        }
    }

    /// A response came; false if nobody waits for it.
    pub fn answered(&self, id: &Id, result: Result<&str, &str>) -> bool {
        let waiter = lock(&self.questions).remove(id);
        match waiter {
            None => false,
            Some(waiter) => {
                waiter(result.map(str::to_owned).map_err(str::to_owned));
                true
            }
        }
    }

    /// Calls that have no answer yet.
    pub fn calls(&self) -> Vec<Arc<CallInner>> {
        let in_flight = lock(&self.in_flight);
        in_flight
            .values()
            .filter_map(|request| match request {
                InFlight::Call(call) => Some(Arc::clone(call)),
                InFlight::Listen(..) => None,
            })
            .collect()
    }

    /// Ends every subscription with its complete result: the server stops.
    pub fn complete_subscriptions(&self) {
        let mut listens = Vec::new();
        lock(&self.in_flight).retain(|id, request| match request {
            InFlight::Call(_) => true,
            InFlight::Listen(subscription, filter) => {
                listens.push((id.clone(), Arc::clone(subscription), std::mem::take(filter)));
                false
            }
        });
        for (id, subscription, filter) in listens {
            subscription.end_with(super::listen::complete_text(&self.engine, &id));
            self.engine.hub.unregister(&subscription, &filter);
        }
    }

    /// Ends one open subscription with its complete result.
    pub fn end_subscription(&self, id: &Id, subscription: &Arc<Subscription>) {
        if let Some(filter) = self.forget_subscription(id, subscription) {
            subscription.end_with(super::listen::complete_text(&self.engine, id));
            self.engine.hub.unregister(subscription, &filter);
        }
    }

    /// Takes one subscription out of flight, if it is still the one under `id`.
    pub fn forget_subscription(&self, id: &Id, subscription: &Arc<Subscription>) -> Option<Filter> {
        let mut in_flight = lock(&self.in_flight);
        if !matches!(in_flight.get(id), Some(InFlight::Listen(known, _)) if Arc::ptr_eq(known, subscription)) {
            return None;
        }
        match in_flight.remove(id) {
            Some(InFlight::Listen(_, filter)) => Some(filter),
            _ => None,
        }
    }

    /// The client is gone: cancels what it asked for, without a word.
    pub fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.engine.deregister(self.key);
        let requests: Vec<InFlight> = lock(&self.in_flight).drain().map(|(_, request)| request).collect();
        for request in requests {
            match request {
                InFlight::Call(call) => call.cancel(),
                InFlight::Listen(subscription, filter) => self.drop_subscription(&subscription, &filter),
            }
        }
        self.untagged.end();
        let watched = std::mem::take(&mut *lock(&self.watched));
        self.engine.hub.unregister(&self.untagged, &watched);
        let questions: Vec<Waiter> = lock(&self.questions).drain().map(|(_, waiter)| waiter).collect();
        for waiter in questions {
            waiter(Err("the client is gone".to_owned()));
        }
        self.channel.outbox().close();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

/// -32600: ids of requests in flight are unique on a connection.
pub(crate) fn in_use(id: &Id) -> ErrorObject {
    ErrorObject::invalid_request(format!("request id {} is in use by a request that has no answer yet", id.token()))
}
