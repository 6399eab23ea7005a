//! One runtime for all servers of the process.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use nix::sys::signal::{SigSet, Signal};
use tokio::runtime::{Builder, Handle};

/// Where async handlers run.
pub(crate) struct Runtime {
    handle: Handle,
    /// Ours to end; `None` if it is the host program's.
    owned: Option<tokio::runtime::Runtime>,
    /// Its threads do not survive a fork.
    process: u32,
}

static SHARED: Mutex<Weak<Runtime>> = Mutex::new(Weak::new());

impl Runtime {
    /// The runtime around the caller, or the shared one, which is made if need be with `workers` threads (0: one per
    /// core, at most four).
    pub fn current_or_shared(workers: usize) -> io::Result<Arc<Runtime>> {
        if let Ok(handle) = Handle::try_current() {
            return Ok(Arc::new(Runtime { handle, owned: None, process: std::process::id() }));
        }
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if let Some(runtime) = shared.upgrade().filter(|runtime| runtime.process == process) {
            return Ok(runtime);
        }
        let workers = match workers {
            0 => std::thread::available_parallelism().map_or(2, |cores| cores.get().min(4)),
            workers => workers,
        };
        let owned = Builder::new_multi_thread()
            .worker_threads(workers)
            .thread_name("tocsin")
            .on_thread_start(mask_sigpipe)
            .enable_all()
            .build()?;
        let runtime = Arc::new(Runtime { handle: owned.handle().clone(), owned: Some(owned), process });
        *shared = Arc::downgrade(&runtime);
        Ok(runtime)
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // May run on one of its own threads, where waiting for it would never end.
        if let Some(runtime) = self.owned.take() {
            runtime.shutdown_background();
        }
    }
}

/// A write to a closed pipe must be an error for us, not the end of the host: masked in our own threads alone.
pub(crate) fn mask_sigpipe() {
    let mut set = SigSet::empty();
    set.add(Signal::SIGPIPE);
    if let Err(error) = set.thread_block() {
        log::warn!("SIGPIPE cannot be masked: {error}");
    }
}
