//! What is offered, to any number of clients over any number of transports.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tocsin_core::{Changes, ListKind, Options, Server, dispatch};

use crate::boundary::{Process, as_text, borrow, give, guard, guard_value, guard_void, read_struct, take};
use crate::error::{Failure, tocsin_error};
use crate::foreign::Foreign;
use crate::gate::Gate;
use crate::handler::{Draft, Registered, tocsin_handler};
use crate::library::{tocsin_drop_fn, tocsin_status, tocsin_str};
use crate::registry::{TOCSIN_PROMPTS, TOCSIN_RESOURCES, TOCSIN_TEMPLATES, TOCSIN_TOOLS};
use crate::service::Running;

/// Settings of a server. Zero it, set struct_size, then name and version, and the rest if need be.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tocsin_server_options {
    pub struct_size: usize,
    pub name: tocsin_str,
    pub version: tocsin_str,
    /// How to use the server, for a model.
    pub instructions: tocsin_str,
    /// 0: one per core, at most four. Shared by all servers of the process; the first one decides.
    pub worker_threads: u32,
    /// 0: eight. They are started when they are needed.
    pub handler_threads: u32,
    /// After so long a call without an answer gets a tool error. 0: never.
    pub handler_timeout_ms: u32,
    /// 0: 4 MiB.
    pub max_message_bytes: u32,
    /// Everything else, as a JSON object: title, description, website_url, icons, protocol_versions, modern_only,
    /// extension_versions, withhold, extensions, experimental, ttl_ms, cache_scope, page_size, max_depth,
    /// max_subscriptions, max_uris_per_subscription, max_in_flight, max_output_bytes, shutdown_grace_ms, state_ttl_ms,
    /// state_key.
    pub options_json: tocsin_str,
}

/// A server.
pub struct tocsin_server(Arc<Shared>);

/// What a server's handle, services and sessions share.
pub struct Shared {
    pub process: Process,
    pub server: Server,
    pub pool: Arc<dispatch::Pool>,
    pub gate: Arc<Gate>,
    held: Mutex<Vec<Changes>>,
    /// Kept, since C may free its handle of a service long before the end.
    running: Mutex<Vec<Arc<Running>>>,
    /// Threads of C's that are inside of `tocsin_serve_stdio`.
    serving: Mutex<usize>,
    served: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Remembers a service, so that freeing the server can wait for its end.
    pub fn remember(&self, service: &Arc<Running>) {
        lock(&self.running).push(Arc::clone(service));
    }

    fn serve_stdio(&self) -> std::io::Result<()> {
        *lock(&self.serving) += 1;
        let result = self.server.serve_stdio();
        *lock(&self.serving) -= 1;
        self.served.notify_all();
        result
    }

    fn free(&self) {
        self.server.abandon();
        // A callback cannot wait for itself; then the last one to return finds the gate closed.
        if !self.gate.is_inside() {
            let running = std::mem::take(&mut *lock(&self.running));
            running.iter().for_each(|service| service.join());
            let mut serving = lock(&self.serving);
            while *serving > 0 {
                serving = self.served.wait(serving).unwrap_or_else(PoisonError::into_inner);
            }
            drop(serving);
            self.gate.close();
            self.pool.close();
        } else {
            self.gate.close();
        }
        drop(std::mem::take(&mut *lock(&self.held)));
        self.server.dispose();
    }
}

/// The server that C means.
///
/// # Safety
/// `server` is NULL or C's handle.
pub unsafe fn shared(server: *const tocsin_server) -> Result<Arc<Shared>, Failure> {
    // SAFETY: as the caller says. Cloned out, since a callback may free the handle.
    let shared = Arc::clone(&unsafe { borrow(server) }?.0);
    shared.process.check()?;
    Ok(shared)
}

/// Makes a server that offers nothing yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_new(
    options: *const tocsin_server_options,
    out: *mut *mut tocsin_server,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's struct, and texts in it.
        let (given, options) = unsafe {
            let given = read_struct(options)?;
            (given, read_options(&given)?)
        };
        let shared = Shared {
            process: Process::current(),
            server: Server::with_options(options)?,
            pool: Arc::new(dispatch::Pool::new(given.handler_threads as usize)),
            gate: Arc::default(),
            held: Mutex::default(),
            running: Mutex::default(),
            serving: Mutex::default(),
            served: Condvar::new(),
        };
        // SAFETY: C's place.
        unsafe { give(out, tocsin_server(Arc::new(shared))) }
    })
}

/// # Safety
/// The texts in it are C's.
unsafe fn read_options(given: &tocsin_server_options) -> Result<Options, Failure> {
    // SAFETY: as the caller says.
    let text = |text| unsafe { as_text(text) };
    let mut options = Options::new(text(given.name)?, text(given.version)?);
    if given.instructions.len > 0 {
        options.instructions = Some(text(given.instructions)?.to_owned());
    }
    options.worker_threads = given.worker_threads as usize;
    if given.handler_timeout_ms > 0 {
        options.handler_timeout = Some(Duration::from_millis(given.handler_timeout_ms.into()));
    }
    if given.max_message_bytes > 0 {
        options.max_message_bytes = given.max_message_bytes as usize;
    }
    let json = text(given.options_json)?;
    if !json.is_empty() {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json)
            .map_err(|error| Failure::json(format!("options_json must be a JSON object: {error}")))?;
        for (option, value) in members {
            options.set_json(&option, value.get())?;
        }
    }
    Ok(options)
}

/// Stops everything, cancels running calls, waits for running callbacks, unless it is called by one, and for transports,
/// then drops what the server was given. No callback runs after it. Calls that the host still holds stay valid;
/// answering them only releases them. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_free(server: *mut tocsin_server) {
    guard_void(|| {
        // SAFETY: C's handle, given back.
        match unsafe { take(server) } {
            Some(server) if server.0.process.check().is_ok() => server.0.free(),
            // Its threads did not survive the fork, and their locks may be held for ever.
            Some(server) => std::mem::forget(server),
            None => {}
        }
    });
}

/// Tells all transports of the server to stop, and returns at once: subscriptions are completed, calls get
/// shutdown_grace_ms (an option, 5,000). May be called in a signal handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_request_stop(server: *const tocsin_server) {
    guard_value((), || {
        // SAFETY: C's handle. Nothing is cloned or locked: this may run in a signal handler.
        let shared = &unsafe { borrow(server) }?.0;
        shared.process.check()?;
        shared.server.stop();
        Ok(())
    });
}

/// Opens a batch: until it is released, changes are only remembered; then each kind is announced once. Batches nest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_hold_changes(server: *mut tocsin_server) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        lock(&shared.held).push(shared.server.changes());
        Ok(())
    })
}

/// Ends a batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_release_changes(server: *mut tocsin_server) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        let held = lock(&shared.held).pop();
        // Dropped without the lock: it announces.
        held.map(drop).ok_or_else(|| Failure::argument("there is no batch to release"))
    })
}

/// Announces that lists changed in a way that the registry does not see: TOCSIN_TOOLS, TOCSIN_PROMPTS, TOCSIN_RESOURCES
/// in any combination.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_lists_changed(server: *mut tocsin_server, lists: u32) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        if lists == 0 || lists & !(TOCSIN_TOOLS | TOCSIN_PROMPTS | TOCSIN_RESOURCES | TOCSIN_TEMPLATES) != 0 {
            return Err(Failure::argument("lists must be made of TOCSIN_TOOLS, TOCSIN_PROMPTS and TOCSIN_RESOURCES"));
        }
        let all = [
            (TOCSIN_TOOLS, ListKind::Tools),
            (TOCSIN_PROMPTS, ListKind::Prompts),
            (TOCSIN_RESOURCES | TOCSIN_TEMPLATES, ListKind::Resources),
        ];
        for (bits, kind) in all {
            if lists & bits != 0 {
                shared.server.list_changed(kind);
            }
        }
        Ok(())
    })
}

/// Says that what uri stands for was updated, be it listed or not: all who subscribed to it are told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_resource_updated(server: *mut tocsin_server, uri: tocsin_str) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle and text.
        let (shared, uri) = unsafe { (shared(server)?, as_text(uri)?) };
        shared.server.resources().updated(uri);
        Ok(())
    })
}

/// active: the first subscriber of uri has come; otherwise the last one has gone.
pub type tocsin_watch_fn = Option<unsafe extern "C" fn(uri: tocsin_str, active: bool, user_data: *mut c_void)>;

/// Sets what hears of the first and the last subscriber of each URI, so that a host can start and stop to look at a
/// file: in that order, one at a time, on any thread. Replaces the one before; NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_on_watch(
    server: *mut tocsin_server,
    watch: tocsin_watch_fn,
    user_data: *mut c_void,
    drop: tocsin_drop_fn,
) -> tocsin_status {
    let foreign = Foreign::new(user_data, drop);
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        let gate = Arc::clone(&shared.gate);
        shared.server.on_watch(watch.map(|watch| {
            Arc::new(move |uri: &str, active: bool| {
                // SAFETY: C's own function and pointer.
                gate.pass(|| unsafe { watch(tocsin_str::lend(uri), active, foreign.data()) });
            }) as tocsin_core::WatchFn
        }));
        Ok(())
    })
}

/// Sets a handler that decides on subscriptions/listen: completing the call with {} accepts, failing it refuses with
/// that error. Its arguments are the filter. Replaces the one before; NULL for none, which accepts all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_server_on_listen(
    server: *mut tocsin_server,
    handler: *const tocsin_handler,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    // SAFETY: C's struct.
    let draft = unsafe { Draft::read_optional(handler) };
    guard(error, || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        let handler = draft?.map(|draft| draft.finish(&shared.pool, &shared.gate)).transpose()?;
        shared.server.on_listen(handler.map(|handler| Arc::new(Registered(handler)) as _));
        Ok(())
    })
}

/// Serves standard input and output, and returns when the input ends or the server is told to stop. Meanwhile descriptor
/// 0 is the null device and 1 is standard error for the whole process, so that a stray printf() does no harm.
/// TOCSIN_STATUS_REENTRANT from inside a callback of the server.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_serve_stdio(
    server: *mut tocsin_server,
    error: *mut *mut tocsin_error,
) -> tocsin_status {
    guard(error, || {
        // SAFETY: C's handle.
        let shared = unsafe { shared(server) }?;
        if shared.gate.is_inside() {
            return Err(Failure::reentrant("a callback must not serve; it would never return"));
        }
        Ok(shared.serve_stdio()?)
    })
}
