//! Calls that wait for the host.
//!
//! For hosts that call their own interfaces from one thread only, and for loops. Protocol traffic goes on while the host
//! is busy; a call that waits may be cancelled or time out meanwhile, and is then not delivered.

use std::ffi::c_void;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tocsin_core::{Call, dispatch};

use crate::boundary::{Process, borrow, guard, guard_value, guard_void, put, take};
use crate::call::tocsin_call;
use crate::error::Failure;
use crate::foreign::Foreign;
use crate::gate::{Gate, in_handler};
use crate::handler::Handler;
use crate::library::{tocsin_drop_fn, tocsin_status};

/// As a timeout: for ever.
pub const TOCSIN_FOREVER: u32 = u32::MAX;

/// Calls that wait for the host.
pub struct tocsin_queue {
    process: Process,
    inner: Arc<Queue>,
}

impl tocsin_queue {
    pub fn process(&self) -> Process {
        self.process
    }

    pub fn inner(&self) -> Arc<Queue> {
        Arc::clone(&self.inner)
    }
}

/// What waits.
pub enum Item {
    Call(Arc<Handler>, Call),
    /// The rest of a handler that has asked something.
    Rest(Box<dyn FnOnce() + Send>),
}

type Wake = Arc<dyn Fn() + Send + Sync>;

pub struct Queue {
    items: Arc<dispatch::Queue<Item>>,
    wake: Mutex<Option<Wake>>,
    signal: Mutex<Option<Signal>>,
    gate: Arc<Gate>,
}

/// A pipe that is readable while the queue is not empty.
struct Signal {
    reader: PipeReader,
    writer: PipeWriter,
    raised: bool,
}

impl Queue {
    fn new() -> Arc<Queue> {
        Arc::new_cyclic(|me: &Weak<Queue>| {
            let me = Weak::clone(me);
            let items = dispatch::Queue::new(move || {
                if let Some(queue) = me.upgrade() {
                    queue.wake();
                }
            });
            Queue { items, wake: Mutex::default(), signal: Mutex::default(), gate: Arc::default() }
        })
    }

    fn wake(&self) {
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(wake) = wake {
            self.gate.pass(|| wake());
        }
    }

    pub fn push(&self, item: Item) {
        if let Item::Call(_, call) = &item {
            call.set_waiting(true);
        }
        self.items.push(item);
        self.show();
    }

    /// Makes the pipe tell the truth. Whoever changes the queue calls this after, so the last one to do so is right.
    fn show(&self) {
        let mut signal = self.signal.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(signal) = signal.as_mut() else { return };
        let raise = !self.items.is_empty();
        if raise == signal.raised {
            return;
        }
        // One byte, so that neither blocks.
        let done = if raise { signal.writer.write(&[0]) } else { signal.reader.read(&mut [0]) };
        match done {
            Ok(_) => signal.raised = raise,
            Err(error) => log::error!("the descriptor of a queue fails: {error}"),
        }
    }

    fn take(&self, timeout: Option<Duration>) -> Option<Item> {
        let item = self.items.take(timeout);
        self.show();
        if let Some(Item::Call(_, call)) = &item {
            call.set_waiting(false);
        }
        item
    }

    /// The next call for C; what else comes is run at once.
    fn next(&self, end: Option<Instant>) -> Option<Arc<tocsin_call>> {
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            match self.take(left)? {
                Item::Rest(rest) => rest(),
                Item::Call(_, call) if call.is_cancelled() => call.discard(),
                Item::Call(handler, call) => return Some(tocsin_call::new(call, handler)),
            }
        }
    }

    fn close(&self) {
        self.items.close();
        self.show();
        self.gate.close();
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(wake);
    }
}

/// Makes an empty queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_new(out: *mut *mut tocsin_queue) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        let queue = tocsin_queue { process: Process::current(), inner: Queue::new() };
        // SAFETY: C's place.
        unsafe { crate::boundary::give(out, queue) }
    })
}

/// A descriptor that polls readable while something waits, for the host's loop; -1 if there is none to be had. The
/// queue's own: neither read nor close it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_fd(queue: *mut tocsin_queue) -> i32 {
    guard_value(-1, || {
        // SAFETY: C's handle.
        let queue = unsafe { borrow(queue) }?;
        queue.process.check()?;
        let mut signal = queue.inner.signal.lock().unwrap_or_else(PoisonError::into_inner);
        if signal.is_none() {
            let (reader, writer) = std::io::pipe()?;
            *signal = Some(Signal { reader, writer, raised: false });
        }
        let fd = signal.as_ref().map_or(-1, |signal| signal.reader.as_raw_fd());
        drop(signal);
        queue.inner.show();
        Ok(fd)
    })
}

/// Called when a queue has something to do.
pub type tocsin_wake_fn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Calls wake whenever the queue turns from idle to busy, at once if it is busy, on any thread; it must return soon and
/// not touch the queue, but tell the host's loop to. Replaces the one before; NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_on_wake(
    queue: *mut tocsin_queue,
    wake: tocsin_wake_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let queue = unsafe { borrow(queue) }?;
        queue.process.check()?;
        // SAFETY: C's own function and pointer.
        let wake: Option<Wake> = wake.map(|wake| Arc::new(move || unsafe { wake(foreign.data()) }) as Wake);
        let mut slot = queue.inner.wake.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *slot, wake);
        std::mem::drop(slot);
        std::mem::drop(old);
        if !queue.inner.items.is_empty() {
            queue.inner.wake();
        }
        Ok(())
    })
}

/// Takes calls, at most capacity, to be answered by the caller; their request says for which handler they are. Waits at
/// most timeout_ms for the first. TOCSIN_STATUS_TIMEOUT and TOCSIN_STATUS_CLOSED: none. What goes on after a question
/// (tocsin_call_ask) runs in here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_take(
    queue: *mut tocsin_queue,
    calls: *mut *mut tocsin_call,
    capacity: usize,
    timeout_ms: u32,
    taken: *mut usize,
) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle. It is cloned out, since what runs in here may free it.
        let queue = unsafe { borrow(queue) }?;
        queue.process.check()?;
        let queue = queue.inner();
        if calls.is_null() || taken.is_null() || capacity == 0 {
            return Err(Failure::argument("there must be a place for the calls and for their number"));
        }
        let end = (timeout_ms != TOCSIN_FOREVER).then(|| Instant::now() + Duration::from_millis(timeout_ms.into()));
        let mut count = 0;
        while count < capacity {
            let end = if count == 0 { end } else { Some(Instant::now()) };
            let Some(call) = queue.next(end) else { break };
            // SAFETY: C's array has room for `capacity`.
            unsafe { calls.add(count).write(call.into_handle()) };
            count += 1;
        }
        if count == 0 {
            let closed = queue.items.is_closed();
            return Err(if closed { Failure::closed("the queue is closed") } else { Failure::timeout() });
        }
        // SAFETY: C's place, not NULL.
        unsafe { put(taken, count) }.map_err(|(failure, _)| failure)
    })
}

/// Runs the handlers of waiting calls on this thread: at most max_calls (0: any number), and none is begun after
/// max_microseconds (0: any time). Does not wait. done may be NULL, and gets how many ran.
/// TOCSIN_STATUS_REENTRANT from inside a handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_run(
    queue: *mut tocsin_queue,
    max_calls: usize,
    max_microseconds: u32,
    done: *mut usize,
) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle. It is cloned out, since a handler may free it.
        let queue = unsafe { borrow(queue) }?;
        queue.process.check()?;
        let queue = queue.inner();
        if in_handler() {
            return Err(Failure::reentrant("a handler must not run its queue; return from it first"));
        }
        let begun = Instant::now();
        let budget = Duration::from_micros(max_microseconds.into());
        let mut count = 0;
        while (max_calls == 0 || count < max_calls) && (budget.is_zero() || begun.elapsed() < budget) {
            match queue.take(Some(Duration::ZERO)) {
                None => break,
                Some(Item::Rest(rest)) => rest(),
                Some(Item::Call(handler, call)) => handler.run(call),
            }
            count += 1;
        }
        if count == 0 && queue.items.is_closed() {
            return Err(Failure::closed("the queue is closed"));
        }
        // SAFETY: C's place or NULL, which here is no failure.
        let _ = unsafe { put(done, count) };
        Ok(())
    })
}

/// Closes the queue: who waits in tocsin_queue_take() returns, what waits in the queue and what comes is answered with
/// an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_close(queue: *mut tocsin_queue) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let queue = unsafe { borrow(queue) }?;
        queue.process.check()?;
        queue.inner().close();
        Ok(())
    })
}

/// Closes and frees it. Handlers that deliver to it may stay registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_queue_free(queue: *mut tocsin_queue) {
    guard_void(|| {
        // SAFETY: C's handle, given back.
        let queue = unsafe { take(queue) };
        match queue {
            Some(queue) if queue.process.check().is_ok() => queue.inner.close(),
            // A lock may have been held when the process forked.
            Some(queue) => std::mem::forget(queue),
            None => {}
        }
    });
}
