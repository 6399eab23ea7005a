//! Bytes to messages and back, nothing else.
#![forbid(unsafe_code)]

mod framer;
mod memory;
mod stdio;

pub use memory::{LineSession, MemoryClient};
pub(crate) use stdio::{Stdio, serve};
