//! What a measurement has of HTTP/3 alone: how its streams, and QUIC below them, fared beside their answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What HTTP/3 has that HTTP/1 has not, in the measured phase.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http3 {
    /// Connections that were opened: QUIC's handshake and TLS's are one.
    pub handshakes: u64,
    /// Requests that waited because the server allows no more streams (MAX_STREAMS).
    pub stream_limit_waits: u64,
    /// For how long they did, together.
    pub stream_limit_ns: u64,
    /// How often the bodies of a connection's requests began to wait for the server's windows.
    pub flow_stalls: u64,
    /// For how long they did, over all connections.
    pub flow_stall_ns: u64,
    /// Datagrams sent.
    pub udp_sent: u64,
    /// Datagrams received.
    pub udp_received: u64,
    /// Packets sent that were taken for lost, and sent again.
    pub lost_packets: u64,
    /// The server's GOAWAYs.
    pub goaway: u64,
    /// Streams that the server ended, by code. H3_REQUEST_REJECTED is not among them: see `unprocessed`.
    pub resets: BTreeMap<String, u64>,
    /// Connections that were lost, by stage ("handshake", "open") and how.
    pub lost: BTreeMap<String, u64>,
}
