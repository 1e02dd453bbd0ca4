//! The floor of a load generator over HTTP/3 that is built on `quinn-proto` and `quinn-udp`, as the engine is.
//!
//! They are driven as the engine drives them: a connected socket for each connection, trains of datagrams where the
//! kernel makes them, edge-triggered events, one reading of the clock a batch, the same settings of QUIC. Nothing else
//! is done: no answer is parsed, none is timed, and what is counted is streams that end.
//!
//!     bare_http3 PORT TARGET CONNECTIONS STREAMS REQUESTS
//!
//! Prints the number of answers and the wall time in nanoseconds.

use std::error::Error;
use std::io::{ErrorKind, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_http3::frame::{self, kind};
use assay_http3::message::MOST_FIELD_BYTES;
use assay_http3::{Code, qpack};
use bytes::{Bytes, BytesMut};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use quinn_proto::{
    ClientConfig, Connection, DatagramEvent, Dir, Endpoint, Event, ReadError, StreamEvent,
    StreamId, Transmit, VarInt,
};
use quinn_udp::{RecvMeta, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

mod settings;

/// As the engine has them (`streams/http3/quic.rs`, `transport/quic.rs`).
const BATCH: usize = 8;
const TRAIN_BYTES: usize = 64 * 1024;
const MOST_IN_TRAIN: usize = 44;
const SOCKET_BYTES: usize = 4 << 20;
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// Why there is no figure.
pub type Failed = Box<dyn Error>;

/// One connection. Its socket says whose a datagram is, so its connection IDs are empty.
struct Client {
    endpoint: Endpoint,
    connection: Connection,
    socket: Socket,
    state: UdpSocketState,
    /// When its timer goes off.
    due: Option<Instant>,
    /// How many streams it may open beside those that are under way.
    free: usize,
}

/// All of them, and what they share.
struct Floor {
    clients: Vec<Client>,
    greeting: Bytes,
    request: Bytes,
    streams: usize,
    /// Requests that were not sent yet.
    left: u64,
    answers: u64,
    /// No timer goes off before this.
    next_due: Option<Instant>,
    buffer: Box<[u8]>,
    out: Vec<u8>,
}

/// Has `streams` requests at once under way on each of so many connections to the server at `port` of this machine,
/// until `requests` have been answered, and gives the number of answers.
///
/// # Errors
/// What the system refuses, and whatever else the server does than answer.
pub fn floor(
    port: u16,
    target: &str,
    connections: usize,
    streams: usize,
    requests: u64,
) -> Result<u64, Failed> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1024));
    let mut floor = Floor::new(target, address, streams, requests);
    let config = settings::client()?;
    for number in 0..connections {
        let client = Floor::connect(&config, address)?;
        let descriptor = client.socket.as_raw_fd();
        let (mut source, token) = (SourceFd(&descriptor), Token(number));
        let registry = poll.registry();
        registry.register(&mut source, token, Interest::READABLE)?;
        floor.clients.push(client);
        floor.send(number, Instant::now());
    }
    let mut heard = Instant::now();
    while floor.answers < requests {
        let now = Instant::now();
        if !events.is_empty() {
            heard = now;
        } else if now.duration_since(heard) > LONGEST_SILENCE {
            return Err("no answer for ten seconds".into());
        }
        floor.keep_time(now)?;
        let until = floor.next_due.map(|due| due.saturating_duration_since(now));
        let wait = until.unwrap_or(LONGEST_SILENCE).min(LONGEST_SILENCE);
        match poll.poll(&mut events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            floor.receive(event.token().0)?;
        }
    }
    floor.close();
    Ok(floor.answers)
}

impl Floor {
    fn new(target: &str, address: SocketAddr, streams: usize, requests: u64) -> Self {
        let (mut block, mut greeting, mut request) = (Vec::new(), Vec::new(), Vec::new());
        let authority = address.to_string();
        let fields = [
            (":method", "GET"),
            (":scheme", "https"),
            (":authority", &*authority),
            (":path", target),
        ];
        qpack::encode(
            fields.map(|(name, value)| (name.as_bytes(), value.as_bytes())),
            &mut block,
        );
        frame::write(kind::HEADERS, &block, &mut request);
        frame::write_control(MOST_FIELD_BYTES as u64, &mut greeting);
        Self {
            clients: Vec::new(),
            greeting: greeting.into(),
            request: request.into(),
            streams,
            left: requests,
            answers: 0,
            next_due: None,
            buffer: vec![0; BATCH * TRAIN_BYTES].into(),
            out: Vec::new(),
        }
    }

    fn connect(config: &ClientConfig, address: SocketAddr) -> Result<Client, Failed> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_send_buffer_size(SOCKET_BYTES)?;
        socket.set_recv_buffer_size(SOCKET_BYTES)?;
        socket.connect(&address.into())?;
        let state = UdpSocketState::new((&socket).into())?;
        let (now, config) = (Instant::now(), config.clone());
        let mut endpoint = Endpoint::new(Arc::new(settings::endpoint()), None, true, None);
        let (_, connection) = endpoint.connect(now, config, address, "localhost")?;
        Ok(Client {
            endpoint,
            connection,
            socket,
            state,
            due: None,
            free: 0,
        })
    }

    /// Reads a connection's datagrams until there are none.
    fn receive(&mut self, number: usize) -> Result<(), Failed> {
        loop {
            let client = &mut self.clients[number];
            let mut metas = [RecvMeta::default(); BATCH];
            let mut trains = self.buffer.chunks_mut(TRAIN_BYTES).map(IoSliceMut::new);
            let mut slices: [IoSliceMut<'_>; BATCH] =
                std::array::from_fn(|_| trains.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
            let socket = (&client.socket).into();
            let received = match client.state.recv(socket, &mut slices, &mut metas) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                received => received?,
            };
            let now = Instant::now();
            for (index, meta) in metas.iter().enumerate().take(received) {
                let start = index * TRAIN_BYTES;
                let mut train = BytesMut::from(&self.buffer[start..start + meta.len]);
                let bits = meta.ecn.map(|ecn| ecn as u8);
                let ecn = bits.and_then(quinn_proto::EcnCodepoint::from_bits);
                while !train.is_empty() {
                    let datagram = train.split_to(meta.stride.clamp(1, train.len()));
                    let (endpoint, out) = (&mut client.endpoint, &mut self.out);
                    let event = endpoint.handle(now, meta.addr, meta.dst_ip, ecn, datagram, out);
                    if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                        client.connection.handle_event(event);
                    }
                }
            }
            self.serve(number, now)?;
            if received < BATCH {
                return Ok(());
            }
        }
    }

    /// Counts what has ended by datagrams or a timer, and asks again.
    fn serve(&mut self, number: usize, now: Instant) -> Result<(), Failed> {
        let client = &mut self.clients[number];
        let connection = &mut client.connection;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    let id = connection.streams().open(Dir::Uni);
                    let id = id.ok_or("the server allows no stream for SETTINGS")?;
                    connection.send_stream(id).write(&self.greeting)?;
                    client.free = self.streams;
                }
                Event::ConnectionLost { reason } => return Err(reason.into()),
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        discard(connection, id)?;
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    let has_ended = discard(connection, id)?;
                    let answers = usize::from(has_ended && id.dir() == Dir::Bi);
                    self.answers += answers as u64;
                    client.free += answers;
                }
                _ => {}
            }
        }
        while client.free > 0 && self.left > 0 {
            // Where the server allows no more for now, an answer makes room.
            let Some(id) = connection.streams().open(Dir::Bi) else {
                break;
            };
            let mut stream = connection.send_stream(id);
            stream.write_chunks(&mut [self.request.clone()])?;
            stream.finish()?;
            client.free -= 1;
            self.left -= 1;
        }
        self.send(number, now);
        Ok(())
    }

    /// Sends what a connection has to send, and notes its timer.
    fn send(&mut self, number: usize, now: Instant) {
        let client = &mut self.clients[number];
        let most = client.state.max_gso_segments().min(MOST_IN_TRAIN);
        self.out.clear();
        while let Some(transmit) = client.connection.poll_transmit(now, most, &mut self.out) {
            client.pass(&transmit, &self.out);
            self.out.clear();
        }
        // They would be of other connection IDs, or of the end.
        while client.connection.poll_endpoint_events().is_some() {}
        client.due = client.connection.poll_timeout();
        self.next_due = earlier(self.next_due, client.due);
    }

    /// Lets the timers that are due go off.
    fn keep_time(&mut self, now: Instant) -> Result<(), Failed> {
        if self.next_due.is_none_or(|next| next > now) {
            return Ok(());
        }
        self.next_due = None;
        for number in 0..self.clients.len() {
            let client = &mut self.clients[number];
            if client.due.is_some_and(|due| due <= now) {
                client.connection.handle_timeout(now);
                self.serve(number, now)?;
            } else {
                self.next_due = earlier(self.next_due, client.due);
            }
        }
        Ok(())
    }

    /// Tells the server, which would keep them for its idle timeout, that the connections are over.
    fn close(&mut self) {
        let now = Instant::now();
        let code = VarInt::from_u64(Code::NO_ERROR.0).unwrap_or(VarInt::MAX);
        for client in &mut self.clients {
            client.connection.close(now, code, Bytes::new());
            self.out.clear();
            if let Some(transmit) = client.connection.poll_transmit(now, 1, &mut self.out) {
                client.pass(&transmit, &self.out);
            }
        }
    }
}

impl Client {
    /// Sends datagrams. What the socket does not take is lost, as on any way, and QUIC sends it again.
    fn pass(&self, transmit: &Transmit, bytes: &[u8]) {
        let bits = transmit.ecn.map(|ecn| ecn as u8);
        let transmit = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: bits.and_then(quinn_udp::EcnCodepoint::from_bits),
            contents: &bytes[..transmit.size],
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        let _ = self.state.send((&self.socket).into(), &transmit);
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

/// Reads what there is of a stream and keeps nothing of it; whether it has ended.
fn discard(connection: &mut Connection, id: StreamId) -> Result<bool, Failed> {
    let mut stream = connection.recv_stream(id);
    let Ok(mut chunks) = stream.read(true) else {
        return Ok(false);
    };
    let has_ended = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(_)) => {}
            Ok(None) => break true,
            Err(ReadError::Blocked) => break false,
            Err(reset) => return Err(reset.into()),
        }
    };
    let _ = chunks.finalize();
    Ok(has_ended)
}

fn asked(words: &[String]) -> Option<Result<u64, Failed>> {
    let [port, target, connections, streams, requests] = words else {
        return None;
    };
    let (port, requests) = (port.parse().ok()?, requests.parse().ok()?);
    let (connections, streams) = (connections.parse().ok()?, streams.parse().ok()?);
    Some(floor(port, target, connections, streams, requests))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let began = Instant::now();
    let problem = match asked(&words) {
        Some(Ok(answers)) => {
            println!("{answers} {}", began.elapsed().as_nanos());
            return ExitCode::SUCCESS;
        }
        Some(Err(problem)) => problem.to_string(),
        None => "PORT TARGET CONNECTIONS STREAMS REQUESTS".into(),
    };
    eprintln!("bare_http3: {problem}");
    ExitCode::from(2)
}
