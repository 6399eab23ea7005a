//! Why a function failed, in words.

use tocsin_core::{BuildError, RegistryError};

use crate::boundary::{borrow, guard_value, guard_void, take};
use crate::library::{
    TOCSIN_STATUS_ALREADY_EXISTS, TOCSIN_STATUS_CLOSED, TOCSIN_STATUS_FORKED, TOCSIN_STATUS_INVALID_ARGUMENT,
    TOCSIN_STATUS_INVALID_JSON, TOCSIN_STATUS_IO, TOCSIN_STATUS_NOT_FOUND, TOCSIN_STATUS_OK, TOCSIN_STATUS_PANIC,
    TOCSIN_STATUS_REENTRANT, TOCSIN_STATUS_TIMEOUT, tocsin_status, tocsin_str,
};

/// Why a function of the library failed.
#[derive(Debug)]
pub struct Failure {
    status: tocsin_status,
    message: String,
}

impl Failure {
    fn new(status: tocsin_status, message: impl Into<String>) -> Failure {
        Failure { status, message: message.into() }
    }

    pub fn status(&self) -> tocsin_status {
        self.status
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn argument(message: impl Into<String>) -> Failure {
        Failure::new(TOCSIN_STATUS_INVALID_ARGUMENT, message)
    }

    pub fn json(message: impl Into<String>) -> Failure {
        Failure::new(TOCSIN_STATUS_INVALID_JSON, message)
    }

    pub fn not_found(message: impl Into<String>) -> Failure {
        Failure::new(TOCSIN_STATUS_NOT_FOUND, message)
    }

    pub fn closed(message: impl Into<String>) -> Failure {
        Failure::new(TOCSIN_STATUS_CLOSED, message)
    }

    pub fn timeout() -> Failure {
        Failure::new(TOCSIN_STATUS_TIMEOUT, "the time is over")
    }

    pub fn forked() -> Failure {
        Failure::new(TOCSIN_STATUS_FORKED, "this handle is from before the fork; make a new server in the child")
    }

    pub fn reentrant(message: impl Into<String>) -> Failure {
        Failure::new(TOCSIN_STATUS_REENTRANT, message)
    }

    pub fn panic() -> Failure {
        Failure::new(TOCSIN_STATUS_PANIC, "tocsin has a bug: it panicked; see standard error, and free the handle")
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::new(TOCSIN_STATUS_IO, error.to_string())
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        Failure::argument(error.to_string())
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        let status = match error {
            RegistryError::AlreadyExists { .. } => TOCSIN_STATUS_ALREADY_EXISTS,
            RegistryError::NotFound { .. } => TOCSIN_STATUS_NOT_FOUND,
            RegistryError::Invalid { .. } => TOCSIN_STATUS_INVALID_JSON,
        };
        Failure::new(status, error.to_string())
    }
}

/// Why a call failed. Immutable, and so safe to share between threads.
pub struct tocsin_error(pub Failure);

/// The status that came with it; TOCSIN_STATUS_OK for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_error_status(error: *const tocsin_error) -> tocsin_status {
    // SAFETY: C's handle.
    guard_value(TOCSIN_STATUS_OK, || Ok(unsafe { borrow(error) }?.0.status()))
}

/// One line that says what was wrong and what would be right; valid until the error is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_error_message(error: *const tocsin_error) -> tocsin_str {
    // SAFETY: C's handle.
    guard_value(tocsin_str::EMPTY, || Ok(tocsin_str::lend(unsafe { borrow(error) }?.0.message())))
}

/// Frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_error_free(error: *mut tocsin_error) {
    // SAFETY: C's handle, given back.
    guard_void(|| drop(unsafe { take(error) }));
}
