//! What the engine logs: to standard error, or to a function in JavaScript that wants it.
//!
//! The addon has a `log` crate of its own, so this logger is no other library's. If JavaScript wants the log, all records
//! go to the oldest environment that lives: a process has one log.

use std::io::Write;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use log::{LevelFilter, Log, Metadata, Record};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::host::Shared;

/// Records that may wait for a busy environment; more are dropped.
const MAX_WAITING: usize = 1_000;
/// A pipe that polls writable takes so much without blocking (POSIX `PIPE_BUF`).
const SURE_WRITE: usize = 4_096;

static ENVIRONMENTS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Records that one environment has not collected yet; `None` if it does not want any.
#[derive(Default)]
pub struct Journal {
    records: Mutex<Option<Vec<(log::Level, String)>>>,
}

impl Journal {
    /// Adds a record, if it is wanted here, and says whether it is the first.
    fn push(&self, record: &Record<'_>) -> Option<bool> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let records = records.as_mut()?;
        if records.len() < MAX_WAITING {
            records.push((record.level(), record.args().to_string()));
        }
        Some(records.len() == 1)
    }

    /// Takes what waits, as level and text in turn.
    pub fn take(&self) -> Vec<String> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = records.as_mut().map(std::mem::take).unwrap_or_default();
        taken.into_iter().flat_map(|(level, text)| [name(level).to_owned(), text]).collect()
    }

    /// Says whether records are wanted here. Those that still wait go to standard error if not.
    pub fn want(&self, wanted: bool) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted {
            records.get_or_insert_default();
            return;
        }
        let left = records.take();
        drop(records);
        for (level, text) in left.into_iter().flatten() {
            write(level, &text);
        }
    }
}

fn name(level: log::Level) -> &'static str {
    match level {
        log::Level::Error => "error",
        log::Level::Warn => "warn",
        log::Level::Info => "info",
        log::Level::Debug | log::Level::Trace => "debug",
    }
}

/// Writes a record to standard error, unless that would block: many clients never read it.
fn write(level: log::Level, text: &str) {
    let mut line = format!("tocsin: {}: {text}", name(level)).into_bytes();
    line.truncate(SURE_WRITE - 1);
    line.push(b'\n');
    // Locked, so that two of us do not share the room that one has seen.
    let mut stderr = std::io::stderr().lock();
    let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        // There is nowhere to say that it failed.
        let _ = stderr.write_all(&line);
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
        match oldest.as_ref().and_then(|shared| shared.journal.push(record)) {
            None => write(record.level(), &record.args().to_string()),
            Some(false) => {}
            Some(true) => oldest.iter().for_each(|shared| shared.wake_journal()),
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
