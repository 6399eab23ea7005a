//! One MCP (Model Context Protocol) server engine for Rust, C, Python and Node.
//!
//! > Change the registry once, in any language, and every client of every era on every transport hears it.
//!
//! ```
//! use tocsin::{Server, Tool, handler};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::new("weather", "1.0")?;
//! server.tools().add(
//!     Tool::new("forecast")
//!         .description("The weather of a city.")
//!         .input_schema(r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#),
//!     handler(|args: serde_json::Value, _ctx| async move { Ok(format!("Rain in {}", args["city"])) }),
//! )?;
//! // server.serve_stdio()?;
//! # Ok(())
//! # }
//! ```
//!
//! The map: `protocol` is what travels, `registry` what a server offers, `listen` who is told of changes, `engine` what
//! answers, `transport` how bytes come and go, `dispatch` the road into other languages.

mod content;
mod define;
pub mod dispatch;
mod engine;
mod guard;
mod handlers;
mod listen;
mod options;
mod protocol;
mod registry;
mod runtime;
mod server;
mod transport;

pub use content::{Content, PromptResult, ResourceResult, Structured, ToolResult};
pub use define::{Prompt, Resource, ResourceTemplate, Tool};
pub use engine::{Asked, Call, CallKind, Context, Handler, InputRequest, Transport};
pub use handlers::{Answers, HandlerError, IntoAnswer, blocking, handler, handler_sync};
pub use listen::{ListKind, WatchFn};
pub use options::{BuildError, CacheScope, Options};
pub use protocol::{
    BuildVersionsError, Era, ErrorObject, Features, Id, Level, Revision, Versions, code, minify, parse_integer,
};
pub use registry::RegistryError;
pub use server::{Changes, Prompts, Resources, Server, Service, Templates, Tools};
pub use transport::{LineSession, MemoryClient};

/// This crate's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
