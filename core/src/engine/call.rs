//! A request in the hands of its handler.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use tokio::sync::Notify;

use crate::protocol::{ErrorObject, Features, Id, Level, Revision, json};
use crate::registry::{ResourceEntry, TemplateEntry, ToolEntry};

use super::answer::{Answer, write_answer};
use super::session::Handshake;
use super::{Channel, Session, Transport};

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CallKind {
    /// `tools/call`.
    Tool,
    /// `prompts/get`.
    Prompt,
    /// `resources/read`.
    Resource,
    /// `completion/complete`.
    Completion,
    /// `subscriptions/listen`, before it is accepted.
    Listen,
}

/// The entry that a call is for; kept, so that an edit in between does not take it away.
pub(crate) enum Target {
    Tool(Arc<ToolEntry>),
    Resource(Arc<ResourceEntry>),
    Template(Arc<TemplateEntry>),
    /// Prompts, completions and listen hooks.
    None,
}

/// Who calls, and by which road it said so.
pub(crate) enum Client {
    /// In the request's `_meta`; ranges of `params`.
    Request {
        info: Option<Range<usize>>,
        capabilities: Range<usize>,
    },
    Handshake(Arc<Handshake>),
    Unknown,
}

struct State {
    /// No answer yet, and not cancelled.
    open: bool,
    last_progress: f64,
}

type CancelFn = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct CancelHooks {
    hooks: Vec<CancelFn>,
    /// The thread that runs them now.
    running: Option<ThreadId>,
}

/// Shared by the one [`Call`] and all its [`Context`]s.
pub(crate) struct CallInner {
    pub id: Id,
    pub kind: CallKind,
    pub target: Target,
    /// Tool or prompt name, URI, or what is completed.
    pub name: String,
    pub session: Arc<Session>,
    pub channel: Channel,
    pub revision: Arc<Revision>,
    pub client: Client,
    pub params: Box<str>,
    pub arguments: Option<Range<usize>>,
    pub meta: Option<Range<usize>>,
    /// Variables of a resource template, as a JSON object.
    pub variables: Option<String>,
    /// Answers that a modern client has given to questions of this call, as raw members.
    pub answers: Vec<(String, String)>,
    pub progress_token: Option<Id>,
    /// Least severe level to send; `None`: no log messages at all.
    pub log_level: Option<Level>,
    state: Mutex<State>,
    cancelled: AtomicBool,
    hooks: Mutex<CancelHooks>,
    hooks_done: std::sync::Condvar,
    pub(super) changed: Notify,
    /// No handler has begun with it; see [`Context::set_waiting`].
    pub waiting: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a request brings along; the rest of a [`CallInner`] is made here.
pub(crate) struct NewCall {
    pub id: Id,
    pub kind: CallKind,
    pub target: Target,
    pub name: String,
    pub session: Arc<Session>,
    pub channel: Channel,
    pub revision: Arc<Revision>,
    pub client: Client,
    pub params: Box<str>,
    pub arguments: Option<Range<usize>>,
    pub meta: Option<Range<usize>>,
    pub variables: Option<String>,
    pub answers: Vec<(String, String)>,
    pub progress_token: Option<Id>,
    pub log_level: Option<Level>,
}

impl CallInner {
    pub fn new(new: NewCall) -> Arc<CallInner> {
        Arc::new(CallInner {
            id: new.id,
            kind: new.kind,
            target: new.target,
            name: new.name,
            session: new.session,
            channel: new.channel,
            revision: new.revision,
            client: new.client,
            params: new.params,
            arguments: new.arguments,
            meta: new.meta,
            variables: new.variables,
            answers: new.answers,
            progress_token: new.progress_token,
            log_level: new.log_level,
            state: Mutex::new(State { open: true, last_progress: f64::NEG_INFINITY }),
            cancelled: AtomicBool::new(false),
            hooks: Mutex::default(),
            hooks_done: std::sync::Condvar::new(),
            changed: Notify::new(),
            waiting: AtomicBool::new(false),
        })
    }

    fn part(&self, range: Option<&Range<usize>>) -> Option<&str> {
        self.params.get(range?.clone())
    }

    pub fn arguments(&self) -> &str {
        self.part(self.arguments.as_ref()).unwrap_or("{}")
    }

    /// `capabilities` of the client, as JSON.
    pub fn capabilities(&self) -> &str {
        match &self.client {
            Client::Request { capabilities, .. } => self.params.get(capabilities.clone()).unwrap_or("{}"),
            Client::Handshake(handshake) => &handshake.capabilities,
            Client::Unknown => "{}",
        }
    }

    /// Stops the call from outside; nothing more is sent for it.
    pub fn cancel(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.open, false) {
            return;
        }
        // Under the lock: whoever sees the call closed also sees why.
        self.cancelled.store(true, Ordering::Release);
        drop(state);
        self.channel.forgo();
        self.session.engine.call_done();
        self.changed.notify_waiters();
        let mut hooks = lock(&self.hooks);
        let run = std::mem::take(&mut hooks.hooks);
        if run.is_empty() {
            return;
        }
        hooks.running = Some(std::thread::current().id());
        drop(hooks);
        for hook in run {
            crate::guard::catch("a cancel callback", hook);
        }
        lock(&self.hooks).running = None;
        self.hooks_done.notify_all();
    }

    /// Answers, unless it is answered or cancelled already. Returns whether this was the answer.
    pub fn finish(self: &Arc<Self>, answer: Answer) -> bool {
        let answer = match answer {
            Answer::Error(_) | Answer::ToolError(_) | Answer::Crash => answer,
            _ if self.kind == CallKind::Listen => match super::listen::accept(self) {
                Ok(()) => return true,
                Err(error) => Answer::Error(error),
            },
            answer => answer,
        };
        let answered = self.finish_with(|call| {
            let mut text = String::new();
            let error = write_answer(call, answer, &mut text);
            (text, error)
        });
        // A cancel callback that runs on another thread may use what the host frees after answering.
        let me = std::thread::current().id();
        let mut hooks = lock(&self.hooks);
        while hooks.running.is_some_and(|thread| thread != me) {
            hooks = self.hooks_done.wait(hooks).unwrap_or_else(PoisonError::into_inner);
        }
        let dropped = std::mem::take(&mut hooks.hooks);
        drop(hooks);
        drop(dropped);
        answered
    }

    fn finish_with(self: &Arc<Self>, text: impl FnOnce(&CallInner) -> (String, Option<i32>)) -> bool {
        if !lock(&self.state).open {
            return false;
        }
        // Written before the lock is taken: a large answer must not hold up a cancellation.
        let (text, error) = text(self);
        let mut state = lock(&self.state);
        if !std::mem::replace(&mut state.open, false) {
            return false;
        }
        self.session.finished(self);
        self.channel.reply(text, error);
        drop(state);
        self.changed.notify_waiters();
        self.session.engine.call_done();
        true
    }

    /// Turns an accepted listen call into something else than an answer; see [`super::listen`].
    pub fn close_with(self: &Arc<Self>, f: impl FnOnce() -> bool) -> bool {
        let mut state = lock(&self.state);
        if !state.open || !f() {
            return false;
        }
        state.open = false;
        true
    }

    pub fn is_open(&self) -> bool {
        lock(&self.state).open
    }

    fn send(&self, text: impl FnOnce(&mut State) -> Option<String>) {
        let mut state = lock(&self.state);
        // Pushed under the lock: nothing follows the answer.
        if state.open
            && let Some(text) = text(&mut state)
        {
            self.channel.notify(text);
        }
    }
}

/// A request, and the right and duty to answer it once.
///
/// Dropped without an answer, the client sees a tool error (or an internal error) that says no more.
pub struct Call {
    context: Context,
    answered: bool,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("kind", &self.context.kind()).field("name", &self.context.name()).finish()
    }
}

impl std::ops::Deref for Call {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Call {
    pub(crate) fn new(inner: Arc<CallInner>) -> Call {
        Call { context: Context { inner }, answered: false }
    }

    /// A handle that may be kept, copied, and used from other threads while the call runs.
    pub fn context(&self) -> &Context {
        &self.context
    }

    fn finish(mut self, answer: Answer) {
        self.answered = true;
        self.context.inner.finish(answer);
    }

    /// Answers with a result object of the protocol as JSON text (`{"content":[…]}`, `{"messages":[…]}`,
    /// `{"contents":[…]}`, `{"completion":{…}}`). Text that is not such an object becomes an error for the client.
    pub fn complete(self, result: impl Into<String>) {
        self.finish(Answer::Result(result.into()));
    }

    /// Answers with text: a tool's text content, one user message of a prompt, or a resource's text.
    pub fn complete_text(self, text: impl Into<String>) {
        self.finish(Answer::Text(text.into()));
    }

    /// Answers a tool call with structured content, any JSON value as JSON text; the text content is made from it.
    pub fn complete_structured(self, value: impl Into<String>) {
        self.finish(Answer::Structured(value.into()));
    }

    /// Answers a read with bytes, given in base64.
    pub fn complete_blob(self, base64: impl Into<String>) {
        self.finish(Answer::Blob(base64.into()));
    }

    /// Answers a completion; at most 100 values are sent, and the client is told how many there are.
    pub fn complete_values(self, values: Vec<String>) {
        self.finish(Answer::Values(values));
    }

    /// Answers a tool call with a tool error: a result that says `isError`, for the model to read. Other kinds of
    /// calls get an internal error with this text.
    pub fn fail(self, text: impl Into<String>) {
        self.finish(Answer::ToolError(text.into()));
    }

    /// Answers with a JSON-RPC error.
    pub fn fail_with(self, error: ErrorObject) {
        self.finish(Answer::Error(error));
    }

    /// The handler failed in a way that it did not foresee: the client gets a generic text, `detail` goes to the log.
    pub fn crash(self, detail: &str) {
        log::error!("the handler of '{}' failed: {detail}", self.name());
        self.finish(Answer::Crash);
    }

    /// The call was cancelled: forgets it without an answer.
    pub fn discard(mut self) {
        if self.is_cancelled() {
            self.answered = true;
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.answered && self.context.inner.is_open() {
            log::error!("the handler of '{}' gave no answer", self.name());
            self.context.inner.finish(Answer::Crash);
        }
    }
}

/// A running call, as its handler sees it. Cheap to clone; may be used from any thread, also after the answer.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<CallInner>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Context {
    /// What is asked for.
    pub fn kind(&self) -> CallKind {
        self.inner.kind
    }

    /// Tool name, prompt name, resource URI, or the name or URI that a completion is for.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Arguments as JSON text, to the letter as sent; `{}` if absent. For a read through a template, its variables;
    /// for a completion, its params; for a listen, its filter.
    pub fn arguments(&self) -> &str {
        self.inner.variables.as_deref().unwrap_or_else(|| self.inner.arguments())
    }

    /// The request's `_meta` as JSON text; `{}` if absent.
    pub fn meta(&self) -> &str {
        self.inner.part(self.inner.meta.as_ref()).unwrap_or("{}")
    }

    /// The protocol version that the request is served by.
    pub fn protocol_version(&self) -> &str {
        &self.inner.revision.name
    }

    /// Whether the request is served by modern rules.
    pub fn is_modern(&self) -> bool {
        self.inner.revision.is_modern()
    }

    /// What that version has.
    pub fn features(&self) -> &Features {
        &self.inner.revision.features
    }

    /// How the client reached the server.
    pub fn transport(&self) -> Transport {
        self.inner.session.transport
    }

    /// `clientInfo` as JSON text, if the client named itself. Unverified.
    pub fn client_info(&self) -> Option<&str> {
        match &self.inner.client {
            Client::Request { info, .. } => self.inner.part(info.as_ref()),
            Client::Handshake(handshake) => handshake.client_info.as_deref(),
            Client::Unknown => None,
        }
    }

    /// What the client says it can do, as JSON text.
    pub fn client_capabilities(&self) -> &str {
        self.inner.capabilities()
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::Acquire)
    }

    /// Ends when the call is cancelled; if it is answered, never.
    pub async fn cancelled(&self) {
        loop {
            let changed = self.inner.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }

    /// Calls `hook` once when the call is cancelled, at once if it is already; never after the answering call has
    /// returned. Runs on whatever thread cancels, and must return soon.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        let mut hooks = lock(&self.inner.hooks);
        if self.inner.is_open() {
            hooks.hooks.push(Box::new(hook));
            return;
        }
        drop(hooks);
        // An answered call has no more use for it.
        if !self.is_cancelled() {
            return;
        }
        crate::guard::catch("a cancel callback", hook);
    }

    /// Whether the client wants progress.
    pub fn wants_progress(&self) -> bool {
        self.inner.progress_token.is_some()
    }

    /// Reports progress, if the client asked for it (`basic/patterns/progress`). Values that do not increase, and
    /// numbers that are not finite, are left out.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.inner.progress_token else { return };
        let Some(value) = json::format_f64(progress) else { return };
        self.inner.send(|state| {
            if progress <= state.last_progress {
                return None;
            }
            state.last_progress = progress;
            let mut out = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{},\
                 \"progress\":{value}",
                token.token()
            );
            if let Some(total) = total.and_then(json::format_f64) {
                out.push_str(",\"total\":");
                out.push_str(&total);
            }
            if let Some(message) = message {
                out.push_str(",\"message\":");
                json::write_string(&mut out, message);
            }
            out.push_str("}}");
            Some(out)
        });
    }

    /// Sends a log message to the caller, if it wants messages of this level (`server/utilities/logging`). `data` is
    /// any JSON value as JSON text.
    ///
    /// # Errors
    /// `data` is not JSON.
    pub fn log(&self, level: Level, logger: Option<&str>, data: &str) -> Result<(), ErrorObject> {
        if self.inner.log_level.is_none_or(|least| level < least) {
            return Ok(());
        }
        let data: &serde_json::value::RawValue = serde_json::from_str(data)
            .map_err(|error| ErrorObject::invalid_params(format!("data of a log message is not JSON: {error}")))?;
        self.inner.send(|_| {
            let mut out = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"{}\"",
                level.name()
            );
            if let Some(logger) = logger {
                out.push_str(",\"logger\":");
                json::write_string(&mut out, logger);
            }
            out.push_str(",\"data\":");
            out.push_str(&json::minify(data.get()));
            out.push_str("}}");
            Some(out)
        });
        Ok(())
    }

    /// Says whether the call waits in a host's queue, so that a timeout can name the culprit.
    pub fn set_waiting(&self, waiting: bool) {
        self.inner.waiting.store(waiting, Ordering::Relaxed);
    }

    /// Tells two calls apart, for hosts that keep a table of them; unique while the call lives.
    pub fn key(&self) -> usize {
        Arc::as_ptr(&self.inner) as usize
    }
}
