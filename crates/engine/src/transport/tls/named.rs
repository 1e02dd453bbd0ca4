//! Trust in authorities of one's own, and in a certificate that is its own authority.
//!
//! Servers on a desk often show a certificate they signed themselves, marked as an authority's.
//! The verifier of rustls refuses to see an authority's certificate in a server's hands (RFC 5280);
//! where the file of trust holds that very certificate, it is what the user meant.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::signatures;

/// Verifies by authorities; a certificate of theirs that a server shows itself is held to its
/// name alone.
#[derive(Debug)]
pub(super) struct NamedCertificates {
    pub(super) named: Vec<CertificateDer<'static>>,
    pub(super) authorities: Arc<WebPkiServerVerifier>,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for NamedCertificates {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // rustls has no name of its own for an authority's certificate in a server's hands.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.named.contains(end_entity) =>
            {
                // One of X.509 v1 has no names that could be checked: it is the very certificate that was named.
                if let Ok(parsed) = ParsedCertificate::try_from(end_entity) {
                    verify_server_name(&parsed, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.named.contains(certificate) {
            true => signatures::verify(&self.algorithms, message, certificate, signed),
            false => (self.authorities).verify_tls12_signature(message, certificate, signed),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.named.contains(certificate) {
            true => signatures::verify(&self.algorithms, message, certificate, signed),
            false => (self.authorities).verify_tls13_signature(message, certificate, signed),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}
