//! One connection of HTTP/3 while it is open: QUIC's state and its socket, and the streams.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use assay_http3::Code;
use assay_http3::message::{Reader, Side};
use assay_http3::peer::{self, Peer, Role};
use bytes::Bytes;
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{
    Connection, ConnectionHandle, Dir, Side as End, StreamId, Transmit, VarInt, WriteError,
};
use quinn_udp::UdpSocketState;
use rustls::pki_types::CertificateDer;
use socket2::Socket;

use super::lost::PathState;
use super::numbers::ByNumber;
use crate::context::{ArmContext, ConnectionFailure};
use crate::control::NEVER;
use crate::record::Session;
use crate::record::recorder::Recorder;

/// A connection. When it is dropped it tells the peer.
pub(crate) struct Http3 {
    pub(super) connection: Connection,
    pub(super) handle: ConnectionHandle,
    pub(super) way: Way,
    /// What the socket had no room for.
    pub(super) unsent: Option<Box<(Transmit, Vec<u8>)>>,
    /// Whether the endpoint has forgotten it.
    pub(super) is_forgotten: bool,
    /// When its timer goes off, and when the arm's timers will look at that.
    pub(super) due_ns: u64,
    pub(super) queued_ns: u64,
    /// When it was last dealt with.
    pub(super) dealt: Instant,
    /// Whether the peer takes no more requests.
    pub(crate) is_going_away: bool,
    pub(super) is_open: bool,
    /// Whether the peer allows no more streams for now.
    pub(super) is_full: bool,
    /// Whether its handshake has shown no certificate.
    pub(super) is_resumed: bool,
    /// What the peer is told when it is closed.
    pub(super) closes_with: Code,
    /// Our control stream with what of its beginning the peer's windows have not let through, if anything.
    pub(super) control: Option<(StreamId, Bytes)>,
    pub(super) peer: Peer,
    /// The peer's own streams, of which there are few.
    pub(super) own: Vec<(StreamId, peer::Stream)>,
    /// The requests under way, each by how many went before it.
    pub(super) streams: ByNumber<Stream>,
    /// How many of those have a part of their body to send.
    pub(super) stalled: usize,
    /// Packets that were lost, as far as was noted.
    lost: std::cell::Cell<u64>,
}

/// How datagrams go to and fro.
pub(super) struct Way {
    pub(super) socket: Socket,
    pub(super) state: UdpSocketState,
    /// The server's address, and the one by which the endpoint knows the connection.
    pub(super) address: SocketAddr,
    pub(super) name: SocketAddr,
}

pub(super) struct Stream {
    pub(super) key: u32,
    pub(super) reader: Reader,
    /// What of the request is to be sent yet.
    pub(super) unsent: Bytes,
}

pub(super) fn code(code: Code) -> VarInt {
    VarInt::from_u64(code.0).unwrap_or(VarInt::MAX)
}

pub(super) fn id_of(number: u64) -> StreamId {
    StreamId::new(End::Client, Dir::Bi, number)
}

impl Http3 {
    pub(super) fn new(
        connection: Connection,
        handle: ConnectionHandle,
        way: Way,
        now: Instant,
    ) -> Self {
        Self {
            connection,
            handle,
            way,
            unsent: None,
            is_forgotten: false,
            due_ns: NEVER,
            queued_ns: NEVER,
            dealt: now,
            is_going_away: false,
            is_open: false,
            is_full: false,
            is_resumed: true,
            closes_with: Code::NO_ERROR,
            control: None,
            peer: Peer::new(Role::Server),
            own: Vec::new(),
            streams: ByNumber::default(),
            stalled: 0,
            lost: std::cell::Cell::new(0),
        }
    }

    /// Whether another stream can be opened, as far as is known.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.is_open && !self.is_full
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// The slots whose streams are under way.
    pub(crate) fn keys(&self) -> Vec<u32> {
        self.streams.values().map(|stream| stream.key).collect()
    }

    pub(super) fn path_state(&self) -> PathState {
        PathState {
            is_open: self.is_open,
            is_going_away: self.is_going_away,
        }
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.way.socket.as_fd()
    }

    /// Whether datagrams wait until the socket has room.
    pub(crate) fn has_unsent(&self) -> bool {
        self.unsent.is_some()
    }

    /// What the system says of the socket.
    pub(crate) fn unreached(&self, error: &io::Error, context: &ArmContext) -> ConnectionFailure {
        self.path_state().unreached(error, context)
    }

    /// What was agreed on, in words. Of the cipher QUIC's state says nothing.
    pub(crate) fn agreement(&self) -> String {
        let data = self.connection.crypto_session().handshake_data();
        let data = data.and_then(|data| data.downcast::<HandshakeData>().ok());
        let alpn = data.and_then(|data| data.protocol).unwrap_or_default();
        let resumed = if self.is_resumed { ", resumed" } else { "" };
        format!("QUIC v1, TLS 1.3, {}{resumed}", alpn.escape_ascii())
    }

    /// The same one by one, with the peer's certificate.
    pub(crate) fn session(&self) -> Session {
        let identity = self.connection.crypto_session().peer_identity();
        let chain =
            identity.and_then(|chain| chain.downcast::<Vec<CertificateDer<'static>>>().ok());
        let certificate = chain.and_then(|chain| chain.first().map(|der| der.to_vec()));
        Session {
            version: "TLS 1.3".into(),
            suite: String::new(),
            group: String::new(),
            certificate: certificate.unwrap_or_default(),
        }
    }

    /// Opens a stream for a slot's request and sends what the windows allow; None where the peer allows no stream, or no
    /// more of them.
    #[inline]
    pub(crate) fn open(&mut self, key: u32, request: Bytes, to_head: bool) -> Option<u64> {
        if !self.has_room() || self.is_going_away {
            return None;
        }
        let Some(id) = self.connection.streams().open(Dir::Bi) else {
            self.is_full = true;
            return None;
        };
        let mut stream = Stream {
            key,
            reader: Reader::new(Side::Answer { to_head }),
            unsent: request,
        };
        send(&mut self.connection, id, &mut stream.unsent);
        self.stalled += usize::from(!stream.unsent.is_empty());
        self.streams.insert(id.index(), stream);
        Some(id.index())
    }

    /// Gives a request up.
    pub(crate) fn cancel(&mut self, number: u64) {
        if self.take(number).is_some() {
            self.end_stream(id_of(number), Code::REQUEST_CANCELLED);
        }
    }

    /// A request that is under way no more.
    pub(super) fn take(&mut self, number: u64) -> Option<Stream> {
        let stream = self.streams.remove(&number)?;
        self.stalled -= usize::from(!stream.unsent.is_empty());
        Some(stream)
    }

    /// Ends a stream both ways, whatever of it there still is.
    pub(super) fn end_stream(&mut self, id: StreamId, why: Code) {
        let _ = self.connection.recv_stream(id).stop(code(why));
        let _ = self.connection.send_stream(id).reset(code(why));
    }

    /// Lets go of what requests leave behind, where none is under way.
    pub(crate) fn rest(&mut self) {
        if self.streams.is_empty() {
            self.streams = ByNumber::default();
        }
    }

    /// Notes of its path what is not told as it happens.
    pub(crate) fn note_path(&self, recorder: &Recorder) {
        if let Some(counts) = &recorder.http3 {
            let lost = self.connection.stats().path.lost_packets;
            counts
                .lost_packets
                .add(lost.saturating_sub(self.lost.replace(lost)));
        }
    }

    /// Sends datagrams.
    pub(super) fn send(&self, transmit: &Transmit, bytes: &[u8]) -> io::Result<()> {
        let ecn = transmit
            .ecn
            .and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8));
        let transmit = quinn_udp::Transmit {
            destination: self.way.address,
            ecn,
            contents: bytes,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        let socket = (&self.way.socket).into();
        self.way.state.try_send(socket, &transmit)
    }
}

impl Drop for Http3 {
    /// Tells the peer, if it can be told at once; nothing depends on it.
    fn drop(&mut self) {
        // Where it is closed already, by QUIC itself that found a fault of the peer's, that may be untold.
        if !self.connection.is_closed() {
            let why = code(self.closes_with);
            self.connection.close(self.dealt, why, Bytes::new());
        }
        let mut out = Vec::new();
        if let Some(transmit) = self.connection.poll_transmit(self.dealt, 1, &mut out) {
            let _ = self.send(&transmit, &out[..transmit.size]);
        }
    }
}

/// Sends what the windows allow of a request, and ends its side of the stream behind it.
#[inline]
pub(super) fn send(connection: &mut Connection, id: StreamId, rest: &mut Bytes) {
    let mut stream = connection.send_stream(id);
    while !rest.is_empty() {
        match stream.write_chunks(std::slice::from_mut(rest)) {
            Ok(_) => {}
            Err(WriteError::Blocked) => return,
            // The peer wants no more of it.
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => *rest = Bytes::new(),
        }
    }
    let _ = stream.finish();
}
