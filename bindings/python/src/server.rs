//! A server in Python's hands: definitions and handlers in, events out.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tocsin::dispatch::Event;
use tocsin::{Handler, ListKind, Options, RegistryError};

use crate::client::Client;
use crate::error::{build, check_process, io, is_forked, registry};
use crate::mailbox::Mailbox;
use crate::service::Service;

/// See `tocsin.Server`.
#[pyclass(frozen)]
pub struct Server {
    server: tocsin::Server,
}

/// A handler, and the mailbox that its calls go to.
type Target = (Py<Mailbox>, Py<PyAny>);

fn enter((mailbox, handler): Target) -> Arc<dyn Handler> {
    mailbox.get().enter(handler)
}

fn unknown(list: &str) -> PyErr {
    PyValueError::new_err(format!("there is no list '{list}'"))
}

impl Server {
    /// Edits the registry without holding the interpreter: a writer may wait for readers.
    fn edit(
        &self,
        py: Python<'_>,
        edit: impl FnOnce(&tocsin::Server) -> Result<(), RegistryError> + Send,
    ) -> PyResult<()> {
        check_process()?;
        py.detach(|| edit(&self.server)).map_err(registry)
    }
}

#[pymethods]
impl Server {
    #[new]
    fn new(name: String, version: String, options: Vec<(String, String)>) -> PyResult<Server> {
        check_process()?;
        let mut all = Options::new(name, version);
        for (option, json) in &options {
            all.set_json(option, json).map_err(build)?;
        }
        Ok(Server { server: tocsin::Server::with_options(all).map_err(build)? })
    }

    /// Adds the entry that `definition` describes, or with `replace` puts it in the place of the one of that name.
    fn put(
        &self,
        py: Python<'_>,
        list: &str,
        definition: &str,
        handler: Target,
        completer: Option<Target>,
        replace: bool,
    ) -> PyResult<()> {
        let handler = enter(handler);
        let completer = completer.map(enter);
        match (list, replace) {
            ("tools", false) => self.edit(py, |server| server.tools().add_shared(definition, handler)),
            ("tools", true) => self.edit(py, |server| server.tools().replace_shared(definition, handler)),
            ("prompts", false) => self.edit(py, |server| server.prompts().add_shared(definition, handler, completer)),
            ("prompts", true) => {
                self.edit(py, |server| server.prompts().replace_shared(definition, handler, completer))
            }
            ("resources", false) => self.edit(py, |server| server.resources().add_shared(definition, handler)),
            ("resources", true) => self.edit(py, |server| server.resources().replace_shared(definition, handler)),
            ("templates", false) => {
                self.edit(py, |server| server.templates().add_shared(definition, handler, completer))
            }
            ("templates", true) => {
                self.edit(py, |server| server.templates().replace_shared(definition, handler, completer))
            }
            _ => Err(unknown(list)),
        }
    }

    fn remove(&self, py: Python<'_>, list: &str, key: &str) -> PyResult<()> {
        match list {
            "tools" => self.edit(py, |server| server.tools().remove(key)),
            "prompts" => self.edit(py, |server| server.prompts().remove(key)),
            "resources" => self.edit(py, |server| server.resources().remove(key)),
            "templates" => self.edit(py, |server| server.templates().remove(key)),
            _ => Err(unknown(list)),
        }
    }

    fn enable(&self, py: Python<'_>, list: &str, key: &str) -> PyResult<()> {
        match list {
            "tools" => self.edit(py, |server| server.tools().enable(key)),
            "prompts" => self.edit(py, |server| server.prompts().enable(key)),
            "resources" => self.edit(py, |server| server.resources().enable(key)),
            "templates" => self.edit(py, |server| server.templates().enable(key)),
            _ => Err(unknown(list)),
        }
    }

    fn disable(&self, py: Python<'_>, list: &str, key: &str) -> PyResult<()> {
        match list {
            "tools" => self.edit(py, |server| server.tools().disable(key)),
            "prompts" => self.edit(py, |server| server.prompts().disable(key)),
            "resources" => self.edit(py, |server| server.resources().disable(key)),
            "templates" => self.edit(py, |server| server.templates().disable(key)),
            _ => Err(unknown(list)),
        }
    }

    fn contains(&self, list: &str, key: &str) -> PyResult<bool> {
        Ok(match list {
            "tools" => self.server.tools().contains(key),
            "prompts" => self.server.prompts().contains(key),
            "resources" => self.server.resources().contains(key),
            "templates" => self.server.templates().contains(key),
            _ => return Err(unknown(list)),
        })
    }

    fn keys(&self, list: &str) -> PyResult<Vec<String>> {
        Ok(match list {
            "tools" => self.server.tools().keys(),
            "prompts" => self.server.prompts().keys(),
            "resources" => self.server.resources().keys(),
            "templates" => self.server.templates().keys(),
            _ => return Err(unknown(list)),
        })
    }

    fn list_changed(&self, py: Python<'_>, list: &str) -> PyResult<()> {
        check_process()?;
        let kind = ListKind::parse(list).ok_or_else(|| unknown(list))?;
        py.detach(|| self.server.list_changed(kind));
        Ok(())
    }

    fn updated(&self, py: Python<'_>, uri: &str) -> PyResult<()> {
        check_process()?;
        py.detach(|| self.server.resources().updated(uri));
        Ok(())
    }

    fn hold(&self) -> PyResult<()> {
        check_process()?;
        self.server.hold_changes();
        Ok(())
    }

    fn release(&self, py: Python<'_>) {
        py.detach(|| self.server.release_changes());
    }

    /// Events about the first and last subscriber of a URI go to `mailbox` from now on.
    fn on_watch(&self, mailbox: Option<&Mailbox>) {
        self.server.on_watch(mailbox.map(|mailbox| {
            let queue = mailbox.queue();
            Arc::new(move |uri: &str, active: bool| queue.push(Event::Watch(uri.to_owned(), active))) as _
        }));
    }

    fn on_listen(&self, handler: Option<Target>) {
        self.server.on_listen(handler.map(enter));
    }

    #[getter]
    fn subscriptions(&self) -> usize {
        self.server.subscriptions()
    }

    fn start_stdio(&self) -> PyResult<Service> {
        check_process()?;
        Service::new(self.server.start_stdio().map_err(io)?)
    }

    fn connect(&self) -> PyResult<Client> {
        check_process()?;
        self.server.connect().map(Client::new).map_err(io)
    }

    fn stop(&self) {
        self.server.stop();
    }

    #[getter]
    fn stopping(&self) -> bool {
        self.server.is_stopping()
    }

    /// Lets go of all handlers, and cancels what runs; nothing is served any more.
    fn dispose(&self, py: Python<'_>) {
        py.detach(|| self.server.dispose());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !is_forked() {
            self.server.dispose();
        }
    }
}
