//! A client whose bytes the host moves, over a transport of its own.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use tocsin_core::LineSession;

use crate::boundary::{as_bytes, borrow, give, guard, guard_void, take};
use crate::error::{Failure, tocsin_error};
use crate::foreign::Foreign;
use crate::gate::Gate;
use crate::library::{tocsin_drop_fn, tocsin_status, tocsin_str};
use crate::server::{Shared, shared, tocsin_server};

/// A client whose bytes the host moves. It is fed by one thread at a time.
pub struct tocsin_session {
    server: Arc<Shared>,
    line: Arc<LineSession>,
    output: Arc<Output>,
}

/// C's way out.
struct Output {
    gate: Arc<Gate>,
    /// Until the session is freed; the engine may hold on to the rest a little longer.
    foreign: Mutex<Option<Arc<Foreign>>>,
}

impl Output {
    fn foreign(&self) -> Option<Arc<Foreign>> {
        self.foreign.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn close(&self) {
        self.gate.close();
        let foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(foreign);
    }
}

/// Gets whole messages with their line end, in order, one at a time, on any thread; the bytes are valid during the call.
pub type tocsin_output_fn = Option<unsafe extern "C" fn(bytes: tocsin_str, user_data: *mut c_void)>;

/// Opens a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_session_new(
    server: *mut tocsin_server,
    output: tocsin_output_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
    out: *mut *mut tocsin_session,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(error, || {
        let output = output.ok_or_else(|| Failure::argument("the callback is NULL"))?;
        // SAFETY: C's handle.
        let server = unsafe { shared(server) }?;
        let foreign = Mutex::new(Some(Arc::new(foreign)));
        let kept = Arc::new(Output { gate: Arc::default(), foreign });
        let (outer, inner) = (Arc::clone(&server.gate), Arc::clone(&kept));
        let line = server.server.line_session(move |text| {
            let write = || {
                if let Some(foreign) = inner.foreign() {
                    // SAFETY: C's own function and pointer.
                    unsafe { output(tocsin_str::lend(text), foreign.data()) };
                }
            };
            outer.pass(|| inner.gate.pass(write));
        })?;
        // SAFETY: C's place.
        unsafe { give(out, tocsin_session { server, line: Arc::new(line), output: kept }) }
    })
}

/// Takes bytes of the client, cut anywhere. Inline handlers run in here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_session_feed(session: *mut tocsin_session, bytes: tocsin_str) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle and bytes. Cloned out, since a handler may free it.
        let (session, bytes) = unsafe { (borrow(session)?, as_bytes(bytes)?) };
        session.server.process.check()?;
        Arc::clone(&session.line).feed(bytes);
        Ok(())
    })
}

/// The client will send no more: completes its subscriptions, gives its calls shutdown_grace_ms (an option, 5,000), and
/// returns when all that was answered has been output. TOCSIN_STATUS_REENTRANT from inside a callback of the server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_session_finish(session: *mut tocsin_session) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let session = unsafe { borrow(session) }?;
        session.server.process.check()?;
        if session.server.gate.is_inside() {
            return Err(Failure::reentrant("a callback must not wait for its own session"));
        }
        Arc::clone(&session.line).finish();
        Ok(())
    })
}

/// The client is gone: cancels its calls, ends its subscriptions, and waits for a running output callback, unless it is
/// called by it. Nothing is output after; drop has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_session_free(session: *mut tocsin_session) {
    guard_void(|| {
        // SAFETY: C's handle, given back.
        let Some(session) = (unsafe { take(session) }) else { return };
        if session.server.process.check().is_err() {
            // A lock may have been held when the process forked.
            std::mem::forget(session);
            return;
        }
        // Not left to the drop: a handler of this very session may be what calls.
        session.line.close();
        session.output.close();
    });
}
