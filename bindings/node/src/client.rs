//! A client in the same process, for tests.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::Object;
use napi::{Env, Error, Result};
use napi_derive::napi;
use tocsin::{LineSession, Server};

use crate::host::Shared;

/// A connection that JavaScript feeds and collects from, message by message.
#[napi]
pub struct NativeClient {
    session: RefCell<Option<Arc<LineSession>>>,
    messages: Arc<Mutex<Vec<String>>>,
}

impl NativeClient {
    pub(crate) fn new(server: &Server, shared: &Arc<Shared>, port: u32) -> Result<NativeClient> {
        let messages: Arc<Mutex<Vec<String>>> = Arc::default();
        let (inbox, shared) = (Arc::clone(&messages), Arc::downgrade(shared));
        let session = server.line_session(move |line| {
            let mut messages = inbox.lock().unwrap_or_else(PoisonError::into_inner);
            messages.push(line.trim_end().to_owned());
            let first = messages.len() == 1;
            drop(messages);
            if first && let Some(shared) = shared.upgrade() {
                shared.wake(port);
            }
        });
        let session = session.map_err(|error| Error::from_reason(error.to_string()))?;
        Ok(NativeClient { session: RefCell::new(Some(Arc::new(session))), messages })
    }

    fn session(&self) -> Option<Arc<LineSession>> {
        self.session.borrow().clone()
    }
}

#[napi]
impl NativeClient {
    /// Sends one message.
    #[napi]
    pub fn send(&self, message: String) {
        if let Some(session) = self.session() {
            session.feed(format!("{message}\n").as_bytes());
        }
    }

    /// Takes the messages that have come.
    #[napi]
    pub fn receive(&self) -> Vec<String> {
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the connection as the end of standard input does; resolves when calls in flight have had their grace.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn finish<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let (deferred, promise) = env.create_deferred::<(), fn(Env) -> Result<()>>()?;
        let session = self.session.take();
        // Waiting here would keep the handlers from answering.
        std::thread::spawn(move || {
            if let Some(session) = session {
                session.finish();
            }
            deferred.resolve(|_| Ok(()));
        });
        Ok(promise)
    }
}
