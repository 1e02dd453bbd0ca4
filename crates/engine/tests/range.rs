//! What a load can be beside the plain one: sockets, addresses, proxies, varying requests.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::IpAddr;
use std::os::unix::net::UnixListener;
use std::sync::Mutex;
use std::thread;

use crate::support::{HELLO, Server, outcomes, plan, run};
use serde_json::json;

#[test]
fn a_unix_socket() {
    let folder = std::env::temp_dir().join(format!("assay-engine-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while matches!(stream.read(&mut buffer), Ok(read) if read > 0) {
                    assert!(buffer.starts_with(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                    stream.write_all(HELLO).unwrap();
                }
            });
        }
    });
    let url = format!("http+unix://{}", path.to_str().unwrap().replace('/', "%2F"));
    let any = Server::answering(HELLO);
    let measurement = run(&plan(&any, 3, 300, json!({"url": url})));
    assert_eq!(measurement.completed, 300);
    assert_eq!(measurement.connections.opened, 3);
    std::fs::remove_dir_all(&folder).unwrap();
    let measurement = run(&plan(&any, 1, 5, json!({"url": url})));
    assert_eq!(outcomes(&measurement), ["network/connect_refused: 5"]);
}

#[test]
fn source_addresses_are_used_in_turn() {
    static PEERS: Mutex<Vec<IpAddr>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        PEERS
            .lock()
            .unwrap()
            .push(peer.stream.peer_addr().unwrap().ip());
        while peer.request().is_some() {
            peer.send(HELLO);
        }
    });
    let sources = json!({"source_addresses": ["127.0.0.2", "127.0.0.3"]});
    assert_eq!(run(&plan(&server, 4, 100, sources)).completed, 100);
    let mut peers: Vec<String> = PEERS
        .lock()
        .unwrap()
        .iter()
        .map(IpAddr::to_string)
        .collect();
    peers.sort();
    assert_eq!(peers, ["127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3"]);
}

#[test]
fn connections_are_opened_at_a_rate() {
    let server = Server::answering(HELLO);
    let more = json!({"connections_per_s": 100.0, "stop": {"kind": "duration", "ns": 500_000_000}});
    let measurement = run(&plan(&server, 1_000, 1, more));
    let opened = measurement.connections.opened;
    assert!(
        (1..=51).contains(&opened),
        "{opened} in half a second at 100 a second"
    );
    assert!(measurement.completed > opened);
}

#[test]
fn templates_are_filled_in_anew_each_time() {
    static REQUESTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            REQUESTS.lock().unwrap().push(request);
            peer.send(HELLO);
        }
    });
    let request = json!({
        "method": "POST", "templated": true, "target": "/item/{counter}?{x}={random:7-9}",
        "headers": [["X-Id", "{uuid}"]], "body": "{\"n\": {counter}}",
    });
    let more = json!({"requests": [request], "threads": 2, "pipeline": 2});
    assert_eq!(run(&plan(&server, 4, 200, more)).completed, 200);
    let requests = REQUESTS.lock().unwrap();
    let pattern = regex::Regex::new(concat!(
        r"^POST /item/(?<n>\d+)\?\{x\}=(?<r>[789]) HTTP/1.1\r\nHost: [^\r]*\r\n",
        r"X-Id: (?<u>[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\r\n",
        r#"Content-Length: (?<l>\d+)\r\n\r\n(?<b>\{"n": (?<m>\d+)\})$"#,
    ));
    let pattern = pattern.unwrap();
    let (mut counters, mut ids, mut digits) = (HashSet::new(), HashSet::new(), HashSet::new());
    for request in requests.iter() {
        let found = pattern
            .captures(request)
            .unwrap_or_else(|| panic!("{request}"));
        assert_eq!(&found["n"], &found["m"]);
        assert_eq!(found["l"].parse::<usize>().unwrap(), found["b"].len());
        counters.insert(found["n"].to_owned());
        ids.insert(found["u"].to_owned());
        digits.insert(found["r"].to_owned());
    }
    assert_eq!((counters.len(), ids.len(), digits.len()), (200, 200, 3));
}

#[test]
fn a_body_can_be_sent_in_chunks() {
    let server = Server::start(|peer| {
        loop {
            let Some(request) = peer.request_until("0\r\n\r\n") else {
                return;
            };
            assert!(
                request.contains("\r\nTransfer-Encoding: chunked\r\n"),
                "{request}"
            );
            assert!(!request.contains("Content-Length"));
            assert!(
                request.ends_with("\r\n\r\n4\r\nhell\r\n4\r\no wo\r\n3\r\nrld\r\n0\r\n\r\n"),
                "{request}"
            );
            peer.send(HELLO);
        }
    });
    let request = json!({"method": "PUT", "body": "hello world", "chunk_bytes": 4});
    let measurement = run(&plan(&server, 1, 5, json!({"requests": [request]})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!(measurement.completed, 5);
}

#[test]
fn a_form_is_sent_as_browsers_send_it() {
    static BODIES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            BODIES.lock().unwrap().push(request);
            peer.send(HELLO);
        }
    });
    let folder = std::env::temp_dir().join(format!("assay-form-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cat \"1\".png");
    std::fs::write(&file, "--assay-0000000000000000\r\npixels").unwrap();
    let form = json!([
        {"name": "who", "text": "Ada"},
        {"name": "picture", "file": file, "content_type": "image/png"},
        {"name": "raw", "file": file, "file_name": "x"},
    ]);
    let request = json!({"method": "POST", "form": form});
    let measurement = run(&plan(&server, 1, 2, json!({"requests": [request]})));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    let content = "--assay-0000000000000000\r\npixels";
    // The first boundary is in a file, so that the second has to be used.
    let boundary = "assay-0000000000000001";
    let body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"who\"\r\n\r\nAda\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"picture\"; \
         filename=\"cat %221%22.png\"\r\nContent-Type: image/png\r\n\r\n{content}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"raw\"; filename=\"x\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n{content}\r\n--{boundary}--\r\n"
    );
    let expected = format!(
        "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: multipart/form-data; boundary={boundary}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    assert_eq!(BODIES.lock().unwrap()[..], [expected.clone(), expected]);
}

#[test]
fn cookies_are_kept_per_connection_when_asked() {
    let server = Server::start(|peer| {
        let session = format!("session={}", peer.number);
        for times in 0_u32.. {
            let Some(request) = peer.request() else {
                return;
            };
            let cookie = request
                .lines()
                .find_map(|line| line.strip_prefix("Cookie: "));
            let (expected, set) = match times {
                0 => (
                    None,
                    format!("Set-Cookie: {session}; Path=/\r\nset-cookie: a=1\r\n"),
                ),
                1 => (
                    Some(format!("{session}; a=1")),
                    "Set-Cookie: a=2\r\n".into(),
                ),
                2 => (
                    Some(format!("{session}; a=2")),
                    "Set-Cookie: a=; Max-Age=0\r\n".into(),
                ),
                _ => (Some(session.clone()), String::new()),
            };
            assert_eq!(cookie, expected.as_deref());
            peer.send(format!("HTTP/1.1 200 OK\r\n{set}Content-Length: 0\r\n\r\n"));
        }
    });
    let measurement = run(&plan(&server, 2, 12, json!({"cookies": true})));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!((measurement.completed, server.connections()), (12, 2));
}

#[test]
fn a_plain_proxy_is_asked_for_the_whole_url() {
    let proxy =
        Server::start(|peer| {
            while let Some(request) = peer.request() {
                assert!(request.starts_with(
                    "GET http://example.test:81/a HTTP/1.1\r\nHost: example.test:81\r\n"
                ));
                peer.send(HELLO);
            }
        });
    let more = json!({
        "url": "http://example.test:81", "proxy": proxy.url(), "requests": [{"target": "/a"}],
    });
    let measurement = run(&plan(&proxy, 2, 20, more));
    assert_eq!(outcomes(&measurement), Vec::<String>::new());
    assert_eq!((measurement.completed, proxy.requests()), (20, 20));
}

#[test]
fn a_proxy_that_refuses_the_tunnel_is_named() {
    let proxy = Server::start(|peer| {
        let request = peer.request().unwrap();
        assert!(
            request.starts_with("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n")
        );
        peer.send(b"HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    let more = json!({
        "url": "https://example.test", "proxy": proxy.url(), "tls": {"insecure": true},
    });
    let measurement = run(&plan(&proxy, 1, 3, more));
    assert_eq!(outcomes(&measurement), ["peer/proxy_refused: 3"]);
    assert!(measurement.outcomes[0].example.starts_with("HTTP/1.1 403"));
}
