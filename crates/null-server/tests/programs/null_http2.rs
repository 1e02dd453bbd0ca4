//! `null-server` over HTTP/2, asked by the engine's own side of the protocol.

use crate::http2::{WIDE, ask, request};
use crate::server::Server;
use assay_http2::client::Windows;
use assay_http2::frame;
use std::io::Write;

const PROGRAM: &str = env!("CARGO_BIN_EXE_null-server");

#[test]
fn many_streams_of_one_connection_are_answered() {
    let server = Server::start(PROGRAM, &["--body", "hello", "--header", "X-Id: 7"]);
    let answers = ask(
        server.connect(),
        WIDE,
        &vec![request("GET", b""); 1000],
        4096,
    );
    assert_eq!(answers.len(), 1000);
    assert!(answers.values().all(|answer| *answer == (200, 5)));
}

#[test]
fn a_head_request_gets_no_body_and_a_body_is_read() {
    let server = Server::start(PROGRAM, &["--body", "abc"]);
    let requests = [
        request("HEAD", b""),
        request("POST", &[1; 300_000]),
        request("HEAD", b"x"),
        request("GET", b""),
    ];
    let answers = ask(server.connect(), WIDE, &requests, 777);
    assert_eq!(
        answers.into_values().collect::<Vec<_>>(),
        [(200, 0), (200, 3), (200, 0), (200, 3)]
    );
}

#[test]
fn answers_wait_for_the_clients_windows() {
    let server = Server::start(PROGRAM, &["--body-bytes", "1000000"]);
    let narrow = Windows {
        stream: 5000,
        connection: 70_000,
    };
    let answers = ask(
        server.connect(),
        narrow,
        &vec![request("GET", b""); 5],
        8192,
    );
    assert!(answers.values().all(|answer| *answer == (200, 1_000_000)));
}

#[test]
fn both_protocols_are_told_apart_by_their_first_bytes() {
    let server = Server::start(PROGRAM, &["--body", "x"]);
    let mut slow = server.connect();
    slow.set_nodelay(true).expect("it can be set");
    for byte in b"PRI / HTTP/1.1\r\n\r\n" {
        slow.write_all(&[*byte]).expect("it reads");
    }
    slow.shutdown(std::net::Shutdown::Write)
        .expect("it can be shut");
    assert!(crate::server::rest(slow).starts_with("HTTP/1.1 200"));
    let answers = ask(server.connect(), WIDE, &[request("GET", b"")], 100);
    assert_eq!(answers[&0], (200, 1));
}

#[test]
fn a_server_of_http2_only_tells_others_so() {
    let server = Server::start(PROGRAM, &["--body", "x", "--http2-only"]);
    let answers = ask(server.connect(), WIDE, &[request("GET", b"")], 100);
    assert_eq!(answers[&0], (200, 1));
    let mut old = server.connect();
    old.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it reads");
    let said = crate::server::rest(old);
    assert!(said.contains("the first frame is not SETTINGS"), "{said:?}");
    assert!(!said.contains("HTTP/1.1"));
}

/// A close on unread bytes would be a reset, and take back what was said.
#[test]
fn who_breaks_the_protocol_is_told_before_the_end() {
    let server = Server::start(PROGRAM, &["--body", "x"]);
    let mut stream = server.connect();
    let mut sent = [frame::PREFACE, b"\0\0\0\x04\0\0\0\0\0"].concat();
    frame::write(frame::kind::PING, 0, 1, &[0; 8], &mut sent);
    stream.write_all(&sent).expect("it reads");
    stream.write_all(&vec![7; 1_000_000]).expect("it reads on");
    let said = crate::server::rest(stream);
    assert!(said.contains("a frame of type 6 on stream 1"), "{said:?}");
}
