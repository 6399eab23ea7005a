//! The road from the engine into Python: one queue, drained in batches by an event loop or by handler threads.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tocsin::Asked;
use tocsin::dispatch::{Event, Queue};

use crate::call::Call;
use crate::error::{check_process, io};

/// A queue of events.
#[pyclass(frozen)]
pub struct Mailbox {
    pub queue: Arc<Queue>,
    bell: Arc<EventFd>,
}

/// A bell that an event loop can watch.
pub fn bell() -> PyResult<Arc<EventFd>> {
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    EventFd::from_value_and_flags(0, flags).map(Arc::new).map_err(|error| io(error.into()))
}

/// A full counter is as good as one more.
pub fn ring(bell: &EventFd) {
    let _ = bell.write(1);
}

#[pymethods]
impl Mailbox {
    #[new]
    fn new() -> PyResult<Mailbox> {
        check_process()?;
        let bell = bell()?;
        let rung = Arc::clone(&bell);
        Ok(Mailbox { queue: Queue::new(move || ring(&rung)), bell })
    }

    /// Readable while events wait.
    fn fileno(&self) -> i32 {
        self.bell.as_fd().as_raw_fd()
    }

    /// Takes at most `max` events without waiting.
    fn drain<'py>(&self, py: Python<'py>, max: usize) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        // Read before the queue is looked at: what comes later rings again.
        let _ = self.bell.read();
        let events = self.queue.drain(max);
        if events.len() == max {
            ring(&self.bell);
        }
        events.into_iter().map(|event| tuple(py, event)).collect()
    }

    /// Takes one event, waiting for it without holding the interpreter; `None` when the mailbox is closed.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if let Some(event) = self.queue.try_take() {
            return tuple(py, event).map(Some);
        }
        let event = py.detach(|| self.queue.take(None));
        event.map(|event| tuple(py, event)).transpose()
    }

    /// Takes one event, waiting at most so many seconds; for tests.
    fn take_within<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let event = py.detach(|| self.queue.take(Some(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0)))));
        event.map(|event| tuple(py, event)).transpose()
    }

    /// Ends it: threads in `take` return, calls that wait or come are answered with an error.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.queue.close());
    }
}

/// `(kind, …)` for Python to look at.
fn tuple<'py>(py: Python<'py>, event: Event) -> PyResult<Bound<'py, PyTuple>> {
    match event {
        Event::Call(handler, call) => ("call", handler, Call::new(call)).into_pyobject(py),
        Event::Cancelled(key) => Ok(("cancelled", key, py.None()).into_pyobject(py)?),
        Event::Asked(token, asked) => Ok(("asked", token, outcome(asked)).into_pyobject(py)?),
        Event::Watch(uri, active) => Ok(("watch", uri, active).into_pyobject(py)?),
        Event::Dropped(handler) => Ok(("dropped", handler, py.None()).into_pyobject(py)?),
    }
}

/// `("answered", json)`, `("suspended", "")` or `("failed", text)`.
pub fn outcome(asked: Asked) -> (&'static str, String) {
    match asked {
        Asked::Answered(json) => ("answered", json),
        Asked::Suspended => ("suspended", String::new()),
        Asked::Failed(error) => ("failed", error.message),
    }
}
