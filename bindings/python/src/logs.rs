//! The engine's log, on its way to Python's `logging`.
//!
//! Records wait in a bounded queue for a thread that Python started; no engine thread ever needs the interpreter.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};

use pyo3::prelude::*;

/// Records kept at most; the oldest go first.
const MAX: usize = 1_000;

struct Logs {
    state: Mutex<State>,
    ready: Condvar,
}

struct State {
    records: VecDeque<(u8, String)>,
    stopped: bool,
}

static LOGS: Logs =
    Logs { state: Mutex::new(State { records: VecDeque::new(), stopped: false }), ready: Condvar::new() };

impl log::Log for Logs {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let level = match record.level() {
            log::Level::Error => 40,
            log::Level::Warn => 30,
            log::Level::Info => 20,
            log::Level::Debug | log::Level::Trace => 10,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.records.len() == MAX {
            state.records.pop_front();
        }
        state.records.push_back((level, record.args().to_string()));
        drop(state);
        self.ready.notify_one();
    }

    fn flush(&self) {}
}

/// Begins to keep records of `level` (of Python's `logging`) and above.
#[pyfunction]
pub fn start_logs(level: u8) {
    // Set already: another interpreter of this process has it.
    let _ = log::set_logger(&LOGS);
    log::set_max_level(match level {
        ..=10 => log::LevelFilter::Debug,
        11..=20 => log::LevelFilter::Info,
        21..=30 => log::LevelFilter::Warn,
        _ => log::LevelFilter::Error,
    });
}

/// Waits for records, without holding the interpreter; `None` at the end.
#[pyfunction]
pub fn take_logs(py: Python<'_>) -> Option<Vec<(u8, String)>> {
    py.detach(|| {
        let mut state = LOGS.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.records.is_empty() && !state.stopped {
            state = LOGS.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let records: Vec<_> = state.records.drain(..).collect();
        (!records.is_empty()).then_some(records)
    })
}

/// Ends `take_logs` once what waits is taken.
#[pyfunction]
pub fn stop_logs() {
    LOGS.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
    LOGS.ready.notify_all();
}
