//! Requests written down one by one, heads sent as given, and runs that end early by themselves.

use std::thread;
use std::time::Duration;

use crate::support::http2::{answering, serve_with};
use crate::support::{HELLO, Server, outcomes, plan, run};
use assay_engine::Run;
use serde_json::json;

/// The fields of an entry of [`Run::request_log`].
#[derive(Debug)]
struct Entry {
    begun_ns: u64,
    connect_ns: u64,
    first_byte_ns: u64,
    total_ns: u64,
    body_bytes: u64,
    status: u16,
    failure: u8,
    keeps_alive: bool,
}

fn entries(run: &Run) -> Vec<Entry> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let log = run.request_log();
    assert_eq!(log.len() % 48, 0);
    log.chunks(48)
        .map(|entry| Entry {
            begun_ns: number(&entry[..8]),
            connect_ns: number(&entry[8..16]),
            first_byte_ns: number(&entry[16..24]),
            total_ns: number(&entry[24..32]),
            body_bytes: number(&entry[32..40]),
            status: u16::from_le_bytes([entry[40], entry[41]]),
            failure: entry[42],
            keeps_alive: entry[43] == 1,
        })
        .collect()
}

fn ended(plan: &assay_engine::LoadPlan) -> Run {
    let run = Run::start(plan).unwrap();
    assert!(run.wait(Duration::from_secs(120)));
    run
}

#[test]
fn each_request_of_a_counted_run_is_written_down() {
    let server = Server::start(|peer| {
        let mut body = String::new();
        while peer.request().is_some() {
            body.push('x');
            peer.send(format!(
                "HTTP/1.1 404 No\r\nServer: s\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    let run = ended(&plan(&server, 1, 3, json!({"request_log": "times"})));
    let measurement = run.result().unwrap();
    let entries = entries(&run);
    let bodies: Vec<_> = entries.iter().map(|entry| entry.body_bytes).collect();
    assert_eq!(bodies, [1, 2, 3]);
    assert!(entries[0].connect_ns > 0, "the first opened its connection");
    assert!(entries[1..].iter().all(|entry| entry.connect_ns == 0));
    for entry in &entries {
        assert_eq!((entry.status, entry.failure), (404, 0));
        assert!(entry.keeps_alive);
        assert!(entry.connect_ns + entry.first_byte_ns <= entry.total_ns);
        assert!(entry.begun_ns + entry.total_ns <= measurement.measured_ns);
    }
    let first = b"HTTP/1.1 404 No\r\nServer: s\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(run.logged_answers(), [first]);
    assert_eq!(run.session(), None);
}

#[test]
fn all_answers_are_kept_where_they_are_wanted() {
    let server = Server::answering(HELLO);
    let run = ended(&plan(&server, 2, 5, json!({"request_log": "answers"})));
    assert_eq!(run.logged_answers(), vec![HELLO.to_vec(); 5]);
    let quiet = ended(&plan(&server, 2, 5, json!({})));
    assert!(quiet.request_log().is_empty() && quiet.logged_answers().is_empty());
}

#[test]
fn failed_requests_are_written_down_and_can_end_the_run() {
    let server = Server::start(|peer| {
        if peer.request().is_some() && peer.number < 2 {
            peer.send("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
    });
    let more = json!({"request_log": "times", "ends_on": ["closed_early"]});
    let run = ended(&plan(&server, 1, 50, more));
    let measurement = run.result().unwrap();
    assert_eq!((measurement.completed, measurement.failed), (2, 1));
    assert_eq!(outcomes(&measurement), ["peer/closed_early: 1"]);
    assert!(measurement.interrupted);
    let failures: Vec<_> = entries(&run).iter().map(|entry| entry.failure).collect();
    assert_eq!((failures[0], failures[1], failures.len()), (0, 0, 3));
    assert_ne!(failures[2], 0);
}

#[test]
fn a_head_is_sent_as_it_is() {
    let server = Server::start(|peer| {
        while let Some(request) = peer.request() {
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{request}",
                request.len()
            );
            peer.send(answer);
        }
    });
    let head = "PUT /x HTTP/1.0\r\nContent-length: 4\r\nodd line\r\nHost: h\r\n";
    let request = json!([{"method": "PUT", "head": head, "body": "data"}]);
    let more = json!({"requests": request, "request_log": "times"});
    let run = ended(&plan(&server, 1, 1, more));
    let answer = String::from_utf8(run.logged_answers().remove(0)).unwrap();
    let (_, echoed) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(echoed, format!("{head}\r\ndata"));
}

#[test]
fn http10_reuses_a_connection_only_where_the_server_says_so() {
    let load = |answer: &'static [u8]| {
        let server = Server::answering(answer);
        let more = json!({"http_version": "1.0", "request_log": "times"});
        let run = ended(&plan(&server, 1, 4, more));
        let kept = entries(&run)
            .iter()
            .filter(|entry| entry.keeps_alive)
            .count();
        (server.connections(), kept)
    };
    assert_eq!(load(HELLO), (4, 0));
    let explicit = b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(load(explicit), (1, 4));
}

#[test]
fn a_counted_run_ends_when_its_time_is_up() {
    let server = Server::start(|peer| {
        peer.request();
        peer.send(HELLO);
        peer.hang();
    });
    let stop = json!({"kind": "requests", "count": 1000, "within_ns": 50_000_000});
    let measurement = run(&plan(&server, 1, 1000, json!({"stop": stop})));
    assert_eq!(measurement.completed, 1);
    assert_eq!(measurement.measured_ns, 50_000_000);
    assert!(!measurement.interrupted, "it is the plan's own end");
}

#[test]
fn buffers_of_any_size_carry_the_load() {
    let server = Server::answering(HELLO);
    let measurement = run(&plan(&server, 1, 10, json!({"socket_buffer_bytes": 4096})));
    assert_eq!(measurement.completed, 10);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let wrong = |change: serde_json::Value| {
        let mut plan = json!({
            "url": "http://h", "load": {"kind": "closed", "connections": 1},
            "stop": {"kind": "requests", "count": 1}
        });
        for (key, value) in change.as_object().unwrap() {
            plan[key] = value.clone();
        }
        assay_engine::LoadPlan::from_json(plan.to_string().as_bytes())
            .unwrap_err()
            .to_string()
    };
    let unbounded = json!({"stop": {"kind": "duration", "ns": 5}, "request_log": "times"});
    assert!(wrong(unbounded).starts_with("request_log: needs a stop at a count"));
    let ends_on = wrong(json!({"ends_on": ["reset", "ennui"]}));
    assert_eq!(ends_on, "ends_on: 'ennui' is no kind of failure");
    assert!(wrong(json!({"socket_buffer_bytes": 0})).starts_with("socket_buffer_bytes: must"));
    for head in ["GET / HTTP/1.0", "GET / HTTP/1.0\r\n\r\nmore\r\n"] {
        let found = wrong(json!({"requests": [{"head": head}]}));
        assert!(
            found.starts_with("requests[0].head: must be lines"),
            "{found}"
        );
    }
    let both = json!({"requests": [{"head": "GET / HTTP/1.0\r\n", "headers": [["A", "b"]]}]});
    assert!(wrong(both).starts_with("requests[0].head: leaves no room"));
}

/// Each takes several reads, which may all be made in one slice: then too the last was made after the first.
#[test]
fn long_answers_end_after_their_first_byte() {
    const BYTES: usize = 200_000;
    let one = Server::start(|peer| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
        let answer = [head.as_bytes(), &[b'x'; BYTES]].concat();
        while peer.request().is_some() {
            peer.send(&answer);
        }
    });
    let two = Server::start(|peer| {
        let body = vec![b'x'; BYTES];
        serve_with(peer, 100, &|_| {}, |server, stream, out| {
            server.answer(stream, b"\x88", &body.clone().into(), out);
            true
        });
    });
    for (server, http) in [(&one, "1"), (&two, "2")] {
        let more = json!({"request_log": "times", "http": http});
        let run = ended(&plan(server, 40, 400, more));
        assert_eq!(run.result().unwrap().completed, 400);
        for entry in entries(&run) {
            let first_ns = entry.connect_ns + entry.first_byte_ns;
            assert!(first_ns < entry.total_ns, "HTTP/{http}: {entry:?}");
        }
    }
}

/// By the run's own clock: each may wait and be under way for the timeout, the interval of a sweep, and as long as the
/// worker was late at the most.
#[test]
fn no_request_outlives_the_timeout_by_more_than_a_sweep() {
    const TIMEOUT_NS: u64 = 200_000_000;
    // Each connection carries one request, and the server takes its time for that: a second and more for all.
    let server = answering(100, |_| thread::sleep(Duration::from_millis(20)));
    let more = json!({"request_log": "times", "http": "2", "streams": 60, "requests_per_connection": 1,
        "timeout_ns": TIMEOUT_NS});
    let run = ended(&plan(&server, 1, 60, more));
    let late_ns = run.result().unwrap().workers[0].largest_stall_ns;
    let most_ns = 2 * (TIMEOUT_NS + TIMEOUT_NS / 16 + late_ns);
    let entries = entries(&run);
    assert_eq!(entries.len(), 60);
    for entry in entries {
        assert!(entry.total_ns <= most_ns, "{most_ns}: {entry:?}");
    }
}
