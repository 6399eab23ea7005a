//! Keeps a panic in somebody's callback from going further.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`; a panic is logged, named by `what`, and becomes `None`.
pub(crate) fn catch<T>(what: &str, f: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => Some(value),
        Err(payload) => {
            log::error!("{what} panicked: {}", text(payload.as_ref()));
            None
        }
    }
}

/// What a panic said.
pub(crate) fn text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
