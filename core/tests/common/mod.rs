//! A client in the same process, and what it says.
#![allow(dead_code)]

use std::time::Duration;

use serde_json::{Value, json};
use tocsin::{MemoryClient, Server, Tool, handler_sync};

/// Long enough for any machine; reached only when something is lost.
pub const PATIENCE: Duration = Duration::from_secs(20);
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

pub fn server() -> Server {
    Server::new("test", "1").expect("a server")
}

/// A client that parses what it gets.
pub struct Client(pub MemoryClient);

impl Client {
    pub fn new(server: &Server) -> Client {
        Client(server.connect().expect("a client"))
    }

    pub fn send(&self, message: &Value) {
        self.0.send(&message.to_string());
    }

    pub fn next(&self) -> Value {
        let text = self.0.receive(PATIENCE).expect("a message in time");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Sends a request and takes its answer; what comes before is returned too.
    pub fn call(&self, request: &Value) -> (Vec<Value>, Value) {
        self.send(request);
        let mut before = Vec::new();
        loop {
            let message = self.next();
            if message.get("id") == request.get("id") && message.get("method").is_none() {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// What has been sent up to now, proved by a request that is answered last.
    pub fn pending(&self) -> Vec<Value> {
        self.call(&modern(json!("fence"), "server/discover", json!({}))).0
    }

    pub fn listen(&self, id: Value, filter: Value) -> Value {
        self.send(&modern(id, "subscriptions/listen", json!({ "notifications": filter })));
        self.next()
    }

    pub fn initialize(&self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {"elicitation": {}, "roots": {}, "sampling": {}}, "clientInfo": {"name": "test", "version": "1"}});
        let (_, answer) = self.call(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}));
        answer
    }

    pub fn initialized(&self) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
}

/// A modern request.
pub fn modern(id: Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}, "sampling": {}},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn call_tool(id: Value, name: &str, arguments: Value) -> Value {
    modern(id, "tools/call", json!({ "name": name, "arguments": arguments }))
}

/// A tool that says nothing.
pub fn add_tool(server: &Server, name: &str) {
    server.tools().add(Tool::new(name), handler_sync(|_: Value, _| Ok("done"))).expect("a new tool");
}

/// Names of the tools that a client sees.
pub fn tool_names(client: &Client) -> Vec<String> {
    let (_, answer) = client.call(&modern(json!("list"), "tools/list", json!({})));
    let tools = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

pub fn is_tools_changed(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}
