//! The native half of the Python package: handles, queues and text. It holds no Python object, and no protocol logic.

mod call;
mod error;
mod logs;
mod mailbox;
mod server;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", tocsin::VERSION)?;
    module.add_class::<server::Server>()?;
    module.add_class::<server::Service>()?;
    module.add_class::<server::Client>()?;
    module.add_class::<mailbox::Mailbox>()?;
    module.add_class::<call::Call>()?;
    module.add_function(wrap_pyfunction!(logs::start_logs, module)?)?;
    module.add_function(wrap_pyfunction!(logs::take_logs, module)?)?;
    module.add_function(wrap_pyfunction!(logs::stop_logs, module)?)?;
    error::register(module)
}
