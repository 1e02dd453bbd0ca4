//! Plain bytes over TCP or a unix socket: both are one descriptor with `send` and `recv`.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::Transport;
use crate::target::Endpoint;

/// A socket.
#[derive(Debug)]
pub(crate) struct Plain(Socket);

/// Opens sockets to a plan's endpoints, round robin.
#[derive(Debug, Clone)]
pub(crate) struct PlainConnector {
    pub(crate) endpoints: Arc<[Endpoint]>,
    /// Number of this worker's first connection, so that all workers together go round evenly.
    pub(crate) first_slot: usize,
}

/// A descriptor that is neither inherited by a child nor ever blocks.
fn socket(domain: Domain, protocol: Option<Protocol>) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, protocol)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl Transport for Plain {
    type Connector = PlainConnector;

    fn open(connector: &mut PlainConnector, slot: usize) -> io::Result<Self> {
        let endpoints = &connector.endpoints;
        let (socket, address) = match &endpoints[(connector.first_slot + slot) % endpoints.len()] {
            Endpoint::Tcp(address) => {
                let socket = socket(Domain::for_address(*address), Some(Protocol::TCP))?;
                socket.set_tcp_nodelay(true)?;
                (socket, SockAddr::from(*address))
            }
            Endpoint::Unix(path) => (socket(Domain::UNIX, None)?, SockAddr::unix(path)?),
        };
        match socket.connect(&address) {
            Ok(()) => Ok(Self(socket)),
            Err(error) if error.raw_os_error() == Some(IN_PROGRESS) => Ok(Self(socket)),
            Err(error) => Err(error),
        }
    }

    fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    fn establish(&mut self) -> io::Result<bool> {
        if let Some(error) = self.0.take_error()? {
            return Err(error);
        }
        Ok(true)
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, _) = recv(&self.0, buffer, RecvFlags::empty())?;
        Ok(read)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Without NOSIGNAL a closed connection would kill a process that handles SIGPIPE.
        Ok(send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }
}

const IN_PROGRESS: i32 = rustix::io::Errno::INPROGRESS.raw_os_error();
