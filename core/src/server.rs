//! What a server's author holds.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{Engine, Handler};
use crate::listen::{ListKind, WatchFn};
use crate::options::{BuildError, Options};
use crate::registry::{PromptEntry, RegistryError, ResourceEntry, TemplateEntry, ToolEntry};
use crate::transport::{LineSession, MemoryClient, Stdio, serve};

/// An MCP server: a handle that is cheap to clone and may be used from any thread, also from handlers.
#[derive(Clone)]
pub struct Server {
    engine: Arc<Engine>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.engine.options.name).finish_non_exhaustive()
    }
}

impl Server {
    /// A server with the default options.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Result<Server, BuildError> {
        Server::with_options(Options::new(name, version))
    }

    /// A server with these options.
    ///
    /// # Errors
    /// An option cannot be used; nothing is served then.
    pub fn with_options(options: Options) -> Result<Server, BuildError> {
        Ok(Server { engine: Engine::new(options)? })
    }

    /// The options that the server was made with.
    pub fn options(&self) -> &Options {
        &self.engine.options
    }

    /// Its tools.
    pub fn tools(&self) -> Tools<'_> {
        Tools { engine: &self.engine }
    }

    /// Its prompts.
    pub fn prompts(&self) -> Prompts<'_> {
        Prompts { engine: &self.engine }
    }

    /// Its resources.
    pub fn resources(&self) -> Resources<'_> {
        Resources { engine: &self.engine }
    }

    /// Its resource templates.
    pub fn templates(&self) -> Templates<'_> {
        Templates { engine: &self.engine }
    }

    /// Opens a batch: until the guard is dropped, changes are only remembered; then each kind is announced once.
    /// Batches nest.
    #[must_use = "the batch ends when this is dropped"]
    pub fn changes(&self) -> Changes {
        self.engine.registry.feed.hold();
        Changes { engine: Arc::clone(&self.engine) }
    }

    /// Opens a batch without a guard, for hosts that cannot hold one; [`Server::release_changes`] ends it.
    pub fn hold_changes(&self) {
        self.engine.registry.feed.hold();
    }

    /// Ends a batch that [`Server::hold_changes`] opened; without one: no effect.
    pub fn release_changes(&self) {
        self.engine.registry.feed.release();
    }

    /// Announces that a list changed in a way that the registry does not see.
    pub fn list_changed(&self, kind: ListKind) {
        self.engine.registry.feed.list_changed(kind);
    }

    /// Lets `hook` decide on listen requests: completing the call accepts, failing it refuses with that error.
    pub fn on_listen(&self, hook: Option<Arc<dyn Handler>>) {
        let mut hooks = self.engine.hooks.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut hooks.listen, hook);
        drop(hooks);
        // A host's object, whose end may call in here.
        drop(old);
    }

    /// Calls `watch` with `(uri, true)` when the first subscriber of a URI comes, and with `(uri, false)` when the last
    /// one goes: in that order, one at a time, on whatever thread it happens.
    pub fn on_watch(&self, watch: Option<WatchFn>) {
        self.engine.hub.set_watch(watch);
    }

    /// How many listen requests are open.
    pub fn subscriptions(&self) -> usize {
        self.engine.hub.open()
    }

    /// Serves standard input and output until the input ends or the server is told to stop, and blocks so long.
    ///
    /// While it serves, descriptor 0 is the null device and 1 is standard error, for the whole process.
    ///
    /// # Errors
    /// The streams cannot be had (another call serves them), or reading fails.
    pub fn serve_stdio(&self) -> io::Result<()> {
        serve(&self.engine, Stdio::take()?)
    }

    /// Serves standard input and output on threads of its own.
    ///
    /// # Errors
    /// The streams cannot be had.
    pub fn start_stdio(&self) -> io::Result<Service> {
        let stdio = Stdio::take()?;
        let state: Arc<ServiceState> = Arc::default();
        let (engine, done) = (Arc::clone(&self.engine), Arc::clone(&state));
        std::thread::Builder::new().name("tocsin-read".into()).spawn(move || {
            let result = crate::guard::catch("the stdio transport", || serve(&engine, stdio));
            let result = result.unwrap_or_else(|| Err(io::Error::other("the stdio transport panicked")));
            *done.result.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(result.map_err(|error| error.to_string()));
            done.changed.notify_all();
            done.run_hooks();
            *done.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
            done.changed_over.notify_all();
        })?;
        Ok(Service { engine: Arc::clone(&self.engine), state })
    }

    /// A connection whose bytes the caller moves: `output` gets whole messages with their line end, one at a time.
    ///
    /// # Errors
    /// No runtime can be made.
    pub fn line_session(&self, output: impl Fn(&str) + Send + Sync + 'static) -> io::Result<LineSession> {
        LineSession::new(&self.engine, Box::new(output))
    }

    /// A client in the same process, for tests.
    ///
    /// # Errors
    /// No runtime can be made.
    pub fn connect(&self) -> io::Result<MemoryClient> {
        MemoryClient::new(&self.engine)
    }

    /// Tells every transport to stop, and returns at once. Safe in a signal handler once a transport serves.
    pub fn stop(&self) {
        self.engine.stop();
    }

    /// Whether the server was told to stop.
    pub fn is_stopping(&self) -> bool {
        self.engine.is_stopping()
    }

    /// Tells every transport to stop, and cancels what runs at once: for a host that will not wait.
    pub fn abandon(&self) {
        self.stop();
        self.engine.abandon();
    }

    /// Lets go of all handlers and cancels what runs. The server serves nothing more. A host whose handlers hold the
    /// server calls this to break the circle.
    pub fn dispose(&self) {
        self.abandon();
        self.on_listen(None);
        self.on_watch(None);
        self.engine.registry.tools.clear();
        self.engine.registry.prompts.clear();
        self.engine.registry.resources.clear();
        self.engine.registry.templates.clear();
    }
}

/// A batch of changes; see [`Server::changes`].
#[derive(Debug)]
pub struct Changes {
    engine: Arc<Engine>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.engine.registry.feed.release();
    }
}

type ServiceHook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct ServiceState {
    result: Mutex<Option<Result<(), String>>>,
    changed: Condvar,
    hooks: Mutex<Vec<ServiceHook>>,
    /// The hooks have run, too.
    over: Mutex<bool>,
    changed_over: Condvar,
}

impl ServiceState {
    fn run_hooks(&self) {
        let hooks = std::mem::take(&mut *self.hooks.lock().unwrap_or_else(PoisonError::into_inner));
        for hook in hooks {
            crate::guard::catch("the end callback of a service", hook);
        }
    }
}

/// A transport that serves in the background. Dropping it does not stop it.
pub struct Service {
    engine: Arc<Engine>,
    state: Arc<ServiceState>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// Waits until it has ended, at most `timeout` (`None`: for ever). `None`: it goes on.
    pub fn wait(&self, timeout: Option<Duration>) -> Option<io::Result<()>> {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        let mut result = self.state.result.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = result.as_ref() {
                return Some(result.clone().map_err(io::Error::other));
            }
            result = match end {
                None => self.state.changed.wait(result).unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
                    self.state.changed.wait_timeout(result, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Waits until it has ended and what [`Service::on_end`] took has run.
    pub fn join(&self) {
        let mut over = self.state.over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            over = self.state.changed_over.wait(over).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls `hook` once it has ended, on one of its threads; at once if it has.
    pub fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        self.state.hooks.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(hook));
        let ended = self.state.result.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if ended {
            self.state.run_hooks();
        }
    }

    /// Tells the whole server to stop, and waits until this transport has, at most `timeout`.
    pub fn stop(&self, timeout: Option<Duration>) -> Option<io::Result<()>> {
        self.engine.stop();
        self.wait(timeout)
    }
}

/// The methods that all four lists share.
macro_rules! list {
    ($(#[$doc:meta])* $name:ident, $field:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            engine: &'a Arc<Engine>,
        }

        impl $name<'_> {
            /// Takes an entry out, and announces it.
            ///
            /// # Errors
            /// There is none of that name.
            pub fn remove(&self, key: &str) -> Result<(), RegistryError> {
                self.engine.registry.$field.remove(key)
            }

            /// Shows an entry that was disabled, in its old place, and announces it.
            ///
            /// # Errors
            /// There is none of that name.
            pub fn enable(&self, key: &str) -> Result<(), RegistryError> {
                self.engine.registry.$field.set_enabled(key, true)
            }

            /// Hides an entry: it is neither listed nor served. Announced.
            ///
            /// # Errors
            /// There is none of that name.
            pub fn disable(&self, key: &str) -> Result<(), RegistryError> {
                self.engine.registry.$field.set_enabled(key, false)
            }

            /// Whether an entry of that name is there, enabled or not.
            pub fn contains(&self, key: &str) -> bool {
                self.engine.registry.$field.contains(key)
            }

            /// All names, or URIs, in order, enabled or not.
            pub fn keys(&self) -> Vec<String> {
                self.engine.registry.$field.keys()
            }
        }
    };
}

list!(
    /// A server's tools.
    Tools, tools
);
list!(
    /// A server's prompts.
    Prompts, prompts
);
list!(
    /// A server's resources.
    Resources, resources
);
list!(
    /// A server's resource templates.
    Templates, templates
);

impl Tools<'_> {
    /// Adds a tool at the end, and announces it. `definition` is the protocol's Tool object, built by [`crate::Tool`]
    /// or as JSON text.
    ///
    /// # Errors
    /// The name is taken, or the definition cannot be served; nothing is changed then.
    pub fn add(&self, definition: impl Into<String>, handler: impl Handler) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler))
    }

    /// [`Tools::add`] for a handler that is shared already.
    ///
    /// # Errors
    /// As for [`Tools::add`].
    pub fn add_shared(&self, definition: &str, handler: Arc<dyn Handler>) -> Result<(), RegistryError> {
        self.engine.registry.tools.add(ToolEntry::new(definition, handler)?)
    }

    /// Puts a tool in the place of the one of that name, and announces it.
    ///
    /// # Errors
    /// There is none of that name, or the definition cannot be served.
    pub fn replace(&self, definition: impl Into<String>, handler: impl Handler) -> Result<(), RegistryError> {
        self.replace_shared(&definition.into(), Arc::new(handler))
    }

    /// [`Tools::replace`] for a handler that is shared already.
    ///
    /// # Errors
    /// As for [`Tools::replace`].
    pub fn replace_shared(&self, definition: &str, handler: Arc<dyn Handler>) -> Result<(), RegistryError> {
        self.engine.registry.tools.replace(ToolEntry::new(definition, handler)?)
    }
}

impl Prompts<'_> {
    /// Adds a prompt at the end, and announces it. `definition` is the protocol's Prompt object, built by
    /// [`crate::Prompt`] or as JSON text.
    ///
    /// # Errors
    /// The name is taken, or the definition cannot be served.
    pub fn add(&self, definition: impl Into<String>, handler: impl Handler) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler), None)
    }

    /// Adds a prompt whose arguments `completer` completes.
    ///
    /// # Errors
    /// As for [`Prompts::add`].
    pub fn add_completed(
        &self,
        definition: impl Into<String>,
        handler: impl Handler,
        completer: impl Handler,
    ) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler), Some(Arc::new(completer)))
    }

    /// [`Prompts::add`] for handlers that are shared already.
    ///
    /// # Errors
    /// As for [`Prompts::add`].
    pub fn add_shared(
        &self,
        definition: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<(), RegistryError> {
        self.engine.registry.prompts.add(PromptEntry::new(definition, handler, completer)?)
    }

    /// Puts a prompt in the place of the one of that name, and announces it.
    ///
    /// # Errors
    /// There is none of that name, or the definition cannot be served.
    pub fn replace_shared(
        &self,
        definition: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<(), RegistryError> {
        self.engine.registry.prompts.replace(PromptEntry::new(definition, handler, completer)?)
    }
}

impl Resources<'_> {
    /// Adds a resource at the end, and announces it. `definition` is the protocol's Resource object, built by
    /// [`crate::Resource`] or as JSON text.
    ///
    /// # Errors
    /// The URI is taken or not absolute, or the definition cannot be served.
    pub fn add(&self, definition: impl Into<String>, handler: impl Handler) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler))
    }

    /// [`Resources::add`] for a handler that is shared already.
    ///
    /// # Errors
    /// As for [`Resources::add`].
    pub fn add_shared(&self, definition: &str, handler: Arc<dyn Handler>) -> Result<(), RegistryError> {
        self.engine.registry.resources.add(ResourceEntry::new(definition, handler)?)
    }

    /// Puts a resource in the place of the one of that URI, and announces it.
    ///
    /// # Errors
    /// There is none of that URI, or the definition cannot be served.
    pub fn replace_shared(&self, definition: &str, handler: Arc<dyn Handler>) -> Result<(), RegistryError> {
        self.engine.registry.resources.replace(ResourceEntry::new(definition, handler)?)
    }

    /// Says that what `uri` stands for was updated, be it listed or not: all who subscribed to exactly this URI are
    /// told.
    pub fn updated(&self, uri: &str) {
        self.engine.registry.feed.updated(uri);
    }
}

impl Templates<'_> {
    /// Adds a resource template at the end, and announces it. `definition` is the protocol's ResourceTemplate object,
    /// built by [`crate::ResourceTemplate`] or as JSON text. Its handler gets the template's variables as arguments.
    ///
    /// # Errors
    /// The template is taken or cannot be parsed, or the definition cannot be served.
    pub fn add(&self, definition: impl Into<String>, handler: impl Handler) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler), None)
    }

    /// Adds a template whose variables `completer` completes.
    ///
    /// # Errors
    /// As for [`Templates::add`].
    pub fn add_completed(
        &self,
        definition: impl Into<String>,
        handler: impl Handler,
        completer: impl Handler,
    ) -> Result<(), RegistryError> {
        self.add_shared(&definition.into(), Arc::new(handler), Some(Arc::new(completer)))
    }

    /// [`Templates::add`] for handlers that are shared already.
    ///
    /// # Errors
    /// As for [`Templates::add`].
    pub fn add_shared(
        &self,
        definition: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<(), RegistryError> {
        self.engine.registry.templates.add(TemplateEntry::new(definition, handler, completer)?)
    }

    /// Puts a template in the place of the same one, and announces it.
    ///
    /// # Errors
    /// There is none, or the definition cannot be served.
    pub fn replace_shared(
        &self,
        definition: &str,
        handler: Arc<dyn Handler>,
        completer: Option<Arc<dyn Handler>>,
    ) -> Result<(), RegistryError> {
        self.engine.registry.templates.replace(TemplateEntry::new(definition, handler, completer)?)
    }
}
