//! The one message parser: a borrowed envelope around raw params.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{self, Kind, Members};
use super::{Id, code};

/// A JSON-RPC message, its parts as they came.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    /// `result` is raw, as is the error object.
    Response {
        id: Option<Id>,
        result: Result<&'a str, &'a str>,
    },
    /// Raw members, not parsed yet.
    Batch(Vec<&'a str>),
}

/// Why a message cannot be served, and whose answer that is.
#[derive(Debug)]
pub(crate) struct Fault {
    pub code: i32,
    pub message: String,
    pub id: Option<Id>,
}

fn fault(code: i32, message: impl Into<String>, id: Option<Id>) -> Fault {
    Fault { code, message: message.into(), id }
}

/// Members of a message; of a repeated one the last counts, unknown ones are ignored.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a str>,
    id: Option<&'a str>,
    method: Option<&'a str>,
    params: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
}

impl<'a> Envelope<'a> {
    fn set(&mut self, key: &str, value: &'a str) {
        let slot = match key {
            "jsonrpc" => &mut self.jsonrpc,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            _ => return,
        };
        *slot = Some(value);
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(Key(key)) = map.next_key()? {
                    envelope.set(&key, map.next_value::<&'de RawValue>()?.get());
                }
                Ok(envelope)
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The envelope of a JSON object.
fn envelope(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| {
        // A key that is no Unicode text (a lone surrogate) does not spoil the rest; nor is it one of ours.
        let members = Members::parse(text).map_err(|_| error)?;
        let mut envelope = Envelope::default();
        for (key, value) in members.0 {
            envelope.set(&key, value);
        }
        Ok(envelope)
    })
}

/// Parses one message, nested at most `max_depth` deep.
pub(crate) fn parse(line: &[u8], max_depth: usize) -> Result<Message<'_>, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| {
        fault(code::PARSE, format!("Parse error: not UTF-8 after {} bytes", error.valid_up_to()), None)
    })?;
    if json::depth_exceeds(text, max_depth) {
        let message = format!("the message nests deeper than {max_depth}, the bound of this server (max_depth)");
        return Err(fault(code::INVALID_REQUEST, message, None));
    }
    let not_json = |error: serde_json::Error| fault(code::PARSE, format!("Parse error: {error}"), None);
    match json::kind(text) {
        Kind::Object => {}
        Kind::Array => {
            // Checks the whole text; the elements are parsed one by one later.
            serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
            return match json::elements(text) {
                Some(members) if !members.is_empty() => Ok(Message::Batch(members)),
                _ => Err(fault(code::INVALID_REQUEST, "a batch must hold at least one message", None)),
            };
        }
        _ => {
            serde_json::from_str::<&RawValue>(text).map_err(not_json)?;
            return Err(fault(code::INVALID_REQUEST, "a message must be a JSON object", None));
        }
    }
    classify(&envelope(text).map_err(not_json)?)
}

fn classify<'a>(envelope: &Envelope<'a>) -> Result<Message<'a>, Fault> {
    let id = envelope.id.and_then(Id::parse);
    let invalid = |message: &str| Err(fault(code::INVALID_REQUEST, message, id.clone()));
    let null_id = envelope.id.is_some_and(|raw| json::kind(raw) == Kind::Null);
    if envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some()) {
        if envelope.id.is_some() && id.is_none() && !null_id {
            return invalid("id must be a string or an integer");
        }
        let result = match (envelope.result, envelope.error) {
            // Peers of JSON-RPC 1.0 habits send both, one of them null.
            (Some(result), None | Some("null")) => Ok(result),
            (_, Some(error)) => Err(error),
            (None, None) => Ok("null"),
        };
        return Ok(Message::Response { id, result });
    }
    if envelope.id.is_some() && id.is_none() {
        return invalid("id must be a string or an integer");
    }
    if envelope.jsonrpc.and_then(json::unescape).as_deref() != Some("2.0") {
        return invalid("jsonrpc must be \"2.0\"");
    }
    let Some(method) = envelope.method.and_then(json::unescape) else {
        return invalid("method must be a string");
    };
    let params = match envelope.params.map(|raw| (json::kind(raw), raw)) {
        None | Some((Kind::Null, _)) => None,
        Some((Kind::Object, raw)) => Some(raw),
        Some(_) => return invalid("params must be an object"),
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (i32, Option<String>) {
        let fault = parse(text.as_bytes(), 128).expect_err(text);
        (fault.code, fault.id.map(|id| id.token().to_owned()))
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        for text in ["", "{", "x", "{\"a\":NaN}", "{\"a\":\"\u{1}\"}", "{} {}", "[1,"] {
            assert_eq!(refused(text), (code::PARSE, None), "{text:?}");
        }
        assert_eq!(parse(b"{\"a\":\"\xff\"}", 128).unwrap_err().code, code::PARSE);
    }

    #[test]
    fn envelopes_are_checked_and_the_id_is_kept_where_readable() {
        for id in ["null", "1.5", "true", "{}", "[]"] {
            assert_eq!(refused(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\"}}")), (-32600, None));
        }
        for rest in [
            "\"method\":\"m\"",
            "\"jsonrpc\":\"1.0\",\"method\":\"m\"",
            "\"jsonrpc\":\"2.0\"",
            "\"jsonrpc\":\"2.0\",\"method\":1",
        ] {
            assert_eq!(refused(&format!("{{\"id\":7,{rest}}}")), (-32600, Some("7".into())), "{rest}");
        }
        for params in ["[]", "\"x\"", "1"] {
            let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{params}}}");
            assert_eq!(refused(&text), (-32600, Some("7".into())));
        }
        for text in ["1", "\"x\"", "null", "[]"] {
            assert_eq!(refused(text), (-32600, None));
        }
    }

    #[test]
    fn the_last_of_a_repeated_member_counts() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"id":"b","method":"x","method":"m","params":{"a":1},"params":null,"other":[]}"#;
        let Ok(Message::Request { id, method, params }) = parse(text.as_bytes(), 128) else { panic!("{text}") };
        assert_eq!((id.token(), method.as_ref(), params), ("\"b\"", "m", None));
    }

    #[test]
    fn keys_may_have_escapes_and_lone_surrogates() {
        for extra in ["", ",\"\\ud800\":[1]", ",\"\\ud83c\\udf89\":1"] {
            let text = format!("{{\"\\u0069d\":7,\"jsonrpc\":\"2.0\",\"method\":\"a\\/b\"{extra}}}");
            let Ok(Message::Request { id, method, .. }) = parse(text.as_bytes(), 128) else { panic!("{text}") };
            assert_eq!((id.token(), method.as_ref()), ("7", "a/b"));
        }
        assert_eq!(refused("{\"\\ud800\":[1,]}"), (code::PARSE, None));
    }

    #[test]
    fn responses_and_batches() {
        let text = br#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#;
        assert!(matches!(parse(text, 128), Ok(Message::Response { result: Ok("{\"a\":1}"), .. })));
        let text = br#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#;
        assert!(matches!(parse(text, 128), Ok(Message::Response { id: None, result: Err(_) })));
        let text = br#"{"id":1,"result":{},"error":null}"#;
        assert!(matches!(parse(text, 128), Ok(Message::Response { result: Ok("{}"), .. })));
        let text = br#"{"id":1,"result":null,"error":{"code":1}}"#;
        assert!(matches!(parse(text, 128), Ok(Message::Response { result: Err("{\"code\":1}"), .. })));
        let Ok(Message::Batch(members)) = parse(b"[{\"a\":1}, 2]", 128) else { panic!() };
        assert_eq!(members, ["{\"a\":1}", "2"]);
    }
}
