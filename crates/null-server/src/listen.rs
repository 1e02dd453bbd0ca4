//! Listening sockets, with errors that say what to do.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _, UdpSocket};

/// Connections the kernel may hold ready for us; it lowers this to its own limit (`net.core.somaxconn`).
pub const BACKLOG: i32 = 4096;

/// Why a server cannot listen: one line for its reader.
#[derive(Debug)]
pub struct CannotListen(String);

impl std::fmt::Display for CannotListen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CannotListen {}

/// Listens on `host`:`port`; port 0 lets the system choose one.
///
/// Two servers never share a port (no `SO_REUSEPORT`), so that a forgotten one cannot take half of the load.
pub fn listen(host: &str, port: u16) -> Result<TcpListener, CannotListen> {
    listen_with(host, port, BACKLOG)
}

/// [`listen`] with a chosen backlog.
pub fn listen_with(host: &str, port: u16, backlog: i32) -> Result<TcpListener, CannotListen> {
    let address = resolve(host, port)?;
    bind(address, backlog)
        .map(TcpListener::from)
        .map_err(|error| explain(address, &error))
}

/// A UDP socket at `address`, where a [`TcpListener`] may be, too.
///
/// # Errors
/// Why it cannot be had.
pub fn listen_udp(address: SocketAddr) -> Result<UdpSocket, CannotListen> {
    UdpSocket::bind(address).map_err(|error| explain(address, &error))
}

fn resolve(host: &str, port: u16) -> Result<SocketAddr, CannotListen> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut addresses = (bare, port).to_socket_addrs().map_err(|_| unknown(host))?;
    addresses.next().ok_or_else(|| unknown(host))
}

fn unknown(host: &str) -> CannotListen {
    CannotListen(format!(
        "cannot resolve host '{host}'; give an address of this machine, for example 127.0.0.1"
    ))
}

fn bind(address: SocketAddr, backlog: i32) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // Restarting must not wait for the last run's connections to leave TIME_WAIT.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket)
}

fn explain(address: SocketAddr, error: &io::Error) -> CannotListen {
    CannotListen(match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!(
                "{address} is in use; stop the other server, or give --port 0 to let the system choose a free port"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("{address} is no address of this machine; give --host 127.0.0.1")
        }
        io::ErrorKind::PermissionDenied => {
            format!("may not listen on {address}; give a --port of 1024 or above")
        }
        _ => format!("cannot listen on {address}: {error}"),
    })
}

impl From<io::Error> for CannotListen {
    fn from(error: io::Error) -> Self {
        Self(format!("cannot listen: {error}"))
    }
}
