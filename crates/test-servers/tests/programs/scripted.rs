//! `scripted-server`.

use crate::server::{Server, rest};
use serde_json::Value;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_scripted-server");
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const LAST_REQUEST: &[u8] = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n";

/// Ends the server and reads the counts it prints.
pub fn counts(server: Server) -> Value {
    let text = server.terminate();
    serde_json::from_str(text.lines().last().expect("it prints its counts")).expect("they are JSON")
}

#[test]
fn it_counts_what_it_did() {
    let server = Server::start(PROGRAM, &["--delay", "hang:5", "--body-bytes", "3"]);
    let answers = server.converse(&[REQUEST, LAST_REQUEST].concat());
    assert_eq!(answers.matches("\r\n\r\nxxx").count(), 2);
    let mut stream = server.connect();
    stream.write_all(&REQUEST.repeat(5)).expect("it reads");
    let mut three = vec![0; 3 * (answers.find("xxx").expect("the first body") + 3)];
    stream
        .read_exact(&mut three)
        .expect("three answers are left");
    let counts = counts(server);
    assert_eq!(counts["connections"], 2);
    assert_eq!(counts["requests_read"], 7);
    assert_eq!(counts["answers_written"], 5);
    assert_eq!(counts["delayed"], 2);
    assert_eq!(counts["hold"]["count"], 5);
}

#[test]
fn no_answer_comes_before_its_time() {
    let server = Server::start(PROGRAM, &["--delay", "20ms*1,60ms*1"]);
    let mut stream = server.connect();
    for delay_ms in [20, 60, 20] {
        let sent = Instant::now();
        stream.write_all(REQUEST).expect("it reads");
        let mut byte = [0; 1];
        stream.read_exact(&mut byte).expect("it answers");
        assert!(sent.elapsed() >= Duration::from_millis(delay_ms));
        let mut head = [0; 256];
        assert!(stream.read(&mut head).expect("the answer goes on") > 0);
    }
    let counts = counts(server);
    assert_eq!(counts["hold"]["p50_ns"], 20_000_000);
    assert_eq!(counts["hold"]["max_ns"], 60_000_000);
}

#[test]
fn answers_keep_the_order_of_their_requests() {
    let server = Server::start(PROGRAM, &["--delay", "50ms*1,1ms*1"]);
    let answers = server.converse(&[REQUEST, LAST_REQUEST].concat());
    let (first, second) = answers.split_once("\r\n\r\n").expect("two answers");
    assert!(!first.contains("connection: close"));
    assert!(second.contains("connection: close"));
}

#[test]
fn a_connection_that_ends_while_it_waits_is_counted() {
    let server = Server::start(PROGRAM, &["--delay", "hang:0"]);
    assert_eq!(server.exchange(REQUEST), "");
    let counts = counts(server);
    assert_eq!(
        (&counts["delayed"], &counts["abandoned"]),
        (&Value::from(0), &Value::from(1))
    );
}

#[test]
fn the_counts_have_a_port_of_their_own() {
    let mut server = Server::start(PROGRAM, &["--counts-port", "0"]);
    server.converse(LAST_REQUEST);
    let line = server.line();
    let address = line
        .trim()
        .trim_start_matches("counts on http://")
        .trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(address).expect("it accepts");
    stream.write_all(REQUEST).expect("it reads");
    let answer = rest(stream);
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .expect("an answer with a head");
    let counts: Value = serde_json::from_str(body).expect("the counts are JSON");
    assert_eq!(counts["answers_written"], 1);
}
