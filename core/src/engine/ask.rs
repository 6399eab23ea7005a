//! A handler's questions to its client, in the client's own era (`basic/patterns/mrtr`).
//!
//! A modern client gets `input_required` and calls again with the answers: the handler runs anew, and the same
//! question now has an answer. A handshake client gets each question as a request, and the handler goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::protocol::json::{self, Kind, Members};
use crate::protocol::meta::Params;
use crate::protocol::{ErrorObject, Features, code};

use super::answer::Answer;
use super::call::CallInner;
use super::seal::SealError;
use super::{CallKind, Context, Engine};

/// One question, under the key that its answer comes back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// The handler's name for it, unique within the call.
    pub key: String,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// Params as JSON text: an object.
    pub params: String,
}

impl InputRequest {
    /// Asks the user; `params` are those of `elicitation/create` (`client/elicitation`).
    pub fn elicit(key: impl Into<String>, params: impl Into<String>) -> Self {
        InputRequest { key: key.into(), method: "elicitation/create".into(), params: params.into() }
    }

    /// Asks the client's model; `params` are those of `sampling/createMessage` (`client/sampling`).
    pub fn sample(key: impl Into<String>, params: impl Into<String>) -> Self {
        InputRequest { key: key.into(), method: "sampling/createMessage".into(), params: params.into() }
    }

    /// Asks for the client's root directories (`client/roots`).
    pub fn list_roots(key: impl Into<String>) -> Self {
        InputRequest { key: key.into(), method: "roots/list".into(), params: "{}".into() }
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Every answer, as a JSON object from key to the client's result.
    Answered(String),
    /// The call is over for now: the client was asked, and will call again; or it was cancelled. The handler returns.
    Suspended,
    /// The question cannot be asked, or the client refused to answer it.
    Failed(ErrorObject),
}

/// The client's capability that a method needs, and how it is named in `requiredCapabilities`.
fn capability(request: &InputRequest) -> Result<(&'static str, Option<&'static str>), ErrorObject> {
    let params = Members::parse(&request.params);
    let mode = params.as_ref().ok().and_then(|params| params.get("mode")).and_then(json::unescape);
    match request.method.as_str() {
        "elicitation/create" if mode.as_deref() == Some("url") => Ok(("elicitation", Some("url"))),
        "elicitation/create" => Ok(("elicitation", None)),
        "sampling/createMessage" => Ok(("sampling", None)),
        "roots/list" => Ok(("roots", None)),
        other => Err(ErrorObject::internal(format!(
            "'{other}' cannot be asked; ask elicitation/create, sampling/createMessage or roots/list"
        ))),
    }
}

fn declares(capabilities: &str, (name, mode): (&str, Option<&str>)) -> bool {
    let Some(raw) = Members::parse(capabilities).ok().and_then(|members| members.get(name)) else { return false };
    match Members::parse(raw) {
        Err(_) => false,
        Ok(members) => match mode {
            Some(mode) => members.get(mode).is_some(),
            // An empty elicitation object means forms (client/elicitation).
            None => name != "elicitation" || members.get("form").is_some() || members.get("url").is_none(),
        },
    }
}

/// Whether the client declares what a question needs, and its revision knows the question at all.
fn can_answer(call: &CallInner, needed: (&str, Option<&str>)) -> bool {
    let features = &call.revision.features;
    let known = match needed {
        ("elicitation", Some(_)) => features.icons,
        ("elicitation", None) => features.elicitation,
        _ => true,
    };
    known && declares(call.capabilities(), needed)
}

impl Context {
    /// Asks the client, and calls `done` once with what became of it; at once if the answers are there already.
    ///
    /// Only tool calls, prompts and reads may ask. On [`Asked::Suspended`] the call has been answered for this round
    /// already, and what the handler does with it is ignored.
    pub fn ask_with(&self, requests: &[InputRequest], done: impl FnOnce(Asked) + Send + 'static) {
        match prepare(&self.inner, requests) {
            Err(asked) => done(asked),
            Ok(()) if self.is_modern() => done(ask_modern(&self.inner, requests)),
            Ok(()) => ask_handshake(self, requests, Box::new(done)),
        }
    }

    /// Asks the client and waits: [`Context::ask_with`] for async handlers.
    pub async fn ask(&self, requests: &[InputRequest]) -> Asked {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.ask_with(requests, move |asked| drop(sender.send(asked)));
        receiver.await.unwrap_or(Asked::Suspended)
    }

    /// Whether the client says that it can answer a request of `method`.
    pub fn can_ask(&self, method: &str) -> bool {
        let request = InputRequest { key: String::new(), method: method.into(), params: "{}".into() };
        capability(&request).is_ok_and(|needed| can_answer(&self.inner, needed))
    }
}

/// Checks the questions, and that the client can answer them.
fn prepare(call: &Arc<CallInner>, requests: &[InputRequest]) -> Result<(), Asked> {
    if !matches!(call.kind, CallKind::Tool | CallKind::Prompt | CallKind::Resource) {
        return Err(Asked::Failed(ErrorObject::internal("only tools, prompts and reads may ask")));
    }
    let mut missing: Vec<(&str, Option<&str>)> = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        if requests[..index].iter().any(|other| other.key == request.key) {
            let text = format!("two questions have the key '{}'", request.key);
            return Err(Asked::Failed(ErrorObject::internal(text)));
        }
        if serde_json::from_str::<&serde_json::value::RawValue>(&request.params)
            .map_or(true, |raw| json::kind(raw.get()) != Kind::Object)
        {
            let text = format!("the params of question '{}' must be a JSON object", request.key);
            return Err(Asked::Failed(ErrorObject::internal(text)));
        }
        let needed = capability(request).map_err(Asked::Failed)?;
        if !can_answer(call, needed) && !missing.contains(&needed) {
            missing.push(needed);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let text = format!("the client does not support {names}, which '{}' needs", call.name);
    if !call.revision.is_modern() {
        return Err(Asked::Failed(ErrorObject::internal(text)));
    }
    let mut data = String::from("{\"requiredCapabilities\":{");
    for (index, (name, mode)) in missing.iter().enumerate() {
        let mode = mode.map_or("{}".to_owned(), |mode| format!("{{\"{mode}\":{{}}}}"));
        data.push_str(&format!("{}\"{name}\":{mode}", if index > 0 { "," } else { "" }));
    }
    data.push_str("}}");
    call.finish(Answer::Error(ErrorObject::new(code::MISSING_CLIENT_CAPABILITY, text).with_data(data)));
    Err(Asked::Suspended)
}

fn ask_modern(call: &Arc<CallInner>, requests: &[InputRequest]) -> Asked {
    let answer = |key: &str| call.answers.iter().find(|(known, _)| known == key).map(|(_, raw)| raw.as_str());
    for request in requests {
        if let Some(raw) = answer(&request.key)
            && let Err(wrong) = check_answer(&request.method, raw)
        {
            let mut key = String::new();
            json::write_string(&mut key, &request.key);
            let text = format!("params.inputResponses[{key}] is no answer to {}: {wrong}", request.method);
            call.finish(Answer::Error(ErrorObject::invalid_params(text)));
            return Asked::Suspended;
        }
    }
    let open: Vec<&InputRequest> = requests.iter().filter(|request| answer(&request.key).is_none()).collect();
    if open.is_empty() {
        return Asked::Answered(object(
            requests.iter().map(|request| (request.key.as_str(), answer(&request.key).unwrap_or("null"))),
        ));
    }
    let engine = &call.session.engine;
    let mut result = String::from("{\"resultType\":\"input_required\",\"inputRequests\":{");
    for (index, request) in open.iter().enumerate() {
        if index > 0 {
            result.push(',');
        }
        json::write_string(&mut result, &request.key);
        result.push_str(&format!(":{{\"method\":\"{}\",\"params\":", request.method));
        result.push_str(&json::minify(&request.params));
        result.push('}');
    }
    result.push_str("},\"requestState\":");
    let given = object(call.answers.iter().map(|(key, raw)| (key.as_str(), raw.as_str())));
    let Some(state) = engine.seal(&given, &binding(call.kind, &call.name, call.arguments())) else {
        return Asked::Failed(ErrorObject::internal("the question cannot be sealed: the system gives no random bytes"));
    };
    json::write_string(&mut result, &state);
    result.push_str(&engine.meta_tail);
    result.push('}');
    call.finish(Answer::InputRequired(result));
    Asked::Suspended
}

/// Whether a client's result has the shape that the method's result has, as far as handlers rely on it.
fn check_answer(method: &str, raw: &str) -> Result<(), &'static str> {
    let members = Members::parse(raw).map_err(|_| "it must be an object")?;
    let is = |key: &str, kind: Kind| members.get(key).is_some_and(|raw| json::kind(raw) == kind);
    match method {
        "elicitation/create" => match members.get("action").and_then(json::unescape).as_deref() {
            Some("accept" | "decline" | "cancel")
                if members.get("content").is_none() || is("content", Kind::Object) =>
            {
                Ok(())
            }
            Some("accept" | "decline" | "cancel") => Err("content must be an object"),
            _ => Err("action must be \"accept\", \"decline\" or \"cancel\""),
        },
        "sampling/createMessage" if !(is("content", Kind::Object) || is("content", Kind::Array)) => {
            Err("content must be an object or an array")
        }
        "roots/list" if !is("roots", Kind::Array) => Err("roots must be an array"),
        _ => Ok(()),
    }
}

fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (key, raw) in members {
        if out.len() > 1 {
            out.push(',');
        }
        json::write_string(&mut out, key);
        out.push(':');
        out.push_str(raw);
    }
    out.push('}');
    out
}

/// What a sealed state is good for: this method, name and arguments alone.
fn binding(kind: CallKind, name: &str, arguments: &str) -> String {
    format!("{kind:?}\n{name}\n{}", json::minify(arguments))
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Engine {
    fn seal(&self, given: &str, binding: &str) -> Option<String> {
        let ttl = u64::try_from(self.options.state_ttl.as_millis()).unwrap_or(u64::MAX);
        self.sealer.seal(given.as_bytes(), binding.as_bytes(), now_ms().saturating_add(ttl))
    }

    /// Answers that a modern request brings: those sealed in `requestState`, and the new ones over them. Anything else
    /// than a state of ours, for this very request and in time, is an error.
    pub(super) fn answers(
        &self,
        params: &Params<'_>,
        kind: CallKind,
        name: &str,
        arguments: &str,
    ) -> Result<Vec<(String, String)>, ErrorObject> {
        let mut answers: Vec<(String, String)> = Vec::new();
        if let Some(raw) = params.members.get("requestState") {
            let token = json::unescape(raw)
                .ok_or_else(|| ErrorObject::invalid_params("params.requestState must be a string"))?;
            let given = self.sealer.open(&token, binding(kind, name, arguments).as_bytes(), now_ms());
            let given = given.map_err(|error| {
                ErrorObject::invalid_params(match error {
                    SealError::Expired => "params.requestState has expired; make the call again without it",
                    SealError::Malformed | SealError::Forged => {
                        "params.requestState is not the one that this server gave for this request"
                    }
                })
            })?;
            let given = String::from_utf8(given).unwrap_or_default();
            if let Ok(members) = Members::parse(&given) {
                answers.extend(members.0.iter().map(|(key, raw)| (key.clone().into_owned(), (*raw).to_owned())));
            }
        }
        if let Some(raw) = params.members.get("inputResponses") {
            let members = Members::parse(raw)
                .map_err(|_| ErrorObject::invalid_params("params.inputResponses must be an object"))?;
            for (key, raw) in members.0 {
                if json::kind(raw) != Kind::Object {
                    let mut place = String::new();
                    json::write_string(&mut place, &key);
                    return Err(ErrorObject::invalid_params(format!(
                        "params.inputResponses[{place}] must be an object: the client's result"
                    )));
                }
                answers.retain(|(known, _)| *known != key);
                answers.push((key.into_owned(), json::minify(raw).into_owned()));
            }
        }
        Ok(answers)
    }
}

type Done = Box<dyn FnOnce(Asked) + Send>;

/// Collects the answers of a handshake client.
struct Round {
    keys: Vec<String>,
    answers: Vec<Option<String>>,
    left: usize,
    done: Option<Done>,
}

fn ask_handshake(context: &Context, requests: &[InputRequest], done: Done) {
    if requests.is_empty() {
        return done(Asked::Answered("{}".to_owned()));
    }
    let round = Arc::new(Mutex::new(Round {
        keys: requests.iter().map(|request| request.key.clone()).collect(),
        answers: vec![None; requests.len()],
        left: requests.len(),
        done: Some(done),
    }));
    for (index, request) in requests.iter().enumerate() {
        let call = &context.inner;
        let collect = {
            let round = Arc::clone(&round);
            let (method, cancelled) = (request.method.clone(), context.clone());
            move |result: Result<String, String>| collect(&round, index, &method, result, &cancelled)
        };
        let params = as_known(&call.revision.features, &request.params);
        let id = call.session.ask(&call.channel, &request.method, &params, Box::new(collect));
        if let Some(id) = id {
            let asked = context.clone();
            context.on_cancel(move || asked.inner.session.unask(&asked.inner.channel, &id));
        }
    }
}

/// Params as an older revision knows them: it has forms alone, and no word for them.
fn as_known(features: &Features, params: &str) -> String {
    match Members::parse(params) {
        Ok(members) if !features.icons && members.get("mode") == Some("\"form\"") => {
            object(members.0.iter().filter(|(key, _)| key != "mode").map(|(key, raw)| (key.as_ref(), *raw)))
        }
        _ => json::minify(params).into_owned(),
    }
}

fn collect(round: &Mutex<Round>, index: usize, method: &str, result: Result<String, String>, context: &Context) {
    let mut round = round.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = match result {
        Ok(result) if check_answer(method, &result).is_ok() => {
            round.answers[index] = Some(json::minify(&result).into_owned());
            round.left -= 1;
            if round.left > 0 {
                return;
            }
            let answers = round.answers.iter().map(|answer| answer.as_deref().unwrap_or("null"));
            Asked::Answered(object(round.keys.iter().map(String::as_str).zip(answers)))
        }
        _ if context.is_cancelled() => Asked::Suspended,
        Ok(result) => {
            let wrong = check_answer(method, &result).err().unwrap_or_default();
            Asked::Failed(ErrorObject::internal(format!("the client's answer to {method} is none: {wrong}")))
        }
        Err(error) => {
            let message =
                Members::parse(&error).ok().and_then(|members| members.get("message")).and_then(json::unescape);
            let text = match message {
                Some(message) => format!("the client refused {method}: {message}"),
                None => format!("{method} was not answered: {error}"),
            };
            Asked::Failed(ErrorObject::internal(text))
        }
    };
    let done = round.done.take();
    drop(round);
    if let Some(done) = done {
        crate::guard::catch("the continuation of a question", || done(asked));
    }
}
