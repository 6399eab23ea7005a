//! A queue of events for a host language.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{Asked, Call, Handler};

/// The host's own number for a handler; the core holds no host objects.
pub type HandlerId = u64;

/// Something for the host to do.
#[derive(Debug)]
pub enum Event {
    /// Run this handler, and answer the call.
    Call(HandlerId, Call),
    /// The call of this key ([`crate::Context::key`]) was cancelled.
    Cancelled(usize),
    /// What became of the question that the host asked under this number.
    Asked(u64, Asked),
    /// The first subscriber of a URI came (`true`), or the last one went (`false`).
    Watch(String, bool),
    /// The handler will not be called any more.
    Dropped(HandlerId),
}

struct State<E> {
    events: VecDeque<E>,
    /// The host was woken and has not found the queue empty since.
    armed: bool,
    closed: bool,
    waiting: usize,
}

/// A queue that a host drains on its own thread or loop. Any thread may use it.
pub struct Queue<E = Event> {
    state: Mutex<State<E>>,
    ready: Condvar,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl<E> std::fmt::Debug for Queue<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl<E> Queue<E> {
    /// An empty queue. `wake` runs once whenever it turns from idle to busy; it must return soon and not block.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Queue<E>> {
        let state = State { events: VecDeque::new(), armed: false, closed: false, waiting: 0 };
        Arc::new(Queue { state: Mutex::new(state), ready: Condvar::new(), wake: Box::new(wake) })
    }

    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. After [`Queue::close`] it is dropped, which answers a call with an error.
    pub fn push(&self, event: E) {
        let mut state = self.lock();
        if state.closed {
            drop(state);
            drop(event);
            return;
        }
        state.events.push_back(event);
        let wake = !std::mem::replace(&mut state.armed, true);
        let notify = state.waiting > 0;
        drop(state);
        if notify {
            self.ready.notify_one();
        }
        if wake {
            (self.wake)();
        }
    }

    /// Takes at most `max` events without waiting. An empty answer re-arms the wake; after a full one call again.
    pub fn drain(&self, max: usize) -> Vec<E> {
        let mut state = self.lock();
        let count = state.events.len().min(max);
        if count == state.events.len() {
            state.armed = false;
        }
        state.events.drain(..count).collect()
    }

    /// Takes one event if there is one.
    pub fn try_take(&self) -> Option<E> {
        let mut state = self.lock();
        let event = state.events.pop_front();
        if state.events.is_empty() {
            state.armed = false;
        }
        event
    }

    /// Takes one event, waiting for it at most `timeout` (`None`: for ever). `None`: nothing came, or the queue is
    /// closed.
    pub fn take(&self, timeout: Option<Duration>) -> Option<E> {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.lock();
        loop {
            if let Some(event) = state.events.pop_front() {
                if state.events.is_empty() {
                    state.armed = false;
                }
                return Some(event);
            }
            state.armed = false;
            if state.closed {
                return None;
            }
            state.waiting += 1;
            state = match end {
                None => self.ready.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(end) => {
                    let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
                        state.waiting -= 1;
                        return None;
                    };
                    self.ready.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
            state.waiting -= 1;
        }
    }

    /// Waits until there are events, and takes none: for threads that must have something else before they take one.
    /// False when the queue is closed.
    pub fn wait(&self) -> bool {
        let mut state = self.lock();
        while state.events.is_empty() && !state.closed {
            state.waiting += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        !state.closed
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.lock().events.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether [`Queue::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Ends the queue: waiting threads return, what waits is dropped, what comes is dropped.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let events = std::mem::take(&mut state.events);
        drop(state);
        self.ready.notify_all();
        drop(events);
    }
}

/// A handler whose calls go to a queue, under the host's number for it.
#[derive(Debug)]
pub struct QueueHandler {
    queue: Arc<Queue>,
    id: HandlerId,
}

impl QueueHandler {
    /// Calls go to `queue` as `id`; when the last entry that uses it is gone, [`Event::Dropped`] follows.
    pub fn new(queue: Arc<Queue>, id: HandlerId) -> Arc<QueueHandler> {
        Arc::new(QueueHandler { queue, id })
    }
}

impl Handler for QueueHandler {
    fn call(&self, call: Call) {
        let queue = Arc::downgrade(&self.queue);
        let key = call.key();
        call.on_cancel(move || {
            if let Some(queue) = queue.upgrade() {
                queue.push(Event::Cancelled(key));
            }
        });
        self.queue.push(Event::Call(self.id, call));
    }
}

impl Drop for QueueHandler {
    fn drop(&mut self) {
        self.queue.push(Event::Dropped(self.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_wake_from_idle_to_busy() {
        let wakes = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&wakes);
        let queue = Queue::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
        for key in 0..5 {
            queue.push(Event::Cancelled(key));
        }
        assert_eq!(wakes.load(Ordering::SeqCst), 1);
        assert_eq!(queue.drain(3).len(), 3);
        queue.push(Event::Cancelled(9));
        assert_eq!(wakes.load(Ordering::SeqCst), 1, "still busy");
        assert_eq!(queue.drain(10).len(), 3);
        queue.push(Event::Cancelled(10));
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn close_releases_those_who_wait() {
        let queue: Arc<Queue> = Queue::new(|| {});
        let waiting = Arc::clone(&queue);
        let thread = std::thread::spawn(move || waiting.take(None).is_none());
        queue.close();
        assert!(thread.join().unwrap());
        queue.push(Event::Cancelled(1));
        assert!(queue.is_empty());
    }
}
