//! Requests from outside the plan: asked for one by one, delayed, answered to their source.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{HELLO, Server, plan};
use assay_engine::{Answer, Measurement, Run, RunError, Source, SourceError, Supply};
use serde_json::json;

type Log = Arc<Mutex<Vec<String>>>;

/// Numbers its requests, and stops or fails at given numbers.
#[derive(Default)]
struct Numbering {
    count: u64,
    log: Log,
    fail_at: Option<u64>,
    stop_after_answers: Option<u64>,
    answers: u64,
}

impl Source for Numbering {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        self.count += 1;
        if self.fail_at == Some(self.count) {
            return Err(SourceError("no more ideas".into()));
        }
        let request = format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", self.count);
        bytes.extend_from_slice(request.as_bytes());
        Ok(())
    }

    fn delay(&mut self) -> Result<Duration, SourceError> {
        Ok(Duration::from_millis(20))
    }

    fn answered(&mut self, answer: Answer<'_>) -> Result<(), SourceError> {
        self.answers += 1;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let line = format!(
            "{}|{}|{}",
            answer.status,
            text(answer.head),
            text(answer.body)
        );
        self.log.lock().unwrap().push(line);
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop_after_answers == Some(self.answers)
    }
}

fn supply(source: Numbering) -> Supply {
    Supply {
        fixed: None,
        wants_answers: false,
        has_delays: false,
        address: None,
        source: Box::new(source),
    }
}

fn start(server: &Server, more: serde_json::Value, supplies: Vec<Supply>) -> Run {
    Run::start_supplied(&plan(server, 1, 10, more), supplies).unwrap()
}

fn run(server: &Server, more: serde_json::Value, supplies: Vec<Supply>) -> Measurement {
    start(server, more, supplies).result().unwrap()
}

#[test]
fn each_request_is_asked_for() {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let server = {
        let seen = Arc::clone(&seen);
        Server::start(move |peer| {
            while let Some(request) = peer.request() {
                seen.lock().unwrap().insert(request);
                peer.send(HELLO);
            }
        })
    };
    let measurement = run(&server, json!({}), vec![supply(Numbering::default())]);
    assert_eq!(measurement.completed, 10);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 10);
    assert!(seen.contains("GET /10 HTTP/1.1\r\nHost: h\r\n\r\n"));
}

#[test]
fn a_fixed_batch_is_sent_as_it_is() {
    let server = Server::answering(HELLO);
    let batch = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n";
    let fixed = Supply {
        fixed: Some(batch.to_vec()),
        ..supply(Numbering::default())
    };
    let measurement = run(&server, json!({"pipeline": 2}), vec![fixed]);
    assert_eq!((measurement.completed, server.requests()), (10, 10));
    assert_eq!(measurement.bytes_written, batch.len() as u64 * 5);
}

#[test]
fn the_source_is_given_every_answer() {
    let server = Server::start(|peer| {
        while peer.request().is_some() {
            peer.send("HTTP/1.1 404 No\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
            peer.send("1\r\nc\r\n0\r\n\r\n");
        }
    });
    let log = Log::default();
    let wanting = Supply {
        wants_answers: true,
        ..supply(Numbering {
            log: Arc::clone(&log),
            ..Numbering::default()
        })
    };
    let measurement = run(&server, json!({}), vec![wanting]);
    assert_eq!(measurement.completed, 10);
    let expected = "404|HTTP/1.1 404 No\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n|abc";
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 10);
    assert!(log.iter().all(|line| line == expected), "{log:?}");
}

#[test]
fn delays_are_waited_for_and_are_no_service_time() {
    let server = Server::answering(HELLO);
    let delayed = Supply {
        has_delays: true,
        ..supply(Numbering::default())
    };
    let measurement = run(&server, json!({}), vec![delayed]);
    // Ten requests on one connection, each after 20 ms.
    assert!(measurement.measured_ns >= 200_000_000);
    assert!(measurement.service_time.min_ns < 20_000_000);
}

/// Takes so long for each request.
struct Slow(Duration);

impl Source for Slow {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        std::thread::sleep(self.0);
        bytes.extend_from_slice(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        Ok(())
    }

    fn delay(&mut self) -> Result<Duration, SourceError> {
        Ok(Duration::ZERO)
    }

    fn answered(&mut self, _: Answer<'_>) -> Result<(), SourceError> {
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

#[test]
fn a_stall_lasts_from_the_top_of_the_loop() {
    const EACH: Duration = Duration::from_millis(30);
    let server = Server::answering(HELLO);
    let slow = Supply {
        source: Box::new(Slow(EACH)),
        ..supply(Numbering::default())
    };
    let plan = plan(&server, 4, 4, json!({}));
    let measured = Run::start_supplied(&plan, vec![slow])
        .unwrap()
        .result()
        .unwrap();
    // All four requests are made in one slice, in which nothing is read; each is after a reading of the clock.
    let stall_ns = u128::from(measured.workers[0].largest_stall_ns);
    assert!(stall_ns >= 4 * EACH.as_nanos(), "{stall_ns}");
}

#[test]
fn a_source_that_fails_ends_the_run_with_its_words() {
    let server = Server::answering(HELLO);
    let failing = supply(Numbering {
        fail_at: Some(3),
        ..Numbering::default()
    });
    let stop = json!({"stop": {"kind": "duration", "ns": 60_000_000_000_u64}});
    match start(&server, stop, vec![failing]).result() {
        Err(RunError::Source(error)) => assert_eq!(error.0, "no more ideas"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stopped_worker_sends_nothing_more_while_the_run_goes_on() {
    let server = Server::answering(HELLO);
    let stopping = Supply {
        wants_answers: true,
        ..supply(Numbering {
            stop_after_answers: Some(4),
            ..Numbering::default()
        })
    };
    let stop = json!({"stop": {"kind": "duration", "ns": 300_000_000}});
    let measurement = run(&server, stop, vec![stopping]);
    assert_eq!((measurement.completed, server.requests()), (4, 4));
    assert_eq!(measurement.measured_ns, 300_000_000);
}

#[test]
fn a_supply_may_go_elsewhere() {
    let here = Server::answering(HELLO);
    let there = Server::answering(HELLO);
    let elsewhere = Supply {
        address: Some(there.address),
        ..supply(Numbering::default())
    };
    run(&here, json!({}), vec![elsewhere]);
    assert_eq!((here.requests(), there.requests()), (0, 10));
}

#[test]
fn there_is_one_supply_a_worker() {
    let server = Server::answering(HELLO);
    let plan = plan(&server, 1, 10, json!({}));
    let two = vec![supply(Numbering::default()), supply(Numbering::default())];
    let error = Run::start_supplied(&plan, two).unwrap_err();
    assert_eq!(
        error.to_string(),
        "threads: must be as many as there are supplies"
    );
}
