//! Plans of HTTP/3, and servers of it.

use std::net::UdpSocket;

use assay_engine::{LoadPlan, Measurement};
use assay_null_server::answer::Answer;
use assay_null_server::http3::QuicServer;
use assay_null_server::responder::Settings;
use serde_json::{Value, json};

use super::quic::{Allows, Peer};
use super::run;

pub const BODY: &[u8] = b"hello";

pub fn plan_of(url: &str, connections: u32, streams: u32, count: u64, more: &Value) -> LoadPlan {
    let mut plan = json!({
        "url": url,
        "http": "3",
        "streams": streams,
        "load": {"kind": "closed", "connections": connections},
        "stop": {"kind": "requests", "count": count},
        "timeout_ns": 60_000_000_000_u64,
        "tls": {"insecure": true},
    });
    for (key, value) in more.as_object().unwrap() {
        plan[key] = value.clone();
    }
    LoadPlan::from_json(plan.to_string().as_bytes()).unwrap()
}

pub fn http3(url: &str, connections: u32, streams: u32, count: u64, more: Value) -> Measurement {
    run(&plan_of(url, connections, streams, count, &more))
}

pub fn null_at(socket: UdpSocket, body: &[u8]) -> QuicServer {
    let answer = Answer {
        body: body.to_vec(),
        ..Answer::default()
    };
    let settings = Settings {
        answer,
        ..Settings::default()
    };
    QuicServer::start(socket, &settings).unwrap()
}

/// The null server, and its URL.
pub fn null(body: &[u8]) -> (QuicServer, String) {
    let server = null_at(UdpSocket::bind("127.0.0.1:0").unwrap(), body);
    let url = format!("https://{}", server.address());
    (server, url)
}

pub fn answering(allows: Allows) -> Peer {
    Peer::start(allows, |asked| asked.answer(BODY))
}
