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

mod ending;
mod failing;
mod reading;
mod starting;
mod timekeeping;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;

use mio::Events;

use crate::clock::{Clock, thread_cpu_ns};
use crate::connection::Connection;
use crate::control::{Control, NEVER, TICK_NS};
use crate::desk::Desk;
use crate::plan::{Load, Stop};
use crate::program::{Picker, Program};
use crate::schedule::{Schedule, Share};
use crate::transport::Transport;
use crate::waiter::Waiter;
use timekeeping::sweep_interval_ns;

const EVENTS: usize = 1_024;
const READ_BYTES: usize = 64 * 1024;
/// A connection that always has more to read lets the others have a turn after so many reads.
const READS_IN_A_TURN: usize = 64;
/// What a worker is, before it runs.
pub(crate) struct Assignment {
    pub(crate) number: u32,
    pub(crate) workers: u32,
    pub(crate) connections: usize,
    pub(crate) load: Load,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
}

impl Assignment {
    /// This worker's share of the starts, each of so many requests.
    pub(crate) fn share(&self, batch: u32) -> Share {
        Share {
            number: self.number,
            workers: self.workers,
            batch,
        }
    }
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
    /// Attempts to connect that failed while none had succeeded.
    unreached: usize,
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
        mut desk: Desk,
    ) -> io::Result<Self> {
        let places = assignment.connections;
        let seed = assignment.seed ^ (u64::from(assignment.number) << 40);
        // With a rate for opening, places become vacant one after the other.
        let later = |slot: u32| {
            let number =
                u64::from(slot) * u64::from(assignment.workers) + u64::from(assignment.number);
            Reverse((number * program.opening_gap_ns, slot))
        };
        let (vacant, sleepers) = match (program.opening_gap_ns, &mut desk.supply) {
            (0, Some(supply)) if supply.has_delays() => {
                let later = |slot| Reverse((supply.delay_ns(), slot));
                (Vec::new(), (0..places as u32).map(later).collect())
            }
            (0, _) => ((0..places as u32).rev().collect(), BinaryHeap::new()),
            _ => (Vec::new(), (0..places as u32).map(later).collect()),
        };
        Ok(Self {
            waiter: Waiter::new(program.waiting)?,
            connections: (0..places).map(|_| Connection::new()).collect(),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            picker: Picker::new(&program, seed),
            schedule: Schedule::warm_up(
                &assignment.load,
                assignment.share(program.pipeline),
                assignment.seed,
            ),
            idle: VecDeque::with_capacity(places),
            vacant,
            sleepers,
            unread: Vec::new(),
            unreached: 0,
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
                return self.look_over(&mut events);
            }
            self.read_ready(&events);
            if self.desk.supply.is_some() {
                self.heed_supply();
            }
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
            .min(self.phase_end_ns())
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
}
