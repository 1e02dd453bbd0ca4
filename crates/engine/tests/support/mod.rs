//! A server that does what a test scripts, connection by connection, and counts exactly.

// Each test binary uses its own part of this.
#![allow(dead_code)]

pub mod http2;
pub mod http3;
pub mod interleaved;
pub mod quic;
pub mod quic_config;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use assay_engine::{LoadPlan, Measurement, Run};
use serde_json::{Value, json};

/// Counts of what the server saw.
#[derive(Debug, Default)]
pub struct Seen {
    pub connections: AtomicU64,
    pub requests: AtomicU64,
}

/// Runs until the process ends; its threads end with their connections.
pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
}

/// One accepted connection.
pub struct Peer {
    pub stream: TcpStream,
    /// Counts from 0 in the order of accepting.
    pub number: u64,
    seen: Arc<Seen>,
    ahead: Vec<u8>,
}

impl Server {
    pub fn start(script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", script)
    }

    pub fn start_at(address: &str, script: impl Fn(&mut Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let script = Arc::new(script);
        let server_seen = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                stream.set_nodelay(true).unwrap();
                let script = Arc::clone(&script);
                let seen = Arc::clone(&server_seen);
                let number = seen.connections.fetch_add(1, SeqCst);
                thread::spawn(move || {
                    script(&mut Peer {
                        stream,
                        number,
                        seen,
                        ahead: Vec::new(),
                    });
                });
            }
        });
        Self { address, seen }
    }

    /// Answers every request with the same bytes, on connections that stay open.
    pub fn answering(answer: &'static [u8]) -> Self {
        Self::start(move |peer| {
            while peer.request().is_some() {
                peer.send(answer);
            }
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn requests(&self) -> u64 {
        self.seen.requests.load(SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.seen.connections.load(SeqCst)
    }
}

impl Peer {
    /// The next request's head and body; None once the client has closed.
    pub fn request(&mut self) -> Option<String> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(length) = request_length(&self.ahead) {
                let rest = self.ahead.split_off(length);
                let request = std::mem::replace(&mut self.ahead, rest);
                self.seen.requests.fetch_add(1, SeqCst);
                return Some(String::from_utf8_lossy(&request).into_owned());
            }
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.ahead.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Reads the head of a request and nothing after it that is not here yet.
    pub fn request_head(&mut self) {
        let mut buffer = [0; 1024];
        while !self.ahead.windows(4).any(|four| four == b"\r\n\r\n") {
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(read) => self.ahead.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Everything up to and with `end`, as one request.
    pub fn request_until(&mut self, end: &str) -> Option<String> {
        let mut buffer = [0; 1024];
        loop {
            let end = end.as_bytes();
            if let Some(at) = self.ahead.windows(end.len()).position(|part| part == end) {
                let rest = self.ahead.split_off(at + end.len());
                let request = std::mem::replace(&mut self.ahead, rest);
                return Some(String::from_utf8_lossy(&request).into_owned());
            }
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.ahead.extend_from_slice(&buffer[..read]),
            }
        }
    }

    /// Sends bytes. A client that has gone away is no concern of the script.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Keeps the connection open, silent, until the client closes it.
    pub fn hang(&mut self) {
        let mut buffer = [0; 1024];
        while matches!(self.stream.read(&mut buffer), Ok(read) if read > 0) {}
    }

    /// Leaves the connection open for good, and whatever comes unread.
    pub fn abandon(&mut self) {
        std::mem::forget(self.stream.try_clone().unwrap());
    }

    /// Closes with a reset instead of an end.
    pub fn reset(&mut self) {
        let socket = socket2::SockRef::from(&self.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }

    pub fn end_sending(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}

fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.trim().parse().unwrap());
    (bytes.len() >= head + body).then_some(head + body)
}

pub const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A closed-loop plan for `count` requests on `connections` connections; `more` overrides.
pub fn plan(server: &Server, connections: u32, count: u64, more: Value) -> LoadPlan {
    let mut plan = json!({
        "url": server.url(),
        "load": {"kind": "closed", "connections": connections},
        "stop": {"kind": "requests", "count": count},
        "timeout_ns": 60_000_000_000_u64,
    });
    for (key, value) in more.as_object().unwrap() {
        plan[key] = value.clone();
    }
    LoadPlan::from_json(plan.to_string().as_bytes()).unwrap()
}

/// Runs a plan to its end. Its accounting balances, or `result` fails.
pub fn run(plan: &LoadPlan) -> Measurement {
    let run = Run::start(plan).unwrap();
    assert!(
        run.wait(Duration::from_secs(120)),
        "the run does not end: {plan:?}"
    );
    let measurement = run.result().unwrap();
    let failed: u64 = measurement
        .outcomes
        .iter()
        .map(|outcome| outcome.count)
        .sum();
    assert_eq!(failed, measurement.failed);
    measurement
}

/// The failures of a measurement as "origin/kind: count".
pub fn outcomes(measurement: &Measurement) -> Vec<String> {
    let text = |outcome: &assay_engine::record::measurement::Outcome| {
        let origin = serde_json::to_value(outcome.origin).unwrap();
        format!(
            "{}/{}: {}",
            origin.as_str().unwrap(),
            outcome.kind,
            outcome.count
        )
    };
    measurement.outcomes.iter().map(text).collect()
}

/// Waits for a condition that another thread brings about.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("waited in vain: {what}");
}
