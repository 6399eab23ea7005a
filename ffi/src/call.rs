//! A request, and the right and duty to answer it once.
//!
//! A handler answers at once, or keeps the call and answers later, from any thread. Every answering function takes the
//! call, whatever it returns: the handle is not to be used after it. Until then every function here may be called from
//! any thread.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use tocsin_core::{Asked, Call, CallKind, Context, ErrorObject, InputRequest, Level};

use crate::boundary::{Process, as_bytes, as_slice, as_text, borrow, guard, guard_value};
use crate::error::Failure;
use crate::foreign::Foreign;
use crate::handler::{Handler, Here};
use crate::library::{tocsin_drop_fn, tocsin_status, tocsin_str};

/// What a call asks for:
pub const TOCSIN_CALL_TOOL: u32 = 0;
pub const TOCSIN_CALL_PROMPT: u32 = 1;
/// resources/read, of a resource or through a template.
pub const TOCSIN_CALL_RESOURCE: u32 = 2;
pub const TOCSIN_CALL_COMPLETION: u32 = 3;
/// subscriptions/listen, for tocsin_server_on_listen().
pub const TOCSIN_CALL_LISTEN: u32 = 4;

/// A request. Written by the library, valid until it is answered; later versions append members.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tocsin_request {
    pub struct_size: usize,
    /// TOCSIN_CALL_...
    pub kind: u32,
    /// Served by 2026-07-28 rules; otherwise the client made a handshake.
    pub modern: bool,
    /// Tool name, prompt name, resource URI, or the name or URI that a completion is for.
    pub target: tocsin_str,
    /// JSON, byte for byte as sent; {} if absent. A template's variables, a completion's params, a listen's filter.
    pub arguments: tocsin_str,
    /// The _meta object as JSON; {} if absent.
    pub meta: tocsin_str,
    /// Protocol version, such as 2026-07-28.
    pub protocol: tocsin_str,
    /// stdio or http.
    pub transport: tocsin_str,
    /// clientInfo as JSON; empty if the client did not say who it is. Unverified.
    pub client_info: tocsin_str,
    /// The client's capabilities as JSON.
    pub client_capabilities: tocsin_str,
    /// The handler's.
    pub user_data: *mut c_void,
}

/// A request, and the right and duty to answer it.
pub struct tocsin_call {
    process: Process,
    request: tocsin_request,
    /// Until it is answered.
    body: Mutex<Option<Body>>,
}

struct Body {
    // In this order: the handler's user_data ends after the answer.
    call: Call,
    handler: Arc<Handler>,
}

// SAFETY: `request` points into the call, which `body` and every answer in progress keep alive, and to user_data, which
// C may use from any thread; see `Foreign`.
unsafe impl Send for tocsin_call {}
// SAFETY: as above; `request` never changes.
unsafe impl Sync for tocsin_call {}

/// Handles of answered calls, kept for a while: answering twice is then an error instead of a crash.
static ANSWERED: Mutex<VecDeque<Arc<tocsin_call>>> = Mutex::new(VecDeque::new());
const KEEP_ANSWERED: usize = 128;

impl tocsin_call {
    pub fn new(call: Call, handler: Arc<Handler>) -> Arc<tocsin_call> {
        let request = tocsin_request {
            struct_size: size_of::<tocsin_request>(),
            kind: match call.kind() {
                CallKind::Tool => TOCSIN_CALL_TOOL,
                CallKind::Prompt => TOCSIN_CALL_PROMPT,
                CallKind::Resource => TOCSIN_CALL_RESOURCE,
                CallKind::Completion => TOCSIN_CALL_COMPLETION,
                CallKind::Listen => TOCSIN_CALL_LISTEN,
            },
            modern: call.is_modern(),
            target: tocsin_str::lend(call.name()),
            arguments: tocsin_str::lend(call.arguments()),
            meta: tocsin_str::lend(call.meta()),
            protocol: tocsin_str::lend(call.protocol_version()),
            transport: tocsin_str::lend(call.transport().name()),
            client_info: call.client_info().map_or(tocsin_str::EMPTY, tocsin_str::lend),
            client_capabilities: tocsin_str::lend(call.client_capabilities()),
            user_data: handler.user_data(),
        };
        let body = Mutex::new(Some(Body { call, handler }));
        Arc::new(tocsin_call { process: Process::current(), request, body })
    }

    pub fn request(&self) -> &tocsin_request {
        &self.request
    }

    /// Gives C the call; an answering function takes it back.
    pub fn into_handle(self: Arc<Self>) -> *mut tocsin_call {
        Arc::into_raw(self).cast_mut()
    }

    /// What may be done while there is no answer.
    fn open(&self) -> Result<(Context, Arc<Handler>), Failure> {
        self.process.check()?;
        let body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
        let body = body.as_ref().ok_or_else(answered)?;
        Ok((body.call.context().clone(), Arc::clone(&body.handler)))
    }

    /// Ends the handle, of which C gives up its part.
    fn close(&self) -> Result<Body, Failure> {
        self.process.check()?;
        let body = self.body.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(answered)?;
        // SAFETY: C's part of the Arc, which `into_handle` gave away; the body was there, so it is still C's.
        let handle = unsafe { Arc::from_raw(std::ptr::from_ref(self)) };
        let mut kept = ANSWERED.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(handle);
        let oldest = (kept.len() > KEEP_ANSWERED).then(|| kept.pop_front());
        drop(kept);
        drop(oldest);
        Ok(body)
    }
}

fn answered() -> Failure {
    Failure::argument("this call was answered already")
}

/// Takes the call and answers it with what `answer` makes; if that fails, the client gets an error without details.
fn finish(call: *mut tocsin_call, answer: impl FnOnce(Call) -> Result<(), (Failure, Call)>) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle; kept in ANSWERED for a while after it is answered.
        let body = unsafe { borrow(call) }?.close()?;
        answer(body.call).map_err(|(failure, call)| {
            call.crash(failure.message());
            failure
        })
    })
}

/// [`finish`] with a piece of text.
fn finish_text(call: *mut tocsin_call, text: tocsin_str, answer: impl FnOnce(Call, &str)) -> tocsin_status {
    // SAFETY: C's text.
    finish(call, |call| match unsafe { as_text(text) } {
        Ok(text) => {
            answer(call, text);
            Ok(())
        }
        Err(failure) => Err((failure, call)),
    })
}

/// The request; the same pointer that the handler got.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_request(call: *const tocsin_call) -> *const tocsin_request {
    // SAFETY: C's handle.
    guard_value(std::ptr::null(), || Ok(std::ptr::from_ref(&unsafe { borrow(call) }?.request)))
}

/// Answers with a result of the protocol: {"content":[...]} of a tool, {"messages":[...]} of a prompt,
/// {"contents":[...]} of a read, {"completion":{...}}; {} accepts a listen. Anything else becomes an error for the client
/// and a message in the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_complete(call: *mut tocsin_call, result_json: tocsin_str) -> tocsin_status {
    finish_text(call, result_json, |call, result| match result {
        "" => call.crash("it completed with nothing"),
        result => call.complete(result),
    })
}

/// Answers with text: one text block of a tool, one user message of a prompt, or a resource's text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_complete_text(call: *mut tocsin_call, text: tocsin_str) -> tocsin_status {
    finish_text(call, text, |call, text| call.complete_text(text))
}

/// Answers a tool call with structured content, any JSON value; the text block is made from it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_complete_structured(call: *mut tocsin_call, json: tocsin_str) -> tocsin_status {
    finish_text(call, json, |call, json| call.complete_structured(json))
}

/// Answers a read with bytes, which need not be text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_complete_blob(call: *mut tocsin_call, bytes: tocsin_str) -> tocsin_status {
    // SAFETY: C's bytes.
    finish(call, |call| match unsafe { as_bytes(bytes) } {
        Ok(bytes) => {
            call.complete_blob(base64::prelude::BASE64_STANDARD.encode(bytes));
            Ok(())
        }
        Err(failure) => Err((failure, call)),
    })
}

/// Answers a completion. At most 100 values are sent; the client is told how many there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_complete_values(
    call: *mut tocsin_call,
    values: *const tocsin_str,
    count: usize,
) -> tocsin_status {
    finish(call, |call| {
        // SAFETY: C's array of texts.
        let values = unsafe { as_slice(values, count) };
        // SAFETY: as above.
        let texts = values.and_then(|values| values.iter().map(|text| Ok(unsafe { as_text(*text) }?.into())).collect());
        match texts {
            Ok(texts) => {
                call.complete_values(texts);
                Ok(())
            }
            Err(failure) => Err((failure, call)),
        }
    })
}

/// Answers a tool call with an error that the model reads (isError); other calls with an internal error of that text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_fail(call: *mut tocsin_call, text: tocsin_str) -> tocsin_status {
    finish_text(call, text, |call, text| call.fail(text))
}

/// Answers with a JSON-RPC error; data_json is a JSON value, or empty. Refuses a listen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_fail_with(
    call: *mut tocsin_call,
    code: i32,
    message: tocsin_str,
    data_json: tocsin_str,
) -> tocsin_status {
    finish(call, |call| {
        // SAFETY: C's texts.
        let texts = unsafe { as_text(message) }.and_then(|message| Ok((message, unsafe { as_text(data_json) }?)));
        let error = texts.and_then(|(message, data)| {
            let error = ErrorObject::new(code, message);
            if data.is_empty() {
                return Ok(error);
            }
            Ok(error.with_data(crate::json::compact(data)?))
        });
        match error {
            Ok(error) => {
                call.fail_with(error);
                Ok(())
            }
            Err(failure) => Err((failure, call)),
        }
    })
}

/// Gives the call up: the client sees an error without details, unless it cancelled. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_drop(call: *mut tocsin_call) {
    finish(call, |call| {
        if call.is_cancelled() {
            // Waits for a cancel callback, as every answer does; nothing is sent.
            call.complete_text("");
        } else {
            call.crash("it gave the call up");
        }
        Ok(())
    });
}

/// Gives the call up because of something unforeseen: the client sees an error without details, detail goes to the log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_crash(call: *mut tocsin_call, detail: tocsin_str) -> tocsin_status {
    finish_text(call, detail, |call, detail| call.crash(detail))
}

/// Whether nobody waits for the answer any more. It must be answered or dropped nevertheless.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_is_cancelled(call: *const tocsin_call) -> bool {
    // SAFETY: C's handle.
    guard_value(true, || Ok(unsafe { borrow(call) }?.open()?.0.is_cancelled()))
}

/// Called when a call is cancelled.
pub type tocsin_cancel_fn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Calls cancel once if the call is cancelled, at once if it is; never after the answering function returned, which
/// waits for it, unless it is called by it. It must return soon. It does not get the call, so it cannot race with an
/// answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_on_cancel(
    call: *mut tocsin_call,
    cancel: tocsin_cancel_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        let cancel = cancel.ok_or_else(|| Failure::argument("the callback is NULL"))?;
        // SAFETY: C's handle.
        let (context, handler) = unsafe { borrow(call) }?.open()?;
        context.on_cancel(move || {
            // SAFETY: C's own function and pointer.
            handler.gate().pass(|| unsafe { cancel(foreign.data()) });
        });
        Ok(())
    })
}

/// Reports progress, if the client asked for it. Values that do not grow are left out. total may be NAN, and message
/// {NULL, 0}, for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_progress(
    call: *mut tocsin_call,
    done: f64,
    total: f64,
    message: tocsin_str,
) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle and text.
        let (context, text) = unsafe { (borrow(call)?.open()?.0, as_text(message)?) };
        context.progress(done, total.is_finite().then_some(total), (!message.data.is_null()).then_some(text));
        Ok(())
    })
}

/// Severity of a message to the client:
pub const TOCSIN_LEVEL_DEBUG: i32 = 0;
pub const TOCSIN_LEVEL_INFO: i32 = 1;
pub const TOCSIN_LEVEL_NOTICE: i32 = 2;
pub const TOCSIN_LEVEL_WARNING: i32 = 3;
pub const TOCSIN_LEVEL_ERROR: i32 = 4;
pub const TOCSIN_LEVEL_CRITICAL: i32 = 5;
pub const TOCSIN_LEVEL_ALERT: i32 = 6;
pub const TOCSIN_LEVEL_EMERGENCY: i32 = 7;

/// Sends a log message to the client, if it wants messages of that level. logger may be empty; data_json is any JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_log(
    call: *mut tocsin_call,
    level: i32,
    logger: tocsin_str,
    data_json: tocsin_str,
) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle and texts.
        let (context, logger, data) = unsafe { (borrow(call)?.open()?.0, as_text(logger)?, as_text(data_json)?) };
        let level = match level {
            TOCSIN_LEVEL_DEBUG => Level::Debug,
            TOCSIN_LEVEL_INFO => Level::Info,
            TOCSIN_LEVEL_NOTICE => Level::Notice,
            TOCSIN_LEVEL_WARNING => Level::Warning,
            TOCSIN_LEVEL_ERROR => Level::Error,
            TOCSIN_LEVEL_CRITICAL => Level::Critical,
            TOCSIN_LEVEL_ALERT => Level::Alert,
            TOCSIN_LEVEL_EMERGENCY => Level::Emergency,
            _ => return Err(Failure::argument("level must be TOCSIN_LEVEL_DEBUG to TOCSIN_LEVEL_EMERGENCY")),
        };
        let logger = (!logger.is_empty()).then_some(logger);
        context.log(level, logger, data).map_err(|error| Failure::json(error.message))
    })
}

/// A question to the client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tocsin_question {
    /// Your name for it, unique within the call.
    pub key: tocsin_str,
    /// elicitation/create, sampling/createMessage or roots/list.
    pub method: tocsin_str,
    /// The params of that method, a JSON object.
    pub params: tocsin_str,
}

/// What became of questions:
/// Answer is a JSON object with the client's result under each key.
pub const TOCSIN_ASKED_ANSWERED: i32 = 0;
/// The call is over for now: it was cancelled, or the client will call again with its answers, and the handler will ask
/// anew. There is no call to answer: it is NULL.
pub const TOCSIN_ASKED_SUSPENDED: i32 = 1;
/// The client cannot or will not answer: answer is a text that says so.
pub const TOCSIN_ASKED_FAILED: i32 = 2;

/// Goes on with a call after its questions; answer is valid during the call.
pub type tocsin_asked_fn =
    Option<unsafe extern "C" fn(call: *mut tocsin_call, outcome: i32, answer: tocsin_str, user_data: *mut c_void)>;

/// Asks the client, all questions at once, and goes on in then: at once, or later where handlers of this kind run. Leave
/// the answering to it; only if this fails is the call still yours. A handler that asks is written once for all clients,
/// but a modern client's answers come with a new call: what a handler does before it asks, it does again. When the
/// server is freed first, only drop runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_ask(
    call: *mut tocsin_call,
    questions: *const tocsin_question,
    count: usize,
    then: tocsin_asked_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        let then = then.ok_or_else(|| Failure::argument("the callback is NULL"))?;
        // SAFETY: C's array of texts.
        let questions = unsafe { as_slice(questions, count) }?.iter().map(|question| unsafe {
            Ok(InputRequest {
                key: as_text(question.key)?.into(),
                method: as_text(question.method)?.into(),
                params: as_text(question.params)?.into(),
            })
        });
        let questions = questions.collect::<Result<Vec<_>, Failure>>()?;
        // SAFETY: C's handle.
        let (context, handler) = unsafe { borrow(call) }?.open()?;
        // SAFETY: a second part of the Arc that C's handle is: it may be answered by others before the answers come.
        let call = unsafe {
            Arc::increment_strong_count(call);
            Arc::from_raw(call)
        };
        let then = Then { call: Some(call), then, foreign };
        let here = Here::enter();
        let token = here.token();
        context.ask_with(&questions, move |asked| handler.go_on(&token, move || then.run(asked)));
        Ok(())
    })
}

/// The rest of a handler that has asked; if it is dropped without having run, the call goes with it.
struct Then {
    /// Given away again once C has it.
    call: Option<Arc<tocsin_call>>,
    then: unsafe extern "C" fn(*mut tocsin_call, i32, tocsin_str, *mut c_void),
    foreign: Foreign,
}

impl Then {
    fn run(mut self, asked: Asked) {
        let (outcome, answer) = match asked {
            Asked::Answered(answers) => (TOCSIN_ASKED_ANSWERED, answers),
            Asked::Failed(error) => (TOCSIN_ASKED_FAILED, error.message),
            Asked::Suspended => (TOCSIN_ASKED_SUSPENDED, String::new()),
        };
        let over = outcome == TOCSIN_ASKED_SUSPENDED || self.call.as_ref().is_none_or(|call| call.open().is_err());
        let call = if over { None } else { self.call.take() };
        let outcome = if over { TOCSIN_ASKED_SUSPENDED } else { outcome };
        let handle = call.as_ref().map_or(std::ptr::null_mut(), |call| Arc::as_ptr(call).cast_mut());
        // SAFETY: C's own function and pointer; the call lives until C answers it.
        unsafe { (self.then)(handle, outcome, tocsin_str::lend(&answer), self.foreign.data()) };
    }
}

impl Drop for Then {
    fn drop(&mut self) {
        // Answered for this round, cancelled, or never to be answered; if others answered it, this does nothing.
        if let Some(call) = self.call.take() {
            let _ = call.close();
        }
    }
}

/// Whether the client says that it can answer a question of that method.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_call_can_ask(call: *const tocsin_call, method: tocsin_str) -> bool {
    // SAFETY: C's handle and text.
    guard_value(false, || Ok(unsafe { borrow(call)?.open()?.0.can_ask(as_text(method)?) }))
}
