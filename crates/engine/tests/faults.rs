//! Every fault of the fault-injection server: booked as what it is, and survived.

use assay_engine::{LoadPlan, Measurement, Run};
use assay_test_servers::faults::{self, ANSWERED, At, Fault, FaultInjectionServer, Settings};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const CONNECTIONS: u32 = 4;
/// Two faults and four good answers for each connection.
const REQUESTS: u64 = 24;
const EVERY: u64 = 3;
/// Where a timeout is what should happen.
const SHORT_TIMEOUT_MS: u64 = 200;
/// Where it should not, on the slowest machine.
const LONG_TIMEOUT_MS: u64 = 30_000;

/// Descriptors are counted for the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(fault: &'static Fault, every: u64) -> FaultInjectionServer {
    let settings = Settings {
        fault: Some(fault),
        every,
    };
    FaultInjectionServer::start("127.0.0.1", 0, settings).expect("a free port is found")
}

/// Runs `more` (fields of a plan, as JSON) against the server.
fn load(server: &FaultInjectionServer, timeout_ms: u64, more: &str) -> Measurement {
    load_over("http", server, timeout_ms, more)
}

fn load_over(
    scheme: &str,
    server: &FaultInjectionServer,
    timeout_ms: u64,
    more: &str,
) -> Measurement {
    let http = match server.fault().map(|fault| fault.at) {
        Some(At::Http2) => "2",
        _ => "1",
    };
    let json = format!(
        r#"{{"url": "{scheme}://{}", "load": {{"kind": "closed", "connections": {CONNECTIONS}}},
            "tls": {{"insecure": true}}, "http": "{http}", "timeout_ns": {}, {more}}}"#,
        server.address(),
        timeout_ms * 1_000_000,
    );
    let plan = LoadPlan::from_json(json.as_bytes()).expect("the plan is right");
    Run::start(&plan)
        .expect("it starts")
        .result()
        .expect("the accounting balance")
}

fn timeout_ms(fault: &Fault) -> u64 {
    let waits = fault
        .expected
        .iter()
        .any(|outcome| outcome.ends_with("timeout"));
    if waits {
        SHORT_TIMEOUT_MS
    } else {
        LONG_TIMEOUT_MS
    }
}

/// How the requests ended: failures as "origin/kind", the others as answered.
fn outcomes(measurement: &Measurement) -> BTreeMap<String, u64> {
    let failures = measurement.outcomes.iter().map(|outcome| {
        let origin = format!("{:?}", outcome.origin).to_lowercase();
        (format!("{origin}/{}", outcome.kind), outcome.count)
    });
    let answered = (ANSWERED.to_owned(), measurement.completed);
    failures
        .chain([answered])
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn assert_books_balance(fault: &Fault, measurement: &Measurement) {
    let accounting = measurement.requests;
    assert_eq!(
        accounting.started,
        accounting.completed + accounting.failed + accounting.in_flight,
        "{}",
        fault.name
    );
    assert_eq!(
        accounting.completed + accounting.failed,
        REQUESTS,
        "{}",
        fault.name
    );
    assert_eq!(accounting.in_flight, 0, "{}", fault.name);
}

#[test]
fn every_fault_is_booked_as_what_it_is_and_the_run_goes_on() {
    let _alone = alone();
    let mut wrong = Vec::new();
    for fault in faults::all() {
        let before = open_descriptors();
        // The server speaks neither TLS nor HTTP/2 beyond its faults.
        let (scheme, every) = match fault.at {
            At::Handshake => ("https", 1),
            At::Http2 => ("http", 1),
            _ => ("http", EVERY),
        };
        let server = serve(fault, every);
        let stop = format!(r#""stop": {{"kind": "requests", "count": {REQUESTS}}}"#);
        let measurement = load_over(scheme, &server, timeout_ms(fault), &stop);
        let (seen, counts) = (outcomes(&measurement), server.counts());
        drop(server);
        assert_books_balance(fault, &measurement);
        assert_eq!(
            open_descriptors(),
            before,
            "{}: descriptors are left open",
            fault.name
        );
        let is_expected =
            |outcome: &String| outcome == ANSWERED || fault.expected.contains(&outcome.as_str());
        let is_shown =
            fault.expected.contains(&ANSWERED) || seen.keys().any(|outcome| outcome != ANSWERED);
        // A listening socket misbehaves for all connections.
        let goes_on = matches!(fault.at, At::Listening | At::Handshake | At::Http2)
            || seen.contains_key(ANSWERED);
        if !(seen.keys().all(is_expected) && is_shown && goes_on) {
            wrong.push(format!(
                "{}: {seen:?}, but {:?} is right; {counts:?}",
                fault.name, fault.expected
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those that wait for a stream share what becomes of their connection, and none is forgotten or hangs.
#[test]
fn faults_of_http2_lose_no_request_of_several_streams() {
    let _alone = alone();
    let mut wrong = Vec::new();
    for fault in faults::all().filter(|fault| fault.at == At::Http2) {
        let server = serve(fault, 1);
        let stop = format!(r#""stop": {{"kind": "requests", "count": {REQUESTS}}}, "streams": 5"#);
        let measurement = load(&server, timeout_ms(fault), &stop);
        assert_books_balance(fault, &measurement);
        let seen = outcomes(&measurement);
        let is_expected = |outcome: &String| fault.expected.contains(&outcome.as_str());
        if !seen.keys().all(is_expected) {
            wrong.push(format!("{}: {seen:?}", fault.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_server_that_says_nothing_costs_nothing() {
    let _alone = alone();
    for name in [
        "hang-on-accept",
        "hang-in-head",
        "hang-in-body",
        "drip",
        "drip-in-head",
        "full-backlog",
        "refuse",
    ] {
        let fault = faults::find(name).expect("it is in the table");
        let server = serve(fault, 1);
        let stop = r#""stop": {"kind": "duration", "ns": 400000000}"#;
        let measurement = load(&server, 10_000, stop);
        let worker = &measurement.workers[0];
        // Both by its own clocks: a busy machine makes the wall time longer, never the CPU time.
        assert!(worker.cpu_ns * 4 < worker.wall_ns, "{name}: {worker:?}");
        assert!(
            measurement.requests.started < 1000,
            "{name}: {:?}",
            measurement.requests
        );
    }
}

#[test]
fn requests_with_bodies_meet_answers_before_their_end() {
    let _alone = alone();
    let fault = faults::find("answer-before-body").expect("it is in the table");
    let server = serve(fault, 1);
    let request = format!(
        r#"[{{"method": "POST", "body": "{}"}}]"#,
        "x".repeat(3_000_000)
    );
    let stop =
        format!(r#""stop": {{"kind": "requests", "count": {REQUESTS}}}, "requests": {request}"#);
    let measurement = load(&server, LONG_TIMEOUT_MS, &stop);
    assert_books_balance(fault, &measurement);
    for outcome in outcomes(&measurement).keys() {
        assert!(fault.expected.contains(&outcome.as_str()), "{outcome}");
    }
}

#[test]
fn bytes_that_belong_to_nobody_are_told_and_fail_nothing() {
    let _alone = alone();
    for name in [
        "length-too-short",
        "answer-twice",
        "garbage-after-answer",
        "answer-on-accept",
    ] {
        let fault = faults::find(name).expect("it is in the table");
        let server = serve(fault, 1);
        let stop = format!(r#""stop": {{"kind": "requests", "count": {REQUESTS}}}"#);
        let measurement = load(&server, LONG_TIMEOUT_MS, &stop);
        assert_eq!(measurement.completed, REQUESTS, "{name}");
        assert!(
            measurement.stray.bytes > 0,
            "{name}: {:?}",
            measurement.stray
        );
        assert!(!measurement.stray.example.is_empty(), "{name}");
    }
}

#[test]
fn faults_in_a_pipeline_lose_no_request() {
    let _alone = alone();
    for name in [
        "close-in-body",
        "reset-in-head",
        "close-after-answer",
        "chunk-too-short",
        "split-anywhere",
    ] {
        let fault = faults::find(name).expect("it is in the table");
        let server = serve(fault, 7);
        let stop = format!(r#""stop": {{"kind": "requests", "count": {REQUESTS}}}, "pipeline": 8"#);
        let measurement = load(&server, LONG_TIMEOUT_MS, &stop);
        let accounting = measurement.requests;
        assert_eq!(
            accounting.started,
            accounting.completed + accounting.failed + accounting.in_flight,
            "{name}"
        );
        assert!(
            accounting.completed > 0 && accounting.completed + accounting.failed >= REQUESTS,
            "{name}: {accounting:?}"
        );
    }
}
