//! What travels: messages, ids, revisions, per-request metadata and error codes. No I/O, no runtime.
#![forbid(unsafe_code)]

mod error;
mod id;
pub(crate) mod json;
mod level;
pub(crate) mod message;
pub(crate) mod meta;
mod version;

pub use error::{ErrorObject, code};
pub use id::Id;
pub use json::{minify, parse_integer};
pub use level::Level;
pub use version::{BuildVersionsError, Era, Features, Revision, Versions};
