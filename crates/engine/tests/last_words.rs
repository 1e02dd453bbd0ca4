//! What a peer has said before its connection ended counts, whatever the transport says of the end.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use crate::support::http2::{BODY, serve_with};
use crate::support::{HELLO, Peer, Server, outcomes, plan, run};
use assay_engine::Measurement;
use assay_http2::frame::{self, Code};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

const BODY_BYTES: usize = 4_000_000;
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge";

/// Requests with a body that no socket holds.
fn posting() -> Value {
    json!({"requests": [{"method": "POST", "body": "x".repeat(BODY_BYTES)}]})
}

#[test]
fn the_answer_to_a_body_that_nobody_reads_counts() {
    for read in [0, 1_000, 1_000_000] {
        // Closing with the rest of the body unread makes the system send a reset behind the answer.
        let server = Server::start(move |peer| {
            let _ = peer.stream.read_exact(&mut vec![0; read]);
            peer.send(TOO_LARGE);
        });
        let measured = run(&plan(&server, 8, 60, posting()));
        assert_eq!(outcomes(&measured), Vec::<String>::new(), "{read}");
        assert_eq!(measured.statuses["413"], 60, "{read}");
    }
}

#[test]
fn half_an_answer_before_a_reset_is_still_a_reset() {
    let bodies: [&[u8]; 2] = [
        b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\nhalf",
        // Only the close would end it, and a reset is none.
        b"HTTP/1.1 413 Too Large\r\n\r\nhalf",
    ];
    for half in bodies {
        let server = Server::start(move |peer| {
            peer.request_head();
            peer.send(half);
        });
        let measured = run(&plan(&server, 1, 8, posting()));
        assert_eq!(outcomes(&measured), ["network/reset: 8"]);
    }
}

#[test]
fn an_error_goaway_ends_what_it_leaves_open_at_once() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |server, stream, out| {
            match stream {
                1 => server.answer(stream, b"\x88", &BODY.into(), out),
                _ => frame::write_goaway(stream, Code::ENHANCE_YOUR_CALM, "", out),
            }
            true
        });
    });
    // The peer does not close, and no timeout would end this in time.
    let measured = run(&plan(&server, 1, 10, json!({"http": "2"})));
    assert_eq!(outcomes(&measured), ["peer/closed_early: 5"]);
    let example = &measured.outcomes[0].example;
    assert!(example.contains("ENHANCE_YOUR_CALM"), "{example}");
    assert_eq!(measured.completed, 5);
}

#[test]
fn an_answer_together_with_an_error_goaway_counts() {
    let server = Server::start(|peer| {
        serve_with(peer, 100, &|_| {}, |server, stream, out| {
            frame::write_goaway(stream, Code::INTERNAL_ERROR, "", out);
            server.answer(stream, b"\x88", &BODY.into(), out);
            true
        });
    });
    let measured = run(&plan(&server, 1, 10, json!({"http": "2"})));
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!(measured.completed, 10);
}

type Session = StreamOwned<ServerConnection, TcpStream>;

/// A server of TLS whose sessions are served by `script`; with `wants_client` it takes none but of its own authority.
fn tls(wants_client: bool, script: fn(&mut Session, &Peer)) -> Server {
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if wants_client {
        let mut roots = RootCertStore::empty();
        roots.add(own.cert.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        builder.with_client_cert_verifier(verifier.build().unwrap())
    } else {
        builder.with_no_client_auth()
    };
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let chain = vec![own.cert.der().clone()];
    let config = Arc::new(builder.with_single_cert(chain, key).unwrap());
    Server::start(move |peer| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let stream = peer.stream.try_clone().unwrap();
        script(&mut StreamOwned::new(connection, stream), peer);
    })
}

fn over_tls(server: &Server, count: u64, more: Value) -> Measurement {
    let mut fields = json!({
        "url": format!("https://localhost:{}", server.address.port()),
        "addresses": ["127.0.0.1"], "tls": {"insecure": true},
    });
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    run(&plan(server, 1, count, fields))
}

fn request(session: &mut Session) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match session.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return false,
        }
    }
    true
}

#[test]
fn the_alert_that_refuses_a_client_is_told_whatever_is_being_written() {
    let server = tls(true, |session, _| {
        // The handshake ends in the alert; then everything that comes is left unread.
        let _ = session.conn.complete_io(&mut session.sock);
        let _ = session.conn.write_tls(&mut session.sock);
    });
    for version in ["1.3", "1.2"] {
        let mut more = posting();
        more["tls"] = json!({"insecure": true, "versions": [version]});
        let measured = over_tls(&server, 8, more);
        assert_eq!(outcomes(&measured), ["peer/tls_error: 8"], "{version}");
        let example = &measured.outcomes[0].example;
        assert!(example.contains("received fatal alert"), "{example}");
    }
}

#[test]
fn an_idle_session_that_ends_without_an_alert_is_closed_idle() {
    let server = tls(false, |session, _| {
        request(session);
        let _ = session.write_all(HELLO).and_then(|()| session.flush());
        request(session);
        let _ = session.sock.shutdown(Shutdown::Both);
    });
    let measured = over_tls(&server, 10, json!({}));
    assert_eq!(outcomes(&measured), ["peer/closed_idle: 5"]);
    let measured = over_tls(&server, 10, json!({"resend": true}));
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!(measured.resent, 9);
}

#[test]
fn an_answer_before_a_record_that_cannot_be_read_counts() {
    let server = tls(false, |session, _| {
        request(session);
        // Both in one write, so that they are read at once.
        let _ = session.conn.writer().write_all(HELLO);
        let mut out = Vec::new();
        let _ = session.conn.write_tls(&mut out);
        out.extend_from_slice(b"\x17\x03\x03\x00\x14twenty bytes of chaff");
        let _ = session.sock.write_all(&out);
        let _ = session.sock.read_to_end(&mut Vec::new());
    });
    let measured = over_tls(&server, 5, json!({}));
    assert_eq!(outcomes(&measured), Vec::<String>::new());
    assert_eq!(measured.completed, 5);
}
