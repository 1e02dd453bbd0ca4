//! `fault-injection-server` and the faults it plays.

use crate::server::{Server, command};
use assay_test_servers::faults::{self, At, Fault, FaultInjectionServer, Settings, Step};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fault-injection-server");

fn serving(fault: Option<&'static Fault>, every: u64) -> FaultInjectionServer {
    FaultInjectionServer::start("127.0.0.1", 0, Settings { fault, every })
        .expect("a free port is found")
}

fn connect(server: &FaultInjectionServer) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("it accepts");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a timeout can be set");
    stream
}

fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n")
}

/// What the steps put on the wire; None where it has no end.
fn sent_by(fault: &Fault) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for step in fault.steps {
        match step {
            Step::Send(part) | Step::Trickle(part) | Step::SplitBySlice(part) => {
                bytes.extend_from_slice(part)
            }
            Step::SendTimes(part, times) => bytes.extend(part.repeat(*times as usize)),
            Step::Drip(..) => return None,
            _ => {}
        }
    }
    Some(bytes)
}

/// Reads to the end of the stream: all bytes, and whether it ended by a reset.
fn rest(stream: &mut TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => (bytes, false),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => (bytes, true),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_fault_sends_and_ends_as_scripted() {
    let server = serving(None, 1);
    for fault in faults::all().filter(|fault| matches!(fault.at, At::Head | At::Request)) {
        let Some(expected) = sent_by(fault) else {
            continue;
        };
        let mut stream = connect(&server);
        stream
            .write_all(request(&format!("/fault/{}", fault.name)).as_bytes())
            .expect("it reads");
        let mut bytes = vec![0; expected.len()];
        stream
            .read_exact(&mut bytes)
            .unwrap_or_else(|error| panic!("{}: {error}", fault.name));
        assert!(bytes == expected, "{}", fault.name);
        let reset = match fault.steps.last() {
            Some(Step::Reset) => true,
            Some(Step::Close | Step::HalfClose) => false,
            // It waits for us: for our end, or for another request.
            _ => {
                stream
                    .shutdown(Shutdown::Write)
                    .expect("the sending side can be shut");
                false
            }
        };
        assert_eq!(rest(&mut stream), (Vec::new(), reset), "{}", fault.name);
    }
}

#[test]
fn a_connection_outlives_the_faults_that_do_not_end_it() {
    let server = serving(None, 1);
    let mut stream = connect(&server);
    let both = request("/fault/chunk-trailers") + &request("/");
    stream.write_all(both.as_bytes()).expect("it reads");
    stream
        .shutdown(Shutdown::Write)
        .expect("the sending side can be shut");
    let (bytes, _) = rest(&mut stream);
    assert!(bytes.ends_with(faults::GOOD) && bytes.len() > faults::GOOD.len());
}

#[test]
fn faults_at_the_accept_do_not_wait_for_a_request() {
    for (name, expected, reset) in [
        ("reset-on-accept", &b""[..], true),
        ("close-on-accept", b"", false),
    ] {
        let server = serving(faults::find(name), 1);
        assert_eq!(
            rest(&mut connect(&server)),
            (expected.to_vec(), reset),
            "{name}"
        );
    }
    let server = serving(faults::find("answer-on-accept"), 1);
    let mut answer = vec![0; faults::GOOD.len()];
    connect(&server)
        .read_exact(&mut answer)
        .expect("it speaks first");
    assert_eq!(answer, faults::GOOD);
}

#[test]
fn faults_of_the_listening_socket_need_no_connection() {
    let refusing = serving(faults::find("refuse"), 1);
    let error = TcpStream::connect(refusing.address()).expect_err("it refuses");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let full = serving(faults::find("full-backlog"), 1);
    let error = TcpStream::connect_timeout(&full.address(), Duration::from_millis(200))
        .expect_err("nobody is let in");
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let slow = serving(faults::find("slow-accept"), 1);
    let mut stream = connect(&slow);
    stream
        .write_all(request("/").as_bytes())
        .expect("it reads in the end");
    let mut answer = vec![0; faults::GOOD.len()];
    stream
        .read_exact(&mut answer)
        .expect("it answers in the end");
}

#[test]
fn only_every_nth_request_meets_its_fault() {
    let server = serving(faults::find("no-content-with-length"), 3);
    let mut stream = connect(&server);
    stream
        .write_all(request("/").repeat(7).as_bytes())
        .expect("it reads");
    stream
        .shutdown(Shutdown::Write)
        .expect("the sending side can be shut");
    let (bytes, _) = rest(&mut stream);
    let text = String::from_utf8(bytes).expect("it is text");
    let statuses: Vec<&str> = text
        .split("HTTP/1.1 ")
        .skip(1)
        .map(|answer| &answer[..3])
        .collect();
    assert_eq!(statuses, ["200", "200", "204", "200", "200", "204", "200"]);
    let counts = server.counts();
    assert_eq!(
        (counts.connections, counts.requests, counts.faults),
        (1, 7, 2)
    );
}

#[test]
fn the_split_moves_on_with_each_turn() {
    let server = serving(faults::find("split-anywhere"), 1);
    let mut stream = connect(&server);
    // More slices than bytes: the place wraps around.
    for _ in 0..faults::GOOD.len() + 3 {
        stream.write_all(request("/").as_bytes()).expect("it reads");
        let mut answer = vec![0; faults::GOOD.len()];
        stream
            .read_exact(&mut answer)
            .expect("the whole answer comes");
        assert_eq!(answer, faults::GOOD);
    }
}

#[test]
fn a_body_is_read_before_the_fault() {
    let server = serving(faults::find("close-after-answer"), 1);
    let mut stream = connect(&server);
    stream
        .write_all(b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n")
        .expect("it reads");
    stream
        .write_all(&[b'x'; 100_000])
        .expect("it reads the body");
    // Had the body been left unread, the close would be a reset.
    assert_eq!(rest(&mut stream), (faults::GOOD.to_vec(), false));
}

#[test]
fn names_are_unique_and_listed() {
    let names: HashSet<_> = faults::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), faults::all().count());
    assert!(names.len() >= 30);
    let output = command(PROGRAM).arg("--list").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it is text");
    for fault in faults::all() {
        assert!(!fault.expected.is_empty(), "{}", fault.name);
        assert!(
            text.lines()
                .any(|line| line.starts_with(&format!("{} ", fault.name))),
            "{}",
            fault.name
        );
    }
}

#[test]
fn the_program_counts_and_names_what_is_wrong() {
    let server = Server::start(PROGRAM, &["--fault", "close-announced"]);
    assert!(
        server
            .exchange(request("/").as_bytes())
            .ends_with("Hello, World")
    );
    let counts: Value = serde_json::from_str(&server.terminate()).expect("its counts are JSON");
    assert_eq!(
        counts,
        serde_json::json!({"connections": 1, "requests": 1, "faults": 1})
    );
    let output = command(PROGRAM)
        .args(["--fault", "unheard-of"])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--list shows them"));
}
