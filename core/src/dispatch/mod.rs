//! The queue between the engine and a host language's handlers.
//!
//! Crossing into a host language is dear, so it happens in batches: the engine pushes, one wake is sent when the queue
//! turns from idle to busy, and the host drains what is there.
#![forbid(unsafe_code)]

mod pool;
mod queue;

pub use pool::Pool;
pub use queue::{Event, HandlerId, Queue, QueueHandler};
