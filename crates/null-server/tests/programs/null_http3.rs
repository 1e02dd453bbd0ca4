//! `null-server --http3`, asked over QUIC with the client's side of `assay-http3`.

use crate::server::Server;
use assay_http3::frame::{self, kind};
use assay_http3::message::{Event, Reader, Side};
use assay_http3::{Code, Heads, qpack};
use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint,
    Event as Happened, StreamEvent, StreamId, VarInt,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_null-server");

/// The server's certificate is its own.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".into()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

fn config() -> ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    ClientConfig::new(Arc::new(
        QuicClientConfig::try_from(tls).expect("ring has QUIC"),
    ))
}

/// A client that does what it is told as soon as it is connected, until `on` has seen what it wanted.
struct Client {
    socket: UdpSocket,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
}

impl Client {
    fn new(server: &Server) -> Self {
        let address: SocketAddr = server.address.parse().expect("it is an address");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
        let mut endpoint = Endpoint::new(Arc::default(), None, false, None);
        let (handle, connection) = endpoint
            .connect(Instant::now(), config(), address, "localhost")
            .expect("it can begin");
        Self {
            socket,
            endpoint,
            handle,
            connection,
        }
    }

    /// Runs the connection until `on` says that it is enough.
    fn run(&mut self, mut on: impl FnMut(&mut Connection, &Happened) -> bool) {
        let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
        loop {
            let now = Instant::now();
            while let Some(event) = self.connection.poll() {
                if on(&mut self.connection, &event) {
                    return;
                }
            }
            while let Some(event) = self.connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                    self.connection.handle_event(event);
                }
            }
            while let Some(sent) = {
                out.clear();
                self.connection.poll_transmit(now, 1, &mut out)
            } {
                self.socket
                    .send_to(&out[..sent.size], sent.destination)
                    .expect("it goes out");
            }
            let due = self.connection.poll_timeout().expect("a timer is set");
            let wait = due.saturating_duration_since(Instant::now());
            self.socket
                .set_read_timeout(Some(wait.max(Duration::from_millis(1))))
                .expect("a timeout can be set");
            match self.socket.recv_from(&mut buffer) {
                Err(_) => self.connection.handle_timeout(Instant::now()),
                Ok((read, from)) => {
                    let datagram = BytesMut::from(&buffer[..read]);
                    let event =
                        self.endpoint
                            .handle(Instant::now(), from, None, None, datagram, &mut out);
                    if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                        self.connection.handle_event(event);
                    }
                }
            }
        }
    }

    /// Opens a stream, says all of `bytes` and ends it.
    fn say(connection: &mut Connection, dir: Dir, bytes: &[u8]) -> StreamId {
        let id = connection.streams().open(dir).expect("there is room");
        let written = connection.send_stream(id).write(bytes);
        assert_eq!(written, Ok(bytes.len()));
        if dir == Dir::Bi {
            connection.send_stream(id).finish().expect("it can end");
        }
        id
    }
}

fn request(method: &str, body: &[u8]) -> Vec<u8> {
    let (mut block, mut out) = (Vec::new(), Vec::new());
    let fields = [
        (":method", method),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "/"),
    ];
    let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    qpack::encode(fields, &mut block);
    frame::write(kind::HEADERS, &block, &mut out);
    if !body.is_empty() {
        frame::write(kind::DATA, body, &mut out);
    }
    out
}

/// The status and the body's length of each answer to requests sent at once.
fn ask(server: &Server, requests: &[(&str, &[u8])]) -> Vec<(u16, usize)> {
    let mut client = Client::new(server);
    let mut exchanges: BTreeMap<StreamId, (Reader, u16, usize)> = BTreeMap::new();
    let (mut heads, mut ended) = (Heads::default(), 0);
    client.run(|connection, event| {
        match event {
            Happened::Connected => {
                let mut control = Vec::new();
                frame::write_control(1 << 16, &mut control);
                Client::say(connection, Dir::Uni, &control);
                for (method, body) in requests {
                    let id = Client::say(connection, Dir::Bi, &request(method, body));
                    let to_head = *method == "HEAD";
                    let reader = Reader::new(Side::Answer { to_head });
                    exchanges.insert(id, (reader, 0, 0));
                }
            }
            Happened::Stream(StreamEvent::Readable { id }) => {
                let Some((reader, status, bytes)) = exchanges.get_mut(id) else {
                    return false;
                };
                let mut stream = connection.recv_stream(*id);
                let mut chunks = stream.read(true).expect("it can be read");
                loop {
                    match chunks.next(usize::MAX) {
                        Ok(Some(chunk)) => {
                            let mut input = &chunk.bytes[..];
                            while let Some(event) =
                                reader.next(&mut input, &mut heads).expect("HTTP/3")
                            {
                                match event {
                                    Event::Answer { status: said } => *status = said,
                                    Event::Body(data) => *bytes += data.len(),
                                    Event::Request => panic!("a request from a server"),
                                }
                            }
                        }
                        Ok(None) => {
                            reader.finish().expect("it is whole");
                            ended += 1;
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let _ = chunks.finalize();
            }
            Happened::ConnectionLost { reason } => panic!("{reason}"),
            _ => {}
        }
        ended == requests.len()
    });
    exchanges
        .into_values()
        .map(|(_, status, bytes)| (status, bytes))
        .collect()
}

fn start(arguments: &[&str]) -> Server {
    let mut server = Server::start(PROGRAM, &[&["--http3"], arguments].concat());
    assert_eq!(
        server.line(),
        format!("listening on https://{}/ by HTTP/3\n", server.address)
    );
    server
}

#[test]
fn many_requests_at_once_with_bodies_and_without() {
    let server = start(&["--status", "404", "--body-bytes", "300000"]);
    let (post, get, head) = (
        ("POST", &[b'b'; 900][..]),
        ("GET", &b""[..]),
        ("HEAD", &b""[..]),
    );
    let requests: Vec<_> = [post, get, head].repeat(20);
    let answers = [(404, 300_000), (404, 300_000), (404, 0)].repeat(20);
    assert_eq!(ask(&server, &requests), answers);
    assert_eq!(ask(&server, &[get]), [(404, 300_000)]);
}

#[test]
fn a_client_has_no_more_streams_at_once_than_it_is_allowed() {
    for (flags, allowed) in [(&["--http3-streams", "2"][..], 2), (&[], 10_000)] {
        let mut opened = 0;
        Client::new(&start(flags)).run(|connection, event| {
            while matches!(event, Happened::Connected)
                && connection.streams().open(Dir::Bi).is_some()
            {
                opened += 1;
            }
            opened > 0
        });
        assert_eq!(opened, allowed);
    }
}

#[test]
fn a_client_that_breaks_the_rules_is_told_which() {
    let server = start(&[]);
    for (dir, bytes, code) in [
        (Dir::Uni, &b"\x00\x07\x01\x00"[..], Code::MISSING_SETTINGS),
        (Dir::Uni, b"\x02\x3f", Code::QPACK_ENCODER_STREAM_ERROR),
        (Dir::Bi, b"\x00\x01x", Code::FRAME_UNEXPECTED),
        (
            Dir::Bi,
            b"\x01\x02\x02\x00",
            Code::QPACK_DECOMPRESSION_FAILED,
        ),
    ] {
        let mut told = None;
        Client::new(&server).run(|connection, event| {
            match event {
                Happened::Connected => {
                    Client::say(connection, dir, bytes);
                }
                Happened::ConnectionLost {
                    reason: ConnectionError::ApplicationClosed(close),
                } => told = Some(close.error_code),
                _ => {}
            }
            told.is_some()
        });
        assert_eq!(told, VarInt::try_from(code.0).ok(), "{bytes:?}");
    }
    assert_eq!(ask(&server, &[("GET", b"")]), [(200, 0)], "it goes on");
}
