//! [`Measurement`] and [`Snapshot`]: what the engine hands out.
//!
//! The Rust twin of `src/assay/model/measurement.py`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::failure::Origin;
use super::http2::Http2;
use super::http3::Http3;

/// Times in nanoseconds. `data` is the HdrHistogram V2 compressed encoding in base64; a
/// recorded value times `unit_ns` is nanoseconds. The other figures are exact running sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Number of times recorded.
    pub count: u64,
    /// The smallest; 0 when empty.
    pub min_ns: u64,
    /// The largest; 0 when empty.
    pub max_ns: u64,
    /// The arithmetic mean.
    pub mean_ns: f64,
    /// The standard deviation (of the population).
    pub stdev_ns: f64,
    /// Nanoseconds in one recorded unit.
    pub unit_ns: u64,
    /// The encoded histogram.
    pub data: String,
}

/// Whether figures belong to the warm-up or to the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the measurement.
    Warmup,
    /// The measurement.
    Measured,
}

/// One slice of the run, summed over the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its start, from the start of the run.
    pub start_ns: u64,
    /// Its length; the last of a phase may be shorter than the others.
    pub length_ns: u64,
    /// The phase it lies in.
    pub phase: Phase,
    /// Requests started in it.
    pub started: u64,
    /// Requests answered as expected in it.
    pub completed: u64,
    /// Requests failed in it.
    pub failed: u64,
    /// Bytes received in it.
    pub bytes_read: u64,
}

/// How many requests failed in one way, and one example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whose fault it was.
    pub origin: Origin,
    /// In what way they failed.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// What was seen the first time.
    pub example: String,
}

/// Every request of the whole run: started = completed + failed + in_flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounting {
    /// Begun.
    pub started: u64,
    /// Answered as expected.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Unanswered when the run ended.
    pub in_flight: u64,
}

/// The requests that were under way when the run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnderWay {
    /// How long each had been under way by then: since it was sent or, before that, since it was taken.
    pub ages: Histogram,
    /// How long nothing had been answered by then: since the latest complete answer, right or wrong, or since the
    /// begin of the measured phase.
    pub quiet_ns: u64,
    /// Their ages together, less how long those had been under way that the measured phase began with.
    pub edges_ns: i64,
}

/// Bytes that belong to no answer: they came after the end of one, or on a connection that carried
/// nothing. The answer counts, the connection is not used again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stray {
    /// How many.
    pub bytes: u64,
    /// On how many connections; one that was opened again counts again.
    pub connections: u64,
    /// The first of them.
    pub example: String,
}

/// What became of the connections, over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// The plan's number.
    pub asked: u64,
    /// Opened at least once.
    pub opened: u64,
    /// Answered at least one request.
    pub answered: u64,
    /// Opened again after a close.
    pub reopened: u64,
    /// The most open at one time (the sum of each worker's most).
    pub peak: u64,
    /// Of an open loop: the most in use at one time of the measured phase, at most: the sum of each worker's
    /// most, which need not have been at one time. Whether starts had to wait tells `waited_starts`.
    #[serde(default)]
    pub busy_peak: Option<u64>,
}

/// What one engine thread did in the measured phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// The core it is pinned to.
    pub cpu: Option<u32>,
    /// Length of its measured phase.
    pub wall_ns: u64,
    /// CPU time it used.
    pub cpu_ns: u64,
    /// The longest time its loop did not come round although it was due.
    pub largest_stall_ns: u64,
    /// Requests it completed.
    pub completed: u64,
    /// Those of each measured window.
    #[serde(default)]
    pub completed_by_window: Vec<u64>,
}

/// One execution of a plan. `requests`, `connections` and `windows` cover the whole run, all else the
/// measured phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The start of the run, in nanoseconds since 1970.
    pub started_at_unix_ns: u64,
    /// Length of the warm-up.
    pub warmup_ns: u64,
    /// Length of the measured phase.
    pub measured_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// The whole run's accounting.
    pub requests: Accounting,
    /// Requests begun.
    pub started: u64,
    /// Requests answered as expected.
    pub completed: u64,
    /// Requests failed.
    pub failed: u64,
    /// Bytes received.
    pub bytes_read: u64,
    /// Bytes sent.
    pub bytes_written: u64,
    /// Bytes of bodies, without their framing.
    pub body_bytes: u64,
    /// Answers by status code.
    pub statuses: BTreeMap<String, u64>,
    /// Answers by content coding.
    pub encodings: BTreeMap<String, u64>,
    /// Answers by HTTP version.
    #[serde(default)]
    pub http_versions: BTreeMap<String, u64>,
    /// Answers whose header and body expectations were checked.
    pub checked: u64,
    /// Answers that only the end of their connection ended: whether they were whole cannot be told.
    #[serde(default)]
    pub ended_by_close: u64,
    /// Requests sent again because the server did not process them, each as often as it was.
    #[serde(default)]
    pub resent: u64,
    /// Bytes that belong to no answer, those that came shortly after the end of the run included.
    #[serde(default)]
    pub stray: Stray,
    /// Failed requests by way of failing.
    pub outcomes: Vec<Outcome>,
    /// The connections.
    pub connections: Connections,
    /// Send to complete answer, of completed requests.
    pub service_time: Histogram,
    /// Intended start to complete answer, of completed requests (open loop).
    pub response_time: Option<Histogram>,
    /// Actual minus intended start (open loop).
    pub send_lag: Option<Histogram>,
    /// Begin of a connect to its success.
    pub connect_time: Histogram,
    /// From there to the end of the TLS handshake.
    pub handshake_time: Option<Histogram>,
    /// TLS handshakes of the whole run by what was agreed on: version, cipher suite, protocol.
    pub handshakes: BTreeMap<String, u64>,
    /// Send to the first byte of the answer.
    pub first_byte_time: Histogram,
    /// What HTTP/2 has beside, where it was spoken.
    #[serde(default)]
    pub http2: Option<Http2>,
    /// What HTTP/3 has beside, where it was spoken.
    #[serde(default)]
    pub http3: Option<Http3>,
    /// Starts that came due and could not be made before the end (open loop).
    pub missed_starts: u64,
    /// Starts that came due while all connections (of HTTP/2 and HTTP/3: all streams) of their thread were in use, and
    /// were made later (open loop).
    #[serde(default)]
    pub waited_starts: Option<u64>,
    /// The time series.
    pub windows: Vec<Window>,
    /// The engine's own threads.
    pub workers: Vec<Worker>,
    /// What was under way at its end; not known of arms that were interleaved, and where a script gave up.
    #[serde(default)]
    pub under_way: Option<UnderWay>,
    /// The engine's version.
    pub engine_version: String,
}

/// The live view: totals since the start of the current phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The current phase.
    pub phase: Phase,
    /// Time since its start.
    pub elapsed_ns: u64,
    /// Requests begun.
    pub started: u64,
    /// Requests answered as expected.
    pub completed: u64,
    /// Requests failed.
    pub failed: u64,
    /// Bytes received.
    pub bytes_read: u64,
    /// Connections open now.
    pub open_connections: u64,
    /// Median service time.
    pub service_time_p50_ns: u64,
    /// 99th percentile of the service time.
    pub service_time_p99_ns: u64,
    /// The longest service time.
    pub service_time_max_ns: u64,
    /// 99th percentile of the send lag (open loop).
    pub send_lag_p99_ns: Option<u64>,
    /// CPU the workers used, as a share of their time.
    pub client_cpu: f64,
    /// The complete windows of this phase, the latest 1,200 at most.
    pub windows: Vec<Window>,
}
