//! What follows where streams of HTTP/2 fail: how long they wait, and what is said of it.

use std::net::TcpListener;

use crate::support::http2::{answering, serve_with};
use crate::support::{Peer, Server, outcomes, plan, run, wait_until};
use assay_engine::Measurement;
use assay_http2::frame::{self, Code, flag, kind};
use serde_json::{Value, json};

fn http2(server: &Server, streams: u32, count: u64, more: Value) -> Measurement {
    let mut fields = json!({"http": "2", "streams": streams});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    run(&plan(server, 1, count, fields))
}

#[test]
fn a_slot_whose_requests_fail_waits_longer_each_time() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |_, stream, out| {
            frame::write_reset(stream, Code::INTERNAL_ERROR, out);
            true
        });
    });
    let measured = http2(&server, 1, 8, json!({"retry_wait_max_ns": 1_000_000_000}));
    assert_eq!(outcomes(&measured), ["peer/stream_reset: 8"]);
    // Not after the first, then 1, 2, 4 ... ms: a sleeper may be late, never early.
    let waits_ns = (1 + 2 + 4 + 8 + 16 + 32) * 1_000_000;
    assert!(measured.measured_ns >= waits_ns, "{}", measured.measured_ns);
}

#[test]
fn what_never_had_a_stream_says_for_what_it_waited() {
    // One stream at once, and no answer on it.
    let server = Server::start(|peer| serve_with(peer, 1, &|_| {}, |_, _, _| true));
    let measured = http2(&server, 2, 2, json!({"timeout_ns": 1_000_000_000}));
    assert_eq!(outcomes(&measured), ["peer/timeout: 2"]);
    // It began to wait before the other one was sent: it is given up first.
    assert_eq!(
        measured.outcomes[0].example,
        "after 1000 ms, waiting for a stream: the server allows no more at once"
    );
}

#[test]
fn what_was_sent_says_for_what_it_waited() {
    let silent = Server::start(Peer::hang);
    let greeting = Server::start(|peer| serve_with(peer, 1, &|_| {}, |_, _, _| true));
    let beginning = Server::start(|peer| {
        serve_with(peer, 1, &|_| {}, |_, stream, out| {
            frame::write(kind::HEADERS, flag::END_HEADERS, stream, b"\x88", out);
            frame::write(kind::DATA, 0, stream, b"hello", out);
            true
        });
    });
    let cases = [
        (silent, "after 600 ms: the server never sent SETTINGS"),
        (greeting, "after 600 ms"),
        (beginning, "after 600 ms, with 5 bytes of a body and no end"),
    ];
    for (server, said) in cases {
        let measured = http2(&server, 1, 1, json!({"timeout_ns": 600_000_000}));
        assert_eq!(outcomes(&measured), ["peer/timeout: 1"]);
        assert_eq!(measured.outcomes[0].example, said);
    }
}

#[test]
fn a_connection_that_is_open_for_longer_than_the_timeout_goes_on() {
    let server = answering(100, |_| {});
    let stop = json!({"kind": "duration", "ns": 1_000_000_000});
    let load = json!({"kind": "closed", "connections": 1, "think_time_ns": 1_000_000});
    let more = json!({"stop": stop, "timeout_ns": 500_000_000, "load": load});
    let measured = http2(&server, 4, 1, more);
    assert!(measured.completed > 0, "{:?}", outcomes(&measured));
    assert_eq!(server.connections(), 1);
}

#[test]
fn where_nobody_is_there_each_request_fails_once_unless_the_plan_says_otherwise() {
    let mut server = answering(100, |_| {});
    let dead = TcpListener::bind("127.0.0.1:0").unwrap();
    server.address = dead.local_addr().unwrap();
    drop(dead);
    let measured = http2(&server, 3, 40, json!({"retry_wait_max_ns": 0}));
    assert_eq!(outcomes(&measured), ["network/connect_refused: 40"]);
    assert!(!measured.interrupted);
}

#[test]
fn a_handshake_that_never_ends_is_given_up_with_all_that_waits() {
    let server = Server::start(Peer::hang);
    let more = json!({
        "url": format!("https://{}", server.address), "tls": {"insecure": true},
        "timeout_ns": 150_000_000, "retry_wait_max_ns": 0,
    });
    let measured = http2(&server, 3, 6, more);
    assert_eq!(outcomes(&measured), ["network/connect_timeout: 6"]);
    assert_eq!(measured.outcomes[0].example, "after 150 ms");
    wait_until("that both were accepted", || server.connections() >= 2);
    assert_eq!(server.connections(), 2);
}
