//! Sessions whose bytes somebody else moves: a host's own transport, or a test.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use crate::engine::{Engine, Session, Transport};
use crate::listen::Outbox;
use crate::protocol::ErrorObject;

use super::framer::{Framer, Line};

/// A connection that speaks lines, moved by the host.
///
/// Input is fed by one thread at a time. Output comes as whole messages with their line end, in order, one at a time,
/// on an engine thread. Dropping it ends the connection: subscriptions end, calls are cancelled.
pub struct LineSession {
    session: Arc<Session>,
    framer: Mutex<Framer>,
    output: Arc<Delivery>,
}

impl std::fmt::Debug for LineSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineSession").finish_non_exhaustive()
    }
}

type Output = Box<dyn Fn(&str) + Send + Sync>;

/// The way out; locked while messages are handed over, which keeps their order.
type Delivery = Mutex<Output>;

impl LineSession {
    pub(crate) fn new(engine: &Arc<Engine>, output: Output) -> std::io::Result<LineSession> {
        let handle = engine.runtime()?.handle().clone();
        let output: Arc<Delivery> = Arc::new(Mutex::new(output));
        let sink = Arc::clone(&output);
        let slot: Arc<OnceLock<Weak<Outbox>>> = Arc::default();
        let place = Arc::clone(&slot);
        let outbox = Outbox::new(engine.options.max_output_bytes, move || {
            let (place, sink) = (Arc::clone(&place), Arc::clone(&sink));
            // Only one at a time: the next wake comes after this one found the outbox empty.
            handle.spawn_blocking(move || {
                if let Some(outbox) = place.get().and_then(Weak::upgrade) {
                    drain(&outbox, &sink);
                }
            });
        });
        let _ = slot.set(Arc::downgrade(&outbox));
        let session = Session::new(engine, Transport::Stdio, outbox);
        let framer = Mutex::new(Framer::new(engine.options.max_message_bytes));
        Ok(LineSession { session, framer, output })
    }

    /// Takes bytes of the client, cut anywhere.
    pub fn feed(&self, bytes: &[u8]) {
        let mut framer = self.framer.lock().unwrap_or_else(PoisonError::into_inner);
        framer.feed(bytes, |line| take(&self.session, line));
    }

    /// The client is gone: ends subscriptions, cancels calls. Nothing that is not being output now is output any more.
    pub fn close(&self) {
        self.session.close();
    }

    /// The client has sent all it will: ends subscriptions with their result, and gives calls the grace. When this
    /// returns, all that was answered has been output. Not to be called by the output callback.
    pub fn finish(&self) {
        let mut framer = self.framer.lock().unwrap_or_else(PoisonError::into_inner);
        framer.finish(|line| take(&self.session, line));
        drop(framer);
        let options = &self.session.engine.options;
        self.session.engine.drain(&self.session, options.input_end_grace);
        drain(self.session.channel.outbox(), &self.output);
    }
}

impl Drop for LineSession {
    fn drop(&mut self) {
        self.close();
    }
}

fn drain(outbox: &Outbox, output: &Delivery) {
    let output = output.lock().unwrap_or_else(PoisonError::into_inner);
    while outbox.take(1 << 16, |mut item| {
        item.text.push('\n');
        crate::guard::catch("an output callback", || output(&item.text));
    }) {}
}

/// Hands one line to the session.
pub(super) fn take(session: &Arc<Session>, line: Line<'_>) {
    match line {
        Line::Message(message) => session.receive(message),
        Line::TooLong => session.refuse(
            &session.channel,
            None,
            &ErrorObject::invalid_request(format!(
                "the message is longer than {} bytes, the bound of this server (max_message_bytes)",
                session.engine.options.max_message_bytes
            )),
        ),
    }
}

/// A client in the same process, for tests: sends and receives whole messages.
#[derive(Debug)]
pub struct MemoryClient {
    session: LineSession,
    messages: Mutex<mpsc::Receiver<String>>,
}

impl MemoryClient {
    pub(crate) fn new(engine: &Arc<Engine>) -> std::io::Result<MemoryClient> {
        let (sender, messages) = mpsc::channel();
        let session = LineSession::new(
            engine,
            Box::new(move |line| {
                // A client that is gone wants nothing.
                let _ = sender.send(line.trim_end().to_owned());
            }),
        )?;
        Ok(MemoryClient { session, messages: Mutex::new(messages) })
    }

    /// Sends one message.
    pub fn send(&self, message: &str) {
        self.session.feed(message.as_bytes());
        self.session.feed(b"\n");
    }

    /// The next message of the server, waiting at most `timeout`.
    pub fn receive(&self, timeout: Duration) -> Option<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(timeout).ok()
    }

    /// See [`LineSession::finish`].
    pub fn finish(&self) {
        self.session.finish();
    }
}
