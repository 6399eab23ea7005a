//! What each method does, in both eras.

pub(super) mod downgrade;

use std::sync::Arc;

use crate::listen::Filter;
use crate::protocol::json::{self, Kind, Members};
use crate::protocol::meta::Params;
use crate::protocol::{ErrorObject, Id, code};
use crate::registry::{Collection, Entry, PageRequest, Resolved};

use super::answer::{Answer, describe, unknown};
use super::call::{CallInner, NewCall, Target};
use super::receive::{Rules, check_surrogates, place, shortened};
use super::session::InFlight;
use super::{Call, CallKind, Channel, Handler, Session, listen as subscriptions};

/// One request with all that is known about it.
pub(super) struct Request<'a> {
    pub session: &'a Arc<Session>,
    pub channel: &'a Channel,
    pub id: &'a Id,
    /// Params as they came, `{}` if absent.
    pub raw: &'a str,
    pub params: &'a Params<'a>,
    pub rules: Rules,
}

type Outcome = Result<(), ErrorObject>;

/// `server/discover` (`server/discover`).
pub(super) fn discover(request: &Request<'_>) -> Outcome {
    let session = request.session;
    let engine = &session.engine;
    let mut out = format!("{{\"supportedVersions\":{},\"capabilities\":", engine.versions.names_json());
    out.push_str(&engine.capabilities(session.transport, &request.rules.revision));
    if let Some(instructions) = &engine.options.instructions {
        out.push_str(",\"instructions\":");
        json::write_string(&mut out, instructions);
    }
    out.push_str(&engine.modern_tail(true));
    out.push('}');
    request.channel.reply_result(request.id, &out);
    Ok(())
}

/// `subscriptions/listen`.
pub(super) fn listen(request: Request<'_>) -> Outcome {
    let session = request.session;
    let engine = &session.engine;
    let raw = request.params.members.get("notifications");
    let filter = Filter::parse(raw, engine.options.max_uris_per_subscription)?;
    let hook = engine.hooks.read().unwrap_or_else(std::sync::PoisonError::into_inner).listen.clone();
    match hook {
        None => subscriptions::open(session, request.channel, request.id, filter),
        Some(hook) => {
            let call = request.call(CallKind::Listen, Target::None, "subscriptions/listen".to_owned(), raw)?;
            start(call, hook.as_ref())
        }
    }
}

/// Methods of both eras.
pub(super) fn shared(request: Request<'_>, method: &str) -> Outcome {
    let registry = &request.session.engine.registry;
    match method {
        "tools/list" => list(&request, &registry.tools),
        "prompts/list" => list(&request, &registry.prompts),
        "resources/list" => list(&request, &registry.resources),
        "resources/templates/list" => list(&request, &registry.templates),
        "tools/call" => call_tool(request),
        "prompts/get" => get_prompt(request),
        "resources/read" => read_resource(request),
        "completion/complete" => complete(request),
        _ => Err(ErrorObject::method_not_found(&shortened(method))),
    }
}

fn list<E: Entry>(request: &Request<'_>, collection: &Collection<E>) -> Outcome {
    let cursor = match request.params.members.get("cursor") {
        None => None,
        Some(raw) => {
            let text = json::unescape(raw);
            Some(text.ok_or_else(|| ErrorObject::invalid_params("params.cursor must be a string"))?)
        }
    };
    let revision = &request.rules.revision;
    let tail = if revision.is_modern() { request.session.engine.modern_tail(true) } else { String::new() };
    let page = collection.page(&PageRequest { cursor: cursor.as_deref(), revision, tail: &tail })?;
    request.channel.reply_result(request.id, &page);
    Ok(())
}

/// Raw `arguments`, which must be an object.
fn arguments<'a>(params: &Params<'a>) -> Result<Option<&'a str>, ErrorObject> {
    match params.members.get("arguments") {
        Some(raw) if json::kind(raw) != Kind::Object => {
            Err(ErrorObject::invalid_params("params.arguments must be an object"))
        }
        arguments => Ok(arguments),
    }
}

fn call_tool(request: Request<'_>) -> Outcome {
    check_surrogates(request.raw)?;
    let name = request.params.string("name")?;
    let tool = request.session.engine.registry.tools.get(&name);
    let tool = tool.ok_or_else(|| unknown("tool", &shortened(&name)))?;
    let arguments = arguments(request.params)?;
    let checked = tool.input.check(arguments.unwrap_or("{}"));
    let handler = Arc::clone(&tool.handler);
    let call = request.call(CallKind::Tool, Target::Tool(tool), name.into_owned(), arguments)?;
    if let Err(violations) = checked {
        let text = format!("Invalid arguments for tool '{}': {}", call.name, describe(&violations));
        call.session.begin(&call.id, InFlight::Call(Arc::clone(&call)))?;
        call.finish(Answer::ToolError(text));
        return Ok(());
    }
    start(call, handler.as_ref())
}

fn get_prompt(request: Request<'_>) -> Outcome {
    check_surrogates(request.raw)?;
    let name = request.params.string("name")?;
    let prompt = request.session.engine.registry.prompts.get(&name);
    let prompt = prompt.ok_or_else(|| unknown("prompt", &shortened(&name)))?;
    let arguments = arguments(request.params)?;
    let given = Members::parse(arguments.unwrap_or("{}")).unwrap_or(Members(Vec::new()));
    for (key, value) in &given.0 {
        if json::kind(value) != Kind::String {
            return Err(ErrorObject::invalid_params(format!("params.arguments.{} must be a string", shortened(key))));
        }
    }
    if let Some(missing) = prompt.required.iter().find(|required| given.get(required).is_none()) {
        return Err(ErrorObject::invalid_params(format!("Missing required argument '{missing}' of prompt '{name}'")));
    }
    let handler = Arc::clone(&prompt.handler);
    let call = request.call(CallKind::Prompt, Target::None, name.into_owned(), arguments)?;
    start(call, handler.as_ref())
}

fn read_resource(request: Request<'_>) -> Outcome {
    check_surrogates(request.raw)?;
    let uri = request.params.string("uri")?;
    let (target, handler, variables) = match request.session.engine.registry.resolve(&uri) {
        Some(Resolved::Resource(entry)) => {
            let handler = Arc::clone(&entry.handler);
            (Target::Resource(entry), handler, None)
        }
        Some(Resolved::Template(entry, variables)) => {
            let handler = Arc::clone(&entry.handler);
            (Target::Template(entry), handler, Some(variables))
        }
        None => return Err(request.unknown_resource(&uri)),
    };
    let mut call = request.new_call(CallKind::Resource, target, uri.into_owned(), None)?;
    call.variables = variables.map(|variables| {
        let mut out = String::from("{");
        for (index, (name, value)) in variables.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            json::write_string(&mut out, name);
            out.push(':');
            json::write_string(&mut out, value);
        }
        out.push('}');
        out
    });
    start(CallInner::new(call), handler.as_ref())
}

fn complete(request: Request<'_>) -> Outcome {
    check_surrogates(request.raw)?;
    let wrong = |what: &str| ErrorObject::invalid_params(format!("params.{what}"));
    let object = |name: &str| request.params.members.get(name).and_then(|raw| Members::parse(raw).ok());
    let reference = object("ref").ok_or_else(|| wrong("ref must be an object"))?;
    let argument =
        object("argument").ok_or_else(|| wrong("argument must be an object with the strings name and value"))?;
    let text =
        |members: &Members<'_>, key: &str| members.get(key).and_then(json::unescape).map(|text| text.into_owned());
    if text(&argument, "name").is_none() || text(&argument, "value").is_none() {
        return Err(wrong("argument must be an object with the strings name and value"));
    }
    let registry = &request.session.engine.registry;
    let (name, completer) = match text(&reference, "type").as_deref() {
        Some("ref/prompt") => {
            let name = text(&reference, "name").ok_or_else(|| wrong("ref.name must be a string"))?;
            let prompt = registry.prompts.get(&name).ok_or_else(|| unknown("prompt", &shortened(&name)))?;
            (name, prompt.completer.clone())
        }
        Some("ref/resource") => {
            let uri = text(&reference, "uri").ok_or_else(|| wrong("ref.uri must be a string"))?;
            let completer = match registry.templates.get(&uri) {
                Some(template) => template.completer.clone(),
                None if registry.resources.get(&uri).is_some() => None,
                None => return Err(unknown("resource template", &shortened(&uri))),
            };
            (uri, completer)
        }
        _ => return Err(wrong("ref.type must be \"ref/prompt\" or \"ref/resource\"")),
    };
    let whole = request.raw;
    let call = request.call(CallKind::Completion, Target::None, name, Some(whole))?;
    match completer {
        Some(completer) => start(call, completer.as_ref()),
        None => {
            call.session.begin(&call.id, InFlight::Call(Arc::clone(&call)))?;
            call.finish(Answer::Values(Vec::new()));
            Ok(())
        }
    }
}

impl Request<'_> {
    /// Unknown resources have a code of their own in handshake revisions (`server/resources`, "Error Handling").
    fn unknown_resource(&self, uri: &str) -> ErrorObject {
        let code = if self.rules.revision.is_modern() { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
        let mut data = String::from("{\"uri\":");
        json::write_string(&mut data, uri);
        data.push('}');
        ErrorObject::new(code, format!("Resource not found: {}", shortened(uri))).with_data(data)
    }

    fn call(
        self,
        kind: CallKind,
        target: Target,
        name: String,
        arguments: Option<&str>,
    ) -> Result<Arc<CallInner>, ErrorObject> {
        self.new_call(kind, target, name, arguments).map(CallInner::new)
    }

    fn new_call(
        self,
        kind: CallKind,
        target: Target,
        name: String,
        arguments: Option<&str>,
    ) -> Result<NewCall, ErrorObject> {
        let asks = matches!(kind, CallKind::Tool | CallKind::Prompt | CallKind::Resource);
        let modern = self.rules.revision.is_modern();
        let answers = if asks && modern {
            self.session.engine.answers(self.params, kind, &name, arguments.unwrap_or("{}"))?
        } else {
            Vec::new()
        };
        let range = |raw: &str| {
            let (start, end) = place(self.raw, raw);
            start..end
        };
        Ok(NewCall {
            id: self.id.clone(),
            kind,
            target,
            name,
            session: Arc::clone(self.session),
            channel: self.channel.clone(),
            revision: Arc::clone(&self.rules.revision),
            arguments: arguments.map(range),
            meta: self.params.meta.map(range),
            variables: None,
            answers,
            progress_token: self.params.progress_token()?,
            log_level: self.rules.log_level,
            params: self.raw.into(),
            client: self.rules.client(),
        })
    }
}

/// Takes the call into flight and hands it to its handler.
fn start(call: Arc<CallInner>, handler: &dyn Handler) -> Outcome {
    call.session.begin(&call.id, InFlight::Call(Arc::clone(&call)))?;
    if let Some(timeout) = call.session.engine.options.handler_timeout {
        watch_over(&call, timeout);
    }
    // A handler that panics drops the call, which answers it.
    crate::guard::catch("a handler", move || handler.call(Call::new(call)));
    Ok(())
}

/// Answers for a handler that does not.
fn watch_over(call: &Arc<CallInner>, timeout: std::time::Duration) {
    let Ok(runtime) = call.session.engine.runtime() else { return };
    let call = Arc::downgrade(call);
    runtime.handle().spawn(async move {
        tokio::time::sleep(timeout).await;
        if let Some(call) = call.upgrade().filter(|call| call.is_open()) {
            let waiting = call.waiting.load(std::sync::atomic::Ordering::Relaxed);
            let why = if waiting { ": it still waits in a queue that the host does not drain" } else { "" };
            let text = format!("'{}' gave no answer within {} ms{why}", call.name, timeout.as_millis());
            log::error!("{text}");
            call.finish(Answer::ToolError(text));
        }
    });
}
