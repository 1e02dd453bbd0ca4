//! The loop. There is one, for every load shape and every transport.
//!
//! ```text
//!   iteration:  wait ─▶ keep time ─▶ read all that is ready ─▶ wake sleepers ─▶ start what is due
//! ```
//!
//! The worker has the clock, the waiting, the buffer and the control; what is sent, on which
//! connections and into which accounting is its [`Arm`]'s. Mostly there is one arm, whose slice never ends.
//! Where there are several, they are interleaved (`slices/mod.rs`): what is due is started for the arm in its slice
//! only, what is ready is read of all.
//!
//! All ready answers are read before the next requests are written. On a shared core the
//! requests then reach the server in batches and the scheduler switches less often; on cores of
//! their own it costs nothing. An iteration makes one system call to wait, one to read and one to
//! write per request, and none else.
//!
//! Time: the clock is read once per ready connection, just before its `recv`, again for each further
//! `recv` of the same iteration that brings something, and once per request, just before its `send`. A
//! completion's stamp is therefore early by at most the duration of that `recv`, and late by at most
//! what the loop spent on the connections before it in the same iteration, which is honest: so much later
//! did this client see the answer.

mod arm;
mod assignment;
mod connecting;
mod dispatch;
mod http1;
mod multiplexed;
mod slices;
mod timekeeping;

use std::io;
use std::sync::Arc;

use mio::{Events, Token};

use crate::clock::{Clock, ThreadClock, ThreadTimes};
use crate::control::{Control, NEVER, TICK_NS};
use crate::course::Course;
use crate::program::Waiting;
use crate::transport::Transport;
use crate::waiter::Waiter;
pub(crate) use arm::Arm;
pub(crate) use assignment::Assignment;
use slices::Interleaving;
use timekeeping::sweep_interval_ns;

const EVENTS: usize = 1_024;
const READ_BYTES: usize = 64 * 1024;
/// A connection that always has more to read lets the others have an iteration after so many reads.
const READS_AT_ONCE: usize = 64;
/// Of many starts that are due at once so many are made before answers are read again: to open ten thousand
/// connections takes longer than an answer may lie unread.
const STARTS_AT_ONCE: u32 = 1_024;

/// One thread's event loop: the clock, the waiting and the reading, for an arm.
pub(crate) struct Worker<T: Transport> {
    control: Arc<Control>,
    clock: Clock,
    /// Of the thread that runs it.
    thread_clock: ThreadClock,
    waiter: Waiter,
    buffer: Box<[u8]>,
    phase: PhaseTimes,
    sweep_interval_ns: u64,
    next_sweep_ns: u64,
    now_ns: u64,
    /// When the iteration of the loop began that is under way.
    loop_began_ns: u64,
    /// Whether more may be due than an iteration starts.
    has_more_due: bool,
    wake_ns: u64,
    /// The arm in its slice.
    arm: Arm<T>,
    /// The other arms, where there are any.
    interleave: Option<Box<Interleaving<T>>>,
}

/// Which place of which arm a token stands for.
#[derive(Debug, Clone, Copy)]
struct EventPlace {
    arm: usize,
    slot: u32,
}

impl EventPlace {
    /// A plan has at most a million connections.
    const SLOT_BITS: u32 = 24;

    fn of(token: Token) -> Self {
        Self {
            arm: token.0 >> Self::SLOT_BITS,
            slot: (token.0 & ((1 << Self::SLOT_BITS) - 1)) as u32,
        }
    }

    fn token(self) -> Token {
        Token(self.arm << Self::SLOT_BITS | self.slot as usize)
    }
}

/// The times of the current phase, as this worker sees them.
#[derive(Debug, Clone, Copy)]
struct PhaseTimes {
    is_measuring: bool,
    start_ns: u64,
    end_ns: u64,
    next_window_ns: u64,
    began: ThreadTimes,
}

impl<T: Transport> Worker<T> {
    /// A worker that stands ready.
    ///
    /// # Errors
    /// Where the system has no selector for it.
    pub(crate) fn new(arm: Arm<T>, control: Arc<Control>) -> io::Result<Self> {
        let waiting = arm.program.waiting;
        Self::waiting(waiting, arm, control)
    }

    /// A worker whose arms are interleaved.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_arms(
        mut arms: Vec<Arm<T>>,
        course: &Arc<Course>,
        control: Arc<Control>,
    ) -> io::Result<Self> {
        let waiting = match arms
            .iter()
            .any(|arm| arm.program.waiting == Waiting::Precise)
        {
            true => Waiting::Precise,
            false => Waiting::Switching,
        };
        let timeouts = arms.iter().map(|arm| arm.program.timeout_ns);
        let sweep_interval_ns = timeouts.map(sweep_interval_ns).min().unwrap_or(TICK_NS);
        let mut worker = Self::waiting(waiting, arms.remove(0), control)?;
        worker.sweep_interval_ns = sweep_interval_ns;
        worker.next_sweep_ns = sweep_interval_ns;
        worker.interleave = Interleaving::new(Arc::clone(course), arms.into_iter()).map(Box::new);
        Ok(worker)
    }

    fn waiting(waiting: Waiting, arm: Arm<T>, control: Arc<Control>) -> io::Result<Self> {
        let sweep_interval_ns = sweep_interval_ns(arm.program.timeout_ns);
        Ok(Self {
            waiter: Waiter::new(waiting)?,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            phase: PhaseTimes {
                is_measuring: false,
                start_ns: 0,
                end_ns: NEVER,
                next_window_ns: arm.program.window_ns,
                began: ThreadTimes::default(),
            },
            sweep_interval_ns,
            next_sweep_ns: sweep_interval_ns,
            now_ns: 0,
            loop_began_ns: 0,
            has_more_due: false,
            wake_ns: NEVER,
            clock: Clock::start(),
            thread_clock: ThreadClock::default(),
            control,
            arm,
            interleave: None,
        })
    }

    /// Runs to the end: of the plan, or when the run is stopped.
    pub(crate) fn run(mut self, clock: Clock) -> io::Result<()> {
        self.clock = clock;
        self.waiter.prepare_thread();
        self.thread_clock = ThreadClock::of_this_thread();
        self.phase.began = self.thread_clock.read();
        if let Some(interleave) = &mut self.interleave {
            interleave.prepare_thread();
        }
        let mut events = Events::with_capacity(EVENTS);
        loop {
            self.now_ns = self.clock.now_ns();
            self.loop_began_ns = self.now_ns;
            if self.keep_time() {
                return self.look_over(&mut events);
            }
            self.read_ready(&events);
            if self.arm.context.supply.is_some() {
                self.heed_supply();
            }
            self.arm.wake_sleepers(self.now_ns);
            self.start_due();
            self.wait(&mut events)?;
        }
    }

    /// Waits for answers, at most until something else is due.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        self.now_ns = self.clock.now_ns();
        // Not since the last reading of the clock: an iteration reads it once for each request and each event.
        self.note_stall(self.now_ns.saturating_sub(self.loop_began_ns));
        let wake_ns = match std::mem::take(&mut self.has_more_due) {
            true => self.now_ns,
            false => self.next_wake_ns(),
        };
        self.waiter
            .wait(events, wake_ns.saturating_sub(self.now_ns))?;
        self.wake_ns = wake_ns.max(self.now_ns);
        Ok(())
    }

    fn next_wake_ns(&self) -> u64 {
        if let Some(interleave) = &self.interleave {
            return self.next_wake_of_all_ns(interleave);
        }
        if !self.arm.unread.is_empty() || self.has_none_left() {
            return self.now_ns;
        }
        let mut wake_ns = (self.now_ns + TICK_NS)
            .min(self.phase.next_window_ns)
            .min(self.phase_end_ns())
            .min(self.next_sweep_ns);
        if let Some(at_ns) = self.arm.next_waking_ns() {
            wake_ns = wake_ns.min(at_ns);
        }
        match self.arm.next_start_ns() {
            Some(next_ns) => wake_ns.min(next_ns),
            None => wake_ns,
        }
    }

    fn note_stall(&self, stall_ns: u64) {
        let largest = &self.arm.context.recorder.largest_stall_ns;
        if stall_ns > largest.get() {
            largest.set(stall_ns);
        }
    }
}
