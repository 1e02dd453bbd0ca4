//! QUIC's sockets and settings. What is spoken over them is `quinn-proto`'s, without I/O: see [`crate::streams`].

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, TransportConfig, VarInt};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::PlainConnector;
use crate::error::{PlanError, RunError};
use crate::target::Endpoint;

/// Wide enough never to set the pace of a server on a network that one measures over; as with HTTP/2.
const STREAM_WINDOW: u32 = 16 * 1024 * 1024;
const WINDOW: u32 = 256 * 1024 * 1024;
/// A server has three of its own (RFC 9114, 6.2), and may open some that mean nothing. QUIC keeps room for all of them
/// from the beginning.
const MOST_OWN_STREAMS: u32 = 6;
/// The kernel lowers this to its own limit (`net.core.rmem_max`).
const SOCKET_BYTES: usize = 4 << 20;

/// Opens connections of HTTP/3.
#[derive(Debug, Clone)]
pub(crate) struct QuicConnector {
    /// From where to where.
    pub(crate) plain: PlainConnector,
    pub(crate) config: ClientConfig,
    pub(crate) server_name: String,
}

impl QuicConnector {
    /// A socket of its own for each connection: a server that deals connections out to its workers by their
    /// address (SO_REUSEPORT) sees as many of them as it has clients, and a closed port is told to the one that it
    /// concerns.
    pub(crate) fn open(&self, slot: usize) -> io::Result<(Socket, SocketAddr)> {
        let plain = &self.plain;
        let number = plain.first_slot + slot;
        let endpoints = &plain.routes[0].endpoints;
        let Endpoint::Tcp(address) = endpoints[number % endpoints.len()] else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let bytes = plain
            .buffer_bytes
            .map_or(SOCKET_BYTES, |bytes| bytes as usize);
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
        let anywhere = match address {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let from = match plain.sources.len() {
            0 => anywhere,
            count => plain.sources[number % count],
        };
        if from != anywhere || !CONNECTS {
            socket.bind(&SockAddr::from(from))?;
        }
        if CONNECTS {
            socket.connect(&SockAddr::from(address))?;
        }
        Ok((socket, address))
    }
}

/// Elsewhere a socket that is connected takes no address to send to, which `quinn-udp` always gives; there a closed
/// port shows as a connection that times out.
pub(crate) const CONNECTS: bool = cfg!(target_os = "linux");

/// The settings of all connections of a run, over those of TLS.
pub(crate) fn config(tls: &Arc<rustls::ClientConfig>) -> Result<ClientConfig, RunError> {
    let crypto = QuicClientConfig::try_from(Arc::clone(tls))
        .map_err(|error| PlanError::new("tls", error.to_string()))?;
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(MOST_OWN_STREAMS))
        // A connection that is not used is the server's to close: its own timeout holds.
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        // Bodies are shared, not copied: only the server's windows hold them back.
        .send_window(1 << 40)
        .datagram_receive_buffer_size(None);
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}
