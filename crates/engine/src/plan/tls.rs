//! How TLS is spoken.

use serde::{Deserialize, Serialize};

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum TlsVersion {
    /// TLS 1.2
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3
    #[serde(rename = "1.3")]
    Tls13,
}

/// How an `https` URL is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Tls {
    /// PEM file of the authorities to trust instead of the system's.
    pub ca_file: Option<String>,
    /// PEM file of the client's certificate chain.
    pub certificate_file: Option<String>,
    /// PEM file of its key.
    pub key_file: Option<String>,
    /// The name to ask for (SNI) and to check, instead of the URL's host.
    pub server_name: Option<String>,
    /// Asks for that name at all.
    pub asks_for_name: bool,
    /// Application protocols to offer; empty offers none.
    pub alpn: Vec<String>,
    /// Versions to offer.
    pub versions: Vec<TlsVersion>,
    /// Accepts any certificate.
    pub insecure: bool,
    /// Resumes sessions on later connections.
    pub resumption: bool,
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            ca_file: None,
            certificate_file: None,
            key_file: None,
            server_name: None,
            asks_for_name: true,
            alpn: vec!["http/1.1".into()],
            versions: vec![TlsVersion::Tls12, TlsVersion::Tls13],
            insecure: false,
            resumption: true,
        }
    }
}
