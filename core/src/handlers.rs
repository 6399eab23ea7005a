//! Handlers as Rust functions.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::engine::{Asked, Call, Context, Handler, InputRequest};
use crate::protocol::ErrorObject;
use crate::registry::RegistryError;

/// Why a handler has no result.
#[derive(Debug, thiserror::Error)]
pub enum HandlerError {
    /// For the model to read: a result with `isError`.
    #[error("{0}")]
    Tool(String),
    /// For the client: a JSON-RPC error.
    #[error(transparent)]
    Protocol(ErrorObject),
    /// The client was asked for input and will call again; the handler only returns.
    #[error("the call waits for input")]
    Suspended,
}

impl HandlerError {
    /// A tool error with this text.
    pub fn tool(text: impl Into<String>) -> HandlerError {
        HandlerError::Tool(text.into())
    }

    pub(crate) fn answer(self, call: Call) {
        match self {
            HandlerError::Tool(text) => call.fail(text),
            HandlerError::Protocol(error) => call.fail_with(error),
            // Answered already; dropping it is silent then.
            HandlerError::Suspended => drop(call),
        }
    }
}

impl From<String> for HandlerError {
    fn from(text: String) -> Self {
        HandlerError::Tool(text)
    }
}

impl From<&str> for HandlerError {
    fn from(text: &str) -> Self {
        HandlerError::Tool(text.to_owned())
    }
}

impl From<ErrorObject> for HandlerError {
    fn from(error: ErrorObject) -> Self {
        HandlerError::Protocol(error)
    }
}

impl From<RegistryError> for HandlerError {
    fn from(error: RegistryError) -> Self {
        HandlerError::Tool(error.to_string())
    }
}

/// What a handler may return.
pub trait IntoAnswer {
    /// Answers `call` with it.
    fn answer(self, call: Call);
}

impl IntoAnswer for String {
    fn answer(self, call: Call) {
        call.complete_text(self);
    }
}

impl IntoAnswer for &str {
    fn answer(self, call: Call) {
        call.complete_text(self);
    }
}

/// Values of a completion.
impl IntoAnswer for Vec<String> {
    fn answer(self, call: Call) {
        call.complete_values(self);
    }
}

/// Accepts a listen request.
impl IntoAnswer for () {
    fn answer(self, call: Call) {
        call.complete_text("");
    }
}

impl<T: IntoAnswer> IntoAnswer for Result<T, HandlerError> {
    fn answer(self, call: Call) {
        match self {
            Ok(value) => value.answer(call),
            Err(error) => error.answer(call),
        }
    }
}

/// Reads the arguments, or answers with what is wrong with them.
fn arguments<A: DeserializeOwned>(call: Call) -> Option<(A, Call)> {
    match serde_json::from_str(call.arguments()) {
        Ok(arguments) => Some((arguments, call)),
        Err(error) => {
            let text = format!("Invalid arguments for '{}': {error}", call.name());
            call.fail(text);
            None
        }
    }
}

/// A handler from an async function of arguments and context.
///
/// Up to its first `await` that waits, it runs on the thread that read the request; then on the runtime: the one around
/// the serving call, or one that all servers of the process share. It must not block; see [`blocking`].
pub fn handler<A, F, R>(function: impl Fn(A, Context) -> F + Send + Sync + 'static) -> impl Handler
where
    A: DeserializeOwned + Send + 'static,
    F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    R: IntoAnswer + 'static,
{
    let function = Arc::new(function);
    move |call: Call| {
        let Some((arguments, call)) = arguments(call) else { return };
        let inner = Arc::clone(&call.context().inner);
        let runtime = match inner.session.engine.runtime() {
            Ok(runtime) => runtime.handle(),
            Err(error) => return call.crash(&format!("no runtime: {error}")),
        };
        let context = call.context().clone();
        let function = Arc::clone(&function);
        let mut future = Box::pin(async move {
            // Not part of the answer's lifetime: R need not be Send.
            let result = function(arguments, context).await;
            result.answer(call);
        });
        let _entered = runtime.enter();
        // Most handlers have their answer at once; those need no task.
        let first = pin!(&mut future).poll(&mut TaskContext::from_waker(Waker::noop()));
        if first.is_pending() {
            runtime.spawn(async move {
                let mut future = future;
                crate::handlers::caught(future.as_mut()).await;
            });
        }
    }
}

/// Polls to the end; a panic ends it, and drops what it held.
async fn caught(mut future: std::pin::Pin<&mut (impl Future<Output = ()> + Send)>) {
    std::future::poll_fn(|cx| crate::guard::catch("a handler", || future.as_mut().poll(cx)).unwrap_or(Poll::Ready(())))
        .await;
}

/// A handler from a function that returns at once; it runs on the thread that read the request.
pub fn handler_sync<A, R>(
    function: impl Fn(A, &Context) -> Result<R, HandlerError> + Send + Sync + 'static,
) -> impl Handler
where
    A: DeserializeOwned,
    R: IntoAnswer,
{
    move |call: Call| {
        if let Some((arguments, call)) = arguments(call) {
            function(arguments, call.context()).answer(call);
        }
    }
}

/// A handler from a function that may block; it runs on a thread of the runtime's blocking pool.
pub fn blocking<A, R>(function: impl Fn(A, &Context) -> Result<R, HandlerError> + Send + Sync + 'static) -> impl Handler
where
    A: DeserializeOwned + Send + 'static,
    R: IntoAnswer,
{
    let function = Arc::new(function);
    move |call: Call| {
        let Some((arguments, call)) = arguments(call) else { return };
        let inner = Arc::clone(&call.context().inner);
        match inner.session.engine.runtime() {
            Err(error) => call.crash(&format!("no runtime: {error}")),
            Ok(runtime) => {
                let function = Arc::clone(&function);
                runtime.handle().spawn_blocking(move || {
                    crate::guard::catch("a handler", || function(arguments, call.context()).answer(call));
                });
            }
        }
    }
}

/// A client's answers to several questions: for each key the client's result object.
#[derive(Clone, Debug)]
pub struct Answers(HashMap<String, Box<RawValue>>);

impl Answers {
    /// The answer under `key`, as any type that takes it; `Box<RawValue>` takes it to the letter.
    ///
    /// # Errors
    /// A tool error: nothing was asked under `key`, or the answer has another shape.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, HandlerError> {
        let raw = self.0.get(key).ok_or_else(|| HandlerError::Tool(format!("nothing was asked as '{key}'")))?;
        serde_json::from_str(raw.get())
            .map_err(|error| HandlerError::Tool(format!("the client's answer to '{key}' has another shape: {error}")))
    }
}

impl Context {
    /// Asks the client several things at once.
    ///
    /// # Errors
    /// [`HandlerError::Suspended`]: the client will call again, so return (`?` does). A tool error: the client cannot
    /// or will not answer.
    pub async fn ask_all(&self, requests: &[InputRequest]) -> Result<Answers, HandlerError> {
        match self.ask(requests).await {
            Asked::Answered(json) => {
                serde_json::from_str(&json).map(Answers).map_err(|error| HandlerError::Tool(error.to_string()))
            }
            Asked::Suspended => Err(HandlerError::Suspended),
            Asked::Failed(error) => Err(HandlerError::Tool(error.message)),
        }
    }

    async fn ask_one<T: DeserializeOwned>(&self, request: InputRequest) -> Result<T, HandlerError> {
        let key = request.key.clone();
        self.ask_all(&[request]).await?.get(&key)
    }

    /// Asks the user for input; `params` are those of `elicitation/create`, the answer is an `ElicitResult`.
    ///
    /// # Errors
    /// As for [`Context::ask_all`].
    pub async fn elicit<T: DeserializeOwned>(&self, key: &str, params: impl Serialize) -> Result<T, HandlerError> {
        self.ask_one(InputRequest::elicit(key, text(&params)?)).await
    }

    /// Asks the client's model; `params` are those of `sampling/createMessage`, the answer a `CreateMessageResult`.
    ///
    /// # Errors
    /// As for [`Context::ask_all`].
    pub async fn sample<T: DeserializeOwned>(&self, key: &str, params: impl Serialize) -> Result<T, HandlerError> {
        self.ask_one(InputRequest::sample(key, text(&params)?)).await
    }

    /// Asks for the client's root directories; the answer is a `ListRootsResult`.
    ///
    /// # Errors
    /// As for [`Context::ask_all`].
    pub async fn list_roots<T: DeserializeOwned>(&self, key: &str) -> Result<T, HandlerError> {
        self.ask_one(InputRequest::list_roots(key)).await
    }
}

fn text(params: &impl Serialize) -> Result<String, HandlerError> {
    serde_json::to_string(params).map_err(|error| HandlerError::Tool(format!("params do not serialize: {error}")))
}
