//! TLS over a plain transport, by rustls.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::RawFd;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, SupportedProtocolVersion};

use super::{Plain, PlainConnector, Progress, QuicConnector, Transport};
use crate::error::{PlanError, RunError};
use crate::plan::{Http, Tls, TlsVersion};
use crate::record::{Counter, Session};
use crate::target::Target;

/// HTTP/2's name in ALPN (RFC 9113, 3.3).
pub(crate) const HTTP2: &[u8] = b"h2";
/// HTTP/3's (RFC 9114, 3.1).
const HTTP3: &[u8] = b"h3";

mod own;
mod signatures;
mod suites;
mod trust;
mod verifier;

pub(crate) use verifier::certificates_seen;

/// A connection with its session.
#[derive(Debug)]
pub(crate) struct TlsStream {
    plain: Plain,
    session: Box<ClientConnection>,
    carried: Arc<Carried>,
    /// The last read from the socket emptied it.
    is_drained: bool,
    /// Whether the connection below is complete.
    is_connected: bool,
    /// What ended reading, where something that had arrived before it is read first.
    fault: Option<io::Error>,
}

/// Bytes that went over the sockets of one worker.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    read: Counter,
    written: Counter,
}

/// Opens sockets and begins sessions on them.
#[derive(Debug, Clone)]
pub(crate) struct TlsConnector {
    pub(crate) plain: PlainConnector,
    pub(crate) config: Arc<ClientConfig>,
    /// The name to ask each host for.
    pub(crate) server_names: Arc<[ServerName<'static>]>,
    /// The settings of QUIC, where HTTP/3 is what is spoken.
    pub(crate) quic: Option<quinn_proto::ClientConfig>,
    pub(crate) carried: Arc<Carried>,
}

/// A fault of the handshake or of a record, for [`crate::record::Failure::of_io`].
fn fault(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Reads from the socket and notices when that emptied it.
struct Tap<'a> {
    plain: &'a mut Plain,
    carried: &'a Carried,
    is_drained: &'a mut bool,
    ends: bool,
}

impl Read for Tap<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.plain.read(buffer, self.ends)?;
        self.carried.read.add(read as u64);
        *self.is_drained = read < buffer.len() && !self.ends;
        Ok(read)
    }
}

impl Write for Tap<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.plain.write(bytes)?;
        self.carried.written.add(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TlsStream {
    /// Reads records from the socket; false at the end of the stream.
    fn fill(&mut self, ends: bool) -> io::Result<bool> {
        let mut tap = Tap {
            plain: &mut self.plain,
            carried: &self.carried,
            is_drained: &mut self.is_drained,
            ends,
        };
        let read = self.session.read_tls(&mut tap)?;
        if let Err(error) = self.session.process_new_packets() {
            // The alert that tells the peer why; it may not be read any more.
            let _ = self.flush();
            return Err(fault(error));
        }
        Ok(read > 0)
    }

    fn version(&self) -> &'static str {
        match self.session.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2",
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3",
            _ => "TLS",
        }
    }

    fn shake(&mut self) -> io::Result<Progress> {
        while self.session.is_handshaking() {
            let flushed = self.flush();
            if !self.session.is_handshaking() {
                break;
            }
            match (self.fill(true), flushed) {
                (Ok(true), _) => {}
                // An alert that has arrived says more than that nothing can be written.
                (Err(error), _) if error.kind() == io::ErrorKind::InvalidData => return Err(error),
                (_, Err(error)) => return Err(error),
                (Ok(false), Ok(())) => {
                    let text = "closed inside the TLS handshake";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                (Err(error), Ok(())) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Progress::Shaking);
                }
                (Err(error), Ok(())) => return Err(error),
            }
        }
        // The client's last message goes out with the first request, in one segment.
        Ok(Progress::Ready)
    }
}

impl Transport for TlsStream {
    type Connector = TlsConnector;

    /// Records that are still in the socket may follow those that were read.
    const SHORT_READ_DRAINS: bool = false;
    const SHAKES_HANDS: bool = true;

    fn quic(connector: &TlsConnector) -> Option<QuicConnector> {
        connector.quic.clone().map(|config| QuicConnector {
            plain: connector.plain.clone(),
            config,
            server_name: connector.server_names[0].to_str().into_owned(),
        })
    }

    fn tls_bytes(connector: &TlsConnector) -> Option<(u64, u64)> {
        let is_used = connector.quic.is_none();
        is_used.then(|| {
            (
                connector.carried.read.get(),
                connector.carried.written.get(),
            )
        })
    }

    fn open(connector: &mut TlsConnector, slot: usize) -> io::Result<Self> {
        let config = Arc::clone(&connector.config);
        let name = connector.server_names[connector.plain.host_of(slot)].clone();
        let session = ClientConnection::new(config, name).map_err(fault)?;
        Ok(Self {
            plain: Plain::open(&mut connector.plain, slot)?,
            session: Box::new(session),
            carried: Arc::clone(&connector.carried),
            is_drained: false,
            is_connected: false,
            fault: None,
        })
    }

    fn descriptor(&self) -> RawFd {
        self.plain.descriptor()
    }

    fn establish(&mut self) -> io::Result<Progress> {
        // Once it is connected, an error of the socket is told by reading it, behind what had arrived before.
        if !self.is_connected {
            match self.plain.establish()? {
                Progress::Ready => self.is_connected = true,
                earlier => return Ok(earlier),
            }
        }
        self.shake()
    }

    fn agreement(&self) -> Option<String> {
        let version = self.version();
        let suite = self.session.negotiated_cipher_suite()?.suite();
        let alpn = self.session.alpn_protocol().unwrap_or(b"no ALPN");
        let resumed = match self.session.handshake_kind() {
            Some(HandshakeKind::Resumed) => ", resumed",
            _ => "",
        };
        Some(format!(
            "{version}, {suite:?}, {}{resumed}",
            alpn.escape_ascii()
        ))
    }

    fn protocol(&self) -> Option<&[u8]> {
        self.session.alpn_protocol()
    }

    fn session(&self) -> Option<Session> {
        let suite = self.session.negotiated_cipher_suite()?.suite();
        let group = self.session.negotiated_key_exchange_group();
        let certificate = self
            .session
            .peer_certificates()
            .and_then(|chain| chain.first());
        Some(Session {
            version: self.version().into(),
            suite: format!("{suite:?}"),
            group: group.map_or_else(String::new, |group| format!("{:?}", group.name())),
            certificate: certificate.map_or_else(Vec::new, |der| der.to_vec()),
        })
    }

    fn read(&mut self, buffer: &mut [u8], ends: bool) -> io::Result<usize> {
        loop {
            match self.session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Plaintext; or 0, after the peer's close_notify; or an end without one.
                other => return other,
            }
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if std::mem::take(&mut self.is_drained) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.fault = self.fill(ends).err();
            if self.session.wants_write() {
                // Where that fails, what has arrived is read all the same, and then the end.
                let _ = self.flush();
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.session.writer().write(bytes)?;
        self.flush()?;
        match taken {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut tap = Tap {
            plain: &mut self.plain,
            carried: &self.carried,
            is_drained: &mut self.is_drained,
            ends: false,
        };
        while self.session.wants_write() {
            match self.session.write_tls(&mut tap) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The settings of all sessions of a run.
pub(crate) fn config(tls: &Tls, http: Http) -> Result<Arc<ClientConfig>, RunError> {
    let wrong = |field: &str, error: &dyn std::fmt::Display| {
        RunError::from(PlanError::new(field, error.to_string()))
    };
    let is_spoken = |version: &&TlsVersion| http != Http::Three || **version == TlsVersion::Tls13;
    let versions: Vec<&SupportedProtocolVersion> = tls
        .versions
        .iter()
        .filter(is_spoken)
        .map(|version| match version {
            TlsVersion::Tls12 => &rustls::version::TLS12,
            TlsVersion::Tls13 => &rustls::version::TLS13,
        })
        .collect();
    let mut provider = rustls::crypto::ring::default_provider();
    if http == Http::Three {
        provider.cipher_suites.clone_from(&suites::OF_QUIC);
    }
    let provider = Arc::new(provider);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .map_err(|error| wrong("tls.versions", &error))?;
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(trust::verifier(tls, &provider)?);
    let mut config = match (&tls.certificate_file, &tls.key_file) {
        (Some(certificates), Some(key)) => {
            let own = own::certificate(certificates, key, &provider)?;
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own)))
        }
        _ => builder.with_no_client_auth(),
    };
    config.alpn_protocols = match http {
        Http::One => tls
            .alpn
            .iter()
            .map(|name| name.clone().into_bytes())
            .collect(),
        Http::Two => vec![HTTP2.into()],
        Http::Three => vec![HTTP3.into()],
        Http::Auto => vec![HTTP2.into(), b"http/1.1".into()],
    };
    config.enable_sni = tls.asks_for_name;
    if !tls.resumption {
        config.resumption = Resumption::disabled();
    }
    Ok(Arc::new(config))
}

/// The name to ask for and to check.
pub(crate) fn server_name(tls: &Tls, target: &Target) -> Result<ServerName<'static>, RunError> {
    let name = tls.server_name.as_deref().unwrap_or(target.bare_host());
    ServerName::try_from(name.to_owned()).map_err(|_| {
        let problem = format!("'{name}' is neither a host name nor an address");
        PlanError::new("tls.server_name", problem).into()
    })
}

fn certificates_of(path: &str) -> Result<Vec<CertificateDer<'static>>, RunError> {
    let pem = file(path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => {
            let problem = format!("{path} holds no PEM certificate");
            Err(PlanError::new("tls", problem).into())
        }
    }
}

fn file(path: &str) -> Result<Vec<u8>, RunError> {
    fs::read(path).map_err(|source| RunError::File {
        path: path.into(),
        source,
    })
}
