//! The truth server: answers after scripted delays, to the microsecond, and counts what it did.
//!
//! One thread. It waits for events until shortly before the next answer is due and then polls without
//! waiting, since a sleeper wakes late. What still comes late, by other programs' work on this core, is
//! measured and part of the [`Counts`].

use crate::alarm::Alarm;
use crate::answer::{Answer, Form, PreparedAnswers};
use crate::connection::{Connection, Decision, Shared};
use crate::script::Script;
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use serde::Serialize;
use slab::Slab;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
const ALARM: Token = Token(usize::MAX - 2);
/// More answers than this are counted but not timed, so that memory is bounded (24 bytes each).
const MOST_TIMED: usize = 4_000_000;

/// Exact sums of what the server did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// Complete requests read.
    pub requests_read: u64,
    /// Answers whose last byte the system has taken.
    pub answers_written: u64,
    /// Requests held back now: not yet due, or never.
    pub held: u64,
    /// Requests whose connection ended while they were held.
    pub abandoned: u64,
    /// From the arrival of the request until its answer was due, for every answer given.
    pub hold: Times,
    /// From when an answer was due until it was given.
    pub late: Times,
    /// From the arrival of the request until its answer was given: what a client can see.
    pub taken: Times,
}

/// Exact quantiles (nearest rank) in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each name says all there is to say")]
pub struct Times {
    pub count: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    pub max_ns: u64,
}

impl Times {
    fn of(times_ns: &[u64]) -> Self {
        let mut sorted = times_ns.to_vec();
        sorted.sort_unstable();
        let at = |quantile: f64| {
            let rank = (quantile * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        Self {
            count: sorted.len() as u64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: at(1.0),
        }
    }
}

/// A running truth server; it stops when dropped.
#[derive(Debug)]
pub struct TruthServer {
    address: SocketAddr,
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl TruthServer {
    /// Starts answering on `listener` by `script`.
    pub fn start(
        listener: std::net::TcpListener,
        script: Script,
        answer: &Answer,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let alarm = Alarm::new(&poll, ALARM)?;
        let ledger = Arc::new(Mutex::new(Ledger::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let event_loop = Loop {
            poll,
            alarm,
            listener,
            connections: Slab::new(),
            serials: 0,
            due: BinaryHeap::new(),
            shared: Shared::new(Arc::new(PreparedAnswers::new(answer))),
            script,
            start: Instant::now(),
            ledger: Arc::clone(&ledger),
            stop: Arc::clone(&stop),
        };
        let thread = Some(std::thread::spawn(move || event_loop.run()));
        Ok(Self {
            address,
            ledger,
            stop,
            waker,
            thread,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        // The sums stay whole even where the loop's thread panicked.
        self.ledger
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .counts()
    }
}

impl Drop for TruthServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A waker can only fail where its loop is gone.
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug, Default)]
struct Ledger {
    sums: Counts,
    holds_ns: Vec<u64>,
    lates_ns: Vec<u64>,
    takens_ns: Vec<u64>,
}

impl Ledger {
    fn counts(&self) -> Counts {
        Counts {
            hold: Times::of(&self.holds_ns),
            late: Times::of(&self.lates_ns),
            taken: Times::of(&self.takens_ns),
            ..self.sums.clone()
        }
    }

    fn answered(&mut self, hold: Duration, late: Duration) {
        if self.holds_ns.len() < MOST_TIMED {
            self.holds_ns.push(hold.as_nanos() as u64);
            self.lates_ns.push(late.as_nanos() as u64);
            self.takens_ns.push((hold + late).as_nanos() as u64);
        }
    }
}

/// An answer that is held back. Ordered by when it is due, then by arrival.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    due: Instant,
    number: u64,
    arrived: Instant,
    key: usize,
    serial: u64,
    form: Form,
}

/// A connection, told apart from a later one in the same place by its `serial`.
struct Guest {
    connection: Connection,
    serial: u64,
    held: u64,
    /// Answers leave a connection in order: none is due before the one in front of it.
    last_due: Instant,
}

struct Loop {
    poll: Poll,
    alarm: Alarm,
    listener: TcpListener,
    connections: Slab<Guest>,
    serials: u64,
    due: BinaryHeap<Reverse<Held>>,
    shared: Shared,
    script: Script,
    start: Instant,
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<AtomicBool>,
}

impl Loop {
    fn run(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.stop.load(Ordering::Acquire) {
            let patience = self.patience();
            match self.alarm.wait(&mut self.poll, &mut events, patience) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled.expect("waiting for events fails only for a broken descriptor"),
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER | ALARM => {}
                    Token(key) => self.serve(key, event),
                }
            }
            self.release_due();
        }
    }

    fn patience(&self) -> Option<Duration> {
        let Reverse(next) = self.due.peek()?;
        let left = next.due.saturating_duration_since(Instant::now());
        Some(left.saturating_sub(Alarm::MARGIN))
    }

    fn accept(&mut self) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let _ = stream.set_nodelay(true);
            let entry = self.connections.vacant_entry();
            let both = Interest::READABLE | Interest::WRITABLE;
            if self
                .poll
                .registry()
                .register(&mut stream, Token(entry.key()), both)
                .is_ok()
            {
                self.serials += 1;
                let (connection, serial) = (Connection::new(stream), self.serials);
                entry.insert(Guest {
                    connection,
                    serial,
                    held: 0,
                    last_due: self.start,
                });
                self.ledger
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .sums
                    .connections += 1;
            }
        }
    }

    fn serve(&mut self, key: usize, event: &Event) {
        let Some(guest) = self.connections.get_mut(key) else {
            return;
        };
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let arrived = Instant::now();
        let (serial, due_heap) = (guest.serial, &mut self.due);
        let (last_due, held) = (&mut guest.last_due, &mut guest.held);
        let mut decide = |form| {
            let number = ledger.sums.requests_read;
            ledger.sums.requests_read += 1;
            ledger.sums.held += 1;
            *held += 1;
            if let Some(hold) = self.script.hold(number, arrived - self.start) {
                *last_due = (*last_due).max(arrived + hold);
                due_heap.push(Reverse(Held {
                    due: *last_due,
                    number,
                    arrived,
                    key,
                    serial,
                    form,
                }));
            }
            Decision::Hold
        };
        let before = guest.connection.answered();
        let served = guest
            .connection
            .serve(&mut self.shared, event.is_read_closed(), &mut decide);
        ledger.sums.answers_written += guest.connection.answered() - before;
        if served.is_err() || guest.connection.has_ended() {
            ledger.sums.held -= guest.held;
            ledger.sums.abandoned += guest.held;
            self.connections.remove(key);
        }
    }

    fn release_due(&mut self) {
        while self
            .due
            .peek()
            .is_some_and(|Reverse(next)| next.due <= Instant::now())
        {
            let Some(Reverse(next)) = self.due.pop() else {
                return;
            };
            let Some(guest) = self
                .connections
                .get_mut(next.key)
                .filter(|guest| guest.serial == next.serial)
            else {
                continue;
            };
            // Locked before the send: whoever has seen the answer also finds it counted.
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            let before = guest.connection.answered();
            // A broken connection is dropped by the event that tells of it.
            let _ = guest.connection.release(&mut self.shared, next.form);
            let now = Instant::now();
            guest.held -= 1;
            ledger.sums.held -= 1;
            ledger.sums.answers_written += guest.connection.answered() - before;
            ledger.answered(next.due - next.arrived, now - next.due);
        }
    }
}
