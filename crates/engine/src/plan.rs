//! [`LoadPlan`]: what the engine is asked to do, and the only way into it.
//!
//! `src/assay/model/plan.py` is written from it (`make schema`). Deserialising checks the shape;
//! [`LoadPlan::validate`] checks what a type cannot say.

use serde::{Deserialize, Serialize};

mod fields;
mod host;
mod http;
mod interleaved;
mod read;
mod request;
mod shard;
mod tls;
mod validate;

pub use host::Host;
pub use http::Http;
pub use interleaved::InterleavedPlan;
pub(crate) use interleaved::check_lengths;
use read::read;
pub use request::{BodyExpected, Expect, FormPart, HeaderExpected, Request};
pub use shard::Shard;
pub use tls::{Tls, TlsVersion};

/// A time during which the intended rate moves linearly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Stage"))]
pub struct RateStage {
    /// How long it lasts.
    pub duration_ns: u64,
    /// The rate at its start.
    pub from_per_s: f64,
    /// The rate at its end.
    pub to_per_s: f64,
}

/// How arrivals of an open loop follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// Independently of each other: exponential gaps.
    Poisson,
}

/// How a worker of an open loop waits for the next intended start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pacer {
    /// Asleep while the start is far, then polling: exact, and costs up to a whole core.
    #[default]
    Spin,
    /// Asleep until the start: costs little, and starts late by the timer's slack.
    Sleep,
}

/// How the load is offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    #[cfg_attr(test, schemars(title = "Closed"))]
    /// A completion triggers that connection's next request.
    Closed {
        /// How many connections.
        #[serde(deserialize_with = "saturating")]
        connections: u32,
        /// The pause between a completion and the next request of that connection.
        #[serde(default)]
        think_time_ns: u64,
    },
    #[cfg_attr(test, schemars(title = "Open"))]
    /// Arrivals that never wait for answers.
    Open {
        /// The intended rate over time, of requests. Stages begin with the measured phase, before which the first rate
        /// holds; the last one holds until the stop.
        stages: Vec<RateStage>,
        /// The most connections that may be open at once.
        #[serde(deserialize_with = "saturating")]
        max_connections: u32,
        /// How arrivals follow each other.
        #[serde(default)]
        arrivals: Arrivals,
        /// How a worker waits for the next one.
        #[serde(default)]
        pacer: Pacer,
    },
}

impl Load {
    /// The number of connections the plan asks for: exactly (closed) or at most (open).
    pub fn connections(&self) -> u32 {
        match *self {
            Self::Closed { connections, .. } => connections,
            Self::Open {
                max_connections, ..
            } => max_connections,
        }
    }
}

/// When the measured phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", deny_unknown_fields)]
pub enum Stop {
    /// After a time.
    #[cfg_attr(test, schemars(title = "StopAfter"))]
    #[serde(rename = "duration")]
    After {
        /// Its length.
        ns: u64,
    },
    /// When so many requests have ended.
    #[cfg_attr(test, schemars(title = "StopAtCount"))]
    #[serde(rename = "requests")]
    AtCount {
        /// How many.
        count: u64,
        /// The longest that may take; the run then ends with fewer.
        #[serde(default)]
        within_ns: Option<u64>,
    },
}

/// In which order several requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestOrder {
    /// One after the other, each as often in a row as its weight says.
    #[default]
    Sequential,
    /// Drawn by weight.
    Random,
    /// Each connection sends them one after the other, from the first on: it is a client of its own,
    /// with its part of a count. Starts that have times of their own go to all connections in turn.
    PerConnection,
}

/// The version the requests claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum HttpVersion {
    /// HTTP/1.1
    #[default]
    #[serde(rename = "1.1")]
    Http11,
    /// HTTP/1.0
    #[serde(rename = "1.0")]
    Http10,
}

/// A family of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AddressFamily {
    /// Whichever the resolver gives.
    #[default]
    Any,
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
}

/// Whether single requests are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RequestLog {
    /// No.
    #[default]
    Off,
    /// Their times and lengths, and the head of the first answer.
    Times,
    /// The heads of all answers too.
    Answers,
}

/// One load, complete: where, what, how, for how long, from which cores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// Scheme, host and port (`http://127.0.0.1:8080`). Its path is not used: see
    /// [`Request::target`]. `http+unix://` and a percent-encoded path name a unix socket.
    pub url: String,
    /// More servers, which requests name by their number. Each connection goes to one host: they are dealt by the weights
    /// of the hosts' requests, and each host that has any gets one at least.
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// What is sent.
    #[serde(default = "one_request")]
    pub requests: Vec<Request>,
    /// In which order. With "per_connection" each connection is a client of its own: it sends the requests from the
    /// first on, has its part of a count, and takes its slice where starts have times of their own.
    #[serde(default)]
    pub request_order: RequestOrder,
    /// How it is offered.
    pub load: Load,
    /// When the measured phase ends.
    pub stop: Stop,
    /// The longest warm-up; 0 measures from the first request. Otherwise it lasts until `begin_measuring` is called or
    /// so long; the phases follow each other without a gap in the load.
    #[serde(default)]
    pub warmup_max_ns: u64,
    /// Worker threads, each with its share of the connections.
    #[serde(default = "default_one", deserialize_with = "saturating")]
    pub threads: u32,
    /// Cores to pin the workers to, round robin; empty pins none.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// The longest a connect or a request may take.
    #[serde(default = "five_seconds")]
    pub timeout_ns: u64,
    /// Length of the slices of the time series.
    #[serde(default = "hundred_milliseconds")]
    pub window_ns: u64,
    /// Whether a connection serves more than one request.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// The version the requests claim.
    #[serde(default)]
    pub http_version: HttpVersion,
    /// Which HTTP is spoken; what `tls.alpn` offers is for HTTP/1.
    #[serde(default)]
    pub http: Http,
    /// Requests under way at once on a connection of HTTP/2 or HTTP/3, each on a stream of its own: so many places it
    /// has, each of which begins as a completion or an arrival says.
    #[serde(default = "default_one", deserialize_with = "saturating")]
    pub streams: u32,
    /// Requests sent at once on a connection, before the first answer is in. In an open loop so many
    /// start together, and the rate is still that of requests.
    #[serde(default = "default_one", deserialize_with = "saturating")]
    pub pipeline: u32,
    /// Closes a connection after so many requests.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// Addresses to use, round robin, instead of resolving the host: `ip`, `ip:port` or
    /// `unix:/path`.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Of which family an address that a name resolves to must be.
    #[serde(default)]
    pub address_family: AddressFamily,
    /// Local addresses to connect from, round robin.
    #[serde(default)]
    pub source_addresses: Vec<String>,
    /// Opens the first connections at this rate instead of all at once.
    #[serde(default)]
    pub connections_per_s: Option<f64>,
    /// A proxy, `http://host:port`: plain for `http`, by CONNECT for `https`.
    #[serde(default)]
    pub proxy: Option<String>,
    /// Keeps the cookies that each connection is given and sends them back.
    #[serde(default)]
    pub cookies: bool,
    /// Follows so many redirects within the URL's scheme, host and port; a redirect that leads
    /// elsewhere then fails its request. 0 takes a redirect as any other answer.
    #[serde(default)]
    pub redirects: u32,
    /// Sends requests again that the protocol says were not processed, each as one request still, whose times begin with
    /// its first send: refused streams and those beyond a GOAWAY
    /// (RFC 9113, 8.7; RFC 9114, 5.2), and over HTTP/1, where their method is idempotent, those behind an announced close
    /// and one whose connection ended between two answers (RFC 9112, 9.3.1 and 9.3.2; RFC 9110, 9.2.2).
    #[serde(default)]
    pub resend: bool,
    /// How an `https` URL is spoken to.
    #[serde(default)]
    pub tls: Tls,
    /// Whether the requests of a counted run are written down one by one.
    #[serde(default)]
    pub request_log: RequestLog,
    /// The longest a connection waits after failures in a row until it is tried again: the first
    /// time not at all, then 1 millisecond, doubled each time. 0 never waits.
    #[serde(default = "hundred_milliseconds")]
    pub retry_wait_max_ns: u64,
    /// Ends the run when every attempt to connect fails and none ever succeeded.
    #[serde(default)]
    pub ends_unreached: bool,
    /// Kinds of failure (`Outcome.kind`) that end the run the first time one is seen.
    #[serde(default)]
    pub ends_on: Vec<String>,
    /// The most memory for bodies that come in pieces and are checked, over all connections. A body
    /// beyond it counts as wrong.
    #[serde(default = "quarter_gibibyte")]
    pub held_body_bytes: u64,
    /// Size of the kernel's send and receive buffers of a connection.
    #[serde(default)]
    pub socket_buffer_bytes: Option<u32>,
    /// Seed of everything random.
    #[serde(default)]
    pub seed: u64,
    /// What of the load is offered from here, where others offer the rest. The plan in a record is that of the whole.
    #[serde(default)]
    pub part: Option<Shard>,
}

impl LoadPlan {
    /// Reads and validates a plan.
    ///
    /// # Errors
    /// One line naming the field, as [`crate::PlanError`].
    #[inline]
    pub fn from_json(json: &[u8]) -> Result<Self, crate::PlanError> {
        let plan: Self = read(json)?;
        plan.validate()?;
        Ok(plan)
    }
}

/// A number that is far too large stays too large: [`LoadPlan::validate`] then names its field and bounds.
fn saturating<'de, D: serde::Deserializer<'de>>(given: D) -> Result<u32, D::Error> {
    u64::deserialize(given).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn one_request() -> Vec<Request> {
    vec![Request::default()]
}

fn default_one() -> u32 {
    1
}

fn five_seconds() -> u64 {
    5_000_000_000
}

fn quarter_gibibyte() -> u64 {
    256 * 1024 * 1024
}

fn hundred_milliseconds() -> u64 {
    100_000_000
}

fn yes() -> bool {
    true
}
