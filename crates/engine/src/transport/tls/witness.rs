//! Whether a handshake showed a certificate. One that resumes a session does not (RFC 8446, 2.2), and what QUIC's state
//! says of a handshake leaves that out.

use std::cell::Cell;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// How many certificates this thread's handshakes have been shown: it drives one connection at a time.
pub(crate) fn certificates_seen() -> u64 {
    SEEN.get()
}

/// Verifies as another does, and counts.
#[derive(Debug)]
pub(super) struct Witness(pub(super) Arc<dyn ServerCertVerifier>);

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        SEEN.set(SEEN.get() + 1);
        (self.0).verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
