//! A few threads for handlers that block.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ready: Condvar,
}

/// Runs jobs on at most so many threads of its own, which it starts when they are needed.
pub struct Pool {
    shared: Arc<Shared>,
    size: usize,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("size", &self.size).finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool of at most `size` threads (0: eight).
    pub fn new(size: usize) -> Pool {
        Pool { shared: Arc::default(), size: if size == 0 { 8 } else { size } }
    }

    /// Runs `job` on one of the threads. After [`Pool::close`] it is dropped.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        state.jobs.push_back(Box::new(job));
        if state.idle < state.jobs.len() && state.threads.len() < self.size {
            let shared = Arc::clone(&self.shared);
            let spawned = std::thread::Builder::new().name("tocsin-handler".into()).spawn(move || work(&shared));
            match spawned {
                Ok(thread) => state.threads.push(thread),
                // The threads that are there will do it, if there are any.
                Err(error) => log::error!("no thread for a handler: {error}"),
            }
        }
        drop(state);
        self.shared.ready.notify_one();
    }

    /// Drops the jobs that wait, and waits for those that run, unless called by one of them.
    pub fn close(&self) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        let jobs = std::mem::take(&mut state.jobs);
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.shared.ready.notify_all();
        drop(jobs);
        let me = std::thread::current().id();
        if threads.iter().any(|thread| thread.thread().id() == me) {
            return;
        }
        for thread in threads {
            // A job's panic was caught; there is nothing in the result.
            let _ = thread.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

fn work(shared: &Shared) {
    crate::runtime::mask_sigpipe();
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(job) = state.jobs.pop_front() {
            drop(state);
            crate::guard::catch("a handler", job);
            state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        } else if state.closed {
            return;
        } else {
            state.idle += 1;
            state = shared.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}
