//! What a scripted peer of HTTP/3 allows, as QUIC is told it.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{IdleTimeout, ServerConfig, TransportConfig, VarInt};
use rcgen::{CertifiedKey, KeyPair};
use rustls::pki_types::PrivateKeyDer;

/// What a peer allows.
pub struct Allows {
    pub alpn: &'static str,
    pub streams: u32,
    pub idle: Option<Duration>,
    pub window: u32,
}

impl Default for Allows {
    fn default() -> Self {
        Self {
            alpn: "h3",
            streams: 100,
            idle: None,
            window: 1 << 20,
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
