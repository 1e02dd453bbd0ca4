//! [`Measurement`] and [`Snapshot`]: what the engine hands out.
//!
//! `src/assay/model/measurement.py` is written from them (`make schema`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adding_up::{
    Whole, adding_up, any, by_name, each, each_of_all, each_of_some, example, first, in_a_row,
    least, mean, most, total,
};
use super::failure::Origin;
use super::http2::Http2;
use super::http3::Http3;
pub use super::request_figures::{RequestFigures, RequestSnapshot};
use super::request_figures::{by_request, views_by_request};
pub use super::stored::Histogram;
pub use super::window_times::WindowTimes;
use super::window_times::window_times;
pub use super::windows::{Phase, Window};
use super::windows::{common_windows, phase, windows};

/// Hands to another macro the times that leave with [`Measurement`] by the names under which a recorder has them: what
/// records, clears and adds them up follows from this list.
macro_rules! recorded_times {
    ($make:ident $($more:tt)*) => {
        $make! { [connect_time first_byte_time] $($more)* }
    };
}
pub(super) use recorded_times;

/// How many requests failed in one way, whose fault it was, and one example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Whose fault it was.
    pub origin: Origin,
    /// In what way they failed: connect_refused, reset, timeout, unexpected_status, no_ports, and so on.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// What was seen the first time.
    #[serde(default)]
    pub example: String,
}

adding_up! {
    /// Every request of the whole run: started = completed + failed + in_flight.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    #[cfg_attr(test, schemars(rename = "RequestAccounting"))]
    pub struct Accounting {
        /// Begun.
        pub started: u64 => total,
        /// Answered as expected.
        pub completed: u64 => total,
        /// Failed.
        pub failed: u64 => total,
        /// Unanswered when the run ended.
        pub in_flight: u64 => total,
    }
}

adding_up! {
    /// The requests that were under way when the run ended.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct UnderWay {
        /// How long each had been under way by then: since it was sent or, before that, since it was taken.
        pub ages: Histogram => each,
        /// How long nothing had been answered by then: since the latest complete answer, right or wrong, or since the
        /// begin of the measured phase.
        pub quiet_ns: u64 => least,
        /// Their ages together, less how long those had been under way that the measured phase began with.
        pub edges_ns: i64 => total,
    }
}

adding_up! {
    /// Bytes that belong to no answer: they came after the end of one, or on a connection that carried
    /// nothing. The answer counts, the connection is not used again.
    #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Stray {
        /// How many.
        #[serde(default)]
        pub bytes: u64 => total,
        /// On how many connections; one that was opened again counts again.
        #[serde(default)]
        pub connections: u64 => total,
        /// The first of them.
        #[serde(default)]
        pub example: String => example,
    }
}

adding_up! {
    /// What became of the connections, over the whole run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Connections {
        /// The plan's number.
        pub asked: u64 => total,
        /// Opened at least once.
        pub opened: u64 => total,
        /// Answered at least one request.
        pub answered: u64 => total,
        /// Opened again after a close.
        pub reopened: u64 => total,
        /// The most open at one time (the sum of each worker's most).
        pub peak: u64 => total,
        /// Of an open loop: the most in use at one time of the measured phase, at most: the sum of each worker's
        /// most, which need not have been at one time. Whether starts had to wait tells `waited_starts`.
        #[serde(default)]
        pub busy_peak: Option<u64> => total,
    }
}

/// What one engine thread did in the measured phase, by its own CPU clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// The core it is pinned to.
    pub cpu: Option<u32>,
    /// Length of its measured phase.
    pub wall_ns: u64,
    /// CPU time it used.
    pub cpu_ns: u64,
    /// For how long it was ready to run while another had its core; none where the system does not tell.
    #[serde(default)]
    pub delayed_ns: Option<u64>,
    /// The longest time its loop did not come round although it was due.
    pub largest_stall_ns: u64,
    /// Requests it completed.
    pub completed: u64,
    /// Those of each measured window.
    #[serde(default)]
    pub completed_by_window: Vec<u64>,
}

adding_up! {
    /// One execution of a plan. `requests`, `connections` and `windows` cover the whole run, all else the measured
    /// phase, unless it says otherwise. A wrong answer is a failure of origin "plan".
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Measurement {
        /// The start of the run, in nanoseconds since 1970.
        pub started_at_unix_ns: u64 => least,
        /// Length of the warm-up.
        pub warmup_ns: u64 => most,
        /// Length of the measured phase.
        pub measured_ns: u64 => most,
        /// Whether it was stopped before its end.
        pub interrupted: bool => any,
        /// The whole run's accounting.
        pub requests: Accounting => each,
        /// Requests begun.
        pub started: u64 => total,
        /// Requests answered as expected.
        pub completed: u64 => total,
        /// Requests failed.
        pub failed: u64 => total,
        /// Bytes received.
        pub bytes_read: u64 => total,
        /// Bytes sent.
        pub bytes_written: u64 => total,
        /// Bytes of bodies, without their framing.
        pub body_bytes: u64 => total,
        /// Answers by status code.
        pub statuses: BTreeMap<String, u64> => by_name,
        /// Answers by content coding.
        pub encodings: BTreeMap<String, u64> => by_name,
        /// Answers by HTTP version.
        #[serde(default)]
        pub http_versions: BTreeMap<String, u64> => by_name,
        /// Answers whose header and body expectations were checked.
        pub checked: u64 => total,
        /// Answers that only the end of their connection ended: whether they were whole cannot be told.
        #[serde(default)]
        pub ended_by_close: u64 => total,
        /// Requests sent again because the server did not process them, each as often as it was.
        #[serde(default)]
        pub resent: u64 => total,
        /// Bytes that belong to no answer, those included that came within 20 ms after the end of the run.
        #[serde(default)]
        pub stray: Stray => each,
        /// Failed requests by way of failing.
        pub outcomes: Vec<Outcome> => outcomes,
        /// The connections.
        pub connections: Connections => each,
        /// Send to complete answer, of completed requests.
        pub service_time: Histogram => each,
        /// Intended start to complete answer, of completed requests (open loop).
        pub response_time: Option<Histogram> => each_of_all,
        /// Actual minus intended start (open loop).
        pub send_lag: Option<Histogram> => each_of_all,
        /// Begin of a connect to its success.
        pub connect_time: Histogram => each,
        /// From there to the end of the TLS handshake.
        #[serde(default)]
        pub handshake_time: Option<Histogram> => each_of_all,
        /// TLS handshakes of the whole run by what was agreed on: version, cipher suite, protocol.
        #[serde(default)]
        pub handshakes: BTreeMap<String, u64> => by_name,
        /// Send to the first byte of the answer.
        pub first_byte_time: Histogram => each,
        /// What HTTP/2 has beside, where it was spoken.
        #[serde(default)]
        pub http2: Option<Http2> => each_of_some,
        /// What HTTP/3 has beside, where it was spoken.
        #[serde(default)]
        pub http3: Option<Http3> => each_of_some,
        /// Starts that came due and could not be made before the end (open loop).
        pub missed_starts: u64 => total,
        /// Starts that came due while all connections (of HTTP/2 and HTTP/3: all streams) of their thread were in use, and
        /// were made later (open loop).
        #[serde(default)]
        pub waited_starts: Option<u64> => total,
        /// What each request of a mix came to, in the order of their names; empty where all have one.
        #[serde(default)]
        pub by_request: Vec<RequestFigures> => by_request,
        /// The time series.
        pub windows: Vec<Window> => windows,
        /// Times over time, of at most 2,048 windows, which are put together two by two until they are so few: response
        /// times of an open loop, else service times. None of arms that were interleaved.
        #[serde(default)]
        pub window_times: Vec<WindowTimes> => window_times,
        /// The engine's own threads.
        pub workers: Vec<Worker> => in_a_row,
        /// What was under way at its end; not known of arms that were interleaved, and where a script gave up.
        #[serde(default)]
        pub under_way: Option<UnderWay> => each_of_all,
        /// The engine's version.
        pub engine_version: String => first,
    }
}

adding_up! {
    /// The live view: totals since the start of the current phase. Workers publish theirs at the end of each window,
    /// never on the request path.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Snapshot {
        /// The current phase.
        pub phase: Phase => phase,
        /// Time since its start.
        pub elapsed_ns: u64 => least,
        /// Requests begun.
        pub started: u64 => total,
        /// Requests answered as expected.
        pub completed: u64 => total,
        /// Requests failed.
        pub failed: u64 => total,
        /// Bytes received.
        pub bytes_read: u64 => total,
        /// Connections open now.
        pub open_connections: u64 => total,
        /// Median service time.
        pub service_time_p50_ns: u64 => most,
        /// 99th percentile of the service time.
        pub service_time_p99_ns: u64 => most,
        /// The longest service time.
        pub service_time_max_ns: u64 => most,
        /// 99th percentile of the send lag (open loop).
        #[serde(default)]
        pub send_lag_p99_ns: Option<u64> => most,
        /// How many completed requests took at most so many nanoseconds, from 100 microseconds to 10 seconds: of an
        /// open loop by response time, else by service time.
        #[serde(default)]
        pub up_to_ns: BTreeMap<String, u64> => by_name,
        /// The same of each request of a mix; empty where all have one name.
        #[serde(default)]
        pub by_request: Vec<RequestSnapshot> => views_by_request,
        /// CPU the workers used, as a share of their time.
        pub client_cpu: f64 => mean,
        /// The complete windows of this phase, the latest 1,200 at most.
        pub windows: Vec<Window> => common_windows,
    }
}

/// By way of failing, in the order in which they are first met; the example is the first part's.
fn outcomes(parts: &[&Vec<Outcome>]) -> Whole<Vec<Outcome>> {
    let mut all: Vec<Outcome> = Vec::new();
    for one in parts.iter().copied().flatten() {
        match all
            .iter_mut()
            .find(|known| known.origin == one.origin && known.kind == one.kind)
        {
            Some(known) => known.count += one.count,
            None => all.push(one.clone()),
        }
    }
    Ok(all)
}
