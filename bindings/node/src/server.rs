//! A server: its options, its lists, and serving.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use napi::bindgen_prelude::Object;
use napi::{Env, Error, Result};
use napi_derive::napi;
use tocsin::dispatch::{Event, Queue, QueueHandler};
use tocsin::{Changes, Handler, ListKind, Options, RegistryError, Server, Service};

use crate::calls;
use crate::client::NativeClient;
use crate::host::{Host, Shared};

/// How long the end of an environment waits for the last answers to be written.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What of a server may have to end before JavaScript lets go of it.
pub struct Engine {
    pub server: Server,
    pub queue: Arc<Queue>,
    service: Mutex<Option<Arc<Service>>>,
}

impl Engine {
    /// Ends all that it does; nobody runs its handlers any more.
    pub fn end(&self) {
        self.server.dispose();
        self.queue.close();
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(service) = service {
            service.wait(Some(LAST_WORDS));
        }
    }
}

/// A list of the registry.
#[napi(string_enum = "lowercase")]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// Why an edit was refused.
#[napi(object)]
pub struct Fault {
    /// `exists`, `missing` or `invalid`.
    pub reason: String,
    /// For a person, or a tool error.
    pub message: String,
}

fn fault(result: std::result::Result<(), RegistryError>) -> Option<Fault> {
    let error = result.err()?;
    let reason = match error {
        RegistryError::AlreadyExists { .. } => "exists",
        RegistryError::NotFound { .. } => "missing",
        RegistryError::Invalid { .. } => "invalid",
    };
    Some(Fault { reason: reason.to_owned(), message: error.to_string() })
}

/// A server, which knows its handlers by number.
#[napi]
pub struct NativeServer {
    engine: Arc<Engine>,
    shared: Arc<Shared>,
    port: u32,
    batches: RefCell<Vec<Changes>>,
}

impl Drop for NativeServer {
    fn drop(&mut self) {
        self.engine.end();
        calls::leave(self.port);
    }
}

#[napi]
impl NativeServer {
    /// `options` are names and JSON texts in turn; the host is woken with `port` when there are events.
    #[napi(constructor)]
    pub fn new(host: &Host, port: u32, options: Vec<String>) -> Result<NativeServer> {
        let mut settings = Options::new("", "");
        for option in options.chunks_exact(2) {
            settings.set_json(&option[0], &option[1]).map_err(|error| Error::from_reason(error.to_string()))?;
        }
        let server = Server::with_options(settings).map_err(|error| Error::from_reason(error.to_string()))?;
        let shared = Arc::clone(&host.shared);
        let woken = Arc::clone(&shared);
        let queue = Queue::new(move || woken.wake(port));
        let engine = Arc::new(Engine { server, queue, service: Mutex::default() });
        shared.adopt(&engine);
        calls::enter(port, &engine);
        Ok(NativeServer { engine, shared, port, batches: RefCell::default() })
    }

    fn handler(&self, id: u32) -> Arc<QueueHandler> {
        QueueHandler::new(Arc::clone(&self.engine.queue), id.into())
    }

    fn completer(&self, id: Option<u32>) -> Option<Arc<dyn Handler>> {
        id.map(|id| self.handler(id) as Arc<dyn Handler>)
    }

    /// Adds an entry; `definition` is JSON text.
    #[napi]
    pub fn add(&self, list: List, definition: String, handler: u32, completer: Option<u32>) -> Option<Fault> {
        let server = &self.engine.server;
        let (handler, completer) = (self.handler(handler), self.completer(completer));
        fault(match list {
            List::Tools => server.tools().add_shared(&definition, handler),
            List::Prompts => server.prompts().add_shared(&definition, handler, completer),
            List::Resources => server.resources().add_shared(&definition, handler),
            List::Templates => server.templates().add_shared(&definition, handler, completer),
        })
    }

    /// Puts an entry in the place of the one of that name.
    #[napi]
    pub fn replace(&self, list: List, definition: String, handler: u32, completer: Option<u32>) -> Option<Fault> {
        let server = &self.engine.server;
        let (handler, completer) = (self.handler(handler), self.completer(completer));
        fault(match list {
            List::Tools => server.tools().replace_shared(&definition, handler),
            List::Prompts => server.prompts().replace_shared(&definition, handler, completer),
            List::Resources => server.resources().replace_shared(&definition, handler),
            List::Templates => server.templates().replace_shared(&definition, handler, completer),
        })
    }

    /// Takes an entry out.
    #[napi]
    pub fn remove(&self, list: List, key: String) -> Option<Fault> {
        let server = &self.engine.server;
        fault(match list {
            List::Tools => server.tools().remove(&key),
            List::Prompts => server.prompts().remove(&key),
            List::Resources => server.resources().remove(&key),
            List::Templates => server.templates().remove(&key),
        })
    }

    /// Shows an entry that was hidden.
    #[napi]
    pub fn enable(&self, list: List, key: String) -> Option<Fault> {
        let server = &self.engine.server;
        fault(match list {
            List::Tools => server.tools().enable(&key),
            List::Prompts => server.prompts().enable(&key),
            List::Resources => server.resources().enable(&key),
            List::Templates => server.templates().enable(&key),
        })
    }

    /// Hides an entry.
    #[napi]
    pub fn disable(&self, list: List, key: String) -> Option<Fault> {
        let server = &self.engine.server;
        fault(match list {
            List::Tools => server.tools().disable(&key),
            List::Prompts => server.prompts().disable(&key),
            List::Resources => server.resources().disable(&key),
            List::Templates => server.templates().disable(&key),
        })
    }

    /// Whether an entry of that name is there.
    #[napi]
    pub fn has(&self, list: List, key: String) -> bool {
        let server = &self.engine.server;
        match list {
            List::Tools => server.tools().contains(&key),
            List::Prompts => server.prompts().contains(&key),
            List::Resources => server.resources().contains(&key),
            List::Templates => server.templates().contains(&key),
        }
    }

    /// All names, or URIs, in order.
    #[napi]
    pub fn keys(&self, list: List) -> Vec<String> {
        let server = &self.engine.server;
        match list {
            List::Tools => server.tools().keys(),
            List::Prompts => server.prompts().keys(),
            List::Resources => server.resources().keys(),
            List::Templates => server.templates().keys(),
        }
    }

    /// Announces that a list changed in a way that the registry does not see.
    #[napi]
    pub fn list_changed(&self, list: List) {
        self.engine.server.list_changed(match list {
            List::Tools => ListKind::Tools,
            List::Prompts => ListKind::Prompts,
            List::Resources | List::Templates => ListKind::Resources,
        });
    }

    /// Announces that a resource was updated.
    #[napi]
    pub fn updated(&self, uri: String) {
        self.engine.server.resources().updated(&uri);
    }

    /// Opens a batch of changes.
    #[napi]
    pub fn hold(&self) {
        self.batches.borrow_mut().push(self.engine.server.changes());
    }

    /// Closes a batch of changes.
    #[napi]
    pub fn release(&self) {
        let batch = self.batches.borrow_mut().pop();
        drop(batch);
    }

    /// Has a handler decide on listen requests.
    #[napi]
    pub fn on_listen(&self, handler: Option<u32>) {
        self.engine.server.on_listen(self.completer(handler));
    }

    /// Turns on, or off, events for the first and last subscriber of a URI.
    #[napi]
    pub fn on_watch(&self, wanted: bool) {
        let queue = Arc::clone(&self.engine.queue);
        self.engine.server.on_watch(if wanted {
            Some(Arc::new(move |uri, watched| queue.push(Event::Watch(uri.to_owned(), watched))))
        } else {
            None
        });
    }

    /// How many listen requests are open.
    #[napi]
    pub fn subscriptions(&self) -> u32 {
        u32::try_from(self.engine.server.subscriptions()).unwrap_or(u32::MAX)
    }

    /// Serves the standard streams; the promise keeps the process alive until that has ended.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn serve_stdio<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let service = self.engine.server.start_stdio().map_err(|error| Error::from_reason(error.to_string()))?;
        let service = Arc::new(service);
        let (deferred, promise) = env.create_deferred::<(), fn(Env) -> Result<()>>()?;
        *self.engine.service.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&service));
        let ended = Arc::clone(&service);
        service.on_end(move || match ended.wait(Some(Duration::ZERO)) {
            Some(Err(error)) => deferred.reject(Error::from_reason(error.to_string())),
            Some(Ok(())) | None => deferred.resolve(|_| Ok(())),
        });
        Ok(promise)
    }

    /// Tells every transport to stop, and returns at once.
    #[napi]
    pub fn stop(&self) {
        self.engine.server.stop();
    }

    /// A client in the same process; the host is woken with `port` when there are messages for it.
    #[napi]
    pub fn connect(&self, port: u32) -> Result<NativeClient> {
        NativeClient::new(&self.engine.server, &self.shared, port)
    }
}
