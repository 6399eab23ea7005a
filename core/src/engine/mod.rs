//! One message in, messages out: eras, dispatch, calls in flight, cancellation, progress, questions, hooks, sessions.
//!
//! The engine does no I/O. A transport hands it one message and the channel for the answer; stdio, HTTP, the
//! in-memory pair and a host's own transport are all that.
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod call;
mod channel;
mod handler;
mod handshake;
mod listen;
mod methods;
mod receive;
mod seal;
mod session;
mod shutdown;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

pub use ask::{Asked, InputRequest};
pub use call::{Call, CallKind, Context};
pub use handler::Handler;
pub use session::Transport;

pub(crate) use channel::Channel;
pub(crate) use session::Session;

use crate::listen::{Honoured, Hub};
use crate::options::{BuildError, Options};
use crate::protocol::meta::SERVER_INFO;
use crate::protocol::{Revision, Versions, json};
use crate::registry::Registry;
use crate::runtime::Runtime;
use seal::Sealer;

/// What may look at requests before they are served.
#[derive(Default)]
pub(crate) struct Hooks {
    /// Decides on listen requests: completing accepts, failing refuses with that error.
    pub listen: Option<Arc<dyn Handler>>,
}

/// A server, without transports.
pub(crate) struct Engine {
    pub options: Options,
    pub versions: Versions,
    pub registry: Registry,
    pub hub: Arc<Hub>,
    pub hooks: RwLock<Hooks>,
    sealer: Sealer,
    honoured: Honoured,
    /// `"_meta"` of a modern result that says no more than who answers, with a comma before it.
    meta_tail: String,
    runtime: OnceLock<Arc<Runtime>>,
    sessions: Mutex<HashMap<u64, Weak<Session>>>,
    next_session: AtomicU64,
    stopping: shutdown::Stopping,
}

impl Engine {
    pub fn new(options: Options) -> Result<Arc<Engine>, BuildError> {
        let versions = options.versions()?;
        let hub = Arc::new(Hub::new(options.max_subscriptions));
        let sealer = match options.state_key {
            Some(key) => Sealer::with_key(key),
            None => Sealer::random().map_err(|error| BuildError::Random(error.to_string()))?,
        };
        let meta_tail = format!(",\"_meta\":{{\"{SERVER_INFO}\":{}}}", options.server_info(None));
        Ok(Arc::new(Engine {
            registry: Registry::new(Arc::clone(&hub), options.page_size),
            honoured: Honoured::all_but(&options.withheld),
            hub,
            versions,
            hooks: RwLock::default(),
            sealer,
            meta_tail,
            options,
            runtime: OnceLock::new(),
            sessions: Mutex::default(),
            next_session: AtomicU64::new(1),
            stopping: shutdown::Stopping::default(),
        }))
    }

    /// The runtime that handlers run on: the one around the first call, or the process's shared one.
    pub fn runtime(&self) -> std::io::Result<&Runtime> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = Runtime::current_or_shared(self.options.worker_threads)?;
        Ok(self.runtime.get_or_init(|| runtime))
    }

    /// What this server announces on `transport`: one answer for `server/discover`, `initialize` and listen.
    pub fn honoured(&self, _transport: Transport) -> Honoured {
        self.honoured
    }

    /// The `capabilities` object.
    fn capabilities(&self, transport: Transport, revision: &Revision) -> String {
        let honoured = self.honoured(transport);
        let flag = |set: bool, name: &str| if set { format!("\"{name}\":true") } else { String::new() };
        use crate::listen::ListKind::{Prompts, Resources, Tools};
        let resources = [flag(honoured.resource_updates, "subscribe"), flag(honoured.list(Resources), "listChanged")];
        let resources = resources.into_iter().filter(|flag| !flag.is_empty()).collect::<Vec<_>>().join(",");
        let completions = if revision.features.completions_capability { ",\"completions\":{}" } else { "" };
        let mut out = format!(
            "{{\"logging\":{{}}{completions},\"prompts\":{{{}}},\"resources\":{{{resources}}},\"tools\":{{{}}}",
            flag(honoured.list(Prompts), "listChanged"),
            flag(honoured.list(Tools), "listChanged"),
        );
        if let Some(extensions) = self.options.extensions.as_deref().filter(|_| revision.is_modern()) {
            out.push_str(",\"extensions\":");
            out.push_str(extensions);
        }
        if let Some(experimental) = &self.options.experimental {
            out.push_str(",\"experimental\":");
            out.push_str(experimental);
        }
        out.push('}');
        out
    }

    /// Members that end every complete modern result without a `_meta` of its own; with caching hints if `cacheable`.
    fn modern_tail(&self, cacheable: bool) -> String {
        let mut out = String::from(",\"resultType\":\"complete\"");
        if cacheable {
            self.push_hints(&mut out);
        }
        out.push_str(&self.meta_tail);
        out
    }

    /// Caching hints (`server/utilities/caching`).
    fn push_hints(&self, out: &mut String) {
        self.push_missing_hints(true, true, out);
    }

    fn push_missing_hints(&self, ttl: bool, scope: bool, out: &mut String) {
        if ttl {
            out.push_str(",\"ttlMs\":");
            out.push_str(&self.options.ttl_ms.to_string());
        }
        if scope {
            out.push_str(",\"cacheScope\":");
            json::write_string(out, self.options.cache_scope.name());
        }
    }

    /// A handler's `_meta`, with who answers.
    fn push_meta(&self, meta: &json::Members<'_>, out: &mut String) {
        out.push_str(&self.meta_tail[..self.meta_tail.len() - 1]);
        for (key, value) in meta.0.iter().filter(|(key, _)| key != SERVER_INFO) {
            out.push(',');
            json::write_string(out, key);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
    }

    fn register(&self, session: Weak<Session>) -> u64 {
        let key = self.next_session.fetch_add(1, Ordering::Relaxed);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(key, session);
        key
    }

    fn deregister(&self, key: u64) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }

    fn sessions(&self) -> Vec<Arc<Session>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().filter_map(Weak::upgrade).collect()
    }
}
