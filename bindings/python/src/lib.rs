//! The native half of the Python package: handles, queues and text, no protocol logic.
//!
//! The core sees numbers, never Python objects. No thread of the engine ever needs the interpreter: what it has to say
//! waits in a [`mailbox::Mailbox`] or among the [`logs`] until Python collects it.

mod batch;
mod bell;
mod call;
mod client;
mod error;
mod logs;
mod mailbox;
mod server;
mod service;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", tocsin::VERSION)?;
    module.add("CALL", mailbox::CALL)?;
    module.add("CANCELLED", mailbox::CANCELLED)?;
    module.add("ASKED", mailbox::ASKED)?;
    module.add("WATCH", mailbox::WATCH)?;
    module.add_class::<server::Server>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<mailbox::Mailbox>()?;
    module.add_class::<mailbox::Waiter>()?;
    module.add_class::<call::Call>()?;
    module.add_function(wrap_pyfunction!(logs::start_logs, module)?)?;
    module.add_function(wrap_pyfunction!(logs::take_logs, module)?)?;
    module.add_function(wrap_pyfunction!(logs::stop_logs, module)?)
}
