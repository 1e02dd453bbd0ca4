//! Four hundred answers, each whole, cut at every byte, and byte by byte: the accounting are the same.
//!
//! The server speaks over a unix socket, whose sender can ask whether what it sent has been read:
//! so each piece is a read of its own, and nothing waits for a clock.

#![cfg(target_os = "linux")]

#[path = "support/corpus.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use assay_engine::{LoadPlan, Measurement, Run};
use corpus::{Answer, Fate};
use rustix::ioctl::{Getter, ioctl};
use serde_json::json;

/// Of `sys/ioctl.h`; over a unix socket it counts what the other side has not read (unix(7)).
const TIOCOUTQ: rustix::ioctl::Opcode = 0x5411;
/// Longer answers are cut every so many bytes, not at each.
const CUTS: usize = 400;

/// How many bytes a socket has sent that nobody has read.
fn unread(stream: &UnixStream) -> c_int {
    // SAFETY: TIOCOUTQ writes one int.
    let asked = unsafe { ioctl(stream, Getter::<TIOCOUTQ, c_int>::new()) };
    asked.unwrap_or(0)
}

/// Where the `number`-th answer is cut.
fn cuts(length: usize, number: usize) -> Vec<usize> {
    let step = length.div_ceil(CUTS);
    match number * step {
        // The first is whole, and the last, after all places to cut, goes byte by byte.
        0 => Vec::new(),
        at if at < length => vec![at],
        _ => (1..length).step_by(step).collect(),
    }
}

/// How many requests it takes to cut an answer everywhere.
fn rounds(length: usize) -> usize {
    length.div_ceil(length.div_ceil(CUTS).max(1)).max(1) + 1
}

struct Server {
    path: PathBuf,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn start(name: &str, answer: Answer) -> Self {
        let path = std::env::temp_dir().join(format!("assay-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (seen, answered) = (Arc::clone(&connections), Arc::new(AtomicUsize::new(0)));
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                seen.fetch_add(1, SeqCst);
                let (answer, answered) = (Arc::clone(&answer), Arc::clone(&answered));
                thread::spawn(move || serve(stream.unwrap(), &answer, &answered));
            }
        });
        Self { path, connections }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn serve(mut stream: UnixStream, answer: &Answer, answered: &AtomicUsize) {
    let mut asked = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        while let Some(end) = asked.windows(4).position(|four| four == b"\r\n\r\n") {
            asked.drain(..end + 4);
            let number = answered.fetch_add(1, SeqCst);
            send(
                &mut stream,
                &answer.bytes,
                &cuts(answer.bytes.len(), number),
            );
            if answer.closes() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(read) => asked.extend_from_slice(&buffer[..read]),
        }
    }
}

/// Sends the pieces, each once the one before has been read. A client may have seen enough.
fn send(stream: &mut UnixStream, bytes: &[u8], cuts: &[usize]) {
    let mut from = 0;
    for to in cuts.iter().copied().chain([bytes.len()]) {
        if stream.write_all(&bytes[from..to]).is_err() {
            return;
        }
        while unread(stream) > 0 {
            thread::yield_now();
        }
        from = to;
    }
}

fn load(server: &Server, method: &str, count: usize) -> Measurement {
    let plan = json!({
        "url": "http://test",
        "addresses": [format!("unix:{}", server.path.display())],
        "requests": [{"method": method}],
        "load": {"kind": "closed", "connections": 1},
        "stop": {"kind": "requests", "count": count},
        "timeout_ns": 20_000_000_000_u64,
        "retry_wait_max_ns": 0,
    });
    let run = Run::start(&LoadPlan::from_json(plan.to_string().as_bytes()).unwrap()).unwrap();
    assert!(run.wait(Duration::from_secs(300)), "it does not end");
    run.result().unwrap()
}

/// What is wrong with the measurement of `count` such answers, in words.
fn wrong(answer: &Answer, measured: &Measurement, connections: usize, count: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, seen: String, right: String| {
        if seen != right {
            wrong.push(format!("{what}: {seen} instead of {right}"));
        }
    };
    let answered = if answer.counts() { count } else { 0 };
    same(
        "completed",
        measured.completed.to_string(),
        answered.to_string(),
    );
    let kinds: Vec<_> = measured
        .outcomes
        .iter()
        .map(|o| (o.kind.as_str(), o.count))
        .collect();
    let failed = match answer.fate {
        Fate::Bad => vec![("bad_answer", count)],
        Fate::Early => vec![("closed_early", count)],
        _ => Vec::new(),
    };
    same("failures", format!("{kinds:?}"), format!("{failed:?}"));
    if answer.counts() {
        let statuses = BTreeMap::from([(answer.status.to_string(), count)]);
        same(
            "statuses",
            format!("{:?}", measured.statuses),
            format!("{statuses:?}"),
        );
        let body = answer.body.len() as u64 * count;
        same(
            "bytes of bodies",
            measured.body_bytes.to_string(),
            body.to_string(),
        );
    }
    let used = match answer.fate {
        Fate::Right => connections == 1,
        // Stray bytes that come later cost the connection one request later.
        Fate::Stray => connections > 1,
        _ => connections as u64 == count,
    };
    same(
        "connections used as they should be",
        used.to_string(),
        "true".into(),
    );
    let has_stray = measured.stray.bytes > 0;
    if answer.counts() {
        same(
            "stray bytes",
            has_stray.to_string(),
            (answer.fate == Fate::Stray).to_string(),
        );
    }
    wrong
}

/// Every answer of a file, to requests of a method.
fn hold(file: &str, text: &str, method: &str) {
    let mut failed = Vec::new();
    for (number, answer) in corpus::read(text).into_iter().enumerate() {
        let server = Server::start(&format!("{file}-{number}"), answer.clone());
        let count = rounds(answer.bytes.len());
        let measured = load(&server, method, count);
        let connections = server.connections.load(SeqCst);
        let wrong = wrong(&answer, &measured, connections, count as u64);
        if !wrong.is_empty() {
            failed.push(format!("{}\n    {}", answer.line, wrong.join("\n    ")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

macro_rules! held {
    ($($name:ident: $file:literal, $method:literal;)+) => {$(
        #[test]
        fn $name() {
            hold($file, include_str!(concat!("corpus/", $file, ".txt")), $method);
        }
    )+};
}

held! {
    status_lines: "status", "GET";
    fields: "fields", "GET";
    lengths: "length", "GET";
    chunks_and_trailers: "chunked", "GET";
    interim_answers: "interim", "GET";
    stray_bytes: "stray", "GET";
    answers_to_head: "head", "HEAD";
}
