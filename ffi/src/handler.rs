//! C's functions, and where they run.
//!
//! By default a handler runs on one of the server's own handler threads and may block. With TOCSIN_HANDLER_INLINE it
//! runs on the thread that read the request, and must return at once. With a queue it runs wherever the host drains it.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use tocsin_core::{Call, Handler as Answers, dispatch};

use crate::boundary::{borrow, read_struct};
use crate::call::{tocsin_call, tocsin_request};
use crate::error::Failure;
use crate::foreign::Foreign;
use crate::gate::{Gate, as_handler};
use crate::library::tocsin_drop_fn;
use crate::queue::{Item, Queue, tocsin_queue};

/// Answers the call at once, or keeps it and answers later, from any thread.
pub type tocsin_handler_fn =
    Option<unsafe extern "C" fn(call: *mut tocsin_call, request: *const tocsin_request, user_data: *mut c_void)>;

/// Flag of a handler that returns at once: it runs on the thread that read the request, without a hop.
pub const TOCSIN_HANDLER_INLINE: u32 = 1;

/// A function that answers calls. Zero it, set struct_size, then the rest.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tocsin_handler {
    pub struct_size: usize,
    /// May be NULL with a queue whose calls are only taken, not run.
    pub call: tocsin_handler_fn,
    pub user_data: *mut c_void,
    pub drop: tocsin_drop_fn,
    /// Where calls wait for the host; NULL for the server's own threads.
    pub queue: *mut tocsin_queue,
    /// TOCSIN_HANDLER_INLINE, or 0.
    pub flags: u32,
}

enum Place {
    Inline,
    Pool(Arc<dispatch::Pool>),
    Queue(Arc<Queue>),
}

/// C's handler, kept by the registry and by its calls in flight.
pub struct Handler {
    function: tocsin_handler_fn,
    foreign: Foreign,
    place: Place,
    gate: Arc<Gate>,
}

/// C's struct, taken over: from here on `user_data` is dropped whatever happens.
pub struct Draft {
    function: tocsin_handler_fn,
    foreign: Foreign,
    queue: *mut tocsin_queue,
    flags: u32,
}

impl Draft {
    /// For the first line of a function that takes a handler.
    ///
    /// # Safety
    /// `from` is NULL or C's struct.
    pub unsafe fn read(from: *const tocsin_handler) -> Result<Draft, Failure> {
        // SAFETY: as the caller says.
        let read = unsafe { read_struct(from) }?;
        let foreign = Foreign::new(read.user_data, read.drop);
        Ok(Draft { function: read.call, foreign, queue: read.queue, flags: read.flags })
    }

    /// The same for a handler that may be NULL.
    ///
    /// # Safety
    /// As for [`Draft::read`].
    pub unsafe fn read_optional(from: *const tocsin_handler) -> Result<Option<Draft>, Failure> {
        // SAFETY: as the caller says.
        if from.is_null() { Ok(None) } else { unsafe { Draft::read(from) }.map(Some) }
    }

    /// Makes the handler of a server.
    pub fn finish(self, pool: &Arc<dispatch::Pool>, gate: &Arc<Gate>) -> Result<Arc<Handler>, Failure> {
        if self.flags & !TOCSIN_HANDLER_INLINE != 0 {
            return Err(Failure::argument("flags of a handler must be 0 or TOCSIN_HANDLER_INLINE"));
        }
        let inline = self.flags & TOCSIN_HANDLER_INLINE != 0;
        let place = if self.queue.is_null() {
            if self.function.is_none() {
                return Err(Failure::argument("a handler needs a function, or a queue"));
            }
            if inline { Place::Inline } else { Place::Pool(Arc::clone(pool)) }
        } else if inline {
            return Err(Failure::argument("a handler runs inline or waits in a queue, not both"));
        } else {
            // SAFETY: C's handle.
            let queue = unsafe { borrow(self.queue) }?;
            queue.process().check()?;
            Place::Queue(queue.inner())
        };
        Ok(Arc::new(Handler { function: self.function, foreign: self.foreign, place, gate: Arc::clone(gate) }))
    }
}

impl Handler {
    pub fn user_data(&self) -> *mut c_void {
        self.foreign.data()
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Runs C's function on this thread.
    pub fn run(self: &Arc<Self>, call: Call) {
        if call.is_cancelled() {
            return call.discard();
        }
        let Some(function) = self.function else { return call.crash("its handler has no function to run") };
        let run = || {
            let call = tocsin_call::new(call, Arc::clone(self));
            let request = std::ptr::from_ref(call.request());
            // SAFETY: C's own function and pointer; the request lives until the call is answered.
            as_handler(|| unsafe { function(call.into_handle(), request, self.foreign.data()) });
        };
        self.gate.pass(run);
    }

    /// Runs the rest of a handler: right here if `asked` says so, otherwise where handlers of this kind run.
    pub fn go_on(self: &Arc<Self>, asked: &Token, rest: impl FnOnce() + Send + 'static) {
        let gate = Arc::clone(&self.gate);
        let rest = move || {
            gate.pass(|| as_handler(rest));
        };
        match &self.place {
            _ if asked.is_here() => rest(),
            Place::Inline => rest(),
            Place::Pool(pool) => pool.run(rest),
            Place::Queue(queue) => queue.push(Item::Rest(Box::new(rest))),
        }
    }
}

/// How the engine sees a handler.
pub struct Registered(pub Arc<Handler>);

impl Answers for Registered {
    fn call(&self, call: Call) {
        let handler = Arc::clone(&self.0);
        match &self.0.place {
            Place::Inline => handler.run(call),
            Place::Pool(pool) => pool.run(move || handler.run(call)),
            Place::Queue(queue) => queue.push(Item::Call(handler, call)),
        }
    }
}

/// The time during which a question is being asked: an answer that is there already may be taken on the spot.
pub struct Here(Token);

/// Asks whether it is still that time, and this still that thread.
#[derive(Clone)]
pub struct Token {
    asking: Arc<AtomicBool>,
    thread: ThreadId,
}

impl Here {
    pub fn enter() -> Here {
        Here(Token { asking: Arc::new(AtomicBool::new(true)), thread: std::thread::current().id() })
    }

    pub fn token(&self) -> Token {
        self.0.clone()
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.asking.store(false, Ordering::Relaxed);
    }
}

impl Token {
    fn is_here(&self) -> bool {
        // Written and read by this thread alone, if it is this thread.
        self.thread == std::thread::current().id() && self.asking.load(Ordering::Relaxed)
    }
}
