//! Peers that speak HTTP/3 as a test scripts it.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use assay_http3::frame::{self, kind};
use assay_http3::message::{Event, Reader, Side};
use assay_http3::{Fields, Heads, qpack};
use bytes::{Bytes, BytesMut};
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    RandomConnectionIdGenerator, ReadError, ServerConfig, StreamEvent, StreamId, Transmit, VarInt,
    WriteError,
};
use rcgen::generate_simple_self_signed;

pub use super::quic_config::Allows;
use super::quic_config::{Seen, server_config};

/// The datagrams of a test are no longer.
const DATAGRAM_BYTES: usize = 2048;

/// A request that has come in whole.
pub struct Asked<'a> {
    connection: &'a mut Connection,
    id: StreamId,
    control: Option<StreamId>,
    unsent: &'a mut HashMap<StreamId, Bytes>,
    is_forgotten: &'a mut bool,
    pub fields: String,
    pub body: usize,
}

impl Asked<'_> {
    /// Which request of its connection it is, from 0 on.
    pub fn number(&self) -> u64 {
        self.id.index()
    }

    pub fn answer(&mut self, body: &[u8]) {
        self.answer_with(&[(b":status", b"200")], body);
    }

    pub fn answer_with(&mut self, fields: &[(&[u8], &[u8])], body: &[u8]) {
        let (mut block, mut out) = (Vec::new(), Vec::new());
        qpack::encode(fields.iter().copied(), &mut block);
        frame::write(kind::HEADERS, &block, &mut out);
        frame::write(kind::DATA, body, &mut out);
        self.write(out);
    }

    /// Sends bytes, and the end of the stream behind them.
    pub fn write(&mut self, out: Vec<u8>) {
        let rest = send(self.connection, self.id, out.into());
        self.unsent.extend(rest.map(|rest| (self.id, rest)));
    }

    pub fn reset(&mut self, code: u32) {
        let code = VarInt::from_u32(code);
        self.connection.send_stream(self.id).reset(code).unwrap();
    }

    pub fn go_away(&mut self, from: u64) {
        let mut out = Vec::new();
        frame::write_goaway(from, &mut out);
        let control = self.control.unwrap();
        self.connection.send_stream(control).write(&out).unwrap();
    }

    pub fn close(&mut self, code: u32, why: &'static str) {
        let code = VarInt::from_u32(code);
        let why = Bytes::from_static(why.as_bytes());
        self.connection.close(Instant::now(), code, why);
    }

    /// Lets the peer know nothing of any connection any more.
    pub fn forget(&mut self) {
        *self.is_forgotten = true;
    }
}

fn send(connection: &mut Connection, id: StreamId, mut rest: Bytes) -> Option<Bytes> {
    let mut stream = connection.send_stream(id);
    while !rest.is_empty() {
        match stream.write_chunks(std::slice::from_mut(&mut rest)) {
            Ok(_) => {}
            Err(WriteError::Blocked) => return Some(rest),
            Err(_) => return None,
        }
    }
    let _ = stream.finish();
    None
}

/// A peer; it stops when it is dropped.
pub struct Peer {
    pub address: SocketAddr,
    /// Its certificate, which is good for "localhost".
    pub pem: String,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peer {
    /// Hands each request to `react`.
    pub fn start(allows: Allows, react: impl FnMut(&mut Asked<'_>) + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        let address = socket.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stops = Arc::clone(&stop);
        let made = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let pem = made.cert.pem();
        let server = Arc::new(server_config(&allows, &made));
        let seen = Arc::new(Seen::default());
        let mut serving = Serving::new(socket, server, Box::new(react), Arc::clone(&seen));
        serving.stops_control = allows.stops_control;
        let thread = thread::spawn(move || {
            while !stops.load(SeqCst) {
                serving.turn();
            }
        });
        Self {
            address,
            pem,
            seen,
            stop,
            thread: Some(thread),
        }
    }

    /// How many answers its clients have told it that they want no more.
    pub fn given_up(&self) -> u64 {
        self.seen.given_up.load(SeqCst)
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        // A peer whose script has failed is told by what its client has seen.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

type React = Box<dyn FnMut(&mut Asked<'_>) + Send>;

struct Serving {
    socket: UdpSocket,
    config: Arc<EndpointConfig>,
    server: Arc<ServerConfig>,
    endpoint: Endpoint,
    clients: HashMap<ConnectionHandle, Client>,
    react: React,
    seen: Arc<Seen>,
    stops_control: bool,
}

struct Client {
    connection: Connection,
    control: Option<StreamId>,
    reading: HashMap<StreamId, (Reader, String, usize)>,
    unsent: HashMap<StreamId, Bytes>,
    seen: Arc<Seen>,
    stops_control: bool,
}

impl Serving {
    fn new(socket: UdpSocket, server: Arc<ServerConfig>, react: React, seen: Arc<Seen>) -> Self {
        let mut config = EndpointConfig::default();
        // So that a peer that has forgotten its connections still knows the numbers for its own.
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(8)));
        let config = Arc::new(config);
        Self {
            socket,
            endpoint: Endpoint::new(Arc::clone(&config), Some(Arc::clone(&server)), true, None),
            config,
            server,
            clients: HashMap::new(),
            react,
            seen,
            stops_control: false,
        }
    }

    fn turn(&mut self) {
        let mut buffer = [0; DATAGRAM_BYTES];
        if let Ok((read, from)) = self.socket.recv_from(&mut buffer) {
            self.datagram(from, BytesMut::from(&buffer[..read]));
        }
        let mut is_forgotten = false;
        let handles: Vec<ConnectionHandle> = self.clients.keys().copied().collect();
        for handle in handles {
            let now = Instant::now();
            let client = self.clients.get_mut(&handle).unwrap();
            if client
                .connection
                .poll_timeout()
                .is_some_and(|due| due <= now)
            {
                client.connection.handle_timeout(now);
            }
            client.serve(&mut self.react, &mut is_forgotten);
            while let Some(event) = client.connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(handle, event) {
                    client.connection.handle_event(event);
                }
            }
            let mut out = Vec::new();
            while let Some(transmit) = client.connection.poll_transmit(now, 1, &mut out) {
                let _ = self
                    .socket
                    .send_to(&out[..transmit.size], transmit.destination);
                out.clear();
            }
            if client.connection.is_drained() {
                self.clients.remove(&handle);
            }
        }
        if is_forgotten {
            self.clients.clear();
            let (config, server) = (Arc::clone(&self.config), Arc::clone(&self.server));
            self.endpoint = Endpoint::new(config, Some(server), true, None);
        }
    }

    fn datagram(&mut self, from: SocketAddr, datagram: BytesMut) {
        let (now, mut out) = (Instant::now(), Vec::new());
        let reply = |transmit: Transmit, out: &[u8]| {
            let _ = self
                .socket
                .send_to(&out[..transmit.size], transmit.destination);
        };
        match self
            .endpoint
            .handle(now, from, None, None, datagram, &mut out)
        {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(client) = self.clients.get_mut(&handle) {
                    client.connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut out, None);
                match accepted {
                    Ok((handle, connection)) => {
                        let seen = Arc::clone(&self.seen);
                        let client = Client::new(connection, seen, self.stops_control);
                        self.clients.insert(handle, client);
                    }
                    Err(refused) => {
                        if let Some(transmit) = refused.response {
                            reply(transmit, &out);
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => reply(transmit, &out),
            None => {}
        }
    }
}

impl Client {
    fn new(connection: Connection, seen: Arc<Seen>, stops_control: bool) -> Self {
        Self {
            connection,
            control: None,
            reading: HashMap::new(),
            unsent: HashMap::new(),
            seen,
            stops_control,
        }
    }

    /// Does what happened asks for.
    fn serve(&mut self, react: &mut React, is_forgotten: &mut bool) {
        while let Some(event) = self.connection.poll() {
            match event {
                quinn_proto::Event::Connected => {
                    let mut out = Vec::new();
                    frame::write_control(65_536, &mut out);
                    let control = self.connection.streams().open(Dir::Uni).unwrap();
                    self.connection.send_stream(control).write(&out).unwrap();
                    self.control = Some(control);
                }
                quinn_proto::Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = self.connection.streams().accept(dir) {
                        if dir == Dir::Bi {
                            let reading = (Reader::new(Side::Request), String::new(), 0);
                            self.reading.insert(id, reading);
                            self.read(id, react, is_forgotten);
                        } else if self.stops_control {
                            let mut stream = self.connection.recv_stream(id);
                            stream.stop(VarInt::from_u32(0)).unwrap();
                        } else {
                            self.seen.read_control(&mut self.connection, id);
                        }
                    }
                }
                quinn_proto::Event::Stream(StreamEvent::Readable { id }) => {
                    if id.dir() == Dir::Uni {
                        self.seen.read_control(&mut self.connection, id);
                    }
                    self.read(id, react, is_forgotten);
                }
                quinn_proto::Event::ConnectionLost { reason } => {
                    self.seen.lost.lock().unwrap().push(reason.to_string());
                }
                quinn_proto::Event::Stream(StreamEvent::Writable { id }) => {
                    if let Some(rest) = self.unsent.remove(&id) {
                        let rest = send(&mut self.connection, id, rest);
                        self.unsent.extend(rest.map(|rest| (id, rest)));
                    }
                }
                quinn_proto::Event::Stream(StreamEvent::Stopped { .. }) => {
                    self.seen.given_up.fetch_add(1, SeqCst);
                }
                _ => {}
            }
        }
    }

    fn read(&mut self, id: StreamId, react: &mut React, is_forgotten: &mut bool) {
        let Some((reader, seen, body)) = self.reading.get_mut(&id) else {
            return;
        };
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        let is_whole = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let (mut input, mut heads) = (&chunk.bytes[..], Heads::default());
                    while let Some(event) = reader.next(&mut input, &mut heads).unwrap() {
                        match event {
                            Event::Request => *seen = told(heads.fields()),
                            Event::Body(data) => *body += data.len(),
                            Event::Answer { .. } => {}
                        }
                    }
                }
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(ReadError::Reset(_)) => {
                    let _ = chunks.finalize();
                    self.reading.remove(&id);
                    return;
                }
            }
        };
        let _ = chunks.finalize();
        if is_whole && let Some((_, fields, body)) = self.reading.remove(&id) {
            react(&mut Asked {
                connection: &mut self.connection,
                id,
                control: self.control,
                unsent: &mut self.unsent,
                is_forgotten,
                fields,
                body,
            });
        }
    }
}

fn told(fields: &Fields) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = fields
        .iter()
        .map(|(name, value)| text(name) + "=" + &text(value));
    lines.collect::<Vec<_>>().join("|")
}
