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
    /// The host without brackets, an address of one link with its zone (`fe80::1%eth0`); the path of a unix socket is
    /// in `unix_path`.
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

    /// The host without the zone of an address.
    pub(crate) fn bare_host(&self) -> &str {
        with_zone(&self.host).0
    }

    /// Host and port, the port always said.
    pub(crate) fn with_port(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.bare_host(), self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    fn from_authority(
        scheme: Scheme,
        authority: &str,
        default_port: u16,
        wrong: &dyn Fn(&str) -> PlanError,
    ) -> Result<Self, PlanError> {
        let is_address = authority.starts_with('[');
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest
                    .split_once(']')
                    .ok_or_else(|| wrong("an IPv6 address lacks its closing bracket"))?;
                let port = after.strip_prefix(':');
                if port.is_none() && !after.is_empty() {
                    return Err(wrong("only a port (such as :8080) may follow the bracket"));
                }
                (host, port)
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong("no host"));
        }
        let (address, zone) = with_zone(host);
        let is_right = match is_address {
            true => address.parse::<Ipv6Addr>().is_ok() && zone != Some(""),
            false => !host.contains(['[', ']', '%']),
        };
        if !is_right {
            return Err(wrong(match is_address {
                true => "no IPv6 address between the brackets",
                false => "no host name",
            }));
        }
        let port = match port {
            None | Some("") => default_port,
            Some(text) => Some(text)
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|text| text.parse().ok())
                .filter(|port| *port != 0)
                .ok_or_else(|| wrong("the port is not between 1 and 65535"))?,
        };
        Ok(Self {
            scheme,
            host: zone.map_or(host.into(), |zone| format!("{address}%{zone}")),
            port,
            // A zone means something on this machine only (RFC 6874, 4).
            authority: match zone {
                None => authority.into(),
                Some(_) => authority.replacen(&host[address.len()..], "", 1),
            },
            unix_path: None,
        })
    }
}

/// An address and the zone behind it, which a URL writes as `%25eth0` (RFC 6874) and people as `%eth0`.
fn with_zone(host: &str) -> (&str, Option<&str>) {
    match host.split_once('%') {
        None => (host, None),
        Some((address, zone)) => {
            let escaped = zone.strip_prefix("25").filter(|zone| !zone.is_empty());
            (address, Some(escaped.unwrap_or(zone)))
        }
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
    let found: Vec<SocketAddr> = looked_up(&target.host, target.port)
        .map_err(unresolved)?
        .into_iter()
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

/// The addresses of a host. Names below `localhost` are this machine, whatever a resolver says (RFC 6761, 6.3).
fn looked_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if name.ends_with(".localhost") {
        let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        return Ok(loopback.map(|ip| SocketAddr::new(ip, port)).into());
    }
    Ok((host, port).to_socket_addrs()?.collect())
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

/// Reads `ip`, `ip:port` or `[ip]:port`; an address of one link says which (`fe80::1%eth0`).
pub(crate) fn parse_address(text: &str, default_port: u16) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    let wrong = || format!("'{text}' is no IP address (with or without :port)");
    let (bare, port) = match text.strip_prefix('[') {
        None => (text, ""),
        Some(rest) => rest.split_once(']').ok_or_else(wrong)?,
    };
    let port = match port.strip_prefix(':') {
        Some(digits) => digits.parse().map_err(|_| wrong())?,
        None if port.is_empty() => default_port,
        None => return Err(wrong()),
    };
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let Some((ip, zone)) = bare.split_once('%') else {
        return Err(wrong());
    };
    let ip: Ipv6Addr = ip.parse().map_err(|_| wrong())?;
    // No name is looked up: only the number of the zone is.
    let found = (format!("{ip}%{zone}").as_str(), port).to_socket_addrs();
    let first = found.ok().and_then(|mut found| found.next());
    first.ok_or_else(|| format!("'{text}': this machine has no link '{zone}'"))
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
