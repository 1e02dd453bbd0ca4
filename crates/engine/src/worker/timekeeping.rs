//! Everything a worker does because time passes: phases, windows, timeouts, the end.

use super::{PhaseTimes, Worker};
use crate::control::NEVER;
use crate::plan::Stop;
use crate::schedule::Schedule;
use crate::transport::Transport;

impl<T: Transport> Worker<T> {
    /// Everything that happens because time passes; true at the end of the run.
    pub(super) fn keep_time(&mut self) -> bool {
        let now_ns = self.now_ns;
        let slack_ns = self.waiter.slack_ns();
        self.note_stall(now_ns.saturating_sub(self.wake_ns.saturating_add(slack_ns)));
        if self.interleave.is_some() {
            return self.keep_slices();
        }
        let stop_ns = self.control.stop_ns();
        if !self.phase.is_measuring && now_ns >= self.phase_end_ns() {
            self.begin_measuring(stop_ns);
        }
        if now_ns >= self.phase.end_ns.min(stop_ns) {
            self.end(self.phase.end_ns.min(stop_ns), stop_ns < self.phase.end_ns);
            return true;
        }
        if self.has_none_left() {
            self.arm.quota = self.arm.refill(&self.control);
            if self.arm.quota == 0 {
                self.end(now_ns, false);
                return true;
            }
        }
        if now_ns >= self.phase.next_window_ns {
            self.end_windows(now_ns);
        }
        if now_ns >= self.next_sweep_ns {
            // Whoever has timers of its own brings the next one forward.
            self.next_sweep_ns = now_ns + self.sweep_interval_ns;
            self.sweep();
        }
        false
    }

    /// Whether all that this worker took of the count is answered: it takes more, or the run is over.
    pub(super) fn has_none_left(&self) -> bool {
        self.arm.quota == 0 && self.phase.is_measuring && self.arm.context.recorder.in_flight() == 0
    }

    /// When the current phase ends, as far as is known.
    pub(super) fn phase_end_ns(&self) -> u64 {
        let end_ns = match self.phase.is_measuring {
            true => self.phase.end_ns,
            false => self.control.measure_from_ns(),
        };
        end_ns.min(self.control.stop_ns())
    }

    /// Ends the measured phase, at `end_ns`; `early` where the run was stopped.
    pub(super) fn end(&mut self, end_ns: u64, early: bool) {
        self.close_windows(end_ns);
        // A counted run wants no more starts than its count.
        if let Stop::After { .. } = self.arm.assignment.stop {
            let missed = self.arm.schedule.missed_until(end_ns);
            let batch = u64::from(self.arm.program.pipeline);
            let totals = &self.arm.context.recorder.totals;
            totals.missed_starts.set(missed * batch);
        }
        self.arm.close_accounting(end_ns);
        if early {
            self.control.note_interrupted();
        }
    }

    /// Ends the warm-up. A run that is stopped during it has a measured phase of length 0.
    pub(super) fn begin_measuring(&mut self, stop_ns: u64) {
        let from_ns = self.control.measure_from_ns().min(stop_ns);
        if from_ns > self.phase.start_ns {
            self.close_windows(from_ns);
        }
        let recorder = &self.arm.context.recorder;
        self.arm.mux.cut_waits(from_ns, recorder);
        let carried_in_ns = self.arm.under_way_ns(from_ns);
        self.arm.context.recorder.begin_measuring(carried_in_ns);
        self.phase = PhaseTimes {
            is_measuring: true,
            start_ns: from_ns,
            end_ns: match self.arm.assignment.stop {
                Stop::After { ns } => from_ns + ns,
                Stop::AtCount { within_ns, .. } => within_ns.map_or(NEVER, |ns| from_ns + ns),
            },
            next_window_ns: from_ns + self.arm.program.window_ns,
            began: self.thread_clock.read(),
        };
        if matches!(self.arm.assignment.stop, Stop::AtCount { .. }) {
            // Requests of the warm-up that are still under way end in the measured phase and
            // are part of its count.
            let carried = self.arm.context.recorder.in_flight();
            self.arm.quota = 0;
            let mut reserved = 0;
            while reserved < carried {
                let share = self.control.reserve(carried - reserved);
                if share == 0 {
                    break;
                }
                reserved += share;
            }
            self.arm.quota = reserved.saturating_sub(carried);
        }
        self.arm.schedule = Schedule::measure(
            &self.arm.assignment.load,
            from_ns,
            self.arm.assignment.share(self.arm.program.pipeline),
            self.arm.assignment.seed,
        );
    }

    pub(super) fn end_windows(&mut self, now_ns: u64) {
        let passed = 1 + (now_ns - self.phase.next_window_ns) / self.arm.program.window_ns;
        self.arm.context.recorder.close_windows(passed);
        self.phase.next_window_ns += passed * self.arm.program.window_ns;
        self.note_own_time(now_ns);
    }

    /// Ends all windows up to the end of the phase, the last of which may be short.
    pub(super) fn close_windows(&mut self, end_ns: u64) {
        let open_since_ns = self.phase.next_window_ns - self.arm.program.window_ns;
        let left_ns = end_ns.saturating_sub(open_since_ns);
        if left_ns > 0 {
            let count = left_ns.div_ceil(self.arm.program.window_ns);
            self.arm.context.recorder.close_windows(count);
        }
        self.note_own_time(end_ns);
    }

    pub(super) fn note_own_time(&self, now_ns: u64) {
        let recorder = &self.arm.context.recorder;
        let (now, began) = (self.thread_clock.read(), self.phase.began);
        recorder.cpu_ns.set(now.cpu_ns - began.cpu_ns);
        if let (Some(now_ns), Some(began_ns)) = (now.delayed_ns, began.delayed_ns) {
            recorder.delayed_ns.set(now_ns.saturating_sub(began_ns) + 1);
        }
        recorder
            .wall_ns
            .set(now_ns.saturating_sub(self.phase.start_ns));
    }

    /// Ends the run where the source of the requests failed, and this worker's part of it where the
    /// source wants no more.
    pub(super) fn heed_supply(&mut self) {
        let Some(supply) = &mut self.arm.context.supply else {
            return;
        };
        if let Some(failure) = supply.take_failure() {
            self.control.fail(failure, self.now_ns);
        } else if supply.is_stopped() {
            self.arm.retire();
        }
    }
}

/// Every sixteenth of the timeout, within bounds: a request is ended at most so late.
pub(super) fn sweep_interval_ns(timeout_ns: u64) -> u64 {
    (timeout_ns / 16).clamp(1_000_000, 100_000_000)
}
