//! Switching between arms that are interleaved.
//!
//! ```text
//!   ─▶ settling ── start ─▶ early ── a fifth ─▶ rest ── end ─▶ settling of the next slice ─▶
//! ```
//!
//! The arm in its slice lies in the worker itself, where the loop finds it as it finds the only arm of
//! another run; the others lie here. While a slice settles, the arm of the slice before is still there:
//! it is the one whose answers come in. A connection of a resting arm that becomes ready brings its arm
//! in for as long as it takes to read it.

mod recorder;

use std::sync::Arc;

use mio::Events;

use super::{Arm, EventPlace, Worker};
use crate::clock::{ThreadClock, ThreadTimes};
use crate::control::{NEVER, TICK_NS};
use crate::course::{Course, Known, SliceTimes};
use crate::transport::Transport;
use recorder::Presence;
pub(super) use recorder::SliceRecorder;

/// What a worker whose arms are interleaved has beside the arm in its slice.
pub(super) struct Interleaving<T: Transport> {
    pub(super) course: Arc<Course>,
    /// The arms, but for the one that the worker has.
    arms: Vec<Option<Arm<T>>>,
    /// Which one the worker has.
    at: usize,
    times: SliceTimes,
    stage: SliceStage,
    /// Where the stage ends.
    mark_ns: u64,
    is_over: bool,
    /// Of the thread that runs the worker; none before it does.
    clock: Option<ThreadClock>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SliceStage {
    Settling,
    /// The first fifth of a slice.
    Early,
    /// The rest of it.
    Rest,
}

impl<T: Transport> Interleaving<T> {
    /// Takes all arms but the first, which the worker has.
    pub(super) fn new(course: Arc<Course>, others: impl Iterator<Item = Arm<T>>) -> Option<Self> {
        let Known::Slice(times) = course.slice(0, 0) else {
            return None;
        };
        Some(Self {
            course,
            arms: std::iter::once(None).chain(others.map(Some)).collect(),
            at: 0,
            times,
            stage: SliceStage::Settling,
            mark_ns: times.start_ns,
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
            SliceStage::Settling => 0,
            SliceStage::Early | SliceStage::Rest => self.times.end_ns,
        }
    }

    fn stage_is(&mut self, stage: SliceStage, until_ns: u64) {
        self.stage = stage;
        self.mark_ns = until_ns;
    }

    /// Changes the worker's arm for another one; gives the number of the one it had.
    fn bring(&mut self, arm: &mut Arm<T>, number: usize) -> usize {
        let before = self.at;
        if let Some(wanted) = self.arms[number].take() {
            self.arms[before] = Some(std::mem::replace(arm, wanted));
            self.at = number;
        }
        before
    }
}

impl<T: Transport> Worker<T> {
    /// Everything that happens to arms because time passes; true at the end of the run.
    pub(super) fn keep_slices(&mut self) -> bool {
        self.pass_marks();
        let stop_ns = self.control.stop_ns();
        let Some(interleave) = &self.interleave else {
            return true;
        };
        if interleave.is_over {
            self.end_slices(interleave.times.end_ns, false);
            return true;
        }
        if self.now_ns >= stop_ns {
            self.end_slices(stop_ns, true);
            return true;
        }
        if self.now_ns >= self.next_sweep_ns {
            let count = interleave.arms.len();
            self.next_sweep_ns = self.now_ns + self.sweep_interval_ns;
            for number in 0..count {
                self.as_arm(number, Self::sweep);
            }
        }
        false
    }

    /// Passes the marks that are due, one after the other: a worker that was held up for longer than
    /// a slice goes through what it has missed, with nothing in it.
    #[inline]
    pub(super) fn pass_marks(&mut self) {
        let due = |interleave: &Interleaving<T>| interleave.mark_ns <= self.now_ns;
        if self.interleave.as_deref().is_some_and(due) {
            self.pass_due_marks();
        }
    }

    fn pass_due_marks(&mut self) {
        let Some(mut interleave) = self.interleave.take() else {
            return;
        };
        let until_ns = self.now_ns.min(self.control.stop_ns());
        while interleave.mark_ns <= until_ns {
            let times = interleave.times;
            match interleave.stage {
                SliceStage::Settling => {
                    self.arm.settle();
                    interleave.bring(&mut self.arm, times.arm as usize);
                    self.arm.begin_slice(&times, interleave.thread_times());
                    let fifth_ns = (times.end_ns - times.start_ns) / 5;
                    interleave.stage_is(SliceStage::Early, times.start_ns + fifth_ns);
                }
                SliceStage::Early => {
                    self.arm.note_early();
                    interleave.stage_is(SliceStage::Rest, times.end_ns);
                }
                SliceStage::Rest => {
                    self.end_slice(&interleave, times.end_ns);
                    match interleave.course.slice(times.number + 1, self.now_ns) {
                        Known::Slice(next) => {
                            if next.round > times.round {
                                self.retire_ended(&mut interleave);
                            }
                            interleave.times = next;
                            interleave.stage_is(SliceStage::Settling, next.start_ns);
                        }
                        Known::From(_) | Known::Over => {
                            interleave.is_over = true;
                            interleave.stage_is(SliceStage::Settling, NEVER);
                        }
                    }
                }
            }
        }
        self.interleave = Some(interleave);
    }

    /// Closes the connections of arms that have no more slices: nobody waits for what they carry.
    fn retire_ended(&mut self, interleave: &mut Interleaving<T>) {
        let resting = interleave.arms.iter_mut().flatten();
        for arm in resting.chain([&mut self.arm]) {
            let number = arm.assignment.arm as usize;
            if !arm.is_retired && interleave.course.ended(number).is_some() {
                arm.settle();
                arm.retire();
            }
        }
    }

    fn end_slice(&mut self, interleave: &Interleaving<T>, end_ns: u64) {
        let (course, times) = (&interleave.course, &interleave.times);
        let worker = self.arm.assignment.number;
        let length_ns = end_ns.saturating_sub(times.start_ns);
        match self
            .arm
            .end_slice(length_ns, end_ns, interleave.thread_times())
        {
            Presence::Somebody => course.note_slice(times.arm, worker, false),
            Presence::Nobody => course.note_slice(times.arm, worker, true),
            Presence::NotAsked => {}
        }
    }

    /// Ends the slice that is under way and closes the accounting of all arms.
    fn end_slices(&mut self, end_ns: u64, early: bool) {
        let Some(mut interleave) = self.interleave.take() else {
            return;
        };
        if interleave.stage != SliceStage::Settling {
            self.end_slice(&interleave, end_ns);
        }
        self.arm.settle();
        for number in 0..interleave.arms.len() {
            interleave.bring(&mut self.arm, number);
            self.arm.close_accounting(end_ns);
        }
        self.interleave = Some(interleave);
        if early {
            self.control.note_interrupted();
        }
    }

    /// Reads what is ready, of whichever arm.
    pub(super) fn read_ready_of_all(&mut self, events: &Events) {
        for number in 0..self
            .interleave
            .as_ref()
            .map_or(0, |interleave| interleave.arms.len())
        {
            self.as_arm(number, Self::read_unread);
        }
        let mut is_first = true;
        for event in events {
            if !is_first {
                self.now_ns = self.clock.now_ns();
            }
            is_first = false;
            self.pass_marks();
            let place = EventPlace::of(event.token());
            self.as_arm(place.arm, |worker| worker.read_event(place.slot, event));
        }
    }

    /// Does something with an arm in the worker's hands.
    #[inline]
    pub(super) fn as_arm(&mut self, number: usize, what: impl FnOnce(&mut Self)) {
        match &mut self.interleave {
            Some(interleave) if interleave.at != number => {
                let before = interleave.bring(&mut self.arm, number);
                what(self);
                if let Some(interleave) = &mut self.interleave {
                    interleave.bring(&mut self.arm, before);
                }
            }
            _ => what(self),
        }
    }

    /// When the worker has to come round, at the latest.
    pub(super) fn next_wake_of_all_ns(&self, interleave: &Interleaving<T>) -> u64 {
        let resting = interleave.arms.iter().flatten();
        if std::iter::once(&self.arm)
            .chain(resting)
            .any(|arm| !arm.unread.is_empty())
        {
            return self.now_ns;
        }
        let wake_ns = (self.now_ns + TICK_NS)
            .min(interleave.mark_ns)
            .min(self.control.stop_ns())
            .min(self.next_sweep_ns);
        match interleave.stage {
            SliceStage::Settling => wake_ns,
            SliceStage::Early | SliceStage::Rest => {
                wake_ns.min(self.arm.next_waking_ns().unwrap_or(NEVER))
            }
        }
    }
}
