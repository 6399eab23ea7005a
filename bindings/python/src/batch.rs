//! Answers of handlers that run one right after the other go out together.
//!
//! Every answer on its own would wake the transport's writer, which costs more than the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

type Answer = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    open: bool,
    answers: Vec<Answer>,
}

/// Holds answers back while it is open, which is as long as one turn of the event loop.
#[derive(Default)]
pub struct Batch {
    state: Mutex<State>,
}

impl Batch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn open(&self) {
        self.lock().open = true;
    }

    /// Answers now, or when the batch is closed.
    pub fn add(&self, answer: impl FnOnce() + Send + 'static) {
        let mut state = self.lock();
        if state.open {
            state.answers.push(Box::new(answer));
        } else {
            drop(state);
            answer();
        }
    }

    /// Closes the batch, and answers.
    pub fn close(&self) {
        let mut state = self.lock();
        state.open = false;
        let answers = std::mem::take(&mut state.answers);
        drop(state);
        for answer in answers {
            answer();
        }
    }
}
