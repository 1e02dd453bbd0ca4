//! What of a recorder and of a measurement is HTTP/3's alone: how its streams, and QUIC below them, fared beside their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adding_up::{adding_up, by_name, total};
use super::counter::Counter;
use super::streams::{StreamCounts, StreamNotes, add_named};

/// What of the current phase is QUIC's.
#[derive(Debug, Default)]
pub(crate) struct Http3Counts {
    pub(crate) handshakes: Counter,
    pub(crate) udp_sent: Counter,
    pub(crate) udp_received: Counter,
    pub(crate) lost_packets: Counter,
}

impl Http3Counts {
    /// Starts again with the measured phase.
    pub(crate) fn clear(&self) {
        let Self {
            handshakes,
            udp_sent,
            udp_received,
            lost_packets,
        } = self;
        for figure in [handshakes, udp_sent, udp_received, lost_packets] {
            figure.set(0);
        }
    }
}

adding_up! {
    /// What HTTP/3 has that HTTP/1 has not, in the measured phase.
    #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Http3 {
        /// Connections that were opened: QUIC's handshake and TLS's are one.
        pub handshakes: u64 => total,
        /// Requests that waited because the server allows no more streams (MAX_STREAMS).
        pub stream_limit_waits: u64 => total,
        /// For how long they did, together.
        pub stream_limit_ns: u64 => total,
        /// How often the bodies of a connection's requests waited for the server's windows.
        pub flow_stalls: u64 => total,
        /// For how long they did, over all connections.
        pub flow_stall_ns: u64 => total,
        /// Datagrams sent.
        pub udp_sent: u64 => total,
        /// Datagrams received.
        pub udp_received: u64 => total,
        /// Packets sent that were taken for lost, and sent again.
        pub lost_packets: u64 => total,
        /// The server's GOAWAYs.
        pub goaway: u64 => total,
        /// Streams that the server ended, by code. H3_REQUEST_REJECTED is not among them: see `unprocessed`.
        #[serde(default)]
        pub resets: BTreeMap<String, u64> => by_name,
        /// Connections that were lost, by stage ("handshake", "open") and how.
        #[serde(default)]
        pub lost: BTreeMap<String, u64> => by_name,
    }
}

impl Http3 {
    /// Adds what one recorder has.
    pub(crate) fn add(&mut self, counts: &StreamCounts, quic: &Http3Counts, notes: &StreamNotes) {
        let StreamCounts {
            waits,
            wait_ns,
            stalls,
            stall_ns,
        } = counts;
        let Http3Counts {
            handshakes,
            udp_sent,
            udp_received,
            lost_packets,
        } = quic;
        let StreamNotes {
            fewest_allowed: _,
            faults,
            resets,
            going_away,
        } = notes;
        self.handshakes += handshakes.get();
        self.stream_limit_waits += waits.get();
        self.stream_limit_ns += wait_ns.get();
        self.flow_stalls += stalls.get();
        self.flow_stall_ns += stall_ns.get();
        self.udp_sent += udp_sent.get();
        self.udp_received += udp_received.get();
        self.lost_packets += lost_packets.get();
        self.goaway += going_away.values().sum::<u64>();
        add_named(resets, &mut self.resets);
        add_named(faults, &mut self.lost);
    }
}
