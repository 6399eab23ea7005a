//! Many rounds of everything at once: nothing is lost, nothing comes too early, nothing grows.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};

use common::{Client, PATIENCE, SUBSCRIPTION, add_tool, call_tool, is_tools_changed, modern, server, tool_names};
use serde_json::{Value, json};
use tocsin::{Call, Options, Server, Tool};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// L18: an edit in one thread, a listen in another, and now and then a cancel or the end of the server.
#[test]
fn ten_thousand_rounds_of_edits_against_listen_cancel_and_shutdown() {
    let (go, rounds) = mpsc::sync_channel::<Server>(0);
    let editor = std::thread::spawn(move || {
        for (round, server) in rounds.iter().enumerate() {
            // A different lead in every round.
            for _ in 0..round % 64 {
                std::hint::spin_loop();
            }
            add_tool(&server, "racing");
            server.tools().remove("racing").expect("it is there");
        }
    });
    let mut racing = server();
    for round in 0..10_000 {
        if racing.is_stopping() {
            racing = server();
        }
        let client = Client::new(&racing);
        go.send(racing.clone()).expect("the editor lives");
        let filter = json!({"notifications": {"toolsListChanged": true}});
        client.send(&modern(json!(round), "subscriptions/listen", filter));
        let first = client.next();
        assert_eq!(first["method"], ACKNOWLEDGED, "round {round}: {first}");
        assert_eq!(first["params"]["_meta"][SUBSCRIPTION], round);
        match round % 10 {
            8 => {
                client.send(
                    &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": round}}),
                );
                client.pending();
                racing.list_changed(tocsin::ListKind::Tools);
                assert!(client.pending().is_empty(), "round {round}: told after a cancel");
            }
            9 => {
                racing.stop();
                client.0.finish();
                let last = loop {
                    let message = client.next();
                    if !is_tools_changed(&message) {
                        break message;
                    }
                };
                assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(round), &json!("complete")));
            }
            _ => {
                // Began after the acknowledgement was read, so it must be heard.
                let name = format!("tool{round}");
                add_tool(&racing, &name);
                loop {
                    assert!(is_tools_changed(&client.next()));
                    if tool_names_quietly(&client).contains(&name) {
                        break;
                    }
                }
                racing.tools().remove(&name).expect("it is there");
            }
        }
    }
    drop(go);
    editor.join().expect("the editor");
}

/// The list; notifications that come in between are as good as the one that made us look.
fn tool_names_quietly(client: &Client) -> Vec<String> {
    tool_names(client)
}

/// S6
#[test]
fn a_cancel_that_races_with_the_answer_leaves_one_answer_at_most() {
    let server = server();
    let (sender, calls) = mpsc::channel::<Call>();
    let sender = Mutex::new(sender);
    server.tools().add(Tool::new("later"), move |call: Call| drop(sender.lock().unwrap().send(call))).unwrap();
    let answerer = std::thread::spawn(move || {
        for call in calls {
            call.complete_text("done");
        }
    });
    let client = Client::new(&server);
    let mut answered = 0;
    for round in 0..2_000 {
        client.send(&call_tool(json!(round), "later", json!({})));
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": round}}));
        let told = client.pending();
        assert!(told.len() <= 1, "round {round}: {told:?}");
        answered += told.len();
        // Free for the next request, whichever won.
        client.send(&call_tool(json!("again"), "later", json!({})));
        assert_eq!(client.next()["id"], "again");
    }
    println!("{answered} of 2000 were answered before the cancel");
    drop(client);
    server.dispose();
    answerer.join().unwrap();
}

/// A gate that holds the reader of a session.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.changed.wait(open).unwrap();
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// L16: a reader that stops costs constant memory and delays nobody.
#[test]
fn a_reader_that_stops_for_a_hundred_thousand_edits_is_told_at_the_end() {
    let server = server();
    let gate = Arc::new(Gate::default());
    let (sender, messages) = mpsc::channel();
    let (stalled, told) = (Arc::clone(&gate), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&told);
    let slow = server
        .line_session(move |line| {
            if count.fetch_add(1, Ordering::SeqCst) > 0 {
                stalled.pass();
            }
            let _ = sender.send(serde_json::from_str::<Value>(line).expect("JSON"));
        })
        .unwrap();
    let filter = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["test://a"]}});
    slow.feed(format!("{}\n", modern(json!(1), "subscriptions/listen", filter)).as_bytes());
    assert_eq!(messages.recv_timeout(PATIENCE).unwrap()["method"], ACKNOWLEDGED);

    let quick = Client::new(&server);
    quick.listen(json!(1), json!({"toolsListChanged": true}));
    for edit in 0..50_000 {
        add_tool(&server, "burst");
        server.resources().updated("test://a");
        server.tools().remove("burst").unwrap();
        if edit == 25_000 {
            assert!(is_tools_changed(&quick.next()), "the other one is told meanwhile");
        }
    }
    add_tool(&server, "last");
    gate.open();
    // At most what stood at the gate, and one round after it.
    let mut heard = Vec::new();
    slow.feed(format!("{}\n", modern(json!(2), "tools/list", json!({}))).as_bytes());
    let listed = loop {
        let message = messages.recv_timeout(PATIENCE).unwrap();
        if message["id"] == 2 {
            break message;
        }
        heard.push(message);
    };
    assert!((1..=4).contains(&heard.len()), "{}: {heard:?}", heard.len());
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1);
    assert_eq!(listed["result"]["tools"][0]["name"], "last");
}

#[test]
fn progress_for_a_reader_that_stops_is_bounded() {
    let mut options = Options::new("test", "1");
    options.max_output_bytes = 64 << 10;
    let server = Server::with_options(options).unwrap();
    server
        .tools()
        .add(Tool::new("chatty"), |call: Call| {
            for step in 0..200_000 {
                call.progress(f64::from(step), None, Some("a message of some length, sent again and again"));
            }
            call.complete_text("done");
        })
        .unwrap();
    let gate = Arc::new(Gate::default());
    let (sender, messages) = mpsc::channel();
    let stalled = Arc::clone(&gate);
    let session = server
        .line_session(move |line| {
            stalled.pass();
            let _ = sender.send(line.len());
        })
        .unwrap();
    let mut request = call_tool(json!(1), "chatty", json!({}));
    request["params"]["_meta"]["progressToken"] = json!("t");
    session.feed(format!("{request}\n").as_bytes());
    gate.open();
    let mut bytes = 0;
    // The answer is not a notification: it always comes, last.
    while let Ok(length) = messages.recv_timeout(std::time::Duration::from_secs(2)) {
        bytes += length;
    }
    assert!(bytes > 0 && bytes < 1 << 20, "{bytes} bytes");
}
