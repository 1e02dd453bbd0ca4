//! What a ledger has of HTTP/2 alone: how its streams fared beside their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counter::Counter;

/// Counts of the current phase.
#[derive(Debug, Default)]
pub(crate) struct Http2Counts {
    /// Requests that waited for the peer's leave to open a stream, and for how long together.
    pub(crate) stream_waits: Counter,
    pub(crate) stream_wait_ns: Counter,
    /// How often a connection's bodies waited for a window, and for how long together.
    pub(crate) window_stalls: Counter,
    pub(crate) window_stall_ns: Counter,
}

/// What happens rarely.
#[derive(Debug, Default)]
pub(crate) struct Http2Notes {
    pub(crate) fewest_allowed: Option<u32>,
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) resets: BTreeMap<String, u64>,
    pub(crate) going_away: BTreeMap<String, u64>,
}

/// What HTTP/2 has that HTTP/1 has not, in the measured phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http2 {
    /// Requests that waited because the server allows no more streams at once on a connection.
    pub stream_waits: u64,
    /// For how long they did, together.
    pub stream_wait_ns: u64,
    /// The fewest streams that the server allowed at once on a connection, where it said so.
    pub streams_allowed: Option<u32>,
    /// How often the bodies of a connection's requests began to wait for the server's windows.
    pub window_stalls: u64,
    /// For how long they did, over all connections.
    pub window_stall_ns: u64,
    /// Connections that the server broke, by stage ("greeting", "open") and code.
    pub faults: BTreeMap<String, u64>,
    /// Streams that the server ended, by code. REFUSED_STREAM is not among them: see `unprocessed`.
    pub resets: BTreeMap<String, u64>,
    /// The server's GOAWAYs, by code.
    pub going_away: BTreeMap<String, u64>,
}

impl Http2Counts {
    /// Starts again with the measured phase.
    pub(crate) fn clear(&self) {
        let Self {
            stream_waits,
            stream_wait_ns,
            window_stalls,
            window_stall_ns,
        } = self;
        for figure in [stream_waits, stream_wait_ns, window_stalls, window_stall_ns] {
            figure.set(0);
        }
    }
}

impl Http2Notes {
    /// Starts again with the measured phase, but for what the connections still hold to.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            fewest_allowed: self.fewest_allowed,
            ..Self::default()
        };
    }
}

impl Http2 {
    /// Adds what one ledger has.
    pub(crate) fn add(&mut self, counts: &Http2Counts, notes: &Http2Notes) {
        self.stream_waits += counts.stream_waits.get();
        self.stream_wait_ns += counts.stream_wait_ns.get();
        self.window_stalls += counts.window_stalls.get();
        self.window_stall_ns += counts.window_stall_ns.get();
        let known = [self.streams_allowed, notes.fewest_allowed];
        self.streams_allowed = known.into_iter().flatten().min();
        for (from, to) in [
            (&notes.faults, &mut self.faults),
            (&notes.resets, &mut self.resets),
            (&notes.going_away, &mut self.going_away),
        ] {
            for (name, count) in from {
                *to.entry(name.clone()).or_default() += count;
            }
        }
    }
}
