//! What the engine logs, on its way to JavaScript.
//!
//! The addon has a `log` crate of its own, so this logger is no other library's. All records go to the oldest
//! environment that lives: a process has one log.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use log::{LevelFilter, Log, Metadata, Record};

use crate::host::Shared;

/// Records that may wait for a busy environment; more are dropped.
const MAX_WAITING: usize = 1_000;

static ENVIRONMENTS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Records that one environment has not collected yet.
#[derive(Default)]
pub struct Journal {
    records: Mutex<Vec<(log::Level, String)>>,
}

impl Journal {
    /// Adds a record; says whether it is the first.
    fn push(&self, level: log::Level, text: String) -> bool {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.len() < MAX_WAITING {
            records.push((level, text));
        }
        records.len() == 1
    }

    /// Takes what waits, as level and text in turn.
    pub fn take(&self) -> Vec<String> {
        let records = std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner));
        records.into_iter().flat_map(|(level, text)| [level.as_str().to_lowercase(), text]).collect()
    }

    /// Writes what waits to standard error: the environment cannot any more.
    pub fn flush(&self) {
        for record in self.take().chunks(2) {
            eprintln!("tocsin: {}", record.join(": "));
        }
    }
}

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        let environments = ENVIRONMENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = environments.iter().find_map(Weak::upgrade);
        drop(environments);
        if let Some(shared) = oldest
            && shared.journal.push(record.level(), record.args().to_string())
        {
            shared.wake_journal();
        }
    }

    fn flush(&self) {}
}

/// Adds an environment to those that may get the log.
pub fn register(shared: &Arc<Shared>) {
    let mut environments = ENVIRONMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    environments.retain(|environment| environment.strong_count() > 0);
    environments.push(Arc::downgrade(shared));
    drop(environments);
    // Only the first environment of the process succeeds, which is enough.
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}
