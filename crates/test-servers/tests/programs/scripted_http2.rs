//! `scripted-server` over HTTP/2.

use crate::http2::{Talk, WIDE, ask, request};
use crate::scripted::{PROGRAM, counts};
use crate::server::{Server, rest};
use assay_http2::client::Windows;
use assay_http2::frame::{self, FrameHeader, HEAD_BYTES, flag, kind, setting};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Some of the counts that the server prints when it ends.
fn of<const N: usize>(server: Server, names: [&str; N]) -> [u64; N] {
    let counts = counts(server);
    names.map(|name| counts[name].as_u64().expect("a number"))
}

/// What the server does with a request, by its number: the second and the third are never answered in time.
const NOT_THESE_TWO: [&str; 2] = ["--delay", "0ms*1,3600s*2,0ms*1"];

#[test]
fn each_stream_is_answered_at_its_own_time() {
    let server = Server::start(PROGRAM, &["--delay", "60ms*1,20ms*1", "--body-bytes", "3"]);
    let mut talk = Talk::new(server.connect(), WIDE, 4096);
    let sent = Instant::now();
    for key in 0..4 {
        talk.open(key, &request("POST", b"x"))
            .expect("there is room");
    }
    talk.until(4);
    assert!(sent.elapsed() >= Duration::from_millis(60));
    assert_eq!(talk.ended, [1, 3, 0, 2]);
    assert!(talk.answers.values().all(|answer| *answer == (200, 3)));
    let counts = counts(server);
    assert_eq!(counts["connections"], 1);
    assert_eq!(counts["requests_read"], 4);
    assert_eq!(counts["answers_written"], 4);
    assert_eq!(counts["delayed"], 0);
    assert_eq!(counts["hold"]["p50_ns"], 20_000_000);
    assert_eq!(counts["hold"]["max_ns"], 60_000_000);
}

#[test]
fn a_stream_that_is_given_up_is_abandoned_alone() {
    let server = Server::start(PROGRAM, &NOT_THESE_TWO);
    let mut talk = Talk::new(server.connect(), WIDE, 4096);
    let mut streams = Vec::new();
    for key in 0..3 {
        streams.extend(talk.open(key, &request("GET", b"")));
    }
    talk.until(1);
    talk.cancel(streams[1]);
    // Its answer says that the server knows.
    talk.open(3, &request("GET", b"")).expect("there is room");
    talk.until(2);
    assert_eq!(talk.ended, [0, 3]);
    let names = ["requests_read", "answers_written", "delayed", "abandoned"];
    assert_eq!(of(server, names), [4, 2, 1, 1]);
}

#[test]
fn who_breaks_the_protocol_is_owed_nothing_more() {
    let server = Server::start(PROGRAM, &["--delay", "3600s"]);
    let mut stream = server.connect();
    let mut sent = [frame::PREFACE, b"\0\0\0\x04\0\0\0\0\0"].concat();
    frame::write_block(1, true, &[0x82, 0x86, 0x84], 16_384, &mut sent);
    frame::write(kind::PING, 0, 1, &[0; 8], &mut sent);
    stream.write_all(&sent).expect("it reads");
    // The connection stays open on this side.
    let said = rest(stream.try_clone().expect("it can be cloned"));
    assert!(said.contains("a frame of type 6 on stream 1"), "{said:?}");
    let names = ["requests_read", "delayed", "abandoned"];
    assert_eq!(of(server, names), [1, 0, 1]);
}

/// Given is not written: the client's window may still hold it back.
#[test]
fn an_answer_counts_as_written_once_its_last_byte_is() {
    let server = Server::start(PROGRAM, &["--body-bytes", "7"]);
    let mut stream = server.connect();
    let mut sent = frame::PREFACE.to_vec();
    frame::write_settings(&[(setting::INITIAL_WINDOW_SIZE, 5)], &mut sent);
    frame::write_block(1, true, &[0x82, 0x86, 0x84], 16_384, &mut sent);
    stream.write_all(&sent).expect("it reads");
    let mut seen = 0;
    while seen < 5 {
        let mut head = [0; HEAD_BYTES];
        stream.read_exact(&mut head).expect("it answers");
        let head = FrameHeader::read(&head).expect("a head");
        let mut payload = vec![0; head.length];
        stream.read_exact(&mut payload).expect("a payload");
        assert!(head.kind != kind::DATA || !head.has(flag::END_STREAM));
        if head.kind == kind::DATA {
            seen += head.length;
        }
    }
    let names = ["requests_read", "answers_written", "delayed", "abandoned"];
    assert_eq!(of(server, names), [1, 0, 0, 0]);
}

#[test]
fn long_answers_through_narrow_windows_are_counted() {
    let server = Server::start(PROGRAM, &["--body-bytes", "1000000"]);
    let narrow = Windows {
        stream: 5000,
        connection: 70_000,
    };
    let requests = vec![request("GET", b""); 5];
    let answers = ask(server.connect(), narrow, &requests, 8192);
    assert!(answers.values().all(|answer| *answer == (200, 1_000_000)));
    assert_eq!(of(server, ["answers_written"]), [5]);
}

/// More than the system holds of a connection on which the client reads no further.
#[test]
fn answers_are_counted_as_the_socket_takes_them() {
    let server = Server::start(PROGRAM, &["--body-bytes", "20000000"]);
    let wide = Windows {
        stream: 1 << 26,
        connection: 1 << 30,
    };
    let mut talk = Talk::new(server.connect(), wide, 65_536);
    for key in 0..3 {
        talk.open(key, &request("GET", b"")).expect("there is room");
    }
    talk.until(1);
    let [written] = of(server, ["answers_written"]);
    assert!((1..3).contains(&written), "{written}");
}
