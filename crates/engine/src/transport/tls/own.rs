//! The client's own certificate with its key. Whether a server takes it is the server's to say: it is held to no rules for
//! certificates of others.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::CertifiedKey;

use super::{certificates_of, file, signatures};
use crate::error::{PlanError, RunError};

const CANNOT_SIGN: &str =
    "holds no key that can sign here: RSA of 2048 bits or more, P-256, P-384 or Ed25519";

pub(super) fn certificate(
    certificates: &str,
    key: &str,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, RunError> {
    let chain = certificates_of(certificates)?;
    let private = PrivateKeyDer::from_pem_slice(&file(key)?)
        .map_err(|error| PlanError::new("tls.key_file", error.to_string()))?;
    let private = (provider.key_provider)
        .load_private_key(private)
        .map_err(|_| PlanError::new("tls.key_file", CANNOT_SIGN))?;
    let shown = chain
        .first()
        .and_then(|first| signatures::public_key(first));
    if let (Some(own), Some(shown)) = (private.public_key(), shown)
        && own.as_ref() != shown
    {
        let problem = format!("is not the certificate of the key in {key}");
        return Err(PlanError::new("tls.certificate_file", problem).into());
    }
    Ok(CertifiedKey::new(chain, private))
}
