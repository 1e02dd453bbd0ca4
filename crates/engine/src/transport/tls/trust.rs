//! Whom a client trusts: anyone, the authorities of a file, or the system's.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;

use super::certificates_of;
use super::verifier::{Trust, Verifier};
use crate::error::{PlanError, RunError};
use crate::plan::Tls;

/// Who says whether a server is whom it claims to be.
pub(super) fn verifier(
    tls: &Tls,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<Verifier>, RunError> {
    Ok(Arc::new(Verifier {
        trust: match tls.insecure {
            true => Trust::Anyone,
            false => authorities(tls, provider)?,
        },
        algorithms: provider.signature_verification_algorithms,
    }))
}

fn authorities(tls: &Tls, provider: &Arc<CryptoProvider>) -> Result<Trust, RunError> {
    let named = tls.ca_file.as_deref().map(certificates_of).transpose()?;
    let trusted = match &named {
        Some(named) => named.clone(),
        None => rustls_native_certs::load_native_certs().certs,
    };
    let roots = Arc::new(roots(trusted)?);
    let authorities = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
        .build()
        .map_err(|error| PlanError::new("tls.ca_file", error.to_string()))?;
    Ok(Trust::Authorities {
        authorities,
        named: named.unwrap_or_default(),
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
