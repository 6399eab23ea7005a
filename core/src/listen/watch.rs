//! Tells a host when the first subscriber of a URI comes and the last one goes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// `(uri, true)`: somebody wants to hear of `uri`; `(uri, false)`: nobody does any more.
pub type WatchFn = Arc<dyn Fn(&str, bool) + Send + Sync>;

#[derive(Default)]
struct State {
    events: VecDeque<(Arc<str>, bool)>,
    delivering: bool,
}

/// Delivers events in the order in which they were noted, one at a time, with no lock held.
#[derive(Default)]
pub(super) struct Watchers {
    state: Mutex<State>,
    callback: Mutex<Option<WatchFn>>,
}

impl Watchers {
    pub fn set(&self, callback: Option<WatchFn>) {
        let mut slot = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *slot, callback);
        drop(slot);
        // A host's object, whose end may call in here.
        drop(old);
    }

    /// Notes an event; call it under the lock that orders events, and [`Watchers::deliver`] after.
    pub fn note(&self, uri: &Arc<str>, active: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.events.push_back((Arc::clone(uri), active));
    }

    pub fn deliver(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut state.delivering, true) {
            return;
        }
        while let Some((uri, active)) = state.events.pop_front() {
            drop(state);
            let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(callback) = callback {
                crate::guard::catch("a watch callback", || callback(&uri, active));
            }
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        }
        state.delivering = false;
    }
}
