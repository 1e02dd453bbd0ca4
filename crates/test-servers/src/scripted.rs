//! The scripted server: answers after scripted delays, to the microsecond, and counts what it did.
//!
//! One thread. It waits for events until shortly before the next answer is due and then polls without
//! waiting, since a sleeper wakes late. What still comes late, by other programs' work on this core, is
//! measured and part of the [`Counts`].
//!
//! A client that begins with HTTP/2's preface is answered by that, each stream at its own time.

mod recorder;

use crate::alarm::Alarm;
use crate::script::Script;
use assay_null_server::answer::{Answer, Form, PreparedAnswers};
use assay_null_server::client::Client;
use assay_null_server::connection::{Decision, READ_BUFFER_BYTES, Shared};
use assay_null_server::http2;
use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use recorder::Recorder;
pub use recorder::{Counts, Times};
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

/// A running scripted server; it stops when dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    recorder: Arc<Mutex<Recorder>>,
    stop: Arc<AtomicBool>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl ScriptedServer {
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
        let recorder = Arc::new(Mutex::new(Recorder::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let event_loop = Loop {
            poll,
            alarm,
            listener,
            guests: Slab::new(),
            serials: 0,
            due: BinaryHeap::new(),
            shared: Shared::new(Arc::new(PreparedAnswers::new(answer))),
            http2: http2::Prepared::new(answer),
            buffer: vec![0; READ_BUFFER_BYTES].into(),
            script,
            start: Instant::now(),
            recorder: Arc::clone(&recorder),
            stop: Arc::clone(&stop),
        };
        let thread = Some(std::thread::spawn(move || event_loop.run()));
        Ok(Self {
            address,
            recorder,
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
        self.recorder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .counts()
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // A waker can only fail where its loop is gone.
        let _ = self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Which answer of a connection it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owed {
    /// HTTP/1's next, of this form: answers leave a connection in the order of their requests.
    InOrder(Form),
    /// That of a stream, whatever the others wait for.
    OnStream(u32),
}

/// An answer that is held back. Ordered by when it is due, then by arrival.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Delayed {
    due: Instant,
    number: u64,
    arrived: Instant,
    key: usize,
    serial: u64,
    owed: Owed,
}

/// A connection, told apart from a later one in the same place by its `serial`.
struct Guest {
    client: Client,
    serial: u64,
    /// When the last answer in turn is due: none is before the one in front of it.
    last_due: Instant,
}

struct Loop {
    poll: Poll,
    alarm: Alarm,
    listener: TcpListener,
    guests: Slab<Guest>,
    serials: u64,
    due: BinaryHeap<Reverse<Delayed>>,
    shared: Shared,
    http2: http2::Prepared,
    /// What HTTP/2 is read into.
    buffer: Box<[u8]>,
    script: Script,
    start: Instant,
    recorder: Arc<Mutex<Recorder>>,
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
            let entry = self.guests.vacant_entry();
            let both = Interest::READABLE | Interest::WRITABLE;
            if self
                .poll
                .registry()
                .register(&mut stream, Token(entry.key()), both)
                .is_ok()
            {
                self.serials += 1;
                entry.insert(Guest {
                    client: Client::New(stream),
                    serial: self.serials,
                    last_due: self.start,
                });
                self.recorder
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .sums
                    .connections += 1;
            }
        }
    }

    fn serve(&mut self, key: usize, event: &Event) {
        let Some(guest) = self.guests.get_mut(key) else {
            return;
        };
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let arrived = Instant::now();
        let (client, serial, last_due) = (&mut guest.client, guest.serial, &mut guest.last_due);
        client.recognise();
        let (answered, held) = (client.answered(), client.delayed());
        let (first, mut number) = (recorder.sums.requests_read, recorder.sums.requests_read);
        let mut hold = |owed| {
            if let Some(hold) = self.script.hold(number, arrived - self.start) {
                let mut due = arrived + hold;
                if let Owed::InOrder(_) = owed {
                    *last_due = due.max(*last_due);
                    due = *last_due;
                }
                self.due.push(Reverse(Delayed {
                    due,
                    number,
                    arrived,
                    key,
                    serial,
                    owed,
                }));
            }
            number += 1;
            Decision::Hold
        };
        let ends = event.is_read_closed();
        let goes_on = match client {
            Client::New(_) => !ends,
            Client::Http1(connection) => {
                let mut decide = |form| hold(Owed::InOrder(form));
                let served = connection.serve(&mut self.shared, ends, &mut decide);
                served.is_ok() && !connection.has_ended()
            }
            Client::Http2(guest) => guest
                .serve(&mut self.buffer, &self.http2, |stream| {
                    hold(Owed::OnStream(stream))
                })
                .unwrap_or(false),
            Client::Ended => false,
        };
        let left = if goes_on { client.delayed() } else { 0 };
        let sums = &mut recorder.sums;
        sums.requests_read = number;
        sums.answers_written += client.answered() - answered;
        sums.abandoned += held + (number - first) - left;
        sums.delayed = sums.delayed + left - held;
        if !goes_on {
            self.guests.remove(key);
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
                .guests
                .get_mut(next.key)
                .filter(|guest| guest.serial == next.serial)
            else {
                continue;
            };
            // Locked before the send: whoever has seen the answer also finds it counted.
            let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
            let client = &mut guest.client;
            let before = client.answered();
            let is_given = match (&mut *client, next.owed) {
                (Client::Http1(connection), Owed::InOrder(form)) => {
                    // A broken connection is dropped by the event that tells of it.
                    let _ = connection.release(&mut self.shared, form);
                    true
                }
                (Client::Http2(guest), Owed::OnStream(stream)) => {
                    guest.release(stream, &self.http2)
                }
                _ => false,
            };
            if !is_given {
                continue;
            }
            let now = Instant::now();
            recorder.sums.delayed -= 1;
            recorder.sums.answers_written += client.answered() - before;
            recorder.answered(next.due - next.arrived, now - next.due);
        }
    }
}
