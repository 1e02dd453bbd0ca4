//! What a scripted peer of HTTP/3 allows, as QUIC is told it.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{Connection, IdleTimeout, ServerConfig, StreamId, TransportConfig, VarInt};
use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::PrivateKeyDer;

/// What a peer allows.
pub struct Allows {
    pub alpn: &'static str,
    pub streams: u32,
    pub idle: Option<Duration>,
    pub window: u32,
    /// Whether it wants nothing of its client's own streams, as no peer may.
    pub stops_control: bool,
}

/// What a peer has seen of its clients.
#[derive(Default)]
pub struct Seen {
    /// How many answers they have told it that they want no more.
    pub given_up: AtomicU64,
    /// What they have said on their own streams.
    pub control: Mutex<Vec<u8>>,
    /// How their connections have ended.
    pub lost: Mutex<Vec<String>>,
}

impl Seen {
    pub fn read_control(&self, connection: &mut Connection, id: StreamId) {
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.control.lock().unwrap().extend_from_slice(&chunk.bytes);
        }
        let _ = chunks.finalize();
    }
}

impl Default for Allows {
    fn default() -> Self {
        Self {
            alpn: "h3",
            streams: 100,
            idle: None,
            window: 1 << 20,
            stops_control: false,
        }
    }
}

/// The settings of a peer that shows this certificate.
pub fn server_config(allows: &Allows, made: &CertifiedKey<KeyPair>) -> ServerConfig {
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    tls.alpn_protocols = vec![allows.alpn.into()];
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(allows.streams))
        .stream_receive_window(VarInt::from_u32(allows.window))
        .receive_window(VarInt::from_u32(allows.window))
        .max_idle_timeout(allows.idle.map(|idle| IdleTimeout::try_from(idle).unwrap()));
    let crypto = QuicServerConfig::try_from(tls).unwrap();
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    config
}
