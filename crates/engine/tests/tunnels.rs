//! Tunnels through a proxy: its answer is a head like all others, and what it is told of us the server is not.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use crate::support::{HELLO, Server, outcomes, plan, run};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// What a proxy, and the server behind it, were sent.
type Seen = Arc<Mutex<Vec<String>>>;

/// A proxy that answers CONNECT so, and is the server at the other end of its tunnel itself.
fn proxy(answer: &'static [u8]) -> (Server, Seen) {
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
    let seen = Seen::default();
    let sees = Arc::clone(&seen);
    let server = Server::start(move |peer| {
        let Some(asked) = peer.request() else { return };
        sees.lock().unwrap().push(asked);
        peer.send(answer);
        let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut session = StreamOwned::new(tls, peer.stream.try_clone().unwrap());
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = session.read(&mut buffer) {
            let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
            sees.lock().unwrap().push(text);
            if session.write_all(HELLO).is_err() {
                return;
            }
        }
    });
    (server, seen)
}

fn through(proxy: &Server, requests: &Value) -> Value {
    json!({
        "url": "https://localhost", "proxy": proxy.url(), "tls": {"insecure": true},
        "requests": requests, "timeout_ns": 5_000_000_000_u64,
    })
}

#[test]
fn every_head_of_a_success_opens_it() {
    let open: [&[u8]; 9] = [
        b"HTTP/1.1 200 Connection established\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nProxy-Agent: x\r\n\r\n",
        b"HTTP/1.1 204\r\n\r\n",
        b"HTTP/1.2 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\n\n",
        b"HTTP/1.1 200 OK\nVia: x\n\r\n",
        b"\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 103 Early\nLink: x\n\nHTTP/1.1 102 P\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    ];
    for answer in open {
        let (server, _) = proxy(answer);
        let measurement = run(&plan(&server, 1, 5, through(&server, &json!([{}]))));
        let said = String::from_utf8_lossy(answer);
        assert_eq!(outcomes(&measurement), Vec::<String>::new(), "{said}");
        assert_eq!(
            (measurement.completed, server.connections()),
            (5, 1),
            "{said}"
        );
    }
}

#[test]
fn any_other_is_told() {
    let shut: [(&[u8], &str); 6] = [
        (b"HTTP/1.1 407 Who?\n\n", "HTTP/1.1 407 Who?"),
        (
            b"HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 502 Bad\r\n\r\n",
            "HTTP/1.1 502 Bad",
        ),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 101"),
        (
            b"HTTP/1.12200 OK\r\n\r\n",
            "the proxy's answer: malformed head",
        ),
        (
            b"HTTP/1.1 200 OK\r\nA B: c\r\n\r\n",
            "the proxy's answer: malformed head",
        ),
        (b"SSH-2.0-x\r\n\r\n", "the proxy's answer: malformed head"),
    ];
    for (answer, example) in shut {
        let (server, _) = proxy(answer);
        let measurement = run(&plan(&server, 1, 2, through(&server, &json!([{}]))));
        assert_eq!(
            outcomes(&measurement),
            ["peer/proxy_refused: 2"],
            "{example}"
        );
        let seen = &measurement.outcomes[0].example;
        assert!(seen.starts_with(example), "{seen}");
    }
}

#[test]
fn the_proxy_is_told_who_we_are_and_the_server_is_not() {
    let (server, seen) = proxy(b"HTTP/1.1 200 OK\r\n\r\n");
    let requests = json!([{"headers": [["Proxy-Authorization", "Basic YTpi"], ["X-Own", "1"]]}]);
    let measurement = run(&plan(&server, 1, 3, through(&server, &requests)));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    let seen = seen.lock().unwrap();
    let (opening, sent) = seen.split_first().unwrap();
    assert!(
        opening.starts_with("CONNECT localhost:443 HTTP/1.1\r\n"),
        "{opening}"
    );
    assert!(
        opening.contains("\r\nProxy-Authorization: Basic YTpi\r\n"),
        "{opening}"
    );
    assert_eq!(sent.len(), 3);
    for request in sent {
        assert!(
            request.contains("\r\nX-Own: 1\r\n") && !request.contains("Proxy-"),
            "{request}"
        );
    }
}
