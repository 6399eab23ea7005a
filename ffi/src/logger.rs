//! The library's own log, which goes to C or nowhere.

use std::cell::Cell;
use std::sync::{Arc, Once, PoisonError, RwLock};

use crate::foreign::Foreign;
use crate::library::tocsin_str;

type LogFn = unsafe extern "C" fn(i32, tocsin_str, tocsin_str, *mut std::ffi::c_void);

struct Target {
    log: LogFn,
    foreign: Foreign,
}

static TARGET: RwLock<Option<Arc<Target>>> = RwLock::new(None);

thread_local! {
    static LOGGING: Cell<bool> = const { Cell::new(false) };
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) || LOGGING.get() {
            return;
        }
        // Cloned out: C may set another logger from in there.
        let target = TARGET.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(target) = target {
            let message = record.args().to_string();
            LOGGING.set(true);
            // SAFETY: C's own function, with texts that live until it returns.
            unsafe {
                (target.log)(
                    record.level() as i32,
                    tocsin_str::lend(record.target()),
                    tocsin_str::lend(&message),
                    target.foreign.data(),
                );
            }
            LOGGING.set(false);
        }
    }

    fn flush(&self) {}
}

/// Replaces what gets the log. The old one is dropped after its last message.
pub fn set(level: log::LevelFilter, target: Option<(LogFn, Foreign)>) {
    static INSTALLED: Once = Once::new();
    // A program that links us statically may have one of its own; then that one gets our messages.
    INSTALLED.call_once(|| drop(log::set_logger(&Logger)));
    let level = if target.is_some() { level } else { log::LevelFilter::Off };
    let target = target.map(|(log, foreign)| Arc::new(Target { log, foreign }));
    let mut slot = TARGET.write().unwrap_or_else(PoisonError::into_inner);
    let old = std::mem::replace(&mut *slot, target);
    log::set_max_level(level);
    drop(slot);
    drop(old);
}
