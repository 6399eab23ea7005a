//! JSON-RPC error objects and their codes.

use super::json;

/// Error codes of JSON-RPC and of the protocol (`basic/index`, "Error Codes").
pub mod code {
    /// Not JSON.
    pub const PARSE: i32 = -32700;
    /// JSON, but not a request that may be made now.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method, or not in this revision.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are not what the method takes.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The server could not do it.
    pub const INTERNAL: i32 = -32603;
    /// A resource is unknown; handshake revisions only.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// HTTP headers and body disagree.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The client did not declare a capability that the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
    /// The protocol version is not supported.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

/// The `error` member of a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ErrorObject {
    /// What kind of error, see [`code`].
    pub code: i32,
    /// What was wrong and what would be right, for a person.
    pub message: String,
    /// More, as JSON text.
    pub data: Option<String>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        ErrorObject { code, message: message.into(), data: None }
    }

    /// The same error with `data`, which must be JSON text.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<String>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        ErrorObject::new(code::INVALID_PARAMS, message)
    }

    /// -32600.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        ErrorObject::new(code::INVALID_REQUEST, message)
    }

    /// -32601 for `method`.
    pub fn method_not_found(method: &str) -> Self {
        ErrorObject::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// -32603.
    pub fn internal(message: impl Into<String>) -> Self {
        ErrorObject::new(code::INTERNAL, message)
    }

    /// Appends the object as JSON.
    pub(crate) fn write(&self, out: &mut String) {
        out.push_str("{\"code\":");
        out.push_str(&self.code.to_string());
        out.push_str(",\"message\":");
        json::write_string(out, &self.message);
        if let Some(data) = &self.data {
            out.push_str(",\"data\":");
            out.push_str(data);
        }
        out.push('}');
    }
}
