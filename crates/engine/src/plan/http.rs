//! Which HTTP is spoken, and what of a plan belongs to one of them only.

use serde::{Deserialize, Serialize};

use super::validate::{Checked, MOST_CONNECTIONS, ensure};
use super::{HttpVersion, LoadPlan, TlsVersion};
use crate::target::{Scheme, Target};

/// Which HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Http {
    /// HTTP/1.1, or 1.0 where [`LoadPlan::http_version`] says so.
    #[default]
    #[serde(rename = "1")]
    One,
    /// HTTP/2: by ALPN over TLS, by prior knowledge without.
    #[serde(rename = "2")]
    Two,
    /// HTTP/3, over QUIC: by prior knowledge, on UDP.
    #[serde(rename = "3")]
    Three,
    /// Over TLS HTTP/2 where the server picks it, else HTTP/1.1; asked once, before the run.
    #[serde(rename = "auto")]
    Auto,
}

impl LoadPlan {
    pub(super) fn validate_http(&self) -> Checked {
        let places = u64::from(self.load.connections()) * u64::from(self.streams);
        ensure(
            self.streams > 0 && places <= u64::from(MOST_CONNECTIONS),
            "streams",
            "must be at least 1, and on all connections together at most 1000000",
        )?;
        if self.http == Http::One {
            return ensure(
                self.streams == 1,
                "streams",
                "must be 1 with HTTP/1, whose connections carry one request at a time",
            );
        }
        ensure(
            self.http_version == HttpVersion::Http11,
            "http_version",
            "must be 1.1 where http is not 1",
        )?;
        ensure(
            self.pipeline == 1,
            "pipeline",
            "must be 1 with HTTP/2 and HTTP/3, which have streams instead",
        )?;
        if self.http == Http::Three {
            return self.validate_http3();
        }
        let is_plain = Target::parse(&self.url)?.scheme == Scheme::Http;
        ensure(
            self.proxy.is_none() || !is_plain,
            "proxy",
            "HTTP/2 goes through a proxy by CONNECT only, so the URL must be https",
        )
    }

    fn validate_http3(&self) -> Checked {
        ensure(
            Target::parse(&self.url)?.scheme == Scheme::Https,
            "url",
            "must be https: HTTP/3 is never without TLS",
        )?;
        ensure(
            self.tls.versions.contains(&TlsVersion::Tls13),
            "tls.versions",
            "must have 1.3 among them: HTTP/3 knows no other",
        )?;
        ensure(
            self.proxy.is_none(),
            "proxy",
            "must be none: HTTP/3 does not go through proxies of TCP",
        )?;
        ensure(
            (self.addresses.iter()).all(|address| !address.starts_with("unix:")),
            "addresses",
            "must be of IP: HTTP/3 goes over UDP",
        )
    }
}
