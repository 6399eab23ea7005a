//! Errors of the core as Python exceptions.

use std::sync::OnceLock;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(tocsin, NativeRegistryError, PyException, "An edit of a list was refused.");
create_exception!(tocsin, NativeBuildError, PyValueError, "A server cannot be built so.");

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NativeRegistryError", module.py().get_type::<NativeRegistryError>())?;
    module.add("NativeBuildError", module.py().get_type::<NativeBuildError>())
}

pub fn registry(error: tocsin::RegistryError) -> PyErr {
    NativeRegistryError::new_err(error.to_string())
}

pub fn build(error: tocsin::BuildError) -> PyErr {
    NativeBuildError::new_err(error.to_string())
}

pub fn io(error: std::io::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// The process that loaded the library: its threads do not survive a fork.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Refuses use in a forked child, which would wait for threads that are not there.
pub fn check_process() -> PyResult<()> {
    let me = std::process::id();
    if *PROCESS.get_or_init(|| me) == me {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "tocsin was used before this process was forked, and its threads stayed behind; start the process with 'spawn' \
         instead of 'fork'",
    ))
}
