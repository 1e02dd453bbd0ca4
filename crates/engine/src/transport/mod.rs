//! How bytes travel: chosen once per run, as the type parameter of the loop.

mod plain;
mod quic;
mod tls;

pub(crate) use plain::{Plain, PlainConnector, Route};
pub(crate) use quic::{CONNECTS, QuicConnector, config as quic_config};
pub(crate) use tls::{
    HTTP2, TlsConnector, TlsStream, certificates_seen, config as tls_config,
    server_name as tls_server_name,
};

use std::io;
use std::os::fd::RawFd;

use crate::record::Session;

/// How far a new connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The network's own connection is not complete.
    Connecting,
    /// It is; the handshake above it is not.
    Shaking,
    /// Requests can be sent.
    Ready,
}

/// An open way to the server.
pub(crate) trait Transport: Sized {
    /// Opens connections; one per worker.
    type Connector: Send;

    /// Whether a read that does not fill the buffer has emptied the socket. An edge-triggered
    /// loop then needs no further read to be told so.
    const SHORT_READ_DRAINS: bool;

    /// Whether something is agreed on before the first request.
    const SHAKES_HANDS: bool;

    /// How connections of HTTP/3 are opened instead, where that is what is spoken.
    fn quic(_connector: &Self::Connector) -> Option<QuicConnector> {
        None
    }

    /// What all connections read and wrote below TLS, handshakes and records' own bytes with it;
    /// None where there is no TLS over TCP.
    fn tls_bytes(_connector: &Self::Connector) -> Option<(u64, u64)> {
        None
    }

    /// Begins to connect; does not block.
    fn open(connector: &mut Self::Connector, slot: usize) -> io::Result<Self>;

    /// The descriptor to wait for.
    fn descriptor(&self) -> RawFd;

    /// Goes on connecting as far as possible without blocking, called when the descriptor is
    /// first writable and whenever it is ready after that.
    fn establish(&mut self) -> io::Result<Progress>;

    /// What was agreed on while shaking hands, in words; None where there is no handshake.
    fn agreement(&self) -> Option<String> {
        None
    }

    /// The protocol that was agreed on while shaking hands.
    fn protocol(&self) -> Option<&[u8]> {
        None
    }

    /// The same, one by one, with the peer's certificate.
    fn session(&self) -> Option<Session> {
        None
    }

    /// Reads what is there. `WouldBlock` when that is nothing, 0 at the end of the stream.
    /// `ends` says that the peer has ended its side, so the end is there to be read.
    fn read(&mut self, buffer: &mut [u8], ends: bool) -> io::Result<usize>;

    /// Writes as much as fits.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Sends what [`Self::write`] took and could not send, when the descriptor is writable.
    fn flush(&mut self) -> io::Result<()>;
}
