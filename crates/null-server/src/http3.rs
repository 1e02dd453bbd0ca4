//! The null server's answers over HTTP/3: one loop, one UDP socket, QUIC by `quinn-proto`.
//!
//! Datagrams are read and sent by the batch (GRO, GSO) where the system can. The timers of all connections lie in one
//! order, with one entry each at most and never a late one: what is put off is put where it belongs when it comes up.

mod guest;
mod tls;

use crate::responder::Settings;
use bytes::BytesMut;
use guest::Guest;
pub use guest::Prepared;
use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token, Waker};
use quinn_proto::{ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Transmit};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);
/// The largest datagram that we take is far below this; a batch of them is not.
const DATAGRAM_BYTES: usize = 1500;
/// So many datagrams are sent at once (GSO): the kernel takes 64, but no more bytes than one datagram may have (65,507),
/// and what it does not take would be lost. `quinn-proto` makes them no longer than 1,452 bytes.
const MOST_IN_TRAIN: usize = 44;
/// What the kernel may hold for us; it lowers this to its own limit (`net.core.rmem_max`).
const SOCKET_BYTES: usize = 4 << 20;

/// A running server of HTTP/3; it stops when dropped.
#[derive(Debug)]
pub struct QuicServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl QuicServer {
    /// Starts answering on `socket`, with a certificate made now for the names of this machine's loopback.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn start(socket: std::net::UdpSocket, settings: &Settings) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        let stop = Arc::new(AtomicBool::new(false));
        let server = Loop::new(socket, settings, Arc::clone(&stop))?;
        let waker = Arc::clone(&server.waker);
        let thread = Some(std::thread::spawn(move || server.run()));
        Ok(Self {
            address,
            stop,
            waker,
            thread,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for QuicServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A waker can only fail where its loop is gone.
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

type Timers = BTreeSet<(Instant, usize)>;

/// Lets a connection's timer be looked at in time.
fn queue(timers: &mut Timers, handle: ConnectionHandle, guest: &mut Guest) {
    let Some(due) = guest.due else { return };
    if guest.queued.is_none_or(|queued| due < queued) {
        forget(timers, handle, guest);
        timers.insert((due, handle.0));
        guest.queued = Some(due);
    }
}

fn forget(timers: &mut Timers, handle: ConnectionHandle, guest: &mut Guest) {
    if let Some(queued) = guest.queued.take() {
        timers.remove(&(queued, handle.0));
    }
}

struct Loop {
    poll: Poll,
    waker: Arc<Waker>,
    socket: UdpSocket,
    state: UdpSocketState,
    endpoint: Endpoint,
    guests: HashMap<ConnectionHandle, Guest>,
    timers: Timers,
    /// What is read into: a batch of datagrams for each of a few reads in one call.
    buffer: Box<[u8]>,
    out: Vec<u8>,
    answer: Prepared,
    stop: Arc<AtomicBool>,
}

impl Loop {
    fn new(
        socket: std::net::UdpSocket,
        settings: &Settings,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        // Smaller buffers lose datagrams under load, which shows as loss; the server does not depend on it.
        let _ = state.set_recv_buffer_size((&socket).into(), SOCKET_BYTES);
        let _ = state.set_send_buffer_size((&socket).into(), SOCKET_BYTES);
        let mut socket = UdpSocket::from_std(socket);
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        poll.registry()
            .register(&mut socket, SOCKET, Interest::READABLE)?;
        let endpoint = EndpointConfig::default();
        let server = tls::server_config(settings.http3_streams).map_err(io::Error::other)?;
        let endpoint = Endpoint::new(Arc::new(endpoint), Some(Arc::new(server)), true, None);
        let piece = DATAGRAM_BYTES * state.gro_segments();
        Ok(Self {
            poll,
            waker,
            socket,
            state,
            endpoint,
            guests: HashMap::new(),
            timers: Timers::new(),
            buffer: vec![0; piece * BATCH_SIZE].into(),
            out: Vec::new(),
            answer: Prepared::new(&settings.answer, settings.cost_ns),
            stop,
        })
    }

    fn run(mut self) {
        let mut events = Events::with_capacity(16);
        while !self.stop.load(Ordering::Acquire) {
            let wait = self.timers.first().map(|(due, _)| {
                // mio counts whole milliseconds: rounded up, a timer is never looked at too early.
                due.saturating_duration_since(Instant::now())
            });
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled.expect("waiting for events fails only for a broken descriptor"),
            }
            self.receive();
            self.keep_time();
        }
    }

    /// Reads until the socket has no more.
    fn receive(&mut self) {
        let mut touched = Vec::new();
        loop {
            let piece = self.buffer.len() / BATCH_SIZE;
            let mut metas = [RecvMeta::default(); BATCH_SIZE];
            let mut pieces = self.buffer.chunks_mut(piece).map(IoSliceMut::new);
            let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
                std::array::from_fn(|_| pieces.next().expect("a piece for each read"));
            let socket = (&self.socket).into();
            let received = match self.state.recv(socket, &mut slices, &mut metas) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Somebody's port is closed (ICMP): their connection will time out by itself.
                Err(_) => continue,
            };
            for (index, meta) in metas.iter().enumerate().take(received) {
                let start = index * piece;
                for at in (0..meta.len).step_by(meta.stride.max(1)) {
                    let end = (at + meta.stride).min(meta.len);
                    let datagram = BytesMut::from(&self.buffer[start + at..start + end]);
                    touched.extend(self.datagram(meta, datagram));
                }
            }
            touched.sort_unstable();
            touched.dedup();
            for handle in touched.drain(..) {
                self.drive(handle);
            }
        }
    }

    /// Hands a datagram on; the connection that it was for.
    fn datagram(&mut self, meta: &RecvMeta, datagram: BytesMut) -> Option<ConnectionHandle> {
        let now = Instant::now();
        let ecn = meta
            .ecn
            .and_then(|ecn| quinn_proto::EcnCodepoint::from_bits(ecn as u8));
        self.out.clear();
        let event =
            self.endpoint
                .handle(now, meta.addr, meta.dst_ip, ecn, datagram, &mut self.out)?;
        match event {
            DatagramEvent::ConnectionEvent(handle, event) => {
                self.guests.get_mut(&handle)?.connection.handle_event(event);
                return Some(handle);
            }
            DatagramEvent::NewConnection(incoming) => {
                match self.endpoint.accept(incoming, now, &mut self.out, None) {
                    Ok((handle, connection)) => {
                        self.guests.insert(handle, Guest::new(connection));
                        return Some(handle);
                    }
                    Err(refused) => {
                        if let Some(transmit) = refused.response {
                            self.send(&transmit);
                        }
                    }
                }
            }
            DatagramEvent::Response(transmit) => self.send(&transmit),
        }
        None
    }

    /// Does what a connection has to do now: answers, sends, and sets its timer.
    fn drive(&mut self, handle: ConnectionHandle) {
        let now = Instant::now();
        let Some(mut guest) = self.guests.remove(&handle) else {
            return;
        };
        loop {
            guest.serve(now, &self.answer);
            while let Some(transmit) = {
                self.out.clear();
                let segments = self.state.max_gso_segments().min(MOST_IN_TRAIN);
                guest.connection.poll_transmit(now, segments, &mut self.out)
            } {
                self.send(&transmit);
            }
            let mut is_told = false;
            while let Some(event) = guest.connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(handle, event) {
                    guest.connection.handle_event(event);
                    is_told = true;
                }
            }
            if !is_told {
                break;
            }
        }
        if guest.connection.is_drained() {
            // Its number may be another's next.
            return forget(&mut self.timers, handle, &mut guest);
        }
        guest.due = guest.connection.poll_timeout();
        queue(&mut self.timers, handle, &mut guest);
        self.guests.insert(handle, guest);
        debug_assert!(self.timers.len() <= self.guests.len());
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        while let Some(&(at, handle)) = self.timers.first() {
            if at > now {
                return;
            }
            self.timers.pop_first();
            let handle = ConnectionHandle(handle);
            let Some(guest) = self.guests.get_mut(&handle) else {
                continue;
            };
            guest.queued = None;
            if guest.due.is_some_and(|due| due <= now) {
                guest.due = None;
                guest.connection.handle_timeout(now);
                self.drive(handle);
            } else {
                queue(&mut self.timers, handle, guest);
            }
        }
    }

    /// Sends what `out` holds. What the socket does not take is lost, as on any way, and QUIC sends it again.
    fn send(&self, transmit: &Transmit) {
        let ecn = transmit
            .ecn
            .and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8));
        let transmit = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn,
            contents: &self.out[..transmit.size],
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        let _ = self.state.send((&self.socket).into(), &transmit);
    }
}
