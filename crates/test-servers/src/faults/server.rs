//! Plays the faults: a thread for each connection, blocking calls, no cleverness.

use super::{At, Fault, GOOD, Step};
use assay_http2::frame;
use assay_null_server::chunks::ChunkReader;
use assay_null_server::listen::{CannotListen, listen, listen_with};
use assay_null_server::request::{Body, RequestHead, parse_head};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// Between two parts of an answer, so that they arrive as two.
const BETWEEN_PARTS: Duration = Duration::from_micros(300);
/// Connections that fill a backlog of 0: the kernel holds one more than it was told.
const FILLING: usize = 2;

/// Which faults are played.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Played whatever the path; without it, the path `/fault/NAME` chooses.
    pub fault: Option<&'static Fault>,
    /// Only every so many-th request (connection, for a fault at accept) meets its fault; at least 1.
    pub every: u64,
}

/// What the server did so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// Requests read; for a fault at the head, its head.
    pub requests: u64,
    /// Faults played.
    pub faults: u64,
}

/// A running fault-injection server; it stops when dropped.
#[derive(Debug)]
pub struct FaultInjectionServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
    /// Sockets that only have to exist: a port that is bound but not listened on, a full backlog.
    _kept: Vec<Socket>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    stop: AtomicBool,
    connections: AtomicU64,
    requests: AtomicU64,
    faults: AtomicU64,
    open: Mutex<Vec<Weak<TcpStream>>>,
}

impl FaultInjectionServer {
    /// Starts on `host`:`port`; port 0 lets the system choose.
    pub fn start(host: &str, port: u16, settings: Settings) -> Result<Self, CannotListen> {
        let shared = Arc::new(Shared {
            settings,
            stop: AtomicBool::new(false),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            open: Mutex::new(Vec::new()),
        });
        match settings.fault.map(|fault| fault.steps) {
            Some([Step::Refuse]) => Self::refusing(host, port, shared),
            Some([Step::FillBacklog]) => Self::with_full_backlog(host, port, shared),
            Some([Step::AcceptAfter(pause)]) => Self::accepting(host, port, shared, *pause),
            _ => Self::accepting(host, port, shared, Duration::ZERO),
        }
    }

    fn accepting(
        host: &str,
        port: u16,
        shared: Arc<Shared>,
        pause: Duration,
    ) -> Result<Self, CannotListen> {
        let listener = listen(host, port)?;
        let address = local_address(&listener)?;
        let accepted = Arc::clone(&shared);
        let accepting = Some(std::thread::spawn(move || {
            accepted.accept(&listener, pause)
        }));
        Ok(Self {
            address,
            shared,
            accepting,
            _kept: Vec::new(),
        })
    }

    fn refusing(host: &str, port: u16, shared: Arc<Shared>) -> Result<Self, CannotListen> {
        // Asking the usual way first gives its errors, and a free port.
        let address = local_address(&listen(host, port)?)?;
        let bound = Socket::new(Domain::for_address(address), Type::STREAM, None)
            .map_err(CannotListen::from)?;
        bound.bind(&address.into()).map_err(CannotListen::from)?;
        Ok(Self {
            address,
            shared,
            accepting: None,
            _kept: vec![bound],
        })
    }

    fn with_full_backlog(host: &str, port: u16, shared: Arc<Shared>) -> Result<Self, CannotListen> {
        let listener = listen_with(host, port, 0)?;
        let address = local_address(&listener)?;
        let mut kept = vec![Socket::from(listener)];
        for _ in 0..FILLING {
            let filling = Socket::new(Domain::for_address(address), Type::STREAM, None)
                .map_err(CannotListen::from)?;
            filling.set_nonblocking(true).map_err(CannotListen::from)?;
            // Not blocking: the last of them is never let in.
            let _ = filling.connect(&address.into());
            kept.push(filling);
        }
        Ok(Self {
            address,
            shared,
            accepting: None,
            _kept: kept,
        })
    }

    /// What it plays whatever the path.
    pub fn fault(&self) -> Option<&'static Fault> {
        self.shared.settings.fault
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        Counts {
            connections: self.shared.connections.load(SeqCst),
            requests: self.shared.requests.load(SeqCst),
            faults: self.shared.faults.load(SeqCst),
        }
    }
}

fn local_address(listener: &TcpListener) -> Result<SocketAddr, CannotListen> {
    listener.local_addr().map_err(CannotListen::from)
}

impl Drop for FaultInjectionServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        if let Some(accepting) = self.accepting.take() {
            // A connection of our own ends the wait for one.
            let _ = TcpStream::connect(self.address);
            let _ = accepting.join();
        }
    }
}

/// What becomes of a connection after a step.
#[derive(PartialEq, Eq)]
enum Flow {
    Continue,
    End,
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener, pause: Duration) {
        let mut threads: Vec<JoinHandle<()>> = Vec::new();
        loop {
            std::thread::sleep(pause);
            let Ok((stream, _)) = listener.accept() else {
                continue;
            };
            if self.stop.load(SeqCst) {
                break;
            }
            let number = self.connections.fetch_add(1, SeqCst);
            let stream = Arc::new(stream);
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|stream| stream.strong_count() > 0);
            open.push(Arc::downgrade(&stream));
            threads.retain(|thread| !thread.is_finished());
            let shared = Arc::clone(&self);
            // What breaks on a connection is what it is there for.
            threads.push(std::thread::spawn(move || {
                drop(shared.converse(&stream, number))
            }));
        }
        for stream in self
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter_map(Weak::upgrade)
        {
            let _ = stream.shutdown(Shutdown::Both);
        }
        for thread in threads {
            let _ = thread.join();
        }
    }

    /// One connection, from its accept to its end.
    fn converse(&self, mut stream: &TcpStream, number: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        if let Some(fault) = self
            .settings
            .fault
            .filter(|fault| fault.at == At::Accept && self.is_due(number))
        {
            if self.play(stream, fault)? == Flow::End {
                return Ok(());
            }
        }
        let mut input = Vec::new();
        let due = |at| {
            let here = |fault: &&Fault| fault.at == at && self.is_due(number);
            self.settings.fault.filter(here)
        };
        if let Some(fault) = due(At::Handshake) {
            read_record(stream, &mut input)?;
            if self.play(stream, fault)? == Flow::End {
                return Ok(());
            }
        }
        if let Some(fault) = due(At::Http2) {
            read_http2(stream, &mut input)?;
            self.play(stream, fault)?;
            return Ok(());
        }
        while let Some(head) = read_head(stream, &mut input)? {
            let number = self.requests.fetch_add(1, SeqCst);
            let fault = self.chosen(&head).filter(|_| self.is_due(number));
            if let Some(fault) = fault.filter(|fault| fault.at == At::Head) {
                if self.play(stream, fault)? == Flow::End {
                    return Ok(());
                }
                continue;
            }
            read_body(stream, &head, &mut input)?;
            match fault.filter(|fault| fault.at == At::Request) {
                Some(fault) if self.play(stream, fault)? == Flow::End => return Ok(()),
                Some(_) => {}
                None => stream.write_all(GOOD)?,
            }
        }
        Ok(())
    }

    fn chosen(&self, head: &RequestHead) -> Option<&'static Fault> {
        self.settings
            .fault
            .or_else(|| super::find(head.target.strip_prefix("/fault/")?))
    }

    /// True for the last of each `every`.
    fn is_due(&self, number: u64) -> bool {
        number % self.settings.every == self.settings.every - 1
    }

    fn play(&self, stream: &TcpStream, fault: &Fault) -> io::Result<Flow> {
        let times = self.faults.fetch_add(1, SeqCst);
        for step in fault.steps {
            if self.take(stream, *step, times)? == Flow::End {
                return Ok(Flow::End);
            }
        }
        Ok(Flow::Continue)
    }

    fn take(&self, mut stream: &TcpStream, step: Step, times: u64) -> io::Result<Flow> {
        match step {
            Step::Send(bytes) => stream.write_all(bytes)?,
            Step::SendTimes(bytes, times) => stream.write_all(&bytes.repeat(times as usize))?,
            Step::Trickle(bytes) => send_parts(stream, bytes.chunks(1))?,
            Step::SplitBySlice(bytes) => {
                let (front, back) = bytes.split_at(1 + (times % (bytes.len() as u64 - 1)) as usize);
                send_parts(stream, [front, back].into_iter())?;
            }
            Step::Drip(bytes, pause) => loop {
                stream.write_all(bytes)?;
                std::thread::sleep(pause);
            },
            Step::Pause(pause) => std::thread::sleep(pause),
            Step::Hang => return wait_for_end(stream),
            Step::HalfClose => {
                stream.shutdown(Shutdown::Write)?;
                return wait_for_end(stream);
            }
            Step::Close => return Ok(Flow::End),
            Step::Reset => {
                SockRef::from(stream).set_linger(Some(Duration::ZERO))?;
                return Ok(Flow::End);
            }
            // Done when the server started.
            Step::Refuse | Step::FillBacklog | Step::AcceptAfter(_) => {}
        }
        Ok(Flow::Continue)
    }
}

fn send_parts<'a>(mut stream: &TcpStream, parts: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    for part in parts {
        stream.write_all(part)?;
        std::thread::sleep(BETWEEN_PARTS);
    }
    Ok(())
}

fn wait_for_end(mut stream: &TcpStream) -> io::Result<Flow> {
    let mut ignored = [0; 4096];
    while stream.read(&mut ignored)? > 0 {}
    Ok(Flow::End)
}

/// Reads on; false at the end of the stream.
fn read_more(mut stream: &TcpStream, input: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 16 * 1024];
    let read = stream.read(&mut buffer)?;
    input.extend_from_slice(&buffer[..read]);
    Ok(read > 0)
}

/// Reads a whole TLS record, so that closing after it is no reset: five bytes of which the last two
/// are the length of the rest.
fn read_record(stream: &TcpStream, input: &mut Vec<u8>) -> io::Result<()> {
    loop {
        if let [_, _, _, high, low, rest @ ..] = input.as_slice() {
            if rest.len() >= usize::from(u16::from_be_bytes([*high, *low])) {
                return Ok(());
            }
        }
        if !read_more(stream, input)? {
            return Ok(());
        }
    }
}

/// Reads the preface and the frames after it up to the first request.
fn read_http2(stream: &TcpStream, input: &mut Vec<u8>) -> io::Result<()> {
    let mut at = frame::PREFACE.len();
    loop {
        match input.get(at..).and_then(frame::FrameHeader::read) {
            Some(head) if head.kind == frame::kind::HEADERS => return Ok(()),
            Some(head) => at += frame::HEAD_BYTES + head.length,
            None if read_more(stream, input)? => {}
            None => return Ok(()),
        }
    }
}

/// Takes a head off the front of `input`; None where the peer has ended.
fn read_head(stream: &TcpStream, input: &mut Vec<u8>) -> io::Result<Option<RequestHead>> {
    loop {
        match parse_head(input) {
            Ok(Some(head)) => {
                input.drain(..head.bytes);
                return Ok(Some(head));
            }
            Ok(None) if read_more(stream, input)? => {}
            Ok(None) | Err(_) => return Ok(None),
        }
    }
}

fn read_body(stream: &TcpStream, head: &RequestHead, input: &mut Vec<u8>) -> io::Result<()> {
    match head.body {
        Body::Length(length) => {
            while (input.len() as u64) < length && read_more(stream, input)? {}
            input.drain(..input.len().min(length as usize));
        }
        Body::Chunked => {
            let mut chunks = ChunkReader::default();
            loop {
                let mut rest = input.as_slice();
                let ended = chunks
                    .read(&mut rest)
                    .map_err(|bad| io::Error::other(bad.0))?;
                input.drain(..input.len() - rest.len());
                if ended || !read_more(stream, input)? {
                    break;
                }
            }
        }
    }
    Ok(())
}
