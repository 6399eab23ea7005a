//! The change feed: from an edit to the hub, at once or at the end of a batch.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::listen::{Hub, ListKind};

#[derive(Default)]
struct Held {
    depth: usize,
    lists: u8,
    uris: BTreeSet<String>,
}

/// Announces changes; while a batch is open it only remembers them.
pub(crate) struct Feed {
    hub: Arc<Hub>,
    held: Mutex<Held>,
}

impl Feed {
    pub fn new(hub: Arc<Hub>) -> Feed {
        Feed { hub, held: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn list_changed(&self, kind: ListKind) {
        let mut held = self.lock();
        if held.depth > 0 {
            held.lists |= kind.bit();
            return;
        }
        drop(held);
        self.hub.list_changed(kind);
    }

    pub fn updated(&self, uri: &str) {
        let mut held = self.lock();
        if held.depth > 0 {
            held.uris.insert(uri.to_owned());
            return;
        }
        drop(held);
        self.hub.updated(uri);
    }

    /// Opens a batch; batches nest.
    pub fn hold(&self) {
        self.lock().depth += 1;
    }

    /// Ends a batch; at the end of the outermost all that changed is announced once. Without a batch: no effect.
    pub fn release(&self) {
        let mut held = self.lock();
        held.depth = held.depth.saturating_sub(1);
        if held.depth > 0 {
            return;
        }
        let lists = std::mem::take(&mut held.lists);
        let uris = std::mem::take(&mut held.uris);
        drop(held);
        for kind in ListKind::ALL {
            if lists & kind.bit() != 0 {
                self.hub.list_changed(kind);
            }
        }
        for uri in uris {
            self.hub.updated(&uri);
        }
    }
}
