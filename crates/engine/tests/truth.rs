//! The engine against a server whose delays and counts are known, over HTTP/1.1 and over HTTP/2 with several streams
//! on each connection: the same scripts, and held to the same.
//!
//! The truth is what the server did by its own clock. Delays are long beside the noise of a busy machine,
//! and where noise still spoils a comparison of times it is made again: an engine that measured wrongly
//! would be wrong each time. The accounting are exact in every attempt.

use assay_engine::record::measurement::Histogram;
use assay_engine::{LoadPlan, Measurement, Run};
use assay_null_server::answer::Answer;
use assay_null_server::listen::listen;
use assay_test_servers::script::Script;
use assay_test_servers::scripted::{Counts, ScriptedServer, Times};
use base64::Engine as _;
use hdrhistogram::serialization::Deserializer;
use std::sync::{Mutex, MutexGuard, PoisonError};

const ATTEMPTS: usize = 6;

/// Times are compared: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is spoken.
#[derive(Clone, Copy)]
enum Way {
    Http1,
    Http2,
}

/// So many requests at once: HTTP/1.1 takes as many connections, HTTP/2 a few for all of them.
struct AtOnce {
    connections: u32,
    fields: String,
}

impl Way {
    fn at_once(self, requests: u32) -> AtOnce {
        let (http, connections) = match self {
            Self::Http1 => (1, requests),
            Self::Http2 => (2, (requests / 10).max(2)),
        };
        let streams = requests / connections;
        assert_eq!(streams * connections, requests);
        AtOnce {
            connections,
            fields: format!(r#""http": "{http}", "streams": {streams}"#),
        }
    }

    fn closed(self, at_once: u32, stop: &str) -> String {
        let AtOnce {
            connections,
            fields,
        } = self.at_once(at_once);
        format!(
            r#"{fields}, "load": {{"kind": "closed", "connections": {connections}}}, "stop": {stop}"#
        )
    }

    fn open(self, rate_per_s: u32, seconds: u64, at_once: u32) -> String {
        let ns = seconds * 1_000_000_000;
        let AtOnce {
            connections,
            fields,
        } = self.at_once(at_once);
        format!(
            r#"{fields}, "load": {{"kind": "open", "max_connections": {connections}, "pacer": "sleep", "stages":
                [{{"duration_ns": {ns}, "from_per_s": {rate_per_s}, "to_per_s": {rate_per_s}}}]}},
                "stop": {{"kind": "duration", "ns": {ns}}}"#
        )
    }
}

/// Stops after so many requests.
fn after(count: u64) -> String {
    format!(r#"{{"kind": "requests", "count": {count}}}"#)
}

/// One load against a fresh server: what the engine saw, and what the server did.
fn load(delay: &str, fields: &str) -> (Measurement, Counts) {
    let listener = listen("127.0.0.1", 0).expect("a free port is found");
    let script = Script::parse(delay).expect("the notation is right");
    let server = ScriptedServer::start(listener, script, &Answer::default()).expect("it starts");
    let json = format!(r#"{{"url": "http://{}", {fields}}}"#, server.address());
    let plan = LoadPlan::from_json(json.as_bytes()).expect("the plan is right");
    let measurement = Run::start(&plan)
        .expect("it starts")
        .result()
        .expect("the accounting balance");
    (measurement, server.counts())
}

/// The quantile of a published histogram, in nanoseconds.
fn quantile_ns(histogram: &Histogram, quantile: f64) -> u64 {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(&histogram.data)
        .expect("it is base64");
    let decoded: hdrhistogram::Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .expect("it is a histogram");
    decoded.value_at_quantile(quantile) * histogram.unit_ns
}

/// Within 1 % or 50 µs, and what the server itself came late: it shares this machine with the engine, whose
/// own threads wake up as late. On a quiet machine that is a tenth of a millisecond.
fn agrees(seen_ns: u64, truth_ns: u64, late: &Times) -> bool {
    seen_ns.abs_diff(truth_ns) <= (truth_ns / 100).max(50_000) + late.p99_ns
}

/// Quantiles beside the truth: an error that says which of them is off. Below 100 ms the noise of a busy
/// machine is more than 1 %, and nothing is compared.
fn compare(seen: &Histogram, truth: &Counts) -> Result<(), String> {
    let taken = &truth.taken;
    let truths = [
        (0.5, taken.p50_ns),
        (0.9, taken.p90_ns),
        (0.99, taken.p99_ns),
    ];
    for (quantile, truth_ns) in truths
        .into_iter()
        .filter(|(_, truth_ns)| *truth_ns >= 100_000_000)
    {
        let seen_ns = quantile_ns(seen, quantile);
        if !agrees(seen_ns, truth_ns, &truth.late) {
            return Err(format!(
                "quantile {quantile}: {seen_ns} ns seen, {truth_ns} ns is true; {truth:?}"
            ));
        }
    }
    Ok(())
}

/// Tries a comparison of times until it holds.
fn hold_in_the_end(mut attempt: impl FnMut() -> Result<(), String>) {
    let mut failures = Vec::new();
    for _ in 0..ATTEMPTS {
        match attempt() {
            Ok(()) => return,
            Err(failure) => failures.push(failure),
        }
    }
    panic!("{}", failures.join("\n"));
}

/// All requests were answered, and both sides counted the same.
fn assert_same_count(measurement: &Measurement, counts: &Counts) {
    let accounting = measurement.requests;
    assert_eq!(
        (accounting.failed, accounting.in_flight),
        (0, 0),
        "{:?}",
        measurement.outcomes
    );
    assert_eq!(counts.requests_read, accounting.started);
    assert_eq!(counts.answers_written, accounting.completed);
    assert_eq!(
        counts.connections,
        measurement.connections.opened + measurement.connections.reopened
    );
}

fn a_constant_delay_is_seen_as_it_is(way: Way) {
    hold_in_the_end(|| {
        let (measurement, counts) = load("600ms", &way.closed(40, &after(120)));
        assert_same_count(&measurement, &counts);
        assert_eq!(counts.requests_read, 120);
        compare(&measurement.service_time, &counts)
    });
}

fn both_modes_of_two_delays_are_seen(way: Way) {
    hold_in_the_end(|| {
        let (measurement, counts) = load("400ms*17,1200ms*3", &way.closed(60, &after(300)));
        assert_same_count(&measurement, &counts);
        assert_eq!(
            (counts.hold.p50_ns, counts.hold.p90_ns),
            (400_000_000, 1_200_000_000)
        );
        compare(&measurement.service_time, &counts)
    });
}

fn an_open_loop_sees_both_modes_too(way: Way) {
    hold_in_the_end(|| {
        let (measurement, counts) = load("400ms*17,1200ms*3", &way.open(100, 3, 200));
        let accounting = measurement.requests;
        assert_eq!(
            accounting.started,
            accounting.completed + accounting.failed + accounting.in_flight
        );
        let response_time = measurement
            .response_time
            .as_ref()
            .expect("an open loop has response times");
        compare(response_time, &counts).and_then(|()| compare(&measurement.service_time, &counts))
    });
}

fn a_stall_shows_in_the_response_time_of_an_open_loop(way: Way) {
    hold_in_the_end(|| {
        let (measurement, counts) = load("stall:1s/5s", &way.open(200, 5, 300));
        let response_time = measurement
            .response_time
            .as_ref()
            .expect("an open loop has response times");
        // 20 % of the arrivals fall into a stall and wait for its end: the 90th percentile waits half of it.
        if !(400_000_000..600_000_000).contains(&counts.hold.p90_ns) {
            return Err(format!("the arrivals were not even: {counts:?}"));
        }
        compare(response_time, &counts)
    });
}

fn a_stall_shows_in_the_response_time_although_all_places_wait(way: Way) {
    hold_in_the_end(|| {
        // 8 requests wait with the server: 192 of the 200 arrivals of a stall cannot even be sent.
        let (measurement, _) = load("stall:1s/5s", &way.open(200, 5, 8));
        let response_time = measurement
            .response_time
            .as_ref()
            .expect("an open loop has response times");
        let truth_ns = 500_000_000;
        let (response_ns, service_ns) = (
            quantile_ns(response_time, 0.9),
            quantile_ns(&measurement.service_time, 0.9),
        );
        let shows = response_ns.abs_diff(truth_ns) < truth_ns / 10 && service_ns < truth_ns / 10;
        if shows {
            Ok(())
        } else {
            Err(format!(
                "response time {response_ns} ns, service time {service_ns} ns"
            ))
        }
    });
}

fn a_stall_does_not_show_in_the_service_time_of_a_closed_loop(way: Way) {
    hold_in_the_end(|| {
        let stop = r#"{"kind": "duration", "ns": 2000000000}"#;
        let (measurement, counts) = load("stall:200ms/1s", &way.closed(4, stop));
        let p99_ns = quantile_ns(&measurement.service_time, 0.99);
        let longest_ns = measurement.service_time.max_ns;
        assert!(measurement.completed <= counts.answers_written);
        let hidden = p99_ns < 20_000_000 && longest_ns > 100_000_000;
        if hidden {
            Ok(())
        } else {
            Err(format!("p99 {p99_ns} ns, longest {longest_ns} ns"))
        }
    });
}

fn a_hang_is_a_timeout_when_it_expires(way: Way) {
    let fields = way.closed(4, &after(60)) + r#", "timeout_ns": 600000000"#;
    let (measurement, counts) = load("hang:40", &fields);
    let accounting = measurement.requests;
    assert_eq!((accounting.started, accounting.in_flight), (60, 0));
    assert_eq!(accounting.completed, counts.answers_written);
    assert_eq!(counts.requests_read, 60);
    assert_eq!(counts.delayed + counts.abandoned, accounting.failed);
    let kinds: Vec<_> = measurement
        .outcomes
        .iter()
        .map(|outcome| outcome.kind.as_str())
        .collect();
    assert_eq!(kinds, ["timeout"]);
    // 20 hang, 4 at a time, 600 ms each: had any been given up early, it would be over sooner.
    assert!(measurement.measured_ns >= 5 * 600_000_000);
}

/// One delay after the other, of one connection: a stream waits for no other.
#[test]
fn streams_of_one_connection_are_answered_each_at_its_own_time() {
    let _alone = alone();
    hold_in_the_end(|| {
        let fields = r#""http": "2", "streams": 100, "load": {"kind": "closed", "connections": 1}, "stop": "#;
        let (measurement, counts) = load("1200ms*3,400ms*17", &(fields.to_owned() + &after(300)));
        assert_same_count(&measurement, &counts);
        assert_eq!((counts.connections, counts.hold.p50_ns), (1, 400_000_000));
        compare(&measurement.service_time, &counts)
    });
}

/// When each request was begun, by the request log of a run in which none had to wait: when it was written.
fn written_at(run: &Run) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let log = run.request_log();
    let opened = |entry: &&[u8]| number(&entry[8..16]) == 0;
    let entries = log.chunks(48).filter(opened);
    entries.map(|entry| number(&entry[..8])).collect()
}

/// A request's time begins when its connection is written. What is written together has one stamp, and the next
/// connection's is later: so requests share theirs with no more than one connection carries, and until the next stamp
/// the write was made.
#[test]
fn a_stream_s_time_begins_when_its_connection_is_written() {
    const STREAMS: usize = 10;
    const COUNT: usize = 20_000;
    let _alone = alone();
    hold_in_the_end(|| {
        let listener = listen("127.0.0.1", 0).expect("a free port is found");
        let script = Script::parse("0ms").expect("the notation is right");
        let server =
            ScriptedServer::start(listener, script, &Answer::default()).expect("it starts");
        let json = format!(
            r#"{{"url": "http://{}", "http": "2", "streams": {STREAMS}, "request_log": "times",
                "load": {{"kind": "closed", "connections": 64}}, "stop": {}}}"#,
            server.address(),
            after(COUNT as u64)
        );
        let plan = LoadPlan::from_json(json.as_bytes()).expect("the plan is right");
        let run = Run::start(&plan).expect("it starts");
        let measured = run.result().expect("the accounting balance");
        let mut written = written_at(&run);
        assert!(written.len() > COUNT / 2, "{}", written.len());
        written.sort_unstable();
        let batches: Vec<&[u64]> = written.chunk_by(|one, other| one == other).collect();
        let most = batches.iter().map(|batch| batch.len()).max();
        assert!(most <= Some(STREAMS), "{most:?} requests have one stamp");
        let mut gaps: Vec<u64> = batches
            .windows(2)
            .map(|two| two[1][0] - two[0][0])
            .collect();
        gaps.sort_unstable();
        let (gap_ns, mean_ns) = (gaps[gaps.len() / 2] as f64, measured.service_time.mean_ns);
        if gap_ns <= 0.05 * mean_ns {
            Ok(())
        } else {
            Err(format!("{gap_ns} ns to the write, {mean_ns} ns in all"))
        }
    });
}

/// All of the above, each way.
macro_rules! each_way {
    ($($test:ident),* $(,)?) => {
        each_way!(http1 Http1 $($test)*);
        each_way!(http2 Http2 $($test)*);
    };
    ($module:ident $way:ident $($test:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    let _alone = super::alone();
                    super::$test(super::Way::$way);
                }
            )*
        }
    };
}

each_way!(
    a_constant_delay_is_seen_as_it_is,
    both_modes_of_two_delays_are_seen,
    an_open_loop_sees_both_modes_too,
    a_stall_shows_in_the_response_time_of_an_open_loop,
    a_stall_shows_in_the_response_time_although_all_places_wait,
    a_stall_does_not_show_in_the_service_time_of_a_closed_loop,
    a_hang_is_a_timeout_when_it_expires,
);
