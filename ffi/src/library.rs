//! Versions, statuses, text, and the library's own log.

use std::ffi::{c_char, c_void};

use crate::boundary::guard;
use crate::error::Failure;
use crate::foreign::Foreign;

/// Version of the library that this header belongs to:
#[cfg_attr(not(test), allow(dead_code))]
pub const TOCSIN_VERSION_MAJOR: u32 = 0;
#[cfg_attr(not(test), allow(dead_code))]
pub const TOCSIN_VERSION_MINOR: u32 = 1;
#[cfg_attr(not(test), allow(dead_code))]
pub const TOCSIN_VERSION_PATCH: u32 = 0;
/// Of the ABI: moves with the SONAME; compare it with tocsin_abi_version().
pub const TOCSIN_ABI_VERSION: u32 = 0;

/// One of TOCSIN_STATUS_...
pub type tocsin_status = i32;
/// Outcome of a fallible call. Values are frozen; later versions only append:
pub const TOCSIN_STATUS_OK: i32 = 0;
/// NULL, a bad struct_size, not UTF-8, or an option that cannot be used.
pub const TOCSIN_STATUS_INVALID_ARGUMENT: i32 = 1;
/// Not JSON, or not the shape that was asked for.
pub const TOCSIN_STATUS_INVALID_JSON: i32 = 2;
pub const TOCSIN_STATUS_ALREADY_EXISTS: i32 = 3;
pub const TOCSIN_STATUS_NOT_FOUND: i32 = 4;
/// Stopping, or stopped.
pub const TOCSIN_STATUS_CLOSED: i32 = 5;
pub const TOCSIN_STATUS_TIMEOUT: i32 = 6;
pub const TOCSIN_STATUS_IO: i32 = 7;
/// The handle is from before fork().
pub const TOCSIN_STATUS_FORKED: i32 = 8;
/// A bug in tocsin, contained; free the handle.
pub const TOCSIN_STATUS_PANIC: i32 = 9;
/// Not from inside a callback.
pub const TOCSIN_STATUS_REENTRANT: i32 = 10;

/// Borrowed UTF-8, not NUL-terminated. {NULL, 0} is the empty text.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tocsin_str {
    pub data: *const c_char,
    pub len: usize,
}

impl tocsin_str {
    pub const EMPTY: tocsin_str = tocsin_str { data: std::ptr::null(), len: 0 };

    /// Lends text to C, which is told for how long by the function that does it.
    pub fn lend(text: &str) -> tocsin_str {
        tocsin_str { data: text.as_ptr().cast(), len: text.len() }
    }
}

/// Runs exactly once, on any thread, after the last use of user_data; also when the function that took user_data
/// fails. May be NULL.
pub type tocsin_drop_fn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Severity of the library's own messages; faults of handlers are errors:
pub const TOCSIN_LOG_OFF: i32 = 0;
pub const TOCSIN_LOG_ERROR: i32 = 1;
pub const TOCSIN_LOG_WARN: i32 = 2;
pub const TOCSIN_LOG_INFO: i32 = 3;
pub const TOCSIN_LOG_DEBUG: i32 = 4;
pub const TOCSIN_LOG_TRACE: i32 = 5;

/// Gets one message of the library's own log. The texts are valid during the call.
pub type tocsin_log_fn =
    Option<unsafe extern "C" fn(level: i32, target: tocsin_str, message: tocsin_str, user_data: *mut c_void)>;

/// Version of the library that runs, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tocsin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// ABI version of the library that runs.
#[unsafe(no_mangle)]
pub extern "C" fn tocsin_abi_version() -> u32 {
    TOCSIN_ABI_VERSION
}

/// Sets what gets the library's own log, for the whole process; NULL for nothing, which is also how it begins: without a
/// logger the library writes nowhere. Runs on any thread, and on several at once. Messages that a logger causes itself
/// are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_set_logger(
    max_level: i32,
    log: tocsin_log_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        let level = match max_level {
            TOCSIN_LOG_OFF => log::LevelFilter::Off,
            TOCSIN_LOG_ERROR => log::LevelFilter::Error,
            TOCSIN_LOG_WARN => log::LevelFilter::Warn,
            TOCSIN_LOG_INFO => log::LevelFilter::Info,
            TOCSIN_LOG_DEBUG => log::LevelFilter::Debug,
            TOCSIN_LOG_TRACE => log::LevelFilter::Trace,
            _ => return Err(Failure::argument("max_level must be one of TOCSIN_LOG_OFF to TOCSIN_LOG_TRACE")),
        };
        crate::logger::set(level, log.map(|log| (log, foreign)));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_packages() {
        let version = format!("{TOCSIN_VERSION_MAJOR}.{TOCSIN_VERSION_MINOR}.{TOCSIN_VERSION_PATCH}");
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        assert_eq!(version, tocsin_core::VERSION);
    }
}
