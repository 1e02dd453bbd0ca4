//! Plain bytes over TCP or a unix socket: both are one descriptor with `send` and `recv`.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::{Progress, Transport};
use crate::protocol::{Heads, MAX_HEAD_BYTES};
use crate::target::Endpoint;

/// A socket, and the tunnel through a proxy while it is being dug.
#[derive(Debug)]
pub(crate) struct Plain {
    socket: Socket,
    tunnel: Option<Box<Tunnel>>,
}

/// The exchange with a proxy before the connection is the server's (RFC 9110, 9.3.6).
#[derive(Debug)]
struct Tunnel {
    request: Arc<[u8]>,
    sent: usize,
    answer: Vec<u8>,
}

/// How a host is reached.
#[derive(Debug)]
pub(crate) struct Route {
    /// Its connections go to these, round robin.
    pub(crate) endpoints: Vec<Endpoint>,
    /// The CONNECT request, where a proxy digs a tunnel.
    pub(crate) tunnel: Option<Arc<[u8]>>,
}

/// Opens sockets to a plan's hosts.
#[derive(Debug, Clone)]
pub(crate) struct PlainConnector {
    pub(crate) routes: Arc<[Route]>,
    /// The host of each connection of the plan, by its number; empty where there is one.
    pub(crate) hosts: Arc<[u32]>,
    /// Local addresses to connect from, round robin; empty leaves it to the system.
    pub(crate) sources: Arc<[SocketAddr]>,
    /// Size of the kernel's buffers, where it is not left to the system.
    pub(crate) buffer_bytes: Option<u32>,
    /// Number of this worker's first connection, so that all workers together go round evenly.
    pub(crate) first_slot: usize,
}

/// A descriptor that is neither inherited by a child nor ever blocks.
fn socket(domain: Domain, protocol: Option<Protocol>) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, protocol)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

impl PlainConnector {
    /// The number of the host that a connection goes to.
    pub(super) fn host_of(&self, slot: usize) -> usize {
        let host = self.hosts.get(self.first_slot + slot);
        host.map_or(0, |host| *host as usize)
    }

    fn connect(&self, slot: usize) -> io::Result<Socket> {
        let number = self.first_slot + slot;
        let endpoints = &self.routes[self.host_of(slot)].endpoints;
        let (socket, address) = match &endpoints[number % endpoints.len()] {
            Endpoint::Tcp(address) => {
                let socket = socket(Domain::for_address(*address), Some(Protocol::TCP))?;
                socket.set_tcp_nodelay(true)?;
                self.bind(&socket, number)?;
                (socket, SockAddr::from(*address))
            }
            Endpoint::Unix(path) => (socket(Domain::UNIX, None)?, SockAddr::unix(path)?),
        };
        if let Some(bytes) = self.buffer_bytes {
            socket.set_send_buffer_size(bytes as usize)?;
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        match socket.connect(&address) {
            Ok(()) => Ok(socket),
            Err(error) if error.raw_os_error() == Some(IN_PROGRESS) => Ok(socket),
            Err(error) => Err(error),
        }
    }

    fn bind(&self, socket: &Socket, number: usize) -> io::Result<()> {
        if self.sources.is_empty() {
            return Ok(());
        }
        // The system picks the port here, so about 28,000 connections per source are the most.
        socket.bind(&self.sources[number % self.sources.len()].into())
    }
}

impl Transport for Plain {
    type Connector = PlainConnector;

    const SHORT_READ_DRAINS: bool = true;
    const SHAKES_HANDS: bool = false;

    fn open(connector: &mut PlainConnector, slot: usize) -> io::Result<Self> {
        let route = &connector.routes[connector.host_of(slot)];
        let tunnel = route.tunnel.as_ref().map(|request| {
            Box::new(Tunnel {
                request: Arc::clone(request),
                sent: 0,
                answer: Vec::new(),
            })
        });
        let socket = connector.connect(slot)?;
        Ok(Self { socket, tunnel })
    }

    fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn establish(&mut self) -> io::Result<Progress> {
        if let Some(error) = self.socket.take_error()? {
            return Err(error);
        }
        let Some(tunnel) = &mut self.tunnel else {
            return Ok(Progress::Ready);
        };
        if !tunnel.dig(&self.socket)? {
            return Ok(Progress::Connecting);
        }
        self.tunnel = None;
        Ok(Progress::Ready)
    }

    #[inline]
    fn read(&mut self, buffer: &mut [u8], _ends: bool) -> io::Result<usize> {
        let (read, _) = recv(&self.socket, buffer, RecvFlags::empty())?;
        Ok(read)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Without NOSIGNAL a closed connection would kill a process that handles SIGPIPE.
        Ok(send(&self.socket, bytes, SendFlags::NOSIGNAL)?)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tunnel {
    /// Goes on as far as possible; true once the tunnel is open.
    fn dig(&mut self, socket: &Socket) -> io::Result<bool> {
        while self.sent < self.request.len() {
            match send(socket, &self.request[self.sent..], SendFlags::NOSIGNAL) {
                Ok(sent) => self.sent += sent,
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        loop {
            // Byte by byte: what follows the head belongs to the server.
            let mut byte = [0];
            match recv(socket, &mut byte, RecvFlags::empty()) {
                Ok((0, _)) => return Err(refused("the proxy closed instead of answering")),
                Ok(_) => self.answer.push(byte[0]),
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            if byte[0] == b'\n' && self.is_open()? {
                return Ok(true);
            }
            if self.answer.len() > MAX_HEAD_BYTES {
                return Err(refused("the proxy's answer is too long"));
            }
        }
    }

    /// Reads the proxy's answer, where a line of it has ended: a head like all others, and only a final one counts.
    fn is_open(&mut self) -> io::Result<bool> {
        if matches!(&self.answer[..], b"\n" | b"\r\n") {
            self.answer.clear();
            return Ok(false);
        }
        if !self.answer.ends_with(b"\n\n") && !self.answer.ends_with(b"\n\r\n") {
            return Ok(false);
        }
        match Heads::new().read(&self.answer) {
            Ok(None) => Ok(false),
            Ok(Some((head, _))) if (200..300).contains(&head.status) => Ok(true),
            Ok(Some((head, _))) if head.status < 200 && head.status != 101 => {
                self.answer.clear();
                Ok(false)
            }
            Ok(Some(_)) => Err(refused(&crate::record::example(&self.answer))),
            Err(fault) => Err(refused(&format!("the proxy's answer: {fault}"))),
        }
    }
}

/// The kind by which [`crate::record::Failure::of_io`] knows a proxy's refusal.
fn refused(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

const IN_PROGRESS: i32 = rustix::io::Errno::INPROGRESS.raw_os_error();
