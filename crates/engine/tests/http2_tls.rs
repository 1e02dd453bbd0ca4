//! HTTP/2 over TLS: what ALPN agrees on, and what becomes of a run where that is something else.

mod support;

use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use assay_http2::server::{self, Event};
use rcgen::generate_simple_self_signed;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use support::{HELLO, Server, outcomes, plan, run};

fn server(alpn: &[&str]) -> Server {
    server_that(alpn, true, || {})
}

/// Speaks what it picks: HTTP/2 where ALPN says `h2`, else HTTP/1.1. Instead of an answer it may end the connection
/// without a word, of TLS or of HTTP/2.
fn server_that(alpn: &[&str], answers: bool, before: fn()) -> Server {
    let made = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let config = Arc::new(config);
    Server::start(move |peer| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, peer.stream.try_clone().unwrap());
        let mut buffer = [0; 16_384];
        before();
        if stream.flush().is_err() {
            return;
        }
        while stream.conn.is_handshaking() {
            if stream.conn.complete_io(&mut stream.sock).is_err() {
                return;
            }
        }
        if stream.conn.alpn_protocol() != Some(b"h2") {
            while matches!(stream.read(&mut buffer), Ok(1..)) {
                let _ = stream.write_all(HELLO);
            }
            return;
        }
        let mut out = Vec::new();
        let mut server = server::Server::new(100, &mut out);
        loop {
            let _ = stream.write_all(&std::mem::take(&mut out));
            let Ok(read @ 1..) = stream.read(&mut buffer) else {
                return;
            };
            let mut input = &buffer[..read];
            while let Ok(Some(event)) = server.next(&mut input, &mut out) {
                let Event::Request { stream, .. } = event else {
                    continue;
                };
                if !answers {
                    peer.end_sending();
                    return peer.hang();
                }
                server.answer(stream, b"\x88", &b"hello"[..].into(), &mut out);
            }
        }
    })
}

fn over_tls(server: &Server, more: Value) -> assay_engine::Measurement {
    let url = format!("https://localhost:{}", server.address.port());
    let mut fields =
        json!({"url": url, "addresses": [server.address.to_string()], "tls": {"insecure": true}});
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    run(&plan(server, 2, 200, fields))
}

#[test]
fn http2_is_agreed_on_by_alpn() {
    let server = server(&["http/1.1", "h2"]);
    let measured = over_tls(&server, json!({"http": "2", "streams": 5}));
    assert_eq!((measured.completed, measured.failed), (200, 0));
    let agreed: Vec<&String> = measured.handshakes.keys().collect();
    assert!(
        agreed.iter().all(|agreed| agreed.contains("h2")),
        "{agreed:?}"
    );
}

#[test]
fn auto_is_what_the_server_picks() {
    let both = server(&["h2", "http/1.1"]);
    let picked = over_tls(&both, json!({"http": "auto", "streams": 5}));
    assert_eq!(picked.http_versions, [("2".to_owned(), 200)].into());
    let old = server(&["http/1.1"]);
    let measured = over_tls(&old, json!({"http": "auto", "streams": 5}));
    assert_eq!(measured.http_versions, [("1.1".to_owned(), 200)].into());
    assert!(measured.http2.is_none());
}

/// Stops this process and lets it go on, as Ctrl-Z and `fg` do: whoever waits for a selector is woken (signal(7)).
fn stop_and_go_on() {
    let words = "kill -STOP $PPID; kill -CONT $PPID";
    let done = Command::new("sh").args(["-c", words]).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_signal_while_the_server_is_asked_changes_nothing() {
    let server = server_that(&["h2", "http/1.1"], true, stop_and_go_on);
    let measured = over_tls(&server, json!({"http": "auto", "streams": 5}));
    assert_eq!(measured.http_versions, [("2".to_owned(), 200)].into());
}

#[test]
fn a_server_that_does_not_pick_http2_is_one_clear_failure() {
    let ends = json!({"http": "2", "streams": 5, "ends_on": ["wrong_protocol"]});
    for alpn in [&["http/1.1"][..], &[]] {
        let server = server(alpn);
        let measured = over_tls(&server, ends.clone());
        assert!(measured.interrupted && measured.completed == 0);
        assert!(measured.connections.opened > 0);
        assert!(
            measured.outcomes[0]
                .example
                .contains("does not speak HTTP/2")
        );
        let kinds: Vec<String> = outcomes(&measured);
        assert!(
            kinds
                .iter()
                .all(|kind| kind.starts_with("peer/wrong_protocol")),
            "{kinds:?}"
        );
    }
}

#[test]
fn an_end_without_a_goaway_is_told_whatever_tls_says_of_it() {
    let server = server_that(&["h2"], false, || {});
    let two = json!({"http": "2", "stop": {"kind": "requests", "count": 2}});
    let measured = over_tls(&server, two);
    assert_eq!(outcomes(&measured), ["peer/closed_unannounced: 2"]);
}

#[test]
fn what_waits_for_another_connection_says_so_when_its_time_is_over() {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    // The second connection is begun long after the request began to wait, and never ready.
    let server = server_that(&["h2"], true, || match OPENED.fetch_add(1, SeqCst) {
        0 => thread::sleep(Duration::from_millis(300)),
        _ => loop {
            thread::park();
        },
    });
    let measured = over_tls(
        &server,
        json!({
            "http": "2", "streams": 2, "requests_per_connection": 1, "timeout_ns": 800_000_000,
            "load": {"kind": "closed", "connections": 1}, "stop": {"kind": "requests", "count": 2},
        }),
    );
    assert_eq!(outcomes(&measured), ["peer/timeout: 1"]);
    assert_eq!(
        measured.outcomes[0].example,
        "after 800 ms, waiting for another connection"
    );
}
