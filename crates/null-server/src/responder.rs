//! The null server's loop: edge-triggered readiness, one thread a core, one prepared answer.
//!
//! Each thread owns its connections. The first also accepts, and deals new connections out in turn: the
//! split is exact, where the kernel's hashing (`SO_REUSEPORT`) leaves one thread 40 of 64 connections.
//! A connection is registered once, for both directions; a request costs one wait (shared by all that are
//! ready), one receive and one send.

use crate::answer::{Answer, PreparedAnswers};
use crate::client::Client;
use crate::connection::{Decision, READ_BUFFER_BYTES, Shared};
use crate::http2;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
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
    /// Whether HTTP/1.1 is not answered.
    pub http2_only: bool,
    /// Streams that a client may have at once on a connection of HTTP/3.
    pub http3_streams: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            answer: Answer::default(),
            threads: 1,
            cost_ns: 0,
            http2_only: false,
            http3_streams: http2::MOST_STREAMS,
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
        let http2 = Arc::new(http2::Prepared::new(&settings.answer));
        let stop = Arc::new(AtomicBool::new(false));
        let mut listener = Some(TcpListener::from_std(listener));
        let mut loops = Vec::new();
        for _ in 0..settings.threads.max(1) {
            loops.push(Loop::new(
                listener.take(),
                Arc::clone(&answers),
                Arc::clone(&http2),
                settings,
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
    connections: Slab<Client>,
    shared: Shared,
    http2: Arc<http2::Prepared>,
    /// What HTTP/2 is read into.
    buffer: Box<[u8]>,
    cost_ns: u64,
    http2_only: bool,
    stop: Arc<AtomicBool>,
}

impl Loop {
    fn new(
        mut listener: Option<TcpListener>,
        answers: Arc<PreparedAnswers>,
        http2: Arc<http2::Prepared>,
        settings: &Settings,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        if let Some(listener) = &mut listener {
            poll.registry()
                .register(listener, LISTENER, Interest::READABLE)?;
        }
        let (hand_over, inbox) = channel();
        let shared = Shared::new(answers);
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
            shared,
            http2,
            buffer: vec![0; READ_BUFFER_BYTES].into(),
            cost_ns: settings.cost_ns,
            http2_only: settings.http2_only,
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
        let times = self.accepted % (self.peers.len() + 1);
        self.accepted += 1;
        let Some((hand_over, waker)) = self.peers.get(times) else {
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
            entry.insert(match self.http2_only {
                true => Client::of_http2(stream),
                false => Client::New(stream),
            });
        }
    }

    fn take_over(&mut self) {
        while let Ok(stream) = self.inbox.try_recv() {
            self.adopt(stream);
        }
    }

    fn serve(&mut self, key: usize, event: &Event) {
        // An event may still name a connection that ended earlier in the same batch.
        let Some(client) = self.connections.get_mut(key) else {
            return;
        };
        client.recognise();
        let cost_ns = self.cost_ns;
        let answers = || {
            burn(cost_ns);
            Decision::Answer
        };
        let goes_on = match client {
            Client::New(_) => !event.is_read_closed(),
            Client::Http1(connection) => {
                let mut decide = |_| answers();
                let served =
                    connection.serve(&mut self.shared, event.is_read_closed(), &mut decide);
                served.is_ok() && !connection.has_ended()
            }
            Client::Http2(guest) => guest
                .serve(&mut self.buffer, &self.http2, |_| answers())
                .unwrap_or(false),
            Client::Ended => false,
        };
        if !goes_on {
            self.connections.remove(key);
        }
    }
}

/// Keeps this core busy for `ns` nanoseconds: a server whose cost a request is known.
pub(crate) fn burn(ns: u64) {
    if ns == 0 {
        return;
    }
    let end = Instant::now() + Duration::from_nanos(ns);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}
