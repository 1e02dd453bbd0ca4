//! Content codings: a list, however many fields say it; and more of them than are told apart.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::support::{HELLO, Server, outcomes, plan, run};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::json;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut coded = GzEncoder::new(Vec::new(), Compression::fast());
    coded.write_all(bytes).unwrap();
    coded.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut coded = ZlibEncoder::new(Vec::new(), Compression::fast());
    coded.write_all(bytes).unwrap();
    coded.finish().unwrap()
}

#[test]
fn several_fields_are_one_list() {
    let both = gzip(&deflate(b"hello"));
    let one = gzip(b"hello");
    let cases: [(&[&str], &[u8], &str); 12] = [
        (&["gzip"], &one, "gzip"),
        (&["gzip", "identity"], &one, "gzip"),
        (&["identity", "GZIP"], &one, "gzip"),
        (&["gzip", ""], &one, "gzip"),
        (&["", "gzip"], &one, "gzip"),
        (&["gzip,"], &one, "gzip"),
        (&[" , identity,, gzip"], &one, "gzip"),
        (&[""], b"hello", "identity"),
        (&["identity", "identity"], b"hello", "identity"),
        (&["deflate, gzip"], &both, "deflate, gzip"),
        (&["deflate", "gzip"], &both, "deflate, gzip"),
        (&["deflate , identity", ",gzip"], &both, "deflate, gzip"),
    ];
    for (fields, body, name) in cases {
        let lines: String = fields
            .iter()
            .map(|value| format!("Content-Encoding: {value}\r\n"))
            .collect();
        let head = format!(
            "HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = [head.as_bytes(), body].concat();
        let server = Server::start(move |peer| {
            while peer.request().is_some() {
                peer.send(&answer);
            }
        });
        for expected in [
            json!({"kind": "equals", "text": "hello"}),
            json!({"kind": "length", "bytes": 5}),
        ] {
            let more = json!({"requests": [{"expect": {"body": expected}}]});
            let measurement = run(&plan(&server, 1, 4, more));
            assert_eq!(outcomes(&measurement), Vec::<String>::new(), "{fields:?}");
            assert_eq!(
                measurement.encodings,
                [(name.to_owned(), 4)].into(),
                "{fields:?}"
            );
        }
    }
}

#[test]
fn a_coding_that_only_one_field_says_counts_however_many_follow() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    let expect = json!({"body": {"kind": "length", "bytes": 5}});
    let measurement = run(&plan(
        &server,
        1,
        4,
        json!({"requests": [{"expect": expect}]}),
    ));
    assert_eq!(outcomes(&measurement), ["plan/unexpected_body: 4"]);
    assert_eq!(
        measurement.outcomes[0].example,
        "a body coded as br cannot be checked"
    );
}

#[test]
fn those_beyond_the_most_are_told_together() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            let number = NUMBER.fetch_add(1, SeqCst);
            peer.send(format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: x{number}\r\nContent-Length: 0\r\n\r\n"
            ));
        }
    });
    let measurement = run(&plan(&server, 1, 100, json!({})));
    assert_eq!(measurement.completed, 100);
    // "identity" has a place, too.
    for number in 0..62 {
        assert_eq!(measurement.encodings[&format!("x{number}")], 1);
    }
    assert_eq!(measurement.encodings["(others)"], 38);
    assert_eq!(measurement.encodings.len(), 63);
    let plain = Server::answering(HELLO);
    assert_eq!(run(&plan(&plain, 1, 3, json!({}))).encodings["identity"], 3);
}
