//! What answers calls.

use super::Call;

/// Answers tool calls, prompts, reads, completions, and decides on listen requests.
///
/// Every language is built on this one trait: async closures in Rust, callbacks in C, queues for Python and Node.
pub trait Handler: Send + Sync + 'static {
    /// Takes a call, and answers it now or later, from any thread.
    ///
    /// Runs on the thread that read the request, with no lock held, so it must return soon; a panic becomes a tool
    /// error without details.
    fn call(&self, call: Call);
}

impl<F: Fn(Call) + Send + Sync + 'static> Handler for F {
    fn call(&self, call: Call) {
        self(call);
    }
}
