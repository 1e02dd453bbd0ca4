//! Bytes that belong to no answer: it counts, they are told, and the connection is not used again,
//! over TLS, in a batch and in an open loop; `answers.rs` cuts them everywhere.

use std::io::{Read, Write};
use std::sync::Arc;

use crate::support::{HELLO, Server, outcomes, plan, run};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

const LONG: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more";

#[test]
fn under_tls() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let server = Server::start(move |peer| {
        let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut session = StreamOwned::new(tls, peer.stream.try_clone().unwrap());
        let mut buffer = [0; 1024];
        while matches!(session.read(&mut buffer), Ok(read) if read > 0) {
            // A record of its own for what is too much, and one for both.
            let (answer, more) = LONG.split_at(LONG.len() - 9);
            let sent = match peer.number % 2 {
                0 => session.write_all(LONG),
                _ => session
                    .write_all(answer)
                    .and_then(|()| session.write_all(more)),
            };
            if sent.and_then(|()| session.flush()).is_err() {
                return;
            }
        }
    });
    let url = format!("https://{}", server.address);
    let measurement = run(&plan(
        &server,
        2,
        20,
        json!({"url": url, "tls": {"insecure": true}}),
    ));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 20);
    assert_eq!(measurement.stray.bytes % 9, 0);
    assert!(measurement.stray.connections > 0 && measurement.stray.example == " and more");
}

#[test]
fn between_the_answers_of_a_batch_and_after_the_last() {
    let server = Server::start(|peer| {
        let mut answers = 0;
        while peer.request().is_some() {
            answers += 1;
            peer.send(HELLO);
            match answers {
                2 => peer.send(b"\r\n"),
                4 => peer.send(b"more"),
                _ => {}
            }
        }
    });
    let measurement = run(&plan(&server, 1, 20, json!({"pipeline": 4})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!((measurement.completed, server.connections()), (20, 5));
    assert_eq!(measurement.stray.connections, 5);
    assert!(measurement.stray.bytes >= 10, "{:?}", measurement.stray);
}

#[test]
fn in_an_open_loop() {
    let server = Server::answering(LONG);
    let more = json!({"load": {
        "kind": "open", "max_connections": 8, "pacer": "sleep",
        "stages": [{"duration_ns": 1_000_000_000, "from_per_s": 500, "to_per_s": 500}],
    }});
    let measurement = run(&plan(&server, 1, 50, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.stray.bytes, 50 * 9);
    assert_eq!(server.connections(), 50);
}

#[test]
fn a_second_answer_that_comes_late_is_found_out_at_the_end() {
    // The second copy of each answer comes when the next request has been sent: it is that one's
    // answer for all that a client can see, until it asks for nothing more.
    let server = Server::start(|peer| {
        let mut is_first = true;
        while peer.request().is_some() {
            if !std::mem::take(&mut is_first) {
                peer.send(HELLO);
            }
            peer.send(HELLO);
        }
    });
    let measurement = run(&plan(&server, 1, 50, json!({})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 50);
    assert!(measurement.stray.bytes > 0);
    assert!(measurement.stray.example.starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn answers_that_come_before_the_next_request_is_read_are_found_out() {
    // The unasked answer goes out when the next request has come and before it is read. TCP has acknowledged that
    // request by then: nothing on the wire tells the answer from one that is asked for.
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send(HELLO);
            if !matches!(peer.stream.peek(&mut [0]), Ok(1..)) {
                return;
            }
            peer.send(HELLO);
        }
    });
    let measurement = run(&plan(&server, 1, 20, json!({})));
    assert_eq!(measurement.completed, 20);
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    // What came too much is told, at the latest once nothing more is asked: the figures are invalid for that.
    assert!(measurement.stray.connections > 0);
    assert!(measurement.stray.example.starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn bytes_on_a_connection_that_carries_nothing() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send(HELLO);
            peer.send(b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
        }
    });
    let more = json!({"load": {"kind": "closed", "connections": 1, "think_time_ns": 5_000_000}});
    let measurement = run(&plan(&server, 1, 5, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 5);
    assert!(measurement.stray.bytes > 0);
}
