//! Where the messages of one request go: an outbox, or a batch that collects answers for it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::listen::{Item, ItemKind, Outbox};
use crate::protocol::{ErrorObject, Id};

/// The way back to whoever sent a message.
#[derive(Clone)]
pub(crate) struct Channel {
    outbox: Arc<Outbox>,
    batch: Option<Arc<Batch>>,
}

/// Answers to the members of a JSON-RPC batch, sent as one array when all are there (`basic/index` of 2025-03-26).
pub(crate) struct Batch {
    state: Mutex<BatchState>,
}

#[derive(Default)]
struct BatchState {
    expected: usize,
    answers: Vec<String>,
    sealed: bool,
}

/// An answer as JSON text.
pub(crate) fn error_text(id: Option<&str>, error: &ErrorObject) -> String {
    let mut out = String::from("{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.push_str(",\"id\":");
        out.push_str(id);
    }
    out.push_str(",\"error\":");
    error.write(&mut out);
    out.push('}');
    out
}

impl Channel {
    pub fn new(outbox: Arc<Outbox>) -> Channel {
        Channel { outbox, batch: None }
    }

    /// The same way back, for the members of one batch.
    pub fn batch(&self) -> (Channel, Arc<Batch>) {
        let batch = Arc::new(Batch { state: Mutex::default() });
        (Channel { outbox: Arc::clone(&self.outbox), batch: Some(Arc::clone(&batch)) }, batch)
    }

    pub fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Progress or a log message, which may be lost if the peer does not read.
    pub fn notify(&self, text: String) {
        self.outbox.push_droppable(Item { text, kind: ItemKind::Notification });
    }

    /// A notification that must arrive.
    pub fn notify_surely(&self, text: String) {
        self.outbox.push(Item { text, kind: ItemKind::Notification });
    }

    /// A request of ours to a handshake client.
    pub fn request(&self, text: String) {
        self.outbox.push(Item { text, kind: ItemKind::Request });
    }

    /// The answer to request `id`; `text` is the whole message.
    pub fn reply(&self, text: String, error: Option<i32>) {
        match &self.batch {
            None => self.outbox.push(Item { text, kind: ItemKind::Reply { error } }),
            Some(batch) => batch.answer(text, &self.outbox),
        }
    }

    pub fn reply_error(&self, id: &Id, error: &ErrorObject) {
        self.reply(error_text(Some(id.token()), error), Some(error.code));
    }

    /// `result` is a JSON object.
    pub fn reply_result(&self, id: &Id, result: &str) {
        let mut text = String::with_capacity(40 + id.token().len() + result.len());
        text.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
        text.push_str(id.token());
        text.push_str(",\"result\":");
        text.push_str(result);
        text.push('}');
        self.reply(text, None);
    }

    /// A request of the batch is over without an answer.
    pub fn forgo(&self) {
        if let Some(batch) = &self.batch {
            batch.forgo(&self.outbox);
        }
    }

    /// One more answer will come to this batch.
    pub fn expect(&self) {
        if let Some(batch) = &self.batch {
            batch.lock().expected += 1;
        }
    }
}

impl Batch {
    fn lock(&self) -> std::sync::MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, text: String, outbox: &Outbox) {
        let mut state = self.lock();
        state.answers.push(text);
        Self::send_if_whole(state, outbox);
    }

    fn forgo(&self, outbox: &Outbox) {
        let mut state = self.lock();
        state.expected = state.expected.saturating_sub(1);
        Self::send_if_whole(state, outbox);
    }

    /// All members have been handled: no more answers will be expected.
    pub fn seal(&self, outbox: &Outbox) {
        let mut state = self.lock();
        state.sealed = true;
        Self::send_if_whole(state, outbox);
    }

    fn send_if_whole(mut state: std::sync::MutexGuard<'_, BatchState>, outbox: &Outbox) {
        if state.sealed && !state.answers.is_empty() && state.answers.len() >= state.expected {
            let text = format!("[{}]", std::mem::take(&mut state.answers).join(","));
            state.expected = 0;
            drop(state);
            outbox.push(Item { text, kind: ItemKind::Reply { error: None } });
        }
    }
}
