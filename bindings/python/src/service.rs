//! A transport that serves in the background.

use std::time::Duration;

use pyo3::prelude::*;

use crate::bell::Bell;
use crate::error::io;

/// See `tocsin::Service`.
#[pyclass(frozen)]
pub struct Service {
    service: tocsin::Service,
    bell: Bell,
}

impl Service {
    pub fn new(service: tocsin::Service) -> PyResult<Service> {
        let bell = Bell::new().map_err(io)?;
        let rung = bell.clone();
        service.on_end(move || rung.ring());
        Ok(Service { service, bell })
    }
}

#[pymethods]
impl Service {
    /// Readable once it has ended.
    fn fileno(&self) -> i32 {
        self.bell.fileno()
    }

    /// Waits at most so many seconds; true if it has ended, an `OSError` if it ended badly.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        match py.detach(|| self.service.wait(Some(timeout(seconds)))) {
            None => Ok(false),
            Some(result) => result.map(|()| true).map_err(io),
        }
    }
}

/// Seconds as Python says them, at most an hour.
pub fn timeout(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))
}
