//! What TLS carries below the requests, and what its two ends agreed on.

use std::io::{Read, Write, copy};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::support::{HELLO, Server, plan, wait_until};
use assay_engine::Run;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

/// Answers over TLS, with a certificate of its own making.
fn secured() -> Server {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    Server::start(move |peer| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut session = StreamOwned::new(connection, peer.stream.try_clone().unwrap());
        let (mut seen, mut buffer) = (Vec::new(), [0; 4_096]);
        while let Ok(read @ 1..) = session.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..read]);
            if seen.ends_with(b"\r\n\r\n") {
                seen.clear();
                let _ = session.write_all(HELLO).and_then(|()| session.flush());
            }
        }
    })
}

fn insecure(server: &Server) -> serde_json::Value {
    json!({"url": format!("https://{}", server.address), "tls": {"insecure": true}})
}

#[test]
fn what_was_agreed_on_is_known_while_the_load_goes_on() {
    let server = secured();
    let mut more = insecure(&server);
    more["stop"] = json!({"kind": "duration", "ns": 60_000_000_000_u64});
    let run = Run::start(&plan(&server, 1, 1, more)).unwrap();
    wait_until("a session is told", || run.session().is_some());
    assert_eq!(run.session().unwrap().version, "TLS 1.3");
    run.stop(0);
    run.result().unwrap();
}

#[test]
fn bytes_below_tls_are_those_on_the_wire() {
    let server = secured();
    let to = server.address;
    let up = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&up);
    let relay = Server::start(move |peer| {
        let mut server = TcpStream::connect(to).unwrap();
        let mut back = (
            server.try_clone().unwrap(),
            peer.stream.try_clone().unwrap(),
        );
        thread::spawn(move || copy(&mut back.0, &mut back.1));
        let mut buffer = [0; 16_384];
        while let Ok(read @ 1..) = peer.stream.read(&mut buffer) {
            seen.fetch_add(read as u64, Ordering::SeqCst);
            server.write_all(&buffer[..read]).unwrap();
        }
    });
    let run = Run::start(&plan(&relay, 2, 40, insecure(&relay))).unwrap();
    let measurement = run.result().unwrap();
    assert_eq!(measurement.completed, 40);
    let (read, written) = run.tls_bytes().unwrap();
    assert_eq!(written, up.load(Ordering::SeqCst));
    assert!(written > measurement.bytes_written);
    let certificate = run.session().unwrap().certificate.len() as u64;
    assert!(read > measurement.bytes_read + certificate);
}

#[test]
fn without_tls_there_are_none_below_it() {
    let server = Server::answering(HELLO);
    let run = Run::start(&plan(&server, 1, 3, json!({}))).unwrap();
    assert_eq!(run.result().unwrap().completed, 3);
    assert_eq!((run.tls_bytes(), run.session()), (None, None));
}
