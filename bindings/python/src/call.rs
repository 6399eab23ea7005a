//! A call in Python's hands.

use std::sync::{Arc, Mutex, PoisonError, mpsc};

use pyo3::prelude::*;
use tocsin::dispatch::Event;
use tocsin::{CallKind, Context, ErrorObject, InputRequest, Level};

use crate::batch::Batch;
use crate::error::tool;
use crate::mailbox::{Mailbox, outcome};

/// Bytes from which on an answer is written without holding the interpreter.
const LONG: usize = 1 << 16;

/// A request, and the right to answer it once; later answers are ignored.
#[pyclass(frozen)]
pub struct Call {
    call: Mutex<Option<tocsin::Call>>,
    context: Context,
    batch: Option<Arc<Batch>>,
}

impl Call {
    /// `batch` is there for calls that are run one right after the other.
    pub fn new(call: tocsin::Call, batch: Option<Arc<Batch>>) -> Call {
        Call { context: call.context().clone(), call: Mutex::new(Some(call)), batch }
    }

    fn take(&self) -> Option<tocsin::Call> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Answers, unless that is done. Nothing that the engine may wait for here needs the interpreter, which is only
    /// let go for texts of some length: threads that trade it for every answer do little else.
    fn answer(&self, py: Python<'_>, length: usize, answer: impl FnOnce(tocsin::Call) + Send + 'static) {
        let Some(call) = self.take() else { return };
        if length > LONG {
            return py.detach(|| answer(call));
        }
        match &self.batch {
            None => answer(call),
            Some(batch) => batch.add(move || answer(call)),
        }
    }
}

#[pymethods]
impl Call {
    #[getter]
    fn kind(&self) -> &'static str {
        match self.context.kind() {
            CallKind::Tool => "tool",
            CallKind::Prompt => "prompt",
            CallKind::Resource => "resource",
            CallKind::Completion => "completion",
            CallKind::Listen => "listen",
        }
    }

    #[getter]
    fn key(&self) -> usize {
        self.context.key()
    }

    #[getter]
    fn name(&self) -> &str {
        self.context.name()
    }

    #[getter]
    fn arguments(&self) -> &str {
        self.context.arguments()
    }

    #[getter]
    fn meta(&self) -> &str {
        self.context.meta()
    }

    #[getter]
    fn protocol_version(&self) -> &str {
        self.context.protocol_version()
    }

    #[getter]
    fn modern(&self) -> bool {
        self.context.is_modern()
    }

    #[getter]
    fn transport(&self) -> &'static str {
        self.context.transport().name()
    }

    #[getter]
    fn client_info(&self) -> Option<&str> {
        self.context.client_info()
    }

    #[getter]
    fn client_capabilities(&self) -> &str {
        self.context.client_capabilities()
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.context.is_cancelled()
    }

    #[getter]
    fn wants_progress(&self) -> bool {
        self.context.wants_progress()
    }

    fn can_ask(&self, method: &str) -> bool {
        self.context.can_ask(method)
    }

    fn complete(&self, py: Python<'_>, json: String) {
        self.answer(py, json.len(), move |call| call.complete(json));
    }

    fn complete_text(&self, py: Python<'_>, text: String) {
        self.answer(py, text.len(), move |call| call.complete_text(text));
    }

    fn complete_structured(&self, py: Python<'_>, json: String) {
        self.answer(py, json.len(), move |call| call.complete_structured(json));
    }

    fn complete_blob(&self, py: Python<'_>, base64: String) {
        self.answer(py, base64.len(), move |call| call.complete_blob(base64));
    }

    fn complete_values(&self, py: Python<'_>, values: Vec<String>) {
        self.answer(py, 0, move |call| call.complete_values(values));
    }

    fn fail(&self, py: Python<'_>, text: String) {
        self.answer(py, text.len(), move |call| call.fail(text));
    }

    #[pyo3(signature = (code, message, data=None))]
    fn fail_with(&self, py: Python<'_>, code: i32, message: String, data: Option<String>) {
        let error = ErrorObject { code, message, data };
        self.answer(py, 0, move |call| call.fail_with(error));
    }

    fn crash(&self, py: Python<'_>, detail: String) {
        self.answer(py, 0, move |call| call.crash(&detail));
    }

    /// Lets go of it: silent if it was cancelled or is suspended, otherwise an error for the client.
    fn discard(&self) {
        drop(self.take());
    }

    #[pyo3(signature = (progress, total=None, message=None))]
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.context.progress(progress, total, message);
    }

    #[pyo3(signature = (level, data, logger=None))]
    fn log(&self, level: &str, data: &str, logger: Option<&str>) -> PyResult<()> {
        let level = Level::parse(level).ok_or_else(|| tool(unknown(level)))?;
        self.context.log(level, logger, data).map_err(|error| tool(error.message))
    }

    /// Asks `(key, method, params)` questions; what becomes of them goes to `mailbox` under `token`.
    fn ask(&self, py: Python<'_>, questions: Vec<(String, String, String)>, mailbox: &Mailbox, token: u64) {
        let queue = mailbox.queue();
        py.detach(|| {
            self.context.ask_with(&requests(questions), move |asked| queue.push(Event::Asked(token, asked)));
        });
    }

    /// Asks and waits, without holding the interpreter.
    fn ask_and_wait(&self, py: Python<'_>, questions: Vec<(String, String, String)>) -> (&'static str, String) {
        let (sender, receiver) = mpsc::sync_channel(1);
        let context = &self.context;
        py.detach(move || {
            context.ask_with(&requests(questions), move |asked| drop(sender.send(outcome(asked))));
            receiver.recv().unwrap_or(("suspended", String::new()))
        })
    }
}

fn unknown(level: &str) -> String {
    let [first @ .., last] = Level::ALL.map(Level::name);
    format!("unknown log level '{level}'; use {} or {last}", first.join(", "))
}

fn requests(questions: Vec<(String, String, String)>) -> Vec<InputRequest> {
    questions.into_iter().map(|(key, method, params)| InputRequest { key, method, params }).collect()
}
