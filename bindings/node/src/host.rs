//! One JavaScript environment: how engine threads wake it, and what ends with it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status};
use napi_derive::napi;

use crate::journal::{self, Journal};
use crate::server::Engine;

/// Weak: it does not keep the process alive.
type Wake = ThreadsafeFunction<u32, (), u32, Status, false, true>;

/// The port on which the journal wakes its environment.
const JOURNAL_PORT: u32 = 0;

/// What engine threads hold of an environment.
pub struct Shared {
    wake: Wake,
    pub journal: Journal,
    engines: Mutex<Vec<Weak<Engine>>>,
}

impl Shared {
    /// Has the environment look after one of its ports; callable from any thread, without effect once the environment
    /// has ended.
    pub fn wake(&self, port: u32) {
        self.wake.call(port, ThreadsafeFunctionCallMode::NonBlocking);
    }

    /// Has the environment collect its log records.
    pub fn wake_journal(&self) {
        self.wake(JOURNAL_PORT);
    }

    /// Sees to it that `engine` ends with the environment.
    pub fn adopt(&self, engine: &Arc<Engine>) {
        let mut engines = self.engines.lock().unwrap_or_else(PoisonError::into_inner);
        engines.retain(|engine| engine.strong_count() > 0);
        engines.push(Arc::downgrade(engine));
    }

    fn end(&self) {
        let engines = std::mem::take(&mut *self.engines.lock().unwrap_or_else(PoisonError::into_inner));
        for engine in engines.iter().filter_map(Weak::upgrade) {
            engine.end();
        }
        self.journal.want(false);
    }
}

/// One JavaScript environment.
#[napi]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
}

#[napi]
impl Host {
    /// `wake` is called with the number of a port that has something to collect: 0 for the journal, else the number
    /// that a server or client was made with.
    #[napi(constructor)]
    pub fn new(env: Env, wake: Wake) -> Result<Host> {
        let shared = Arc::new(Shared { wake, journal: Journal::default(), engines: Mutex::default() });
        journal::register(&shared);
        env.add_env_cleanup_hook(Arc::clone(&shared), |shared: Arc<Shared>| shared.end())?;
        Ok(Host { shared })
    }

    /// Takes the log records that wait: level and text in turn.
    #[napi]
    pub fn records(&self) -> Vec<String> {
        self.shared.journal.take()
    }

    /// Sets the least severe level that is logged (`error`, `warn`, `info`, `debug` or `off`), and whether this
    /// environment wants the log.
    #[napi]
    pub fn set_log(&self, level: String, wanted: bool) -> bool {
        let Ok(level) = level.parse() else { return false };
        log::set_max_level(level);
        self.shared.journal.want(wanted);
        true
    }

    /// Logs an error.
    #[napi]
    pub fn report(&self, text: String) {
        log::error!("{text}");
    }
}
