//! What a right answer is: checked on every answer or a stated sample.

use std::io::Write;

use crate::support::{HELLO, Server, outcomes, plan, run};
use serde_json::{Value, json};

/// 40 requests to a server that always answers `answer`, with an expectation.
fn expecting(answer: Vec<u8>, expect: Value) -> (Vec<String>, String, u64) {
    let server = Server::start(move |peer| {
        while peer.request().is_some() {
            peer.send(&answer);
        }
    });
    let more = json!({"requests": [{"expect": expect}], "threads": 2});
    let measurement = run(&plan(&server, 2, 40, more));
    let example = measurement
        .outcomes
        .first()
        .map(|outcome| outcome.example.clone());
    (
        outcomes(&measurement),
        example.unwrap_or_default(),
        measurement.checked,
    )
}

fn right(answer: &[u8], expect: Value) {
    let (failed, example, _) = expecting(answer.to_vec(), expect);
    assert!(failed.is_empty(), "{failed:?} {example}");
}

fn wrong(answer: &[u8], expect: Value) -> (String, String) {
    let (failed, example, _) = expecting(answer.to_vec(), expect);
    assert_eq!(failed.len(), 1, "{failed:?}");
    (failed[0].clone(), example)
}

fn kind(text: &str, kind: Value) -> Value {
    let mut body = kind;
    body["kind"] = json!(text);
    json!({ "body": body })
}

#[test]
fn bodies_that_are_checked_share_a_bound() {
    // Each in two pieces, so that it has to be held; four of them at once are too much.
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for _ in 0..4 {
                peer.send([b"6000\r\n".as_slice(), &[b'x'; 0x6000], b"\r\n"].concat());
            }
            peer.send(b"0\r\n\r\n");
        }
    });
    let with = |bytes: u64| {
        let body = json!({"kind": "matches", "pattern": "^x+$"});
        let requests = json!([{"expect": {"body": body}}]);
        let more = json!({"requests": requests, "held_body_bytes": bytes});
        run(&plan(&server, 1, 20, more))
    };
    assert_eq!(outcomes(&with(200_000)), Vec::<String>::new());
    let measurement = with(90_000);
    assert_eq!(outcomes(&measurement), ["plan/unexpected_body: 20"]);
    assert!(measurement.outcomes[0].example.contains("held_body_bytes"));
}

#[test]
fn status() {
    right(HELLO, json!({"status": [404, 200]}));
    let (failed, example) = wrong(HELLO, json!({"status": [204]}));
    assert_eq!(failed, "plan/unexpected_status: 40");
    assert!(example.starts_with("HTTP/1.1 200 OK\\r\\n"), "{example}");
}

#[test]
fn headers() {
    let answer = b"HTTP/1.1 200 OK\r\nServer:  x1 \r\nServer: y2\r\nContent-Length: 0\r\n\r\n";
    right(
        answer,
        json!({"headers": [{"name": "server"}, {"name": "SERVER", "pattern": "^y\\d$"}]}),
    );
    let missing = json!({"headers": [{"name": "Date"}]});
    assert_eq!(
        wrong(answer, missing),
        ("plan/unexpected_header: 40".into(), "no Date".into())
    );
    let other = json!({"headers": [{"name": "Server", "pattern": "^z"}]});
    assert_eq!(
        wrong(answer, other),
        ("plan/unexpected_header: 40".into(), "Server: y2".into())
    );
}

#[test]
fn bodies() {
    right(HELLO, kind("equals", json!({"text": "hello"})));
    right(HELLO, kind("one_of", json!({"texts": ["bye", "hello"]})));
    right(HELLO, kind("matches", json!({"pattern": "^h.*o$"})));
    right(HELLO, kind("length", json!({"bytes": 5})));
    let body = "plan/unexpected_body: 40".to_owned();
    let seen = |expect| wrong(HELLO, expect);
    assert_eq!(
        seen(kind("equals", json!({"text": "hell"}))),
        (body.clone(), "hello".into())
    );
    assert_eq!(
        seen(kind("one_of", json!({"texts": [""]}))),
        (body.clone(), "hello".into())
    );
    assert_eq!(
        seen(kind("matches", json!({"pattern": "^o"}))),
        (body.clone(), "hello".into())
    );
    assert_eq!(
        seen(kind("length", json!({"bytes": 6}))),
        (body, "5 bytes".into())
    );
}

#[test]
fn chunked_bodies_are_checked_without_their_framing() {
    let answer =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
    right(answer, kind("equals", json!({"text": "hello"})));
}

#[test]
fn coded_bodies_are_checked_decoded() {
    let coded = |coding: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"hello").unwrap();
    let answer = coded("gzip", &gzip.finish().unwrap());
    right(&answer, kind("equals", json!({"text": "hello"})));
    right(&answer, kind("length", json!({"bytes": 5})));
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(b"hello").unwrap();
    right(
        &coded("deflate", &zlib.finish().unwrap()),
        kind("matches", json!({"pattern": "ell"})),
    );
    let (failed, example) = wrong(
        &coded("gzip", b"no gzip"),
        kind("length", json!({"bytes": 7})),
    );
    assert_eq!(failed, "plan/unexpected_body: 40");
    assert!(example.contains("cannot be decoded"), "{example}");
    let (_, example) = wrong(&coded("br", b"x"), kind("length", json!({"bytes": 1})));
    assert_eq!(example, "a body coded as br cannot be checked");
}

#[test]
fn a_sample_is_checked() {
    let mut expect = kind("equals", json!({"text": "other"}));
    expect["check_every"] = json!(10);
    let (failed, _, checked) = expecting(HELLO.to_vec(), expect);
    // Two workers; each checks its first answer and every tenth after it.
    assert!((4..=6).contains(&checked), "{checked}");
    assert_eq!(failed, [format!("plan/unexpected_body: {checked}")]);
}

#[test]
fn a_wrong_answer_is_neither_completed_nor_timed() {
    let server = Server::answering(HELLO);
    let more = json!({"requests": [{"expect": {"status": [500]}}]});
    let measurement = run(&plan(&server, 1, 10, more));
    assert_eq!((measurement.completed, measurement.failed), (0, 10));
    assert_eq!(measurement.service_time.count, 0);
    assert_eq!(measurement.statuses["200"], 10);
    assert_eq!(server.connections(), 1);
}

#[test]
fn examples_are_short_and_harmless() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".to_owned();
    let answer = head + &"\x1b[31m".repeat(200);
    let (_, example) = wrong(answer.as_bytes(), kind("equals", json!({"text": ""})));
    assert!(example.len() <= 200, "{}", example.len());
    assert!(example.starts_with("\\x1b[31m\\x1b"), "{example}");
    assert!(example.ends_with("..."));
}
