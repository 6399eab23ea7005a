//! One subscriber: what it asked for, and what changed since it was last told.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocol::json;
use crate::protocol::meta::SUBSCRIPTION_ID;

use super::{Filter, Item, ItemKind, ListKind, Outbox};

#[derive(Default)]
struct State {
    /// Notifications may go out: after the acknowledgement, or after `notifications/initialized`.
    open: bool,
    ended: bool,
    /// Stands in the outbox already.
    queued: bool,
    dirty_lists: u8,
    dirty_uris: BTreeSet<Arc<str>>,
}

/// A listen request that is open, or (without a tag) what a handshake client hears.
pub(crate) struct Subscription {
    /// The listen request's id token; none on a handshake connection.
    tag: Option<Box<str>>,
    outbox: Arc<Outbox>,
    state: Mutex<State>,
    /// The hub knows it. Kept here so that ending and registering may race.
    registered: AtomicBool,
}

impl Subscription {
    /// A subscription that stays silent until [`Subscription::open`].
    pub fn new(tag: Option<&str>, outbox: Arc<Outbox>) -> Arc<Subscription> {
        Arc::new(Subscription {
            tag: tag.map(Into::into),
            outbox,
            state: Mutex::default(),
            registered: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether the hub knows it; returns what was noted before.
    pub fn set_registered(&self, registered: bool) -> bool {
        self.registered.swap(registered, Ordering::AcqRel)
    }

    pub fn is_ended(&self) -> bool {
        self.lock().ended
    }

    /// Whether it counts as a listen request.
    pub fn is_listen(&self) -> bool {
        self.tag.is_some()
    }

    /// Queues the acknowledgement and lets notifications follow it. A change that raced with registration is queued
    /// behind; nothing of this subscription can be before.
    pub fn acknowledge(self: &Arc<Self>, filter: &Filter) {
        let tag = self.tag.as_deref().unwrap_or("null");
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{{\"_meta\":\
             {{\"{SUBSCRIPTION_ID}\":{tag}}},\"notifications\":{}}}}}",
            filter.to_json()
        );
        let mut state = self.lock();
        self.outbox.push(Item { text, kind: ItemKind::Notification });
        self.release(&mut state);
    }

    /// Lets notifications out; for subscriptions that are not acknowledged.
    pub fn open(self: &Arc<Self>) {
        let mut state = self.lock();
        self.release(&mut state);
    }

    fn release(self: &Arc<Self>, state: &mut State) {
        state.open = true;
        self.queue(state);
    }

    pub fn mark_list(self: &Arc<Self>, kind: ListKind) {
        let mut state = self.lock();
        state.dirty_lists |= kind.bit();
        self.queue(&mut state);
    }

    pub fn mark_uri(self: &Arc<Self>, uri: &Arc<str>) {
        let mut state = self.lock();
        state.dirty_uris.insert(Arc::clone(uri));
        self.queue(&mut state);
    }

    /// A URI is no longer wanted: a change not yet told is dropped.
    pub fn forget_uri(&self, uri: &str) {
        self.lock().dirty_uris.remove(uri);
    }

    fn queue(self: &Arc<Self>, state: &mut State) {
        let dirty = state.dirty_lists != 0 || !state.dirty_uris.is_empty();
        if dirty && state.open && !state.ended && !state.queued {
            state.queued = true;
            self.outbox.push_subscription(Arc::clone(self));
        }
    }

    /// Ends it; nothing of it is written any more. Returns false if it had ended before.
    pub fn end(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.ended, true)
    }

    /// Ends it and queues `last`, after what has not been told yet, in one step: nothing of it can follow.
    pub fn end_with(&self, last: String) {
        let mut state = self.lock();
        if std::mem::replace(&mut state.ended, true) {
            return;
        }
        if state.open {
            for text in self.untold(&mut state) {
                self.outbox.push(Item { text, kind: ItemKind::Notification });
            }
        }
        self.outbox.push(Item { text: last, kind: ItemKind::Reply { error: None } });
    }

    /// The writer's turn: a notification for all that changed since the last one.
    ///
    /// They are handed back rather than written here: a writer may block, and whoever marks needs the lock.
    pub fn take(&self) -> Vec<String> {
        let mut state = self.lock();
        state.queued = false;
        if state.ended {
            return Vec::new();
        }
        self.untold(&mut state)
    }

    /// Takes what changed, as notifications.
    fn untold(&self, state: &mut State) -> Vec<String> {
        let lists = std::mem::take(&mut state.dirty_lists);
        let uris = std::mem::take(&mut state.dirty_uris);
        let lists = ListKind::ALL.into_iter().filter(|kind| lists & kind.bit() != 0);
        lists.map(|kind| self.list_changed(kind)).chain(uris.iter().map(|uri| self.updated(uri))).collect()
    }

    fn list_changed(&self, kind: ListKind) -> String {
        let kind = kind.name();
        match &self.tag {
            None => format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{kind}/list_changed\"}}"),
            Some(tag) => format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{kind}/list_changed\",\"params\":{{\"_meta\":\
                 {{\"{SUBSCRIPTION_ID}\":{tag}}}}}}}"
            ),
        }
    }

    fn updated(&self, uri: &str) -> String {
        let mut out = String::with_capacity(160 + uri.len());
        out.push_str("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":");
        json::write_string(&mut out, uri);
        if let Some(tag) = &self.tag {
            out.push_str(",\"_meta\":{\"");
            out.push_str(SUBSCRIPTION_ID);
            out.push_str("\":");
            out.push_str(tag);
            out.push('}');
        }
        out.push_str("}}");
        out
    }
}
