//! Stopping: subscriptions get their result, calls get their grace, transports get the word.

use std::io::{PipeReader, PipeWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{Engine, Session};

/// How often a wait looks whether the server is to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Whether, and how, the server is being told to stop.
#[derive(Default)]
pub(super) struct Stopping {
    begun: AtomicBool,
    /// Threads in `drain`.
    waiters: std::sync::atomic::AtomicUsize,
    /// Readable from the moment on that the server is to stop; nobody reads it empty.
    pipe: OnceLock<(PipeReader, PipeWriter)>,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Engine {
    /// What transports poll to learn that the server is to stop.
    pub fn stop_signal(&self) -> std::io::Result<&PipeReader> {
        if let Some((reader, _)) = self.stopping.pipe.get() {
            return Ok(reader);
        }
        let pipe = std::io::pipe()?;
        let (reader, _) = self.stopping.pipe.get_or_init(|| pipe);
        // It may have begun before there was a pipe.
        if self.is_stopping() {
            self.stop();
        }
        Ok(reader)
    }

    /// Tells all transports to stop, and returns at once. Safe in a signal handler: an atomic store and `write(2)`.
    pub fn stop(&self) {
        self.stopping.begun.store(true, Ordering::SeqCst);
        if let Some((_, writer)) = self.stopping.pipe.get() {
            let mut writer: &PipeWriter = writer;
            // One byte is enough; a full pipe is readable too.
            let _ = writer.write(&[0]);
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.begun.load(Ordering::SeqCst)
    }

    /// A call got its answer or was cancelled.
    pub(super) fn call_done(&self) {
        if self.stopping.waiters.load(Ordering::SeqCst) > 0 {
            let _guard = self.stopping.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.stopping.changed.notify_all();
        }
    }

    /// Ends one client's business: its subscriptions get their result at once, its calls may finish within `grace`,
    /// what is left is cancelled. A server that is told to stop meanwhile waits no longer. What was answered is in the
    /// outbox when this returns.
    pub fn drain(&self, session: &Arc<Session>, grace: Duration) {
        session.complete_subscriptions();
        let end = Instant::now() + grace;
        let stopping = self.is_stopping();
        self.stopping.waiters.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.stopping.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !session.calls().is_empty() && !session.channel.outbox().is_closed() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { break };
            if self.is_stopping() != stopping {
                break;
            }
            // A stop from a signal handler cannot notify, so it is looked for.
            let left = if stopping { left } else { left.min(LOOK) };
            guard = self.stopping.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(guard);
        self.stopping.waiters.fetch_sub(1, Ordering::SeqCst);
        for call in session.calls() {
            session.cancel(&call.id);
        }
    }

    /// Cancels every client's calls at once, for a host that will not wait.
    pub fn abandon(&self) {
        for session in self.sessions() {
            session.close();
        }
    }
}
