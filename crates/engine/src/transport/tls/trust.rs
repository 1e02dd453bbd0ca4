//! Whom a client trusts: anyone, the authorities of a file, or the system's.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;

use super::anyone::AnyCertificate;
use super::certificates_of;
use super::named::NamedCertificates;
use crate::error::{PlanError, RunError};
use crate::plan::Tls;

/// Who says whether a server is whom it claims to be.
pub(super) fn verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, RunError> {
    let provider = Arc::clone(provider);
    if tls.insecure {
        return Ok(Arc::new(AnyCertificate(provider)));
    }
    let named = tls.ca_file.as_deref().map(certificates_of).transpose()?;
    let trusted = match &named {
        Some(named) => named.clone(),
        None => rustls_native_certs::load_native_certs().certs,
    };
    let algorithms = provider.signature_verification_algorithms;
    let authorities =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots(trusted)?), provider)
            .build()
            .map_err(|error| PlanError::new("tls.ca_file", error.to_string()))?;
    Ok(match named {
        None => authorities,
        Some(named) => Arc::new(NamedCertificates {
            named,
            authorities,
            algorithms,
        }),
    })
}

fn roots(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, RunError> {
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(certificates);
    if usable == 0 {
        let problem = "no authority to trust was found; give a PEM file, or ask for insecure";
        return Err(PlanError::new("tls.ca_file", problem).into());
    }
    Ok(roots)
}
