//! QUIC's TLS with a certificate that is made at the start and signed by itself.

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{ServerConfig, TransportConfig, VarInt};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::error::Error;
use std::sync::Arc;

const WINDOW_BYTES: u32 = 16 << 20;
/// The names that the certificate is good for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// TLS 1.3 for HTTP/3, no early data, wide windows, and so many requests at once on a connection.
pub(super) fn server_config(streams: u32) -> Result<ServerConfig, Box<dyn Error + Send + Sync>> {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(NAMES.map(String::from))?;
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(streams))
        .stream_receive_window(VarInt::from_u32(WINDOW_BYTES))
        .receive_window(VarInt::from_u32(WINDOW_BYTES))
        .send_window(u64::from(WINDOW_BYTES));
    let crypto = QuicServerConfig::try_from(tls)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}
