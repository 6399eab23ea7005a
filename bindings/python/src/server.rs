//! A server in Python's hands: definitions and handler numbers in, events out.

use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::eventfd::EventFd;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tocsin::dispatch::{Event, QueueHandler};
use tocsin::{ListKind, MemoryClient, Options};

use crate::error::{build, check_process, io, registry};
use crate::mailbox::{Mailbox, bell, ring};

/// See `tocsin.Server`.
#[pyclass(frozen)]
pub struct Server {
    server: tocsin::Server,
}

type Handler = (Py<Mailbox>, u64);

fn handler((mailbox, id): &Handler) -> Arc<QueueHandler> {
    QueueHandler::new(Arc::clone(&mailbox.get().queue), *id)
}

fn unknown(list: &str) -> PyErr {
    PyValueError::new_err(format!("there is no list '{list}'"))
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

    /// Adds, or with `replace` puts in its place, the entry that `definition` describes.
    #[pyo3(signature = (list, definition, main, completer=None, replace=false))]
    fn put(
        &self,
        py: Python<'_>,
        list: &str,
        definition: &str,
        main: Handler,
        completer: Option<Handler>,
        replace: bool,
    ) -> PyResult<()> {
        check_process()?;
        let main = handler(&main);
        let completer = completer.as_ref().map(|pair| handler(pair) as Arc<dyn tocsin::Handler>);
        let server = &self.server;
        py.detach(|| match (list, replace) {
            ("tools", false) => server.tools().add_shared(definition, main),
            ("tools", true) => server.tools().replace_shared(definition, main),
            ("prompts", false) => server.prompts().add_shared(definition, main, completer),
            ("prompts", true) => server.prompts().replace_shared(definition, main, completer),
            ("resources", false) => server.resources().add_shared(definition, main),
            ("resources", true) => server.resources().replace_shared(definition, main),
            ("templates", false) => server.templates().add_shared(definition, main, completer),
            (_, _) => server.templates().replace_shared(definition, main, completer),
        })
        .map_err(registry)
    }

    /// `remove`, `enable` or `disable`.
    fn edit(&self, py: Python<'_>, list: &str, key: &str, what: &str) -> PyResult<()> {
        check_process()?;
        let server = &self.server;
        py.detach(|| match (list, what) {
            ("tools", "remove") => server.tools().remove(key),
            ("tools", "enable") => server.tools().enable(key),
            ("tools", _) => server.tools().disable(key),
            ("prompts", "remove") => server.prompts().remove(key),
            ("prompts", "enable") => server.prompts().enable(key),
            ("prompts", _) => server.prompts().disable(key),
            ("resources", "remove") => server.resources().remove(key),
            ("resources", "enable") => server.resources().enable(key),
            ("resources", _) => server.resources().disable(key),
            (_, "remove") => server.templates().remove(key),
            (_, "enable") => server.templates().enable(key),
            (_, _) => server.templates().disable(key),
        })
        .map_err(registry)
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
        let kind = ListKind::parse(list).ok_or_else(|| unknown(list))?;
        py.detach(|| self.server.list_changed(kind));
        Ok(())
    }

    fn updated(&self, py: Python<'_>, uri: &str) {
        py.detach(|| self.server.resources().updated(uri));
    }

    fn hold(&self) {
        self.server.hold_changes();
    }

    fn release(&self, py: Python<'_>) {
        py.detach(|| self.server.release_changes());
    }

    /// Watch events go to `mailbox` from now on.
    fn on_watch(&self, mailbox: Option<&Mailbox>) {
        self.server.on_watch(mailbox.map(|mailbox| {
            let queue = Arc::clone(&mailbox.queue);
            Arc::new(move |uri: &str, active: bool| queue.push(Event::Watch(uri.to_owned(), active))) as _
        }));
    }

    fn on_listen(&self, main: Option<Handler>) {
        self.server.on_listen(main.as_ref().map(|main| handler(main) as _));
    }

    #[getter]
    fn subscriptions(&self) -> usize {
        self.server.subscriptions()
    }

    fn start_stdio(&self) -> PyResult<Service> {
        check_process()?;
        let service = self.server.start_stdio().map_err(io)?;
        let bell = bell()?;
        let rung = Arc::clone(&bell);
        service.on_end(move || ring(&rung));
        Ok(Service { service, bell })
    }

    /// A client in this process, for tests.
    fn connect(&self) -> PyResult<Client> {
        check_process()?;
        Ok(Client { client: self.server.connect().map_err(io)? })
    }

    fn stop(&self) {
        self.server.stop();
    }

    #[getter]
    fn stopping(&self) -> bool {
        self.server.is_stopping()
    }

    /// Lets go of all handlers; nothing is served any more.
    fn dispose(&self, py: Python<'_>) {
        py.detach(|| self.server.dispose());
    }
}

/// A transport that serves in the background.
#[pyclass(frozen)]
pub struct Service {
    service: tocsin::Service,
    bell: Arc<EventFd>,
}

#[pymethods]
impl Service {
    /// Readable once it has ended.
    fn fileno(&self) -> i32 {
        self.bell.as_fd().as_raw_fd()
    }

    /// Waits at most so many seconds; true if it has ended, an `OSError` if it ended badly.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let timeout = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        match py.detach(|| self.service.wait(Some(timeout))) {
            None => Ok(false),
            Some(result) => result.map(|()| true).map_err(io),
        }
    }
}

/// A client in this process.
#[pyclass(frozen)]
pub struct Client {
    client: MemoryClient,
}

#[pymethods]
impl Client {
    fn send(&self, py: Python<'_>, message: &str) {
        py.detach(|| self.client.send(message));
    }

    /// The next message, waiting at most so many seconds.
    fn receive(&self, py: Python<'_>, seconds: f64) -> Option<String> {
        py.detach(|| self.client.receive(Duration::from_secs_f64(seconds.clamp(0.0, 3600.0))))
    }

    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.client.finish());
    }
}
