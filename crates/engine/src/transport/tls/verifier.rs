//! Whether a server is whom it claims to be, held to whom the user trusts; and whether a handshake showed a certificate.
//!
//! Servers on a desk often show a certificate they signed themselves, marked as an authority's.
//! The verifier of rustls refuses to see an authority's certificate in a server's hands (RFC 5280);
//! where the file of trust holds that very certificate, it is what the user meant.
//!
//! A handshake that resumes a session shows none (RFC 8446, 2.2), and what QUIC's state says of a handshake leaves that
//! out: so those that were shown are counted.

use std::cell::Cell;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::signatures;

thread_local! {
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// How many certificates this thread's handshakes have been shown: it drives one connection at a time.
pub(crate) fn certificates_seen() -> u64 {
    SEEN.get()
}

/// Verifies, and counts what it is shown.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) trust: Trust,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

/// Whom the user trusts.
#[derive(Debug)]
pub(super) enum Trust {
    /// Every certificate, as `curl -k` does: by request only. Signatures are still verified where we can: without that
    /// the handshake would do less work than a real one, and be measured as such.
    Anyone,
    /// What these vouch for. One of the certificates that were named which a server shows itself is held to its name
    /// alone.
    Authorities {
        authorities: Arc<WebPkiServerVerifier>,
        named: Vec<CertificateDer<'static>>,
    },
}

impl Trust {
    /// The authorities to which a certificate is held; none where its key is all that counts.
    fn over(&self, certificate: &CertificateDer<'_>) -> Option<&WebPkiServerVerifier> {
        match self {
            Self::Authorities { authorities, named } if !named.contains(certificate) => {
                Some(authorities)
            }
            Self::Anyone | Self::Authorities { .. } => None,
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        SEEN.set(SEEN.get() + 1);
        let Trust::Authorities { authorities, named } = &self.trust else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = authorities.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            // rustls has no name of its own for an authority's certificate in a server's hands.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if named.contains(end_entity) =>
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
        match self.trust.over(certificate) {
            Some(authorities) => authorities.verify_tls12_signature(message, certificate, signed),
            None => signatures::verify(&self.algorithms, message, certificate, signed),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trust.over(certificate) {
            Some(authorities) => authorities.verify_tls13_signature(message, certificate, signed),
            None => signatures::verify(&self.algorithms, message, certificate, signed),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.algorithms.supported_schemes();
        if let Trust::Anyone = self.trust {
            schemes.extend(signatures::UNVERIFIED);
        }
        schemes
    }
}
