//! Subscriptions as a server's author meets them: hooks, watches, batches, caps, and who is told what.

mod common;

use std::sync::{Arc, Mutex};

use common::{Client, SUBSCRIPTION, add_tool, call_tool, is_tools_changed, modern, server, tool_names};
use serde_json::{Value, json};
use tocsin::{Call, ErrorObject, Handler, Options, Server, Tool, handler_sync};

/// L20
#[test]
fn a_hook_refuses_and_nothing_is_registered() {
    let server = server();
    let hook: Arc<dyn Handler> = Arc::new(|call: Call| match call.arguments().contains("promptsListChanged") {
        true => call.fail_with(ErrorObject::new(-32000, "not for you").with_data("{\"why\":1}")),
        false => call.complete_text(""),
    });
    server.on_listen(Some(hook));
    let client = Client::new(&server);
    let refused = client.listen(json!(1), json!({"promptsListChanged": true}));
    assert_eq!(
        refused,
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "not for you", "data": {"why": 1}}})
    );
    assert_eq!(server.subscriptions(), 0);
    let accepted = client.listen(json!(1), json!({"toolsListChanged": true}));
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(server.subscriptions(), 1);
    add_tool(&server, "a");
    assert!(is_tools_changed(&client.next()));
}

#[test]
fn a_hook_decides_later_and_a_cancelled_listen_stays_closed() {
    let server = server();
    let held: Arc<Mutex<Vec<Call>>> = Arc::default();
    let keep = Arc::clone(&held);
    server.on_listen(Some(Arc::new(move |call: Call| keep.lock().unwrap().push(call))));
    let client = Client::new(&server);
    client.send(&modern(json!(1), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    client.send(&modern(json!(2), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}})));
    assert!(client.pending().is_empty());
    for call in held.lock().unwrap().drain(..) {
        call.complete_text("");
    }
    let acknowledged = client.pending();
    assert_eq!(acknowledged.len(), 1, "{acknowledged:?}");
    assert_eq!(acknowledged[0]["params"]["_meta"][SUBSCRIPTION], 2);
    assert_eq!(server.subscriptions(), 1);
}

/// L21
#[test]
fn a_watch_begins_with_the_first_subscriber_and_ends_with_the_last() {
    let server = server();
    let events: Arc<Mutex<Vec<(String, bool)>>> = Arc::default();
    let note = Arc::clone(&events);
    server.on_watch(Some(Arc::new(move |uri: &str, active| note.lock().unwrap().push((uri.to_owned(), active)))));
    let (first, second, third) = (Client::new(&server), Client::new(&server), Client::new(&server));
    let filter = json!({"resourceSubscriptions": ["test://a"]});
    first.listen(json!(1), filter.clone());
    second.listen(json!(1), filter);
    third.initialize("2025-11-25");
    third.call(&json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": "test://a"}}));
    first.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    first.pending();
    drop(second);
    assert_eq!(*events.lock().unwrap(), [("test://a".to_owned(), true)]);
    third.call(&json!({"jsonrpc": "2.0", "id": 3, "method": "resources/unsubscribe", "params": {"uri": "test://a"}}));
    assert_eq!(*events.lock().unwrap(), [("test://a".to_owned(), true), ("test://a".to_owned(), false)]);
}

/// L15
#[test]
fn a_batch_is_announced_once_per_kind_at_its_end() {
    let server = server();
    let client = Client::new(&server);
    client.listen(
        json!(1),
        json!({"toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["test://a"]}),
    );
    {
        let _batch = server.changes();
        let _nested = server.changes();
        for number in 0..1000 {
            add_tool(&server, &format!("tool{number}"));
            server.resources().updated("test://a");
        }
        assert!(client.pending().is_empty());
    }
    let told = client.pending();
    let methods: Vec<&str> = told.iter().filter_map(|message| message["method"].as_str()).collect();
    assert_eq!(methods, ["notifications/tools/list_changed", "notifications/resources/updated"]);
    assert_eq!(tool_names(&client).len(), 1000);
}

/// L14
#[test]
fn an_edit_that_changes_nothing_tells_nobody() {
    let server = server();
    add_tool(&server, "a");
    let client = Client::new(&server);
    client
        .listen(json!(1), json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true}));
    let again = server.tools().add(Tool::new("a"), handler_sync(|_: Value, _| Ok("")));
    assert_eq!(again.unwrap_err().to_string(), "tool 'a' already exists");
    assert_eq!(server.tools().remove("b").unwrap_err().to_string(), "no tool 'b'");
    assert_eq!(server.prompts().enable("b").unwrap_err().to_string(), "no prompt 'b'");
    assert_eq!(server.templates().disable("a://{b}").unwrap_err().to_string(), "no resource template 'a://{b}'");
    server.tools().enable("a").unwrap();
    let bad = server.tools().add(Tool::new("a b"), handler_sync(|_: Value, _| Ok("")));
    assert!(bad.unwrap_err().to_string().contains("' '"));
    assert!(client.pending().is_empty());
}

#[test]
fn enabling_keeps_the_place_and_replacing_too() {
    let server = server();
    for name in ["a", "b", "c"] {
        add_tool(&server, name);
    }
    let client = Client::new(&server);
    client.listen(json!(1), json!({"toolsListChanged": true}));
    server.tools().disable("b").unwrap();
    assert!(is_tools_changed(&client.next()));
    assert_eq!(tool_names(&client), ["a", "c"]);
    let (_, gone) = client.call(&call_tool(json!(2), "b", json!({})));
    assert_eq!(gone["error"]["code"], -32602);
    server.tools().enable("b").unwrap();
    assert!(is_tools_changed(&client.next()));
    server.tools().replace(Tool::new("a").description("new"), handler_sync(|_: Value, _| Ok("new"))).unwrap();
    assert!(is_tools_changed(&client.next()));
    assert_eq!(tool_names(&client), ["a", "b", "c"]);
}

/// L22
#[test]
fn beyond_the_cap_a_listen_is_refused_and_a_freed_slot_serves_again() {
    let mut options = Options::new("test", "1");
    options.max_subscriptions = 2;
    let server = Server::with_options(options).unwrap();
    let client = Client::new(&server);
    for id in 1..=2 {
        assert_eq!(
            client.listen(json!(id), json!({"toolsListChanged": true}))["method"],
            "notifications/subscriptions/acknowledged"
        );
    }
    let refused = client.listen(json!(3), json!({"toolsListChanged": true}));
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32603)));
    assert!(refused["error"]["message"].as_str().unwrap().contains('2'));
    // The refused id is free, and so is the slot of a cancelled one.
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(
        client.listen(json!(3), json!({"toolsListChanged": true}))["method"],
        "notifications/subscriptions/acknowledged"
    );
    drop(client);
    assert_eq!(server.subscriptions(), 0);
}

/// L23
#[test]
fn changes_from_threads_handlers_and_nowhere_are_told() {
    let server = server();
    let me = server.clone();
    server
        .tools()
        .add(
            Tool::new("adder"),
            handler_sync(move |_: Value, _| {
                add_tool(&me, "from-handler");
                Ok("added")
            }),
        )
        .unwrap();
    let client = Client::new(&server);
    client.listen(json!(1), json!({"toolsListChanged": true}));
    let (before, _) = client.call(&call_tool(json!(2), "adder", json!({})));
    assert!(before.iter().any(is_tools_changed), "told before the result");
    let other = server.clone();
    std::thread::spawn(move || add_tool(&other, "from-thread")).join().unwrap();
    assert!(is_tools_changed(&client.next()));
    server.list_changed(tocsin::ListKind::Tools);
    assert!(is_tools_changed(&client.next()));
}

/// V9
#[test]
fn an_extension_version_is_served_like_its_base() {
    let mut options = Options::new("test", "1");
    options.extension_versions = vec![("x-2027-test".into(), "2026-07-28".into())];
    let server = Server::with_options(options.clone()).unwrap();
    let client = Client::new(&server);
    let mut discover = modern(json!(1), "server/discover", json!({}));
    discover["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("x-2027-test");
    let (_, answer) = client.call(&discover);
    assert_eq!(answer["result"]["supportedVersions"][0], "x-2027-test");
    options.protocol_versions = Some(vec!["2026-07-28".into(), "2025-11-25".into()]);
    let client = Client::new(&Server::with_options(options).unwrap());
    let (_, answer) = client.call(&discover);
    assert_eq!(answer["error"]["data"], json!({"supported": ["2026-07-28", "2025-11-25"], "requested": "x-2027-test"}));
}

#[test]
fn handshake_changes_between_initialize_and_initialized_are_told_once_it_arrives() {
    let server = server();
    let client = Client::new(&server);
    client.initialize("2025-06-18");
    add_tool(&server, "a");
    assert!(client.pending().is_empty());
    client.initialized();
    let told = client.pending();
    assert_eq!(told, [json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})]);
}
