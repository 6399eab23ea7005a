//! Calls: from the queue to JavaScript in batches, and their answers back.
//!
//! These are functions, and what they work on belongs to the thread, because a method of a napi class costs ten times as
//! much to call. A thread runs one JavaScript environment.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use napi::bindgen_prelude::{Array, ToNapiValue};
use napi::{Env, Result};
use napi_derive::napi;
use tocsin::dispatch::Event;
use tocsin::{Asked, Call, CallKind, Context, ErrorObject, InputRequest, Level};

use crate::server::Engine;

/// Tags of events that are no calls; a call begins with its handler's number, which is not negative.
const CANCELLED: i32 = -1;
const ASKED: i32 = -2;
const WATCH: i32 = -3;
const DROPPED: i32 = -4;

/// A flat array under construction: one crossing for a whole batch, and no object for each event.
struct Batch<'env> {
    array: Array<'env>,
    length: u32,
}

impl Batch<'_> {
    fn push<T: ToNapiValue>(&mut self, value: T) -> Result<()> {
        self.array.set(self.length, value)?;
        self.length += 1;
        Ok(())
    }
}

/// Keys are addresses, which a JavaScript number holds exactly.
fn to_key(key: usize) -> i64 {
    i64::try_from(key).unwrap_or(-1)
}

/// What a handler may want to know about its call.
#[napi(object)]
pub struct CallInfo {
    pub name: String,
    pub protocol_version: String,
    pub modern: bool,
    pub transport: String,
    pub wants_progress: bool,
    /// JSON texts, these three.
    pub client_info: Option<String>,
    pub client_capabilities: String,
    pub meta: String,
}

/// A call that JavaScript has not answered yet, with the port of its server.
struct Held {
    port: u32,
    call: Call,
}

thread_local! {
    static ENGINES: RefCell<HashMap<u32, Weak<Engine>>> = RefCell::default();
    static CALLS: RefCell<HashMap<usize, Held>> = RefCell::default();
}

/// Lets a server be drained by its port.
pub fn enter(port: u32, engine: &Arc<Engine>) {
    ENGINES.with_borrow_mut(|engines| engines.insert(port, Arc::downgrade(engine)));
}

/// Forgets a server, and the calls that nobody will answer any more.
pub fn leave(port: u32) {
    // A thread that ends has dropped them already.
    let _ = ENGINES.try_with(|engines| engines.borrow_mut().remove(&port));
    let _ = CALLS.try_with(|calls| {
        let left = calls.borrow_mut().extract_if(|_, held| held.port == port).collect::<Vec<_>>();
        drop(left);
    });
}

fn engine(port: u32) -> Option<Arc<Engine>> {
    ENGINES.with_borrow(|engines| engines.get(&port).and_then(Weak::upgrade))
}

fn take(key: i64) -> Option<Call> {
    let key = usize::try_from(key).ok()?;
    CALLS.with_borrow_mut(|calls| calls.remove(&key)).map(|held| held.call)
}

/// A call that is not answered yet. No borrow is held: what the caller does may end other calls.
fn held(key: i64) -> Option<(u32, Context)> {
    let key = usize::try_from(key).ok()?;
    CALLS.with_borrow(|calls| calls.get(&key).map(|held| (held.port, held.call.context().clone())))
}

fn context(key: i64) -> Option<Context> {
    held(key).map(|(_, context)| context)
}

/// Takes at most `max` events. The first element tells whether to come again unasked; then, one after another:
///
/// - handler, key, arguments (JSON text), and for a read its URI: a call
/// - -1, key: that call was cancelled
/// - -2, token, fate, text: what became of a question (0: answers as JSON text, 1: suspended, 2: an error's text)
/// - -3, uri, watched: the first subscriber of a URI came, or the last one went
/// - -4, handler: it will not be called any more
#[napi]
pub fn drain<'env>(env: &'env Env, port: u32, max: u32) -> Result<Array<'env>> {
    let events = engine(port).map(|engine| engine.queue.drain(max as usize)).unwrap_or_default();
    let mut batch = Batch { array: env.create_array(0)?, length: 0 };
    batch.push(events.len() == max as usize)?;
    for event in events {
        match event {
            Event::Call(handler, call) => {
                batch.push(u32::try_from(handler).unwrap_or(u32::MAX))?;
                batch.push(to_key(call.key()))?;
                batch.push(call.arguments())?;
                if call.kind() == CallKind::Resource {
                    batch.push(call.name())?;
                }
                CALLS.with_borrow_mut(|calls| calls.insert(call.key(), Held { port, call }));
            }
            Event::Cancelled(key) => {
                batch.push(CANCELLED)?;
                batch.push(to_key(key))?;
            }
            Event::Asked(token, asked) => {
                let (fate, text) = match asked {
                    Asked::Answered(answers) => (0, answers),
                    Asked::Suspended => (1, String::new()),
                    Asked::Failed(error) => (2, error.message),
                };
                batch.push(ASKED)?;
                batch.push(u32::try_from(token).unwrap_or(u32::MAX))?;
                batch.push(fate)?;
                batch.push(text)?;
            }
            Event::Watch(uri, watched) => {
                batch.push(WATCH)?;
                batch.push(uri)?;
                batch.push(watched)?;
            }
            Event::Dropped(handler) => {
                batch.push(DROPPED)?;
                batch.push(u32::try_from(handler).unwrap_or(u32::MAX))?;
            }
        }
    }
    Ok(batch.array)
}

/// Answers with a result object as JSON text.
#[napi]
pub fn complete(key: i64, result: String) {
    if let Some(call) = take(key) {
        call.complete(result);
    }
}

/// Answers with text.
#[napi]
pub fn complete_text(key: i64, text: String) {
    if let Some(call) = take(key) {
        call.complete_text(text);
    }
}

/// Answers with structured content as JSON text.
#[napi]
pub fn complete_structured(key: i64, value: String) {
    if let Some(call) = take(key) {
        call.complete_structured(value);
    }
}

/// Answers a read with bytes in base64.
#[napi]
pub fn complete_blob(key: i64, base64: String) {
    if let Some(call) = take(key) {
        call.complete_blob(base64);
    }
}

/// Answers a completion.
#[napi]
pub fn complete_values(key: i64, values: Vec<String>) {
    if let Some(call) = take(key) {
        call.complete_values(values);
    }
}

/// Answers with a tool error.
#[napi]
pub fn fail(key: i64, text: String) {
    if let Some(call) = take(key) {
        call.fail(text);
    }
}

/// Answers with a JSON-RPC error; `data` is JSON text.
#[napi]
pub fn fail_with(key: i64, code: i32, message: String, data: Option<String>) {
    if let Some(call) = take(key) {
        call.fail_with(ErrorObject { code, message, data });
    }
}

/// Answers that the handler failed; `detail` goes to the log.
#[napi]
pub fn crash(key: i64, detail: String) {
    if let Some(call) = take(key) {
        call.crash(&detail);
    }
}

/// Forgets a call that is cancelled, or answered for this round.
#[napi]
pub fn discard(key: i64) {
    if let Some(call) = take(key) {
        call.discard();
    }
}

/// Whether a call is cancelled; `true` too for one that is answered.
#[napi]
pub fn cancelled(key: i64) -> bool {
    context(key).is_none_or(|context| context.is_cancelled())
}

/// What is known about a call, until it is answered.
#[napi]
pub fn info(key: i64) -> Option<CallInfo> {
    let context = context(key)?;
    Some(CallInfo {
        name: context.name().to_owned(),
        protocol_version: context.protocol_version().to_owned(),
        modern: context.is_modern(),
        transport: context.transport().name().to_owned(),
        wants_progress: context.wants_progress(),
        client_info: context.client_info().map(str::to_owned),
        client_capabilities: context.client_capabilities().to_owned(),
        meta: context.meta().to_owned(),
    })
}

/// Reports progress.
#[napi]
pub fn progress(key: i64, progress: f64, total: Option<f64>, message: Option<String>) {
    if let Some(context) = context(key) {
        context.progress(progress, total, message.as_deref());
    }
}

/// Sends a log message to the client; `data` is JSON text. Says what is wrong, if anything.
#[napi]
pub fn log(key: i64, level: String, data: String, logger: Option<String>) -> Option<String> {
    let Some(level) = Level::parse(&level) else { return Some(format!("unknown log level '{level}'")) };
    context(key)?.log(level, logger.as_deref(), &data).err().map(|error| error.message)
}

/// Whether the client says that it can answer a request of `method`.
#[napi]
pub fn can_ask(key: i64, method: String) -> bool {
    context(key).is_some_and(|context| context.can_ask(&method))
}

/// Asks the client: `questions` are key, method and params (JSON text) in turn. An event tells under `token` what
/// became of them.
#[napi]
pub fn ask(key: i64, token: u32, questions: Vec<String>) {
    let Some((port, context)) = held(key) else { return };
    let Some(engine) = engine(port) else { return };
    let questions = questions.chunks_exact(3).map(|question| InputRequest {
        key: question[0].clone(),
        method: question[1].clone(),
        params: question[2].clone(),
    });
    let queue = Arc::downgrade(&engine.queue);
    context.ask_with(&questions.collect::<Vec<_>>(), move |asked| {
        if let Some(queue) = queue.upgrade() {
            queue.push(Event::Asked(token.into(), asked));
        }
    });
}
