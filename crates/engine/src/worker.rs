//! The loop. There is one, for every load shape and every transport.
//!
//! ```text
//!   turn:  wait ─▶ keep time ─▶ read all that is ready ─▶ wake sleepers ─▶ start what is due
//! ```
//!
//! All ready answers are read before the next requests are written. On a shared core the
//! requests then reach the server in batches and the scheduler switches less often; on cores of
//! their own it costs nothing. A turn makes one system call to wait, one to read and one to
//! write per request, and none else.
//!
//! Time: the clock is read once per ready connection, just before its `recv`, and once per
//! request, just before its `send`. A completion's stamp is therefore early by at most the
//! duration of that `recv`, and late by at most what the loop spent on the connections before it
//! in the same turn, which is honest: so much later did this client see the answer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;

use mio::unix::SourceFd;
use mio::{Events, Interest, Token};

use crate::clock::{Clock, thread_cpu_ns};
use crate::connection::{Broken, Connection, Desk, Stage, Turn};
use crate::control::{Control, NEVER};
use crate::plan::{Load, Stop};
use crate::program::{Picker, Program};
use crate::record::Failure;
use crate::schedule::Schedule;
use crate::transport::Transport;
use crate::waiter::Waiter;

const EVENTS: usize = 1_024;
const READ_BYTES: usize = 64 * 1024;
/// A connection that always has more to read lets the others have a turn after so many reads.
const READS_IN_A_TURN: usize = 64;
/// How long a worker may go without looking at the time, the phase and the stop.
const TICK_NS: u64 = 20_000_000;
const FIRST_BACKOFF_NS: u64 = 1_000_000;
const LONGEST_BACKOFF_NS: u64 = 100_000_000;

/// What a worker is, before it runs.
pub(crate) struct Assignment {
    pub(crate) number: u32,
    pub(crate) workers: u32,
    pub(crate) connections: usize,
    pub(crate) load: Load,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
}

/// One thread's event loop with its connections.
pub(crate) struct Worker<T: Transport> {
    assignment: Assignment,
    program: Arc<Program>,
    control: Arc<Control>,
    clock: Clock,
    connector: T::Connector,
    waiter: Waiter,
    desk: Desk,
    connections: Vec<Connection<T>>,
    buffer: Box<[u8]>,
    picker: Picker,
    schedule: Schedule,
    /// Open connections that carry nothing. A connection closed meanwhile stays until its turn.
    idle: VecDeque<u32>,
    /// Places where a connection can be opened at once.
    vacant: Vec<u32>,
    /// Connections that think and places that back off, by the time they wake.
    sleepers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Connections that had more to read than a turn allows.
    unread: Vec<u32>,
    /// Requests this worker may start without asking.
    quota: u64,
    phase: PhaseTimes,
    next_sweep_ns: u64,
    now_ns: u64,
    wake_ns: u64,
}

/// The times of the current phase, as this worker sees them.
#[derive(Debug, Clone, Copy)]
struct PhaseTimes {
    is_measuring: bool,
    start_ns: u64,
    end_ns: u64,
    next_window_ns: u64,
    cpu_start_ns: u64,
}

impl<T: Transport> Worker<T> {
    pub(crate) fn new(
        assignment: Assignment,
        program: Arc<Program>,
        control: Arc<Control>,
        connector: T::Connector,
        desk: Desk,
    ) -> io::Result<Self> {
        let places = assignment.connections;
        let seed = assignment.seed ^ (u64::from(assignment.number) << 40);
        Ok(Self {
            waiter: Waiter::new(program.waiting)?,
            connections: (0..places).map(|_| Connection::new()).collect(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            picker: Picker::new(&program, seed),
            schedule: Schedule::warm_up(
                &assignment.load,
                assignment.number,
                assignment.workers,
                assignment.seed,
            ),
            idle: VecDeque::with_capacity(places),
            vacant: (0..places as u32).rev().collect(),
            sleepers: BinaryHeap::new(),
            unread: Vec::new(),
            quota: u64::MAX,
            phase: PhaseTimes {
                is_measuring: false,
                start_ns: 0,
                end_ns: NEVER,
                next_window_ns: program.window_ns,
                cpu_start_ns: 0,
            },
            next_sweep_ns: sweep_interval_ns(program.timeout_ns),
            now_ns: 0,
            wake_ns: NEVER,
            clock: Clock::start(),
            assignment,
            program,
            control,
            connector,
            desk,
        })
    }

    /// Runs to the end: of the plan, or when the run is stopped.
    pub(crate) fn run(mut self, clock: Clock) -> io::Result<()> {
        self.clock = clock;
        self.waiter.prepare_thread();
        self.phase.cpu_start_ns = thread_cpu_ns();
        let mut events = Events::with_capacity(EVENTS);
        loop {
            self.now_ns = self.clock.now_ns();
            if self.keep_time() {
                return Ok(());
            }
            self.read_ready(&events);
            self.wake_sleepers();
            self.start_due();
            self.wait(&mut events)?;
        }
    }

    /// Waits for answers, at most until something else is due.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let turn_began_ns = self.now_ns;
        self.now_ns = self.clock.now_ns();
        self.note_stall(self.now_ns - turn_began_ns);
        let wake_ns = self.next_wake_ns();
        self.waiter
            .wait(events, wake_ns.saturating_sub(self.now_ns))?;
        self.wake_ns = wake_ns.max(self.now_ns);
        Ok(())
    }

    fn next_wake_ns(&self) -> u64 {
        if !self.unread.is_empty() {
            return self.now_ns;
        }
        let mut wake_ns = (self.now_ns + TICK_NS)
            .min(self.phase.next_window_ns)
            .min(self.phase.end_ns)
            .min(self.next_sweep_ns);
        if let Some(Reverse((at_ns, _))) = self.sleepers.peek() {
            wake_ns = wake_ns.min(*at_ns);
        }
        let can_start = self.quota > 0 && !(self.idle.is_empty() && self.vacant.is_empty());
        match self.schedule.next_ns() {
            Some(next_ns) if can_start => wake_ns.min(next_ns),
            _ => wake_ns,
        }
    }

    fn note_stall(&self, stall_ns: u64) {
        let largest = &self.desk.ledger.largest_stall_ns;
        if stall_ns > largest.get() {
            largest.set(stall_ns);
        }
    }

    /// Everything that happens because time passes; true at the end of the run.
    fn keep_time(&mut self) -> bool {
        let now_ns = self.now_ns;
        let slack_ns = self.waiter.slack_ns();
        self.note_stall(now_ns.saturating_sub(self.wake_ns.saturating_add(slack_ns)));
        let stop_ns = self.control.stop_ns();
        if !self.phase.is_measuring && now_ns >= self.control.measure_from_ns().min(stop_ns) {
            self.begin_measuring(stop_ns);
        }
        if now_ns >= self.phase.end_ns.min(stop_ns) {
            self.end(self.phase.end_ns.min(stop_ns), stop_ns < self.phase.end_ns);
            return true;
        }
        if self.quota == 0 && self.phase.is_measuring && self.desk.ledger.in_flight() == 0 {
            self.quota = self.control.reserve(u64::from(self.program.pipeline));
            if self.quota == 0 {
                self.end(now_ns, false);
                return true;
            }
        }
        if now_ns >= self.phase.next_window_ns {
            self.end_windows(now_ns);
        }
        if now_ns >= self.next_sweep_ns {
            self.sweep();
            self.next_sweep_ns = now_ns + sweep_interval_ns(self.program.timeout_ns);
        }
        false
    }

    /// Ends the warm-up. A run that is stopped during it has a measured phase of length 0.
    fn begin_measuring(&mut self, stop_ns: u64) {
        let from_ns = self.control.measure_from_ns().min(stop_ns);
        if from_ns > self.phase.start_ns {
            self.close_windows(from_ns);
        }
        self.desk.ledger.begin_measuring();
        self.phase = PhaseTimes {
            is_measuring: true,
            start_ns: from_ns,
            end_ns: match self.assignment.stop {
                Stop::After { ns } => from_ns + ns,
                Stop::AtCount { .. } => NEVER,
            },
            next_window_ns: from_ns + self.program.window_ns,
            cpu_start_ns: thread_cpu_ns(),
        };
        if matches!(self.assignment.stop, Stop::AtCount { .. }) {
            // Requests of the warm-up that are still under way end in the measured phase and
            // are part of its count.
            let carried = self.desk.ledger.in_flight();
            self.quota = 0;
            let mut reserved = 0;
            while reserved < carried {
                let share = self.control.reserve(carried - reserved);
                if share == 0 {
                    break;
                }
                reserved += share;
            }
            self.quota = reserved.saturating_sub(carried);
        }
        self.schedule = Schedule::measure(
            &self.assignment.load,
            from_ns,
            self.assignment.number,
            self.assignment.workers,
            self.assignment.seed,
        );
    }

    fn end_windows(&mut self, now_ns: u64) {
        let passed = 1 + (now_ns - self.phase.next_window_ns) / self.program.window_ns;
        self.desk.ledger.close_windows(passed);
        self.phase.next_window_ns += passed * self.program.window_ns;
        self.note_own_time(now_ns);
    }

    /// Ends all windows up to the end of the phase, the last of which may be short.
    fn close_windows(&mut self, end_ns: u64) {
        let open_since_ns = self.phase.next_window_ns - self.program.window_ns;
        let left_ns = end_ns.saturating_sub(open_since_ns);
        if left_ns > 0 {
            let count = left_ns.div_ceil(self.program.window_ns);
            self.desk.ledger.close_windows(count);
        }
        self.note_own_time(end_ns);
    }

    fn note_own_time(&self, now_ns: u64) {
        let ledger = &self.desk.ledger;
        ledger.cpu_ns.set(thread_cpu_ns() - self.phase.cpu_start_ns);
        ledger
            .wall_ns
            .set(now_ns.saturating_sub(self.phase.start_ns));
    }

    fn end(&mut self, end_ns: u64, early: bool) {
        self.close_windows(end_ns);
        let ledger = Arc::clone(&self.desk.ledger);
        ledger.ended_ns.set(end_ns);
        ledger
            .totals
            .missed_starts
            .set(self.schedule.missed_until(end_ns));
        let left = self.connections.iter().map(|c| u64::from(c.outstanding));
        ledger.left_in_flight.set(left.sum());
        ledger.notes().encodings = self.desk.heads.encodings().to_vec();
        if early {
            self.control.note_interrupted();
        }
    }

    // --- reading ----------------------------------------------------------------------------

    fn read_ready(&mut self, events: &Events) {
        for slot in std::mem::take(&mut self.unread) {
            if self.connections[slot as usize].transport.is_some() {
                self.now_ns = self.clock.now_ns();
                self.read(slot, true);
            }
        }
        let mut is_first = true;
        for event in events {
            // The first event's reading was taken when the wait ended.
            if !is_first {
                self.now_ns = self.clock.now_ns();
            }
            is_first = false;
            let slot = event.token().0 as u32;
            let ends = event.is_read_closed() || event.is_error();
            match self.connections[slot as usize].stage {
                Stage::Closed => continue,
                Stage::Opening => {
                    if event.is_writable() || ends {
                        self.establish(slot);
                    }
                }
                Stage::Busy => {
                    if event.is_writable() && self.has_unsent(slot) {
                        self.write(slot);
                    }
                }
                Stage::Idle => {}
            }
            let is_open = !matches!(
                self.connections[slot as usize].stage,
                Stage::Closed | Stage::Opening
            );
            if is_open && (event.is_readable() || ends) {
                self.read(slot, ends);
            }
        }
    }

    /// Reads a connection until it is drained. After an edge, a read that does not fill the
    /// buffer has drained the socket, unless the peer has ended its side.
    #[inline]
    fn read(&mut self, slot: u32, ends: bool) {
        for _ in 0..READS_IN_A_TURN {
            let connection = &mut self.connections[slot as usize];
            let Some(transport) = &mut connection.transport else {
                return;
            };
            match transport.read(&mut self.buffer) {
                Ok(0) => return self.peer_closed(slot),
                Ok(read) => {
                    self.desk.ledger.totals.bytes_read.add(read as u64);
                    self.received(slot, read);
                    if read < self.buffer.len() && !ends {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.broke(slot, Broken::io(&error)),
            }
        }
        self.unread.push(slot);
    }

    #[inline]
    fn received(&mut self, slot: u32, read: usize) {
        let connection = &mut self.connections[slot as usize];
        if connection.outstanding == 0 {
            // Bytes nobody asked for: often a 408 before the server gives up an idle connection.
            return self.close(slot);
        }
        let input = &self.buffer[..read];
        match connection.receive(input, self.now_ns, &self.program, &mut self.desk) {
            Ok(Turn::Wait) => {}
            Ok(Turn::Done { reusable }) => self.done(slot, reusable),
            Err(broken) => self.broke(slot, broken),
        }
    }

    #[inline]
    fn done(&mut self, slot: u32, reusable: bool) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = Stage::Idle;
        let wake_ns = self.now_ns + self.program.think_time_ns;
        if !reusable {
            self.drop_connection(slot);
            if self.program.think_time_ns > 0 {
                self.sleepers.push(Reverse((wake_ns, slot)));
            } else {
                self.vacant.push(slot);
            }
        } else if self.program.think_time_ns > 0 {
            self.sleepers.push(Reverse((wake_ns, slot)));
        } else {
            self.idle.push_back(slot);
        }
    }

    fn peer_closed(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        if connection.outstanding == 0 {
            return self.close(slot);
        }
        match connection.receive_close(self.now_ns, &self.program, &mut self.desk) {
            Ok(_) => self.done(slot, false),
            Err(broken) => self.broke(slot, broken),
        }
    }

    // --- closing ----------------------------------------------------------------------------

    /// Closes a connection that carries nothing and is in `idle` or `sleepers`, where it stays.
    fn close(&mut self, slot: u32) {
        self.drop_connection(slot);
    }

    fn drop_connection(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        if connection.transport.is_some() {
            let open_now = &self.desk.ledger.open_now;
            open_now.set(open_now.get() - 1);
        }
        connection.clear(&mut self.desk);
    }

    /// Everything the connection carries has failed.
    #[cold]
    fn broke(&mut self, slot: u32, broken: Broken) {
        let connection = &mut self.connections[slot as usize];
        if connection.outstanding == 0 {
            return self.close(slot);
        }
        let failed = u64::from(connection.outstanding);
        self.desk
            .ledger
            .fail(broken.failure, failed, || broken.detail);
        connection.failures += 1;
        let failures = connection.failures;
        self.drop_connection(slot);
        match backoff_ns(failures) {
            0 => self.vacant.push(slot),
            wait_ns => self.sleepers.push(Reverse((self.now_ns + wait_ns, slot))),
        }
    }

    /// Ends what has taken too long. Requests are not kept in order of their age: looking at all
    /// connections from time to time costs less than keeping order on every request.
    fn sweep(&mut self) {
        let limit_ns = self.program.timeout_ns;
        for slot in 0..self.connections.len() as u32 {
            let connection = &self.connections[slot as usize];
            if connection.outstanding == 0 || self.now_ns < connection.since_ns + limit_ns {
                continue;
            }
            let failure = match connection.stage {
                Stage::Opening => Failure::ConnectTimeout,
                _ => Failure::Timeout,
            };
            let detail = format!("after {} ms", limit_ns as f64 / 1e6);
            self.broke(slot, Broken::new(failure, detail));
        }
    }

    fn wake_sleepers(&mut self) {
        while let Some(Reverse((at_ns, slot))) = self.sleepers.peek().copied() {
            if at_ns > self.now_ns {
                return;
            }
            self.sleepers.pop();
            self.idle.push_back(slot);
        }
    }

    // --- starting ---------------------------------------------------------------------------

    #[inline]
    fn start_due(&mut self) {
        loop {
            if self.quota == 0 {
                self.quota = self.refill();
                if self.quota == 0 {
                    return;
                }
            }
            if self.idle.is_empty() && self.vacant.is_empty() {
                return;
            }
            self.now_ns = self.clock.now_ns();
            let Some(intended_ns) = self.schedule.due(self.now_ns) else {
                return;
            };
            self.schedule.advance();
            self.start(intended_ns);
        }
    }

    fn refill(&mut self) -> u64 {
        match self.phase.is_measuring {
            true => self.control.reserve(u64::from(self.program.pipeline)),
            false => 0,
        }
    }

    #[inline]
    fn start(&mut self, intended_ns: u64) {
        let count = u64::from(self.program.pipeline).min(self.quota) as u32;
        self.quota -= u64::from(count);
        self.desk.ledger.totals.started.add(u64::from(count));
        let template = self.picker.pick(&self.program.templates);
        let slot = match self.idle.pop_front() {
            Some(slot) => slot,
            None => self.vacant.pop().expect("the caller saw one of the two"),
        };
        let connection = &mut self.connections[slot as usize];
        connection.take(template, count, intended_ns, self.now_ns);
        if connection.stage == Stage::Idle {
            connection.stage = Stage::Busy;
            self.send(slot);
        } else {
            self.open(slot);
        }
    }

    /// The first write of a request: the moment its service time begins.
    #[inline]
    fn send(&mut self, slot: u32) {
        if let Some(times) = &self.desk.ledger.open_loop {
            let intended_ns = self.connections[slot as usize].intended_ns;
            times
                .send_lag
                .record(self.now_ns.saturating_sub(intended_ns));
        }
        self.write(slot);
    }

    #[inline]
    fn write(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        loop {
            let unsent = connection.unsent(&self.program);
            let (Some(transport), false) = (&mut connection.transport, unsent.is_empty()) else {
                return;
            };
            match transport.write(unsent) {
                Ok(written) => {
                    let is_all = written == unsent.len();
                    connection.sent_bytes += written;
                    self.desk.ledger.totals.bytes_written.add(written as u64);
                    if is_all {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.broke(slot, Broken::io(&error)),
            }
        }
    }

    fn has_unsent(&self, slot: u32) -> bool {
        let connection = &self.connections[slot as usize];
        !connection.unsent(&self.program).is_empty()
    }

    fn open(&mut self, slot: u32) {
        let opened = T::open(&mut self.connector, slot as usize).and_then(|transport| {
            self.waiter.registry().register(
                &mut SourceFd(&transport.descriptor()),
                Token(slot as usize),
                Interest::READABLE | Interest::WRITABLE,
            )?;
            Ok(transport)
        });
        match opened {
            Ok(transport) => {
                let connection = &mut self.connections[slot as usize];
                connection.transport = Some(transport);
                connection.stage = Stage::Opening;
                let ledger = &self.desk.ledger;
                ledger.open_now.add(1);
                ledger
                    .open_peak
                    .set(ledger.open_peak.get().max(ledger.open_now.get()));
            }
            Err(error) => self.broke(slot, Broken::io(&error)),
        }
    }

    /// Goes on connecting; once connected, sends what the connection was opened for.
    fn establish(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        let Some(transport) = &mut connection.transport else {
            return;
        };
        match transport.establish() {
            Ok(false) => {}
            Ok(true) => {
                let ledger = &self.desk.ledger;
                let connect_time_ns = self.now_ns.saturating_sub(connection.since_ns);
                ledger.connect_time.record(connect_time_ns);
                match std::mem::replace(&mut connection.was_opened, true) {
                    true => ledger.reopened.add(1),
                    false => ledger.opened.add(1),
                }
                connection.stage = Stage::Busy;
                connection.since_ns = self.now_ns;
                if !self.program.is_open_loop {
                    connection.intended_ns = self.now_ns;
                }
                self.send(slot);
            }
            Err(error) => self.broke(slot, Broken::io(&error)),
        }
    }
}

/// Every sixteenth of the timeout, within bounds: a request is ended at most so late.
fn sweep_interval_ns(timeout_ns: u64) -> u64 {
    (timeout_ns / 16).clamp(1_000_000, 100_000_000)
}

/// One failure may be the server's idle timeout and is tried again at once; a server that is
/// gone is asked less and less often.
fn backoff_ns(failures: u32) -> u64 {
    match failures {
        0 | 1 => 0,
        n => (FIRST_BACKOFF_NS << (n - 2).min(10)).min(LONGEST_BACKOFF_NS),
    }
}
