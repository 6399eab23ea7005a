//! A client in this process, for tests.

use pyo3::prelude::*;
use tocsin::MemoryClient;

use crate::service::timeout;

/// Sends and receives whole messages.
#[pyclass(frozen)]
pub struct Client {
    client: MemoryClient,
}

impl Client {
    pub fn new(client: MemoryClient) -> Client {
        Client { client }
    }
}

#[pymethods]
impl Client {
    fn send(&self, py: Python<'_>, message: &str) {
        py.detach(|| self.client.send(message));
    }

    /// The next message, waiting at most so many seconds.
    fn receive(&self, py: Python<'_>, seconds: f64) -> Option<String> {
        py.detach(|| self.client.receive(timeout(seconds)))
    }

    /// Says that no more is to come; what is in flight gets the grace.
    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.client.finish());
    }
}
