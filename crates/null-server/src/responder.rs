//! The null server's loop: edge-triggered readiness, one thread a core, one prepared answer.
//!
//! Each thread owns its connections. The first also accepts, and deals new connections out in turn: the
//! split is exact, where the kernel's hashing (`SO_REUSEPORT`) leaves one thread 40 of 64 connections.
//! A connection is registered once, for both directions; a request costs one wait (shared by all that are
//! ready), one receive and one send.

use crate::answer::{Answer, Form, PreparedAnswers};
use crate::request::{Remembered, RequestReader};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
const READ_BUFFER_BYTES: usize = 64 * 1024;
const ANSWERS_PER_WRITE: usize = 64;
/// How soon to try again after the system refused a new connection for want of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(20);

/// How a [`NullServer`] answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is answered.
    pub answer: Answer,
    /// Event loops, each on its own thread; at least 1.
    pub threads: usize,
    /// Processor time burnt for each request, in nanoseconds.
    pub cost_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            answer: Answer::default(),
            threads: 1,
            cost_ns: 0,
        }
    }
}

/// A running null server; it stops when dropped.
#[derive(Debug)]
pub struct NullServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    wakers: Vec<Arc<Waker>>,
    threads: Vec<JoinHandle<()>>,
}

impl NullServer {
    /// Starts answering on `listener`.
    pub fn start(listener: std::net::TcpListener, settings: &Settings) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let answers = Arc::new(PreparedAnswers::new(&settings.answer));
        let stop = Arc::new(AtomicBool::new(false));
        let mut listener = Some(TcpListener::from_std(listener));
        let mut loops = Vec::new();
        for _ in 0..settings.threads.max(1) {
            loops.push(Loop::new(
                listener.take(),
                Arc::clone(&answers),
                settings.cost_ns,
                Arc::clone(&stop),
            )?);
        }
        let wakers: Vec<_> = loops.iter().map(|each| Arc::clone(&each.waker)).collect();
        loops[0].peers = loops[1..]
            .iter()
            .map(|each| (each.hand_over.clone(), Arc::clone(&each.waker)))
            .collect();
        let threads = loops
            .into_iter()
            .map(|each| std::thread::spawn(move || each.run()))
            .collect();
        Ok(Self {
            address,
            stop,
            wakers,
            threads,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for ever, or until a loop fails.
    pub fn wait(mut self) {
        for thread in self.threads.drain(..) {
            // A loop that panicked has said so on stderr.
            let _ = thread.join();
        }
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for waker in &self.wakers {
            // A waker can only fail where its loop is gone.
            let _ = waker.wake();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Connection {
    stream: TcpStream,
    reader: RequestReader,
    /// Answers due, in order; `sent_bytes` of the first are out.
    owed: VecDeque<Form>,
    sent_bytes: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The last answer is owed: read no further request.
    Closing,
    /// All is sent and our side is shut; what the peer still sends is read away, because closing on unread
    /// bytes would reset the connection and could cost the peer its answer.
    Draining,
    Ended,
}

struct Loop {
    poll: Poll,
    waker: Arc<Waker>,
    listener: Option<TcpListener>,
    accept_blocked: bool,
    hand_over: Sender<TcpStream>,
    inbox: Receiver<TcpStream>,
    /// The accepting loop's fellows; the others have none.
    peers: Vec<(Sender<TcpStream>, Arc<Waker>)>,
    accepted: usize,
    connections: Slab<Connection>,
    work: Work,
    stop: Arc<AtomicBool>,
}

/// What all connections of a loop share.
struct Work {
    answers: Arc<PreparedAnswers>,
    remembered: Remembered,
    buffer: Box<[u8]>,
    cost_ns: u64,
}

impl Loop {
    fn new(
        mut listener: Option<TcpListener>,
        answers: Arc<PreparedAnswers>,
        cost_ns: u64,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        if let Some(listener) = &mut listener {
            poll.registry()
                .register(listener, LISTENER, Interest::READABLE)?;
        }
        let (hand_over, inbox) = channel();
        let buffer = vec![0; READ_BUFFER_BYTES].into_boxed_slice();
        let work = Work {
            answers,
            remembered: Remembered::default(),
            buffer,
            cost_ns,
        };
        let connections = Slab::new();
        Ok(Self {
            poll,
            waker,
            listener,
            accept_blocked: false,
            hand_over,
            inbox,
            peers: Vec::new(),
            accepted: 0,
            connections,
            work,
            stop,
        })
    }

    fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.stop.load(Ordering::Acquire) {
            let timeout = self.accept_blocked.then_some(ACCEPT_AGAIN);
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled.expect("waiting for events fails only for a broken descriptor"),
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept_blocked = true,
                    WAKER => self.take_over(),
                    Token(key) => self.serve(key, event),
                }
            }
            if self.accept_blocked {
                self.accept();
            }
        }
    }

    /// Accepts until nobody waits; stays due where descriptors ran out.
    fn accept(&mut self) {
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _)) => self.deal(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.accept_blocked = false;
                    return;
                }
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => return,
            }
        }
    }

    fn deal(&mut self, stream: TcpStream) {
        let turn = self.accepted % (self.peers.len() + 1);
        self.accepted += 1;
        let Some((hand_over, waker)) = self.peers.get(turn) else {
            return self.adopt(stream);
        };
        // A loop that is gone cannot take connections: the peer sees a close.
        if hand_over.send(stream).is_ok() {
            let _ = waker.wake();
        }
    }

    fn adopt(&mut self, mut stream: TcpStream) {
        // Nagle's wait for the peer's acknowledgement would be measured as the generator's.
        let _ = stream.set_nodelay(true);
        let entry = self.connections.vacant_entry();
        let both = Interest::READABLE | Interest::WRITABLE;
        if self
            .poll
            .registry()
            .register(&mut stream, Token(entry.key()), both)
            .is_ok()
        {
            entry.insert(Connection::new(stream));
        }
    }

    fn take_over(&mut self) {
        while let Ok(stream) = self.inbox.try_recv() {
            self.adopt(stream);
        }
    }

    fn serve(&mut self, key: usize, event: &Event) {
        // An event may still name a connection that ended earlier in the same batch.
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let ended = match connection.serve(&mut self.work, event.is_read_closed()) {
            Ok(()) => connection.state == State::Ended,
            Err(_) => true,
        };
        if ended {
            self.connections.remove(key);
        }
    }
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            reader: RequestReader::default(),
            owed: VecDeque::new(),
            sent_bytes: 0,
            state: State::Open,
        }
    }

    /// Reads and answers until the socket has no more, or takes no more.
    fn serve(&mut self, work: &mut Work, peer_closed: bool) -> io::Result<()> {
        loop {
            if !self.send(work)? {
                return Ok(());
            }
            if self.state == State::Closing {
                self.stream.shutdown(Shutdown::Write)?;
                self.state = State::Draining;
            }
            let read = match self.stream.read(&mut work.buffer) {
                Ok(0) => {
                    self.state = State::Ended;
                    return Ok(());
                }
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if self.state == State::Open {
                self.take_requests(work, read);
            }
            // A short read has emptied the socket (epoll(7)); only an end of stream may be behind it.
            if read < work.buffer.len() && !peer_closed && self.state == State::Open {
                self.send(work)?;
                return Ok(());
            }
        }
    }

    fn take_requests(&mut self, work: &mut Work, read: usize) {
        let mut input = &work.buffer[..read];
        while !input.is_empty() && self.state == State::Open {
            let form = match self.reader.next(&mut input, &mut work.remembered) {
                Ok(Some(request)) => Form::of(request),
                Ok(None) => return,
                Err(_) => Form::BAD_REQUEST,
            };
            burn(work.cost_ns);
            self.owed.push_back(form);
            if form.closes() {
                self.state = State::Closing;
            }
        }
    }

    /// Sends what is owed; false where the socket takes no more for now.
    fn send(&mut self, work: &Work) -> io::Result<bool> {
        while let Some(&first) = self.owed.front() {
            let rest = &work.answers.bytes(first)[self.sent_bytes..];
            let written = if self.owed.len() == 1 {
                self.stream.write(rest)
            } else {
                let mut slices = [IoSlice::new(&[]); ANSWERS_PER_WRITE];
                slices[0] = IoSlice::new(rest);
                for (slice, &form) in slices[1..].iter_mut().zip(self.owed.iter().skip(1)) {
                    *slice = IoSlice::new(work.answers.bytes(form));
                }
                self.stream
                    .write_vectored(&slices[..self.owed.len().min(ANSWERS_PER_WRITE)])
            };
            match written {
                Ok(written) => self.book(work, written),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn book(&mut self, work: &Work, written: usize) {
        self.sent_bytes += written;
        while let Some(&first) = self.owed.front() {
            let length = work.answers.bytes(first).len();
            if self.sent_bytes < length {
                return;
            }
            self.sent_bytes -= length;
            self.owed.pop_front();
        }
    }
}

/// Keeps this core busy for `ns` nanoseconds: a server whose cost a request is known.
fn burn(ns: u64) {
    if ns == 0 {
        return;
    }
    let end = Instant::now() + Duration::from_nanos(ns);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}
