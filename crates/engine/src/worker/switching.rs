//! Switching between lanes that take turns.
//!
//! ```text
//!   ─▶ settling ── start ─▶ early ── a fifth ─▶ rest ── end ─▶ settling of the next turn ─▶
//! ```
//!
//! The lane on turn lies in the worker itself, where the loop finds it as it finds the only lane of
//! another run; the others lie here. While a turn settles, the lane of the turn before is still there:
//! it is the one whose answers come in. A connection of a resting lane that becomes ready brings its lane
//! in for as long as it takes to read it.

use std::sync::Arc;

use mio::Events;

use super::turnbook::Found;
use super::{Lane, Place, Worker};
use crate::clock::{ThreadClock, ThreadTimes};
use crate::control::{NEVER, TICK_NS};
use crate::course::{Course, Known, Turn};
use crate::transport::Transport;

/// What a worker whose lanes take turns has beside the lane on turn.
pub(super) struct Weave<T: Transport> {
    pub(super) course: Arc<Course>,
    /// The lanes, but for the one that the worker has.
    lanes: Vec<Option<Lane<T>>>,
    /// Which one the worker has.
    at: usize,
    turn: Turn,
    stage: Stage,
    /// Where the stage ends.
    mark_ns: u64,
    is_over: bool,
    /// Of the thread that runs the worker; none before it does.
    clock: Option<ThreadClock>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Settling,
    /// The first fifth of a slice.
    Early,
    /// The rest of it.
    Rest,
}

impl<T: Transport> Weave<T> {
    /// Takes all lanes but the first, which the worker has.
    pub(super) fn new(course: Arc<Course>, others: impl Iterator<Item = Lane<T>>) -> Option<Self> {
        let Known::Turn(turn) = course.turn(0, 0) else {
            return None;
        };
        Some(Self {
            course,
            lanes: std::iter::once(None).chain(others.map(Some)).collect(),
            at: 0,
            turn,
            stage: Stage::Settling,
            mark_ns: turn.start_ns,
            is_over: false,
            clock: None,
        })
    }

    /// The calling thread runs the worker from now on.
    pub(super) fn prepare_thread(&mut self) {
        self.clock = Some(ThreadClock::of_this_thread());
    }

    fn thread_times(&self) -> ThreadTimes {
        self.clock
            .as_ref()
            .map(ThreadClock::read)
            .unwrap_or_default()
    }

    /// Until when requests may be started.
    pub(super) fn serves_until_ns(&self) -> u64 {
        match self.stage {
            Stage::Settling => 0,
            Stage::Early | Stage::Rest => self.turn.end_ns,
        }
    }

    fn stage_is(&mut self, stage: Stage, until_ns: u64) {
        self.stage = stage;
        self.mark_ns = until_ns;
    }

    /// Changes the worker's lane for another one; gives the number of the one it had.
    fn bring(&mut self, lane: &mut Lane<T>, number: usize) -> usize {
        let before = self.at;
        if let Some(wanted) = self.lanes[number].take() {
            self.lanes[before] = Some(std::mem::replace(lane, wanted));
            self.at = number;
        }
        before
    }
}

impl<T: Transport> Worker<T> {
    /// Everything that happens to lanes because time passes; true at the end of the run.
    pub(super) fn keep_turns(&mut self) -> bool {
        self.pass_marks();
        let stop_ns = self.control.stop_ns();
        let Some(weave) = &self.weave else {
            return true;
        };
        if weave.is_over {
            self.end_turns(weave.turn.end_ns, false);
            return true;
        }
        if self.now_ns >= stop_ns {
            self.end_turns(stop_ns, true);
            return true;
        }
        if self.now_ns >= self.next_sweep_ns {
            let count = weave.lanes.len();
            self.next_sweep_ns = self.now_ns + self.sweep_interval_ns;
            for number in 0..count {
                self.as_lane(number, Self::sweep);
            }
        }
        false
    }

    /// Passes the marks that are due, one after the other: a worker that was held up for longer than
    /// a turn goes through what it has missed, with nothing in it.
    #[inline]
    pub(super) fn pass_marks(&mut self) {
        let due = |weave: &Weave<T>| weave.mark_ns <= self.now_ns;
        if self.weave.as_deref().is_some_and(due) {
            self.pass_due_marks();
        }
    }

    fn pass_due_marks(&mut self) {
        let Some(mut weave) = self.weave.take() else {
            return;
        };
        let until_ns = self.now_ns.min(self.control.stop_ns());
        while weave.mark_ns <= until_ns {
            let turn = weave.turn;
            match weave.stage {
                Stage::Settling => {
                    self.lane.settle();
                    weave.bring(&mut self.lane, turn.lane as usize);
                    self.lane.begin_slice(&turn, weave.thread_times());
                    let fifth_ns = (turn.end_ns - turn.start_ns) / 5;
                    weave.stage_is(Stage::Early, turn.start_ns + fifth_ns);
                }
                Stage::Early => {
                    self.lane.note_early();
                    weave.stage_is(Stage::Rest, turn.end_ns);
                }
                Stage::Rest => {
                    self.end_slice(&weave, turn.end_ns);
                    match weave.course.turn(turn.number + 1, self.now_ns) {
                        Known::Turn(next) => {
                            if next.cycle > turn.cycle {
                                self.retire_ended(&mut weave);
                            }
                            weave.turn = next;
                            weave.stage_is(Stage::Settling, next.start_ns);
                        }
                        Known::From(_) | Known::Over => {
                            weave.is_over = true;
                            weave.stage_is(Stage::Settling, NEVER);
                        }
                    }
                }
            }
        }
        self.weave = Some(weave);
    }

    /// Closes the connections of lanes that have no more turns: nobody waits for what they carry.
    fn retire_ended(&mut self, weave: &mut Weave<T>) {
        let resting = weave.lanes.iter_mut().flatten();
        for lane in resting.chain([&mut self.lane]) {
            let number = lane.assignment.lane as usize;
            if !lane.is_retired && weave.course.ended(number).is_some() {
                lane.settle();
                lane.retire();
            }
        }
    }

    fn end_slice(&mut self, weave: &Weave<T>, end_ns: u64) {
        let (course, turn) = (&weave.course, &weave.turn);
        let worker = self.lane.assignment.number;
        let length_ns = end_ns.saturating_sub(turn.start_ns);
        match self.lane.end_slice(length_ns, end_ns, weave.thread_times()) {
            Found::Somebody => course.note_slice(turn.lane, worker, false),
            Found::Nobody => course.note_slice(turn.lane, worker, true),
            Found::NotSought => {}
        }
    }

    /// Ends the slice that is under way and closes the books of all lanes.
    fn end_turns(&mut self, end_ns: u64, early: bool) {
        let Some(mut weave) = self.weave.take() else {
            return;
        };
        if weave.stage != Stage::Settling {
            self.end_slice(&weave, end_ns);
        }
        self.lane.settle();
        for number in 0..weave.lanes.len() {
            weave.bring(&mut self.lane, number);
            self.lane.close_books(end_ns);
        }
        self.weave = Some(weave);
        if early {
            self.control.note_interrupted();
        }
    }

    /// Reads what is ready, of whichever lane.
    pub(super) fn read_ready_of_all(&mut self, events: &Events) {
        for number in 0..self.weave.as_ref().map_or(0, |weave| weave.lanes.len()) {
            self.as_lane(number, Self::read_unread);
        }
        let mut is_first = true;
        for event in events {
            if !is_first {
                self.now_ns = self.clock.now_ns();
            }
            is_first = false;
            self.pass_marks();
            let place = Place::of(event.token());
            self.as_lane(place.lane, |worker| worker.read_event(place.slot, event));
        }
    }

    /// Does something with a lane in the worker's hands.
    #[inline]
    pub(super) fn as_lane(&mut self, number: usize, what: impl FnOnce(&mut Self)) {
        match &mut self.weave {
            Some(weave) if weave.at != number => {
                let before = weave.bring(&mut self.lane, number);
                what(self);
                if let Some(weave) = &mut self.weave {
                    weave.bring(&mut self.lane, before);
                }
            }
            _ => what(self),
        }
    }

    /// When the worker has to come round, at the latest.
    pub(super) fn next_wake_of_all_ns(&self, weave: &Weave<T>) -> u64 {
        let resting = weave.lanes.iter().flatten();
        if std::iter::once(&self.lane)
            .chain(resting)
            .any(|lane| !lane.unread.is_empty())
        {
            return self.now_ns;
        }
        let wake_ns = (self.now_ns + TICK_NS)
            .min(weave.mark_ns)
            .min(self.control.stop_ns())
            .min(self.next_sweep_ns);
        match weave.stage {
            Stage::Settling => wake_ns,
            Stage::Early | Stage::Rest => wake_ns.min(self.lane.next_waking_ns().unwrap_or(NEVER)),
        }
    }
}
