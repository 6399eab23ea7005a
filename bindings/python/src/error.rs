//! Errors of the core as the package's exceptions.

use std::sync::OnceLock;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

mod python {
    use pyo3::import_exception;

    import_exception!(tocsin.errors, BuildError);
    import_exception!(tocsin.errors, RegistryError);
    import_exception!(tocsin.errors, ToolError);
}

pub fn registry(error: tocsin::RegistryError) -> PyErr {
    python::RegistryError::new_err(error.to_string())
}

pub fn tool(text: String) -> PyErr {
    python::ToolError::new_err(text)
}

pub fn build(error: tocsin::BuildError) -> PyErr {
    python::BuildError::new_err(error.to_string())
}

pub fn io(error: std::io::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// The process that first used the library: its threads do not survive a fork.
static PROCESS: OnceLock<u32> = OnceLock::new();

pub fn is_forked() -> bool {
    let me = std::process::id();
    *PROCESS.get_or_init(|| me) != me
}

/// Refuses use in a forked child, which would wait for threads that are not there.
pub fn check_process() -> PyResult<()> {
    if is_forked() {
        return Err(PyRuntimeError::new_err(
            "this process was forked from one that uses tocsin, whose threads stayed behind; start processes with \
             'spawn' or 'forkserver', or create the server after the fork in a process that never used tocsin",
        ));
    }
    Ok(())
}
