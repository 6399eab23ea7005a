//! The road from the engine into Python: one queue, drained in batches by an event loop or by handler threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tocsin::Asked;
use tocsin::dispatch::{Event, Queue, QueueHandler};

use crate::batch::Batch;
use crate::bell::Bell;
use crate::call::Call;
use crate::error::{check_process, io, is_forked};

/// Kinds of events, as Python sees them.
pub const CALL: u8 = 0;
pub const CANCELLED: u8 = 1;
pub const ASKED: u8 = 2;
pub const WATCH: u8 = 3;

#[derive(Default)]
struct Handlers {
    last: u64,
    by_number: HashMap<u64, Py<PyAny>>,
}

/// A queue of events, and the handlers that its calls are for.
///
/// The handlers' lock is held only while attached, and nothing that may run Python code happens under it.
#[pyclass(frozen)]
pub struct Mailbox {
    queue: Arc<Queue>,
    bell: Bell,
    handlers: Mutex<Handlers>,
    batch: Arc<Batch>,
}

impl Mailbox {
    pub fn queue(&self) -> Arc<Queue> {
        Arc::clone(&self.queue)
    }

    fn lock(&self) -> MutexGuard<'_, Handlers> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a handler its number in the core.
    pub fn enter(&self, handler: Py<PyAny>) -> Arc<QueueHandler> {
        let mut handlers = self.lock();
        handlers.last += 1;
        let number = handlers.last;
        handlers.by_number.insert(number, handler);
        drop(handlers);
        QueueHandler::new(self.queue(), number)
    }

    /// Takes events, each with its handler, so that no other thread can drop the handler in between.
    fn take(&self, py: Python<'_>, take: impl FnOnce(&Queue) -> Vec<Event>) -> Vec<(Option<Py<PyAny>>, Event)> {
        let mut dropped = Vec::new();
        let mut handlers = self.lock();
        let events = take(&self.queue);
        let mut taken = Vec::with_capacity(events.len());
        for event in events {
            match &event {
                Event::Dropped(number) => dropped.extend(handlers.by_number.remove(number)),
                Event::Call(number, _) => {
                    let handler = handlers.by_number.get(number).map(|handler| handler.clone_ref(py));
                    taken.push((handler, event));
                }
                _ => taken.push((None, event)),
            }
        }
        drop(handlers);
        drop(dropped);
        taken
    }
}

#[pymethods]
impl Mailbox {
    #[new]
    fn new() -> PyResult<Mailbox> {
        check_process()?;
        let bell = Bell::new().map_err(io)?;
        let rung = bell.clone();
        Ok(Mailbox { queue: Queue::new(move || rung.ring()), bell, handlers: Mutex::default(), batch: Arc::default() })
    }

    /// Readable while events wait.
    fn fileno(&self) -> i32 {
        self.bell.fileno()
    }

    /// Takes at most `max` events without waiting. If there is more than one, answers are held back until `flush`.
    fn drain<'py>(&self, py: Python<'py>, max: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        // Hushed before the queue is looked at: what comes later rings again.
        self.bell.hush();
        let mut count = 0;
        let taken = self.take(py, |queue| {
            let events = queue.drain(max);
            count = events.len();
            events
        });
        if count == max {
            self.bell.ring();
        }
        let events: PyResult<Vec<_>> = taken
            .into_iter()
            .filter_map(|(handler, event)| tuple(py, handler, event, Some(&self.batch)).transpose())
            .collect();
        if events.as_ref().is_ok_and(|events| events.len() > 1) {
            self.batch.open();
        }
        events
    }

    /// Sends the answers that were held back since `drain`.
    fn flush(&self, py: Python<'_>) {
        py.detach(|| self.batch.close());
    }

    /// Takes one event without waiting.
    fn pop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            let mut any = false;
            let taken = self.take(py, |queue| {
                let event = queue.try_take();
                any = event.is_some();
                event.into_iter().collect()
            });
            if !any {
                return Ok(None);
            }
            if let Some((handler, event)) = taken.into_iter().next()
                && let Some(tuple) = tuple(py, handler, event, None)?
            {
                return Ok(Some(tuple));
            }
        }
    }

    /// What threads wait with, without keeping the handlers alive.
    fn waiter(&self) -> Waiter {
        Waiter { queue: self.queue() }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Held by nobody while the collector runs.
        if let Ok(handlers) = self.handlers.try_lock() {
            for handler in handlers.by_number.values() {
                visit.call(handler)?;
            }
        }
        Ok(())
    }

    fn __clear__(&self) {
        let handlers = std::mem::take(&mut self.lock().by_number);
        drop(handlers);
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // Locks of the parent's threads may be held for ever in a child.
        if !is_forked() {
            self.queue.close();
        }
    }
}

/// Waits for a mailbox.
#[pyclass(frozen)]
pub struct Waiter {
    queue: Arc<Queue>,
}

#[pymethods]
impl Waiter {
    /// Waits, without holding the interpreter, until there are events; false when the mailbox is closed.
    fn wait(&self, py: Python<'_>) -> bool {
        py.detach(|| self.queue.wait())
    }

    /// Ends the mailbox: `wait` returns, and calls that wait or come are answered with an error.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.queue.close());
    }
}

/// `(kind, …)` for Python to look at; `None` for what is over before it began.
fn tuple<'py>(
    py: Python<'py>,
    handler: Option<Py<PyAny>>,
    event: Event,
    batch: Option<&Arc<Batch>>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let tuple = match event {
        Event::Call(_, call) if call.is_cancelled() => {
            call.discard();
            return Ok(None);
        }
        Event::Call(_, call) => (CALL, handler, Call::new(call, batch.cloned())).into_pyobject(py)?,
        Event::Cancelled(key) => (CANCELLED, key, py.None()).into_pyobject(py)?,
        Event::Asked(token, asked) => (ASKED, token, outcome(asked)).into_pyobject(py)?,
        Event::Watch(uri, active) => (WATCH, uri, active).into_pyobject(py)?,
        Event::Dropped(_) => return Ok(None),
    };
    Ok(Some(tuple))
}

/// `("answered", json)`, `("suspended", "")` or `("failed", text)`.
pub fn outcome(asked: Asked) -> (&'static str, String) {
    match asked {
        Asked::Answered(json) => ("answered", json),
        Asked::Suspended => ("suspended", String::new()),
        Asked::Failed(error) => ("failed", error.message),
    }
}
