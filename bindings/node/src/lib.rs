//! The native half of the Node package: the engine's queue and registry, in numbers and JSON text.
//!
//! Everything that JavaScript sees of it is wrapped in `lib/`, which holds the handlers; this half knows them by number.
//! One [`host::Host`] stands for one JavaScript environment (the main thread, or a worker), and wakes it; each
//! [`server::NativeServer`] has a queue that the woken side drains.
// The macros of napi expand to unsafe code; there is none beside.
#![allow(unsafe_code)]

mod calls;
mod client;
mod host;
mod journal;
mod server;

/// The version of the engine.
#[napi_derive::napi]
pub const VERSION: &str = tocsin::VERSION;
