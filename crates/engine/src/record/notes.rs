//! What a worker writes down rarely enough for a lock.

use std::collections::BTreeMap;

use super::failure::Failure;
use super::log::{Log, Session};
use super::streams::StreamNotes;

/// The counts a window is the difference of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) started: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) bytes_read: u64,
}

/// One worker's part of a slice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SlicePart {
    pub(crate) number: u64,
    pub(crate) started: u64,
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    pub(crate) bytes_read: u64,
    pub(crate) early_completed: u64,
    pub(crate) service_time_sum_ns: u64,
    pub(crate) service_time_p50_ns: u64,
    pub(crate) carried: u64,
    pub(crate) edges_ns: i64,
    pub(crate) unsettled: u64,
    pub(crate) late: u64,
    pub(crate) reopened: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) delayed_ns: Option<u64>,
}

/// What happens rarely enough for a lock.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Windows of the warm-up, then of the measured phase.
    pub(crate) windows: [Vec<Counts>; 2],
    pub(crate) examples: Vec<(Failure, String)>,
    /// The first bytes that belonged to no answer.
    pub(crate) stray_example: Option<String>,
    pub(crate) encodings: Vec<String>,
    /// Handshakes by what was agreed on.
    pub(crate) agreements: BTreeMap<String, u64>,
    /// What the worker's first session of TLS agreed on.
    pub(crate) session: Option<Session>,
    /// Bytes that TLS read and wrote, once the worker has ended.
    pub(crate) tls_bytes: Option<(u64, u64)>,
    /// The worker's log of requests, once it has ended.
    pub(crate) log: Option<Box<Log>>,
    /// The worker's parts of the slices, where its arms are interleaved.
    pub(crate) parts: Vec<SlicePart>,
    pub(crate) streams: StreamNotes,
    /// How long the requests that the measured phase began with had been under way, together.
    pub(crate) carried_in_ns: u64,
    /// How long each request that no answer has ended has been under way, once the worker has ended; none where its
    /// arm were interleaved or was given up before.
    pub(crate) left_ages_ns: Option<Vec<u64>>,
    pub(super) closed: Counts,
}

impl Notes {
    pub(super) fn begin_measuring(&mut self, carried_in_ns: u64) {
        let Self {
            closed,
            examples,
            streams,
            stray_example,
            carried_in_ns: carried_ns,
            // Of the whole run, or written at its end.
            windows: _,
            encodings: _,
            agreements: _,
            session: _,
            tls_bytes: _,
            log: _,
            parts: _,
            left_ages_ns: _,
        } = self;
        *closed = Counts::default();
        examples.clear();
        streams.clear();
        *stray_example = None;
        *carried_ns = carried_in_ns;
    }
}
