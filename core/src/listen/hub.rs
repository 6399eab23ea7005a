//! The one place where changes meet subscribers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::watch::Watchers;
use super::{Filter, ListKind, Subscription, WatchFn};

type Subscribers = HashMap<usize, Arc<Subscription>>;

#[derive(Default)]
struct Index {
    lists: [Subscribers; 3],
    uris: HashMap<Arc<str>, Subscribers>,
}

/// Indexes subscriptions by what they asked for, so that a change costs only those that did.
pub(crate) struct Hub {
    index: Mutex<Index>,
    watchers: Watchers,
    open: AtomicUsize,
    /// Most listen requests open at once; 0: any number.
    cap: usize,
}

/// The cap is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

fn key(subscription: &Arc<Subscription>) -> usize {
    Arc::as_ptr(subscription) as usize
}

impl Hub {
    pub fn new(cap: usize) -> Hub {
        Hub { index: Mutex::default(), watchers: Watchers::default(), open: AtomicUsize::new(0), cap }
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Watchers`].
    pub fn set_watch(&self, callback: Option<WatchFn>) {
        self.watchers.set(callback);
    }

    /// How many listen requests are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The cap, 0 for none.
    pub fn cap(&self) -> usize {
        self.cap
    }

    /// Makes `subscription` hear of all that `filter` names, from now on.
    pub fn register(&self, subscription: &Arc<Subscription>, filter: &Filter) -> Result<(), Full> {
        if subscription.is_listen() {
            let taken = self.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| {
                (self.cap == 0 || open < self.cap).then_some(open + 1)
            });
            taken.map_err(|_| Full)?;
        }
        let mut index = self.lock();
        subscription.set_registered(true);
        for kind in ListKind::ALL {
            if filter.list(kind) {
                index.lists[kind as usize].insert(key(subscription), Arc::clone(subscription));
            }
        }
        for uri in &filter.uris {
            self.add_uri(&mut index, subscription, uri);
        }
        drop(index);
        self.watchers.deliver();
        if subscription.is_ended() {
            self.unregister(subscription, filter);
        }
        Ok(())
    }

    /// Forgets `subscription`, which was registered with `filter`; again: no effect.
    pub fn unregister(&self, subscription: &Arc<Subscription>, filter: &Filter) {
        let mut index = self.lock();
        if !subscription.set_registered(false) && subscription.is_listen() {
            return;
        }
        for kind in ListKind::ALL {
            index.lists[kind as usize].remove(&key(subscription));
        }
        for uri in &filter.uris {
            self.drop_uri(&mut index, subscription, uri);
        }
        drop(index);
        if subscription.is_listen() {
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        self.watchers.deliver();
    }

    /// Adds one URI to a subscription (`resources/subscribe`).
    pub fn subscribe_uri(&self, subscription: &Arc<Subscription>, uri: &str) {
        let mut index = self.lock();
        self.add_uri(&mut index, subscription, uri);
        drop(index);
        self.watchers.deliver();
    }

    /// Takes one URI from a subscription (`resources/unsubscribe`).
    pub fn unsubscribe_uri(&self, subscription: &Arc<Subscription>, uri: &str) {
        let mut index = self.lock();
        self.drop_uri(&mut index, subscription, uri);
        drop(index);
        self.watchers.deliver();
    }

    fn add_uri(&self, index: &mut Index, subscription: &Arc<Subscription>, uri: &str) {
        if let Some(subscribers) = index.uris.get_mut(uri) {
            subscribers.insert(key(subscription), Arc::clone(subscription));
            return;
        }
        let uri: Arc<str> = uri.into();
        self.watchers.note(&uri, true);
        index.uris.insert(uri, HashMap::from([(key(subscription), Arc::clone(subscription))]));
    }

    fn drop_uri(&self, index: &mut Index, subscription: &Arc<Subscription>, uri: &str) {
        let Some(subscribers) = index.uris.get_mut(uri) else { return };
        if subscribers.remove(&key(subscription)).is_none() {
            return;
        }
        subscription.forget_uri(uri);
        if subscribers.is_empty()
            && let Some((uri, _)) = index.uris.remove_entry(uri)
        {
            self.watchers.note(&uri, false);
        }
    }

    /// A list changed: all who asked are told.
    pub fn list_changed(&self, kind: ListKind) {
        let index = self.lock();
        for subscription in index.lists[kind as usize].values() {
            subscription.mark_list(kind);
        }
    }

    /// A resource was updated: all who asked for exactly this URI are told.
    pub fn updated(&self, uri: &str) {
        let index = self.lock();
        if let Some((uri, subscribers)) = index.uris.get_key_value(uri) {
            for subscription in subscribers.values() {
                subscription.mark_uri(uri);
            }
        }
    }
}
