//! What a request's own header fields mean to the client: they are obeyed, or refused before anything is sent.

use std::sync::Mutex;

use crate::support::{HELLO, Server, outcomes, plan, run};
use assay_engine::{LoadPlan, Run};
use serde_json::{Value, json};

fn request(headers: Value) -> Value {
    json!({"requests": [{"headers": headers}]})
}

#[test]
fn nothing_is_sent_after_connection_close() {
    for value in ["close", "Close", "keep-alive, close", " close ,x"] {
        // A server that would go on, and one that ends the connection by a reset.
        for resets in [false, true] {
            let server = Server::start(move |peer| {
                while peer.request().is_some() {
                    peer.send(HELLO);
                    if resets {
                        return peer.reset();
                    }
                }
            });
            let measurement = run(&plan(
                &server,
                2,
                20,
                request(json!([["Connection", value]])),
            ));
            assert_eq!(outcomes(&measurement), Vec::<String>::new(), "{value}");
            assert_eq!(
                (measurement.completed, server.connections()),
                (20, 20),
                "{value}"
            );
        }
    }
}

#[test]
fn each_request_of_a_mix_says_it_for_itself() {
    let server = Server::answering(HELLO);
    let requests = json!([{"headers": [["connection", "close"]]}, {"weight": 2}]);
    let measurement = run(&plan(&server, 1, 30, json!({"requests": requests})));
    assert_eq!(measurement.completed, 30);
    // Each third request is the last of its connection.
    assert_eq!(server.connections(), 11);
}

#[test]
fn a_request_that_follows_a_redirect_says_it_too() {
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            match request.starts_with("GET /b") {
                true => peer.send(HELLO),
                false => peer.send(b"HTTP/1.1 302 Go\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
            }
        }
    });
    let mut more = request(json!([["Connection", "close"]]));
    more["redirects"] = json!(1);
    let measurement = run(&plan(&server, 1, 5, more));
    assert_eq!((measurement.completed, server.connections()), (5, 10));
}

#[test]
fn a_body_goes_in_the_chunks_that_its_field_says() {
    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        while let Some(request) = peer.request_until("0\r\n\r\n") {
            SEEN.lock().unwrap().push(request);
            peer.send(HELLO);
        }
    });
    for more in [
        json!({"headers": [["Transfer-Encoding", "chunked"]]}),
        json!({"headers": [["transfer-encoding", "Chunked"]], "chunk_bytes": 65536}),
    ] {
        let mut asked = json!({"method": "POST", "body": "hello"});
        for (key, value) in more.as_object().unwrap() {
            asked[key] = value.clone();
        }
        let measurement = run(&plan(&server, 1, 3, json!({"requests": [asked]})));
        assert_eq!(measurement.completed, 3, "{:?}", outcomes(&measurement));
    }
    for request in SEEN.lock().unwrap().iter() {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "5\r\nhello\r\n0\r\n\r\n");
        let head = head.to_ascii_lowercase();
        assert_eq!(
            head.matches("transfer-encoding: chunked").count(),
            1,
            "{head}"
        );
        assert!(!head.contains("content-length"), "{head}");
    }
}

#[test]
fn a_length_that_is_the_bodys_is_sent_as_it_is_said() {
    let file = std::env::temp_dir().join(format!("assay-own-length-{}", std::process::id()));
    std::fs::write(&file, "hello").unwrap();
    let server = Server::answering(HELLO);
    for body in [json!({"body": "hello"}), json!({"body_file": file})] {
        let mut asked = body.clone();
        asked["headers"] = json!([["content-length", "5"]]);
        let measurement = run(&plan(&server, 1, 3, json!({"requests": [asked.clone()]})));
        assert_eq!(measurement.completed, 3, "{:?}", outcomes(&measurement));
        asked["headers"] = json!([["content-length", "6"]]);
        let plan = json!({
            "url": server.url(), "requests": [asked], "timeout_ns": 1_000_000_000,
            "load": {"kind": "closed", "connections": 1}, "stop": {"kind": "requests", "count": 1},
        });
        let refused = LoadPlan::from_json(plan.to_string().as_bytes())
            .map_err(|error| error.to_string())
            .and_then(|plan| {
                Run::start(&plan)
                    .map(|_| ())
                    .map_err(|error| error.to_string())
            });
        let said = refused.unwrap_err();
        assert!(
            said.contains("Content-Length says 6, but the body has 5 bytes"),
            "{said}"
        );
    }
    std::fs::remove_file(file).unwrap();
    assert_eq!(server.requests(), 6);
}

#[test]
fn a_raw_head_of_head_has_no_body_to_wait_for() {
    let server = Server::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    let asked = json!({"head": "HEAD / HTTP/1.1\r\nHost: x\r\n"});
    let measurement = run(&plan(
        &server,
        2,
        20,
        json!({"requests": [asked], "timeout_ns": 2_000_000_000}),
    ));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!((measurement.completed, measurement.stray.bytes), (20, 0));
}

#[test]
fn a_raw_head_stands_for_itself() {
    let server = Server::answering(HELLO);
    let head =
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nExpect: 100-continue\r\nConnection: close\r\n";
    let measurement = run(&plan(&server, 1, 5, json!({"requests": [{"head": head}]})));
    assert_eq!((measurement.completed, server.connections()), (5, 1));
}

const SWITCHED: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n\x81\x02hi";

#[test]
fn another_protocol_that_was_asked_for_is_an_answer() {
    let server = Server::answering(SWITCHED);
    let upgrade = json!([["Connection", "Upgrade"], ["upgrade", "x"]]);
    let asked = json!({"headers": upgrade, "expect": {"status": [101]}});
    let measurement = run(&plan(&server, 2, 10, json!({"requests": [asked]})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(
        (measurement.statuses["101"], server.connections()),
        (10, 10)
    );
    assert_eq!(measurement.stray.bytes, 0);
    let asked = json!({"headers": upgrade, "expect": {"status": [200]}});
    let measurement = run(&plan(&server, 2, 10, json!({"requests": [asked]})));
    assert_eq!(outcomes(&measurement), ["plan/unexpected_status: 10"]);
}

#[test]
fn another_protocol_that_nobody_asked_for_is_none() {
    let server = Server::answering(SWITCHED);
    let asked = json!({"expect": {"status": [101]}, "method": "POST", "body": "\r\nUpgrade: x"});
    let measurement = run(&plan(&server, 2, 10, json!({"requests": [asked]})));
    assert_eq!(outcomes(&measurement), ["peer/bad_answer: 10"]);
}
