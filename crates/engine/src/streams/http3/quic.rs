//! What the connections of HTTP/3 of an arm share: the endpoint that knows them, their timers, and buffers.
//!
//! A socket of its own says whose a datagram is. So our connection IDs are empty, as a browser's are, which leaves eight
//! bytes out of each datagram and what would be kept of five IDs a connection. Of connections whose IDs are empty the
//! endpoint wants each at another address: it is told a made-up one, which no datagram ever bears.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_http2::client::Request;
use assay_http3::frame::{self, kind};
use assay_http3::{Heads, qpack};
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    DatagramEvent, Endpoint, EndpointConfig, EndpointEvent, RandomConnectionIdGenerator, Transmit,
};
use quinn_udp::{RecvMeta, UdpSocketState};

use super::connection::{Http3, Way};
use super::timers::Timers;
use crate::context::ConnectionFailure;
use crate::control::NEVER;
use crate::program::Program;
use crate::record::Failure;
use crate::record::recorder::Recorder;
use crate::transport::{CONNECTS, QuicConnector, certificates_seen};

/// So many datagrams, or trains of them (GRO), are read at once.
const BATCH: usize = 8;
/// A train is never longer.
const TRAIN_BYTES: usize = 64 * 1024;
/// So many datagrams are sent in a train (GSO): the kernel takes 64, but no more bytes than one datagram may have, and
/// what it does not take would be lost.
const MOST_IN_TRAIN: usize = 44;
const _: () = assert!(MOST_IN_TRAIN * LARGEST_DATAGRAM <= 65_507);
/// The largest that `quinn-proto` tries for (MTU discovery, by default).
const LARGEST_DATAGRAM: usize = 1_452;

/// What the connections of an arm share.
pub(crate) struct Quic {
    connector: QuicConnector,
    endpoint: Endpoint,
    /// How many connections were begun.
    begun: u64,
    /// The beginning of the run, as QUIC's state knows time.
    epoch: Option<Instant>,
    /// Requests that are always the same, by their template: without a table they are so on every connection.
    written: Vec<Option<Bytes>>,
    timers: Timers,
    /// The fields of the latest head: without a table a block means the same on every connection.
    pub(in crate::streams) heads: Heads,
    /// When all streams were last looked over.
    pub(crate) swept_ns: u64,
    buffer: Box<[u8]>,
    out: Vec<u8>,
}

fn endpoint() -> Endpoint {
    let mut config = EndpointConfig::default();
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    Endpoint::new(Arc::new(config), None, true, None)
}

/// By which address the endpoint knows a connection: one of those that lead nowhere (RFC 6666).
fn name_of(connection: u64) -> SocketAddr {
    const NOWHERE: u128 = 0x100 << 112;
    let address = Ipv6Addr::from_bits(NOWHERE | u128::from(connection));
    SocketAddr::from((address, 1))
}

/// A request as HTTP/3 writes it.
pub(crate) fn written(request: &Request) -> Bytes {
    let (mut block, mut out) = (Vec::with_capacity(256), Vec::new());
    let fields = request.fields.iter();
    qpack::encode(
        fields.map(|(name, value, _)| (&**name, &**value)),
        &mut block,
    );
    out.reserve(block.len() + request.body.len() + 32);
    frame::write(kind::HEADERS, &block, &mut out);
    if !request.body.is_empty() {
        frame::write(kind::DATA, &request.body, &mut out);
    }
    out.into()
}

impl Quic {
    pub(crate) fn new(connector: QuicConnector, program: &Program) -> Self {
        let of = |fields: &Option<Request>| fields.as_ref().map(written);
        Self {
            connector,
            endpoint: endpoint(),
            begun: 0,
            epoch: None,
            // A copy in each worker: what threads share they also count together.
            written: (program.templates.iter())
                .map(|template| of(&template.fields))
                .collect(),
            timers: Timers::default(),
            heads: Heads::default(),
            swept_ns: 0,
            buffer: vec![0; BATCH * TRAIN_BYTES].into(),
            out: Vec::new(),
        }
    }

    /// A template's request, where it is always the same.
    #[inline]
    pub(crate) fn written(&self, template: u32) -> Option<Bytes> {
        self.written[template as usize].clone()
    }

    #[inline]
    fn instant(&mut self, now_ns: u64) -> Instant {
        let since = Duration::from_nanos(now_ns);
        *(self.epoch).get_or_insert_with(|| Instant::now() - since) + since
    }

    /// Begins a connection in a place of the arm.
    ///
    /// # Errors
    /// What the system refuses, or TLS.
    pub(crate) fn open(&mut self, slot: u32, now_ns: u64) -> Result<Http3, ConnectionFailure> {
        let now = self.instant(now_ns);
        let open = |connector: &QuicConnector| -> io::Result<_> {
            let (socket, address) = connector.open(slot as usize)?;
            let state = UdpSocketState::new((&socket).into())?;
            Ok((socket, state, address))
        };
        let (socket, state, address) =
            open(&self.connector).map_err(|error| ConnectionFailure::io(&error))?;
        let config = self.connector.config.clone();
        self.begun += 1;
        let (name, server) = (name_of(self.begun), &self.connector.server_name);
        let (handle, connection) = self
            .endpoint
            .connect(now, config, name, server)
            .map_err(|error| ConnectionFailure::new(Failure::Tls, error.to_string()))?;
        let way = Way {
            socket,
            state,
            address,
            name,
        };
        Ok(Http3::new(connection, handle, way, now))
    }

    /// Reads a batch of datagrams; whether there may be more.
    ///
    /// # Errors
    /// What the system says of the socket: somebody's refusal, mostly.
    pub(crate) fn read(
        &mut self,
        http3: &mut Http3,
        now_ns: u64,
        recorder: &Recorder,
    ) -> io::Result<bool> {
        let now = self.instant(now_ns);
        http3.dealt = now;
        let mut metas = [RecvMeta::default(); BATCH];
        let mut trains = self.buffer.chunks_mut(TRAIN_BYTES).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; BATCH] =
            std::array::from_fn(|_| trains.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        let way = &http3.way;
        let socket = (&way.socket).into();
        let received = match way.state.recv(socket, &mut slices, &mut metas) {
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        let (mut datagrams, mut bytes) = (0, 0);
        for (index, meta) in metas.iter().enumerate().take(received) {
            if !CONNECTS && meta.addr != way.address {
                continue;
            }
            let start = index * TRAIN_BYTES;
            let mut train = BytesMut::from(&self.buffer[start..start + meta.len]);
            bytes += meta.len as u64;
            while !train.is_empty() {
                datagrams += 1;
                let length = meta.stride.clamp(1, train.len());
                let datagram = train.split_to(length);
                let ecn = meta
                    .ecn
                    .and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
                self.out.clear();
                let endpoint = &mut self.endpoint;
                let event =
                    endpoint.handle(now, way.name, meta.dst_ip, ecn, datagram, &mut self.out);
                // Anything else is for a connection that there is no more.
                if let Some(DatagramEvent::ConnectionEvent(handle, event)) = event
                    && handle == http3.handle
                {
                    let before = certificates_seen();
                    http3.connection.handle_event(event);
                    http3.is_resumed &= certificates_seen() == before;
                }
            }
        }
        recorder.note_datagrams(false, datagrams, bytes);
        Ok(received == BATCH)
    }

    /// Sends what a connection has to send, and sets its timer.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn write(
        &mut self,
        number: u32,
        http3: &mut Http3,
        now_ns: u64,
        recorder: &Recorder,
    ) -> io::Result<()> {
        let now = self.instant(now_ns);
        http3.dealt = now;
        self.transmit(http3, now, recorder)?;
        while let Some(event) = http3.connection.poll_endpoint_events() {
            // Anything else is of connection IDs, or of tokens by which a datagram without one is known.
            if event.is_drained() {
                http3.is_forgotten = true;
                self.endpoint.handle_event(http3.handle, event);
            }
        }
        let due = http3.connection.poll_timeout();
        let since = |due: Instant| due.saturating_duration_since(now).as_nanos() as u64;
        http3.due_ns = due.map_or(NEVER, |due| now_ns + since(due));
        self.timers.set(number, &mut http3.queued_ns, http3.due_ns);
        Ok(())
    }

    fn transmit(&mut self, http3: &mut Http3, now: Instant, recorder: &Recorder) -> io::Result<()> {
        if let Some(unsent) = http3.unsent.take()
            && !Self::send(http3, unsent.0, &unsent.1, recorder)?
        {
            return Ok(());
        }
        loop {
            self.out.clear();
            let most = http3.way.state.max_gso_segments().min(MOST_IN_TRAIN);
            let Some(transmit) = http3.connection.poll_transmit(now, most, &mut self.out) else {
                return Ok(());
            };
            let bytes = &self.out[..transmit.size];
            if !Self::send(http3, transmit, bytes, recorder)? {
                return Ok(());
            }
        }
    }

    /// Sends datagrams; false where the socket has no room, which keeps them. What the system cannot send at their size
    /// is lost, as on any way, and QUIC learns from that.
    fn send(
        http3: &mut Http3,
        transmit: Transmit,
        bytes: &[u8],
        recorder: &Recorder,
    ) -> io::Result<bool> {
        use rustix::io::Errno;
        match http3.send(&transmit, bytes) {
            Ok(()) => {
                let segment = transmit.segment_size.unwrap_or(bytes.len()).max(1);
                let datagrams = bytes.len().div_ceil(segment) as u64;
                recorder.note_datagrams(true, datagrams, bytes.len() as u64);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                http3.unsent = Some(Box::new((transmit, bytes.to_vec())));
                Ok(false)
            }
            Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                Some(Errno::MSGSIZE | Errno::IO | Errno::INVAL) => Ok(true),
                _ => Err(error),
            },
        }
    }

    /// When to look at a timer next.
    #[inline]
    pub(crate) fn next_due_ns(&self) -> u64 {
        self.timers.next_ns()
    }

    /// The next connection whose timer is to be looked at by now.
    pub(crate) fn next_due(&mut self, now_ns: u64) -> Option<u32> {
        self.timers.take_due(now_ns)
    }

    /// Lets a connection's timer go off, where it is due; whether it was.
    pub(crate) fn time(&mut self, number: u32, http3: &mut Http3, now_ns: u64) -> bool {
        http3.queued_ns = NEVER;
        if http3.due_ns > now_ns {
            self.timers.set(number, &mut http3.queued_ns, http3.due_ns);
            return false;
        }
        let now = self.instant(now_ns);
        http3.dealt = now;
        http3.due_ns = NEVER;
        http3.connection.handle_timeout(now);
        true
    }

    /// Knows a connection of a place of the arm no more.
    pub(crate) fn forget(&mut self, number: u32, http3: &mut Http3) {
        self.timers.forget(number, &mut http3.queued_ns);
        if !std::mem::replace(&mut http3.is_forgotten, true) {
            let drained = EndpointEvent::drained();
            self.endpoint.handle_event(http3.handle, drained);
        }
    }
}
