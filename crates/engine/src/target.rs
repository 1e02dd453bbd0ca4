//! Where the load goes: the plan's URL and addresses, resolved once before the run.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{PlanError, RunError};
use crate::plan::{AddressFamily, LoadPlan};

/// How the bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Plain, over TCP or a unix socket.
    Http,
    /// Over TLS.
    Https,
}

/// The parts of a plan's URL that the engine uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// How the bytes travel.
    pub scheme: Scheme,
    /// The host without brackets; the path of a unix socket is in `unix_path`.
    pub host: String,
    /// The port, as written or the scheme's own.
    pub port: u16,
    /// What `Host` says: host and port as written.
    pub authority: String,
    /// The unix socket, where the URL names one.
    pub unix_path: Option<PathBuf>,
}

/// An address connections are opened to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// IPv4 or IPv6 with a port.
    Tcp(SocketAddr),
    /// A unix socket's path.
    Unix(PathBuf),
}

impl Target {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// When the engine cannot use it; the line says what it should look like.
    pub fn parse(url: &str) -> Result<Self, PlanError> {
        let wrong = |problem: &str| PlanError::new("url", format!("{problem} in '{url}'"));
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("no scheme (such as http://)"))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(wrong(
                "a user name is not allowed; send an Authorization header;",
            ));
        }
        match scheme.to_ascii_lowercase().as_str() {
            "http" => Self::from_authority(Scheme::Http, authority, 80, &wrong),
            "https" => Self::from_authority(Scheme::Https, authority, 443, &wrong),
            "http+unix" => {
                let path = percent_decoded(authority)
                    .filter(|path| path.starts_with('/'))
                    .ok_or_else(|| wrong("no percent-encoded absolute socket path"))?;
                Ok(Self {
                    scheme: Scheme::Http,
                    host: "localhost".into(),
                    port: 80,
                    authority: "localhost".into(),
                    unix_path: Some(path.into()),
                })
            }
            _ => Err(wrong(
                "unknown scheme (http, https and http+unix are known)",
            )),
        }
    }

    pub(crate) fn scheme_name(&self) -> &'static str {
        match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Host and port, the port always said.
    pub(crate) fn with_port(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    fn from_authority(
        scheme: Scheme,
        authority: &str,
        default_port: u16,
        wrong: &dyn Fn(&str) -> PlanError,
    ) -> Result<Self, PlanError> {
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest
                    .split_once(']')
                    .ok_or_else(|| wrong("an IPv6 address lacks its closing bracket"))?;
                (host, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("no host"));
        }
        let port = match port {
            None | Some("") => default_port,
            Some(text) => text
                .parse()
                .ok()
                .filter(|port| *port != 0)
                .ok_or_else(|| wrong("the port is not between 1 and 65535"))?,
        };
        Ok(Self {
            scheme,
            host: host.into(),
            port,
            authority: authority.into(),
            unix_path: None,
        })
    }
}

/// The endpoints of a target, resolved, or the addresses given instead. Connections use them
/// round robin.
///
/// A name with several addresses is tried in the resolver's order, as browsers and wrk do:
/// the first that `accepts` a connection is used ("localhost" often has an IPv6 address that
/// the server does not listen on). Where none accepts, the first is kept and the run will
/// count its failures.
pub(crate) fn endpoints(
    addresses: &[String],
    family: AddressFamily,
    target: &Target,
    accepts: fn(&SocketAddr) -> bool,
) -> Result<Vec<Endpoint>, RunError> {
    if let Some(path) = &target.unix_path {
        return Ok(vec![Endpoint::Unix(path.clone())]);
    }
    if !addresses.is_empty() {
        let parse = |text: &String| {
            parse_endpoint(text, target.port)
                .map_err(|problem| PlanError::new("addresses", problem).into())
        };
        return addresses.iter().map(parse).collect();
    }
    let unresolved = |source| RunError::Resolve {
        host: target.host.clone(),
        source,
    };
    let found: Vec<SocketAddr> = (target.host.as_str(), target.port)
        .to_socket_addrs()
        .map_err(unresolved)?
        .filter(|address| match family {
            AddressFamily::Any => true,
            AddressFamily::Ipv4 => address.is_ipv4(),
            AddressFamily::Ipv6 => address.is_ipv6(),
        })
        .collect();
    let first = *found.first().ok_or_else(|| {
        unresolved(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address of the kind asked for",
        ))
    })?;
    let chosen = match found.len() {
        1 => first,
        _ => found
            .iter()
            .find(|address| accepts(address))
            .copied()
            .unwrap_or(first),
    };
    Ok(vec![Endpoint::Tcp(chosen)])
}

/// Whether somebody takes connections of TCP there.
pub(crate) fn accepts_tcp(address: &SocketAddr) -> bool {
    TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok()
}

/// Whether nobody says that the port of UDP is closed: a byte that means nothing is sent there. Who listens does not
/// answer it, so silence for a while is a yes.
pub(crate) fn accepts_udp(address: &SocketAddr) -> bool {
    let local = match address {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let asked = UdpSocket::bind(local).and_then(|socket| {
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        socket.connect(address)?;
        socket.send(&[0])?;
        socket.recv(&mut [0])
    });
    let silence = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
    asked.map_or_else(|error| silence.contains(&error.kind()), |_| true)
}

/// The local addresses of a plan. Their ports are left to the system.
pub(crate) fn sources(plan: &LoadPlan) -> Result<Vec<SocketAddr>, RunError> {
    let parse = |text: &String| {
        parse_address(text, 0).map_err(|problem| PlanError::new("source_addresses", problem).into())
    };
    plan.source_addresses.iter().map(parse).collect()
}

/// Reads an address, or `unix:` and the path of a socket.
pub(crate) fn parse_endpoint(text: &str, default_port: u16) -> Result<Endpoint, String> {
    match text.strip_prefix("unix:") {
        None => parse_address(text, default_port).map(Endpoint::Tcp),
        Some(path) if path.len() > 1 && path.starts_with('/') => Ok(Endpoint::Unix(path.into())),
        Some(path) => Err(format!("'{path}' is no absolute path of a socket")),
    }
}

/// Reads `ip`, `ip:port` or `[ip]:port`.
pub(crate) fn parse_address(text: &str, default_port: u16) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>()
        .map(|ip| SocketAddr::new(ip, default_port))
        .map_err(|_| format!("'{text}' is no IP address (with or without :port)"))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let hex = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}
