//! A transport that is served in the background.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use crate::boundary::{borrow, give, guard, guard_void, take};
use crate::error::{Failure, tocsin_error};
use crate::foreign::Foreign;
use crate::library::{TOCSIN_STATUS_IO, TOCSIN_STATUS_OK, tocsin_drop_fn, tocsin_status};
use crate::queue::TOCSIN_FOREVER;
use crate::server::{Shared, shared, tocsin_server};

/// A transport that is served in the background.
pub struct tocsin_service {
    server: Arc<Shared>,
    running: Arc<Running>,
}

/// A service, until its end.
pub struct Running {
    service: tocsin_core::Service,
}

impl Running {
    /// Waits until nothing of it is left.
    pub fn join(&self) {
        self.service.join();
    }

    fn wait(&self, timeout_ms: u32) -> Result<(), Failure> {
        let timeout = (timeout_ms != TOCSIN_FOREVER).then(|| Duration::from_millis(timeout_ms.into()));
        match self.service.wait(timeout) {
            Some(result) => Ok(result?),
            None => Err(Failure::timeout()),
        }
    }
}

/// Serves standard input and output on threads of its own; see tocsin_serve_stdio().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_start_stdio(
    server: *mut tocsin_server,
    out: *mut *mut tocsin_service,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's handle.
        let server = unsafe { shared(server) }?;
        if out.is_null() {
            return Err(Failure::argument("the place for the result is NULL"));
        }
        let service = server.server.start_stdio()?;
        let running = Arc::new(Running { service });
        server.remember(&running);
        // SAFETY: C's place.
        unsafe { give(out, tocsin_service { server, running }) }
    })
}

/// Waits until the service has ended, at most timeout_ms. TOCSIN_STATUS_TIMEOUT: it goes on. TOCSIN_STATUS_IO: it
/// failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_service_wait(service: *const tocsin_service, timeout_ms: u32) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let service = unsafe { borrow(service) }?;
        service.server.process.check()?;
        Arc::clone(&service.running).wait(timeout_ms)
    })
}

/// Tells the whole server to stop, as tocsin_server_request_stop() does, and waits for the service. If it has not ended
/// after grace_ms, what runs is cancelled, and it ends then. TOCSIN_STATUS_REENTRANT from inside a callback of the
/// server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_service_stop(service: *mut tocsin_service, grace_ms: u32) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let service = unsafe { borrow(service) }?;
        service.server.process.check()?;
        let (server, running) = (Arc::clone(&service.server), Arc::clone(&service.running));
        if server.gate.is_inside() {
            return Err(Failure::reentrant("a callback cannot wait for its own end; request the stop instead"));
        }
        server.server.stop();
        running.wait(grace_ms).or_else(|_| {
            server.server.abandon();
            running.wait(TOCSIN_FOREVER)
        })
    })
}

/// Called when a service has ended; status is TOCSIN_STATUS_OK or TOCSIN_STATUS_IO.
pub type tocsin_end_fn = Option<unsafe extern "C" fn(status: tocsin_status, user_data: *mut c_void)>;

/// Calls end once the service has ended, at once if it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_service_on_end(
    service: *mut tocsin_service,
    end: tocsin_end_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        let end = end.ok_or_else(|| Failure::argument("the callback is NULL"))?;
        // SAFETY: C's handle.
        let service = unsafe { borrow(service) }?;
        service.server.process.check()?;
        let (gate, running) = (Arc::clone(&service.server.gate), Arc::clone(&service.running));
        let weak = Arc::downgrade(&running);
        running.service.on_end(move || {
            let result = weak.upgrade().and_then(|running| running.service.wait(Some(Duration::ZERO)));
            let status = if matches!(result, Some(Err(_))) { TOCSIN_STATUS_IO } else { TOCSIN_STATUS_OK };
            // SAFETY: C's own function and pointer.
            gate.pass(|| unsafe { end(status, foreign.data()) });
        });
        Ok(())
    })
}

/// Frees the handle. The service goes on until the server stops.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_service_free(service: *mut tocsin_service) {
    // SAFETY: C's handle, given back.
    guard_void(|| drop(unsafe { take(service) }));
}
