//! What a measurement has of HTTP/2 alone: how its streams fared beside their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adding_up::{adding_up, by_name, least_known, total};
use super::streams::{StreamCounts, StreamNotes, add_named};

adding_up! {
    /// What HTTP/2 has that HTTP/1 has not, in the measured phase.
    #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Http2 {
        /// Requests that waited because the server allows no more streams at once on a connection.
        pub stream_waits: u64 => total,
        /// For how long they did, together.
        pub stream_wait_ns: u64 => total,
        /// The fewest streams that the server allowed at once on a connection, where it said so.
        #[serde(default)]
        pub streams_allowed: Option<u32> => least_known,
        /// How often the bodies of a connection's requests waited for the server's windows.
        pub window_stalls: u64 => total,
        /// For how long they did, over all connections.
        pub window_stall_ns: u64 => total,
        /// Connections that the server broke, by stage ("greeting", "open") and code.
        #[serde(default)]
        pub faults: BTreeMap<String, u64> => by_name,
        /// Streams that the server ended, by code. REFUSED_STREAM is not among them: see `unprocessed`.
        #[serde(default)]
        pub resets: BTreeMap<String, u64> => by_name,
        /// The server's GOAWAYs, by code.
        #[serde(default)]
        pub going_away: BTreeMap<String, u64> => by_name,
    }
}

impl Http2 {
    /// Adds what one recorder has.
    pub(crate) fn add(&mut self, counts: &StreamCounts, notes: &StreamNotes) {
        let StreamCounts {
            waits,
            wait_ns,
            stalls,
            stall_ns,
        } = counts;
        let StreamNotes {
            fewest_allowed,
            faults,
            resets,
            going_away,
        } = notes;
        self.stream_waits += waits.get();
        self.stream_wait_ns += wait_ns.get();
        self.window_stalls += stalls.get();
        self.window_stall_ns += stall_ns.get();
        let known = [self.streams_allowed, *fewest_allowed];
        self.streams_allowed = known.into_iter().flatten().min();
        add_named(faults, &mut self.faults);
        add_named(resets, &mut self.resets);
        add_named(going_away, &mut self.going_away);
    }
}
