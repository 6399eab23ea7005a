//! What waits to be written to one peer, in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Subscription;

/// What an [`Item`] is, for transports that treat answers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A notification.
    Notification,
    /// A request from the server to a handshake client.
    Request,
    /// The answer to a request; the code if it is an error.
    Reply {
        /// The error's code.
        error: Option<i32>,
    },
}

/// One message, without its line end.
#[derive(Clone, Debug)]
pub struct Item {
    /// The JSON text.
    pub text: String,
    /// What it is.
    #[expect(dead_code, reason = "HTTP chooses status and body by it")]
    pub kind: ItemKind,
}

enum Entry {
    Item(Item),
    /// The subscription has something to say; what, is decided when it is written.
    Subscription(Arc<Subscription>),
}

#[derive(Default)]
struct State {
    entries: VecDeque<Entry>,
    bytes: usize,
    /// A wake is under way, or the writer is at work.
    awake: bool,
    closed: bool,
}

/// An ordered queue of messages to one peer, and the wake of the one writer that empties it.
///
/// The wake runs only when the queue turns from idle to busy. A subscription stands in the queue at most once, so
/// changes never make it grow. Any thread may push; one thread at a time may take.
pub struct Outbox {
    state: Mutex<State>,
    wake: Box<dyn Fn() + Send + Sync>,
    /// Above so many bytes, messages that may be lost are.
    high_water: usize,
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").finish_non_exhaustive()
    }
}

impl Outbox {
    /// An empty outbox. `wake` must return soon and must not call back into this outbox.
    pub fn new(high_water: usize, wake: impl Fn() + Send + Sync + 'static) -> Arc<Outbox> {
        Arc::new(Outbox { state: Mutex::default(), wake: Box::new(wake), high_water })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message; after [`Outbox::close`] it is dropped.
    pub fn push(&self, item: Item) {
        self.enqueue(Entry::Item(item), false);
    }

    /// Queues a message that the protocol allows to be lost (progress, log), unless too much waits already.
    pub fn push_droppable(&self, item: Item) {
        self.enqueue(Entry::Item(item), true);
    }

    pub(super) fn push_subscription(&self, subscription: Arc<Subscription>) {
        self.enqueue(Entry::Subscription(subscription), false);
    }

    fn enqueue(&self, entry: Entry, droppable: bool) {
        let mut state = self.lock();
        if state.closed || (droppable && state.bytes >= self.high_water) {
            return;
        }
        if let Entry::Item(item) = &entry {
            state.bytes += item.text.len();
        }
        state.entries.push_back(entry);
        let wake = !std::mem::replace(&mut state.awake, true);
        drop(state);
        if wake {
            (self.wake)();
        }
    }

    /// Bytes that wait.
    pub fn waiting_bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Whether the peer reads too slowly for more work to be taken on.
    pub fn is_full(&self) -> bool {
        self.waiting_bytes() >= self.high_water
    }

    /// Hands the next messages to `write` until about `limit` bytes are through.
    ///
    /// Returns whether more wait. When nothing does, the next push wakes again.
    pub fn take(&self, limit: usize, mut write: impl FnMut(Item)) -> bool {
        let mut taken = 0;
        loop {
            let mut state = self.lock();
            if taken >= limit && !state.entries.is_empty() {
                return true;
            }
            let Some(entry) = state.entries.pop_front() else {
                state.awake = false;
                return false;
            };
            if let Entry::Item(item) = &entry {
                state.bytes -= item.text.len();
            }
            drop(state);
            match entry {
                Entry::Item(item) => {
                    taken += item.text.len();
                    write(item);
                }
                Entry::Subscription(subscription) => {
                    for text in subscription.take() {
                        taken += text.len();
                        write(Item { text, kind: ItemKind::Notification });
                    }
                }
            }
        }
    }

    /// The peer is gone: drops what waits and all that comes.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.bytes = 0;
        let entries = std::mem::take(&mut state.entries);
        drop(state);
        drop(entries);
    }

    /// Whether the peer is gone.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Whether all that was pushed has been taken.
    pub fn is_empty(&self) -> bool {
        self.lock().entries.is_empty()
    }
}
