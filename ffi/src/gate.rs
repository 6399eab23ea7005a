//! Which of C's functions are running, so that freeing can wait for them.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// The gates that this thread is inside of.
    static INSIDE: RefCell<Vec<*const Gate>> = const { RefCell::new(Vec::new()) };
    /// How many handlers this thread is inside of.
    static HANDLERS: Cell<usize> = const { Cell::new(0) };
}

#[derive(Default)]
struct State {
    running: usize,
    closed: bool,
}

/// Callbacks go through it one by one; once closed, none does.
#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    idle: Condvar,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a callback, unless the gate is closed.
    pub fn pass<T>(self: &Arc<Self>, callback: impl FnOnce() -> T) -> Option<T> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        state.running += 1;
        drop(state);
        INSIDE.with_borrow_mut(|inside| inside.push(Arc::as_ptr(self)));
        // Leaves also when the callback panics.
        let _leave = Leave(self);
        Some(callback())
    }

    /// Whether this thread is inside.
    pub fn is_inside(self: &Arc<Self>) -> bool {
        INSIDE.with_borrow(|inside| inside.contains(&Arc::as_ptr(self)))
    }

    /// Lets nothing in any more, and waits for what is inside, unless that is the caller.
    pub fn close(self: &Arc<Self>) {
        let inside = self.is_inside();
        let mut state = self.lock();
        state.closed = true;
        while state.running > 0 && !inside {
            state = self.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct Leave<'a>(&'a Arc<Gate>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let me = Arc::as_ptr(self.0);
        INSIDE.with_borrow_mut(|inside| {
            if let Some(at) = inside.iter().rposition(|gate| *gate == me) {
                inside.remove(at);
            }
        });
        let mut state = self.0.lock();
        state.running -= 1;
        if state.running == 0 {
            self.0.idle.notify_all();
        }
    }
}

/// Runs a handler, and remembers that this thread does.
pub fn as_handler<T>(handler: impl FnOnce() -> T) -> T {
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            HANDLERS.set(HANDLERS.get() - 1);
        }
    }
    HANDLERS.set(HANDLERS.get() + 1);
    let _done = Done;
    handler()
}

/// Whether this thread is inside of a handler.
pub fn in_handler() -> bool {
    HANDLERS.get() > 0
}
