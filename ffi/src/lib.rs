//! The C ABI of tocsin: what `include/tocsin.h` declares, and nothing else.
//!
//! One object, one file; each is also a section of the header, in this order: `library`, `error`, `json`, `call`,
//! `queue`, `handler`, `server`, `registry`, `service`, `session`. What C does not see: `boundary` is where every call
//! comes in, `foreign` keeps C's pointers, `gate` knows which of C's functions are running.
// The crate is a boundary, so it is made of pointers. They are dealt with in `boundary` and `foreign`; elsewhere
// `unsafe` only calls those helpers, and C's own functions.
#![allow(unsafe_code)]
#![allow(non_camel_case_types)]
// The contract is the header's: one text for all functions, in `ffi/cbindgen.toml`.
#![allow(clippy::missing_safety_doc)]

mod boundary;
mod call;
mod error;
mod foreign;
mod gate;
mod handler;
mod json;
mod library;
mod logger;
mod queue;
mod registry;
mod server;
mod service;
mod session;
