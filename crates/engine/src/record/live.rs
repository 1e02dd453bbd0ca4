//! What live views see of the slices of an arm.
//!
//! A worker writes its parts of slices under a lock, which a view must not keep from it for as long as a long run has
//! slices: each view takes what is new since the one before, and no more at once than a bounded number.

use std::collections::VecDeque;
use std::sync::Arc;

use super::interleaved::{Slice, slice};
use super::measurement::Phase;
use super::notes::SlicePart;
use super::recorder::Recorder;
use super::summary::SNAPSHOT_WINDOWS;
use crate::control::NEVER;
use crate::course::SliceTimes;

/// A worker's lock is held for as long as it takes to copy so many parts.
const PARTS_AT_ONCE: usize = 1_024;

/// The slices of an arm that all its workers have ended, as far as views have taken them.
#[derive(Debug)]
pub(crate) struct LiveSlices {
    /// Of each worker, how many parts were taken, and those of slices that others have not ended.
    workers: Vec<(usize, VecDeque<SlicePart>)>,
    /// The latest slices of the phase, each as long as planned.
    latest: VecDeque<Slice>,
    phase: Phase,
    /// The length of all slices of the phase.
    length_ns: u64,
    measured_from_ns: Option<u64>,
}

impl LiveSlices {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            workers: vec![Default::default(); workers],
            latest: VecDeque::new(),
            phase: Phase::Warmup,
            length_ns: 0,
            measured_from_ns: None,
        }
    }

    /// Takes what the workers have put down since the last time. `times` knows the slices by their numbers.
    pub(crate) fn take_new(
        &mut self,
        recorders: &[Arc<Recorder>],
        times: impl Fn(u64) -> Option<SliceTimes>,
    ) {
        for ((taken, waiting), recorder) in self.workers.iter_mut().zip(recorders) {
            let mut are_left = true;
            while are_left {
                waiting.reserve(PARTS_AT_ONCE);
                let notes = recorder.notes();
                let parts = notes.parts.iter().skip(*taken).take(PARTS_AT_ONCE);
                let before = waiting.len();
                waiting.extend(parts);
                *taken += waiting.len() - before;
                are_left = *taken < notes.parts.len();
            }
        }
        let ended = |(_, waiting): &(usize, VecDeque<SlicePart>)| waiting.len();
        for _ in 0..self.workers.iter().map(ended).min().unwrap_or(0) {
            let of_all = self.workers.iter_mut();
            let parts: Vec<SlicePart> = of_all.filter_map(|(_, all)| all.pop_front()).collect();
            if let Some(times) = times(parts[0].number) {
                let parts: Vec<&SlicePart> = parts.iter().collect();
                self.add(slice(&times, &parts, NEVER));
            }
        }
    }

    fn add(&mut self, slice: Slice) {
        if slice.phase != self.phase {
            self.phase = slice.phase;
            self.latest.clear();
            self.length_ns = 0;
        }
        if slice.phase == Phase::Measured {
            self.measured_from_ns.get_or_insert(slice.start_ns);
        }
        self.length_ns += slice.length_ns;
        self.latest.push_back(slice);
        if self.latest.len() > SNAPSHOT_WINDOWS {
            self.latest.pop_front();
        }
    }

    /// Where the first measured slice begins.
    pub(crate) fn measured_from_ns(&self) -> Option<u64> {
        self.measured_from_ns
    }

    /// The latest slices of a phase, and the length of all of them, where the run is over at that moment.
    pub(crate) fn of_phase(&self, phase: Phase, end_ns: u64) -> (Vec<Slice>, u64) {
        if phase != self.phase {
            return (Vec::new(), 0);
        }
        let cut = |slice: &Slice| Slice {
            length_ns: slice.length_ns.min(end_ns.saturating_sub(slice.start_ns)),
            ..slice.clone()
        };
        let slices: Vec<Slice> = self.latest.iter().map(cut).collect();
        let whole_ns: u64 = self.latest.iter().map(|slice| slice.length_ns).sum();
        let cut_ns: u64 = slices.iter().map(|slice| slice.length_ns).sum();
        (slices, self.length_ns - (whole_ns - cut_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::interleaved::slices;
    use super::*;

    const WORKERS: usize = 3;
    const SLICE_NS: u64 = 100;

    /// Slices of one arm, of which those from `measured` on are measured.
    fn planned(count: u64, measured: u64) -> Vec<SliceTimes> {
        let times = |number| SliceTimes {
            number,
            round: number,
            place: 0,
            arm: 0,
            phase: match number < measured {
                true => Phase::Warmup,
                false => Phase::Measured,
            },
            begin_ns: number * SLICE_NS,
            start_ns: number * SLICE_NS + 10,
            end_ns: (number + 1) * SLICE_NS,
        };
        (0..count).map(times).collect()
    }

    /// Views that are taken while the workers go on, one by more than another, show at each time what reading
    /// everything again would.
    #[test]
    fn views_that_take_what_is_new_show_what_is_there() {
        const SLICES: u64 = 2 * SNAPSHOT_WINDOWS as u64;
        const MEASURED: u64 = SLICES / 3;
        let times = planned(SLICES, MEASURED);
        let mut random = fastrand::Rng::with_seed(7);
        for most in [200, 900, PARTS_AT_ONCE as u64 * 2, SLICES] {
            let recorders = [(); WORKERS].map(|()| Arc::new(Recorder::new(false, false)));
            let mut live = LiveSlices::new(WORKERS);
            let mut ended = [0; WORKERS];
            while ended.iter().min() < Some(&SLICES) {
                for (recorder, ended) in recorders.iter().zip(&mut ended) {
                    for _ in 0..random.u64(0..=most).min(SLICES - *ended) {
                        let completed = random.u64(0..9);
                        recorder.notes().parts.push(SlicePart {
                            number: *ended,
                            completed,
                            ..SlicePart::default()
                        });
                        *ended += 1;
                    }
                }
                // Where the last of them is cut short, too.
                let all_ended = *ended.iter().min().unwrap();
                let end_ns = (all_ended * SLICE_NS).saturating_sub(random.u64(0..50));
                live.take_new(&recorders, |number| times.get(number as usize).copied());
                let all = slices(&recorders, &times, end_ns);
                let phase = all.last().map_or(Phase::Warmup, |slice| slice.phase);
                let of_phase: Vec<&Slice> = all.iter().filter(|s| s.phase == phase).collect();
                let latest = of_phase.len().saturating_sub(SNAPSHOT_WINDOWS);
                let (seen, length_ns) = live.of_phase(phase, end_ns);
                assert!(seen.iter().eq(of_phase[latest..].iter().copied()));
                let all_ns: u64 = of_phase.iter().map(|slice| slice.length_ns).sum();
                assert_eq!(length_ns, all_ns);
                let first = all.iter().find(|slice| slice.phase == Phase::Measured);
                let from_ns = first.map(|slice| slice.start_ns);
                assert_eq!(live.measured_from_ns(), from_ns);
            }
        }
    }

    #[test]
    fn a_phase_that_no_slice_has_yet_shows_none() {
        let recorder = Arc::new(Recorder::new(false, false));
        recorder.notes().parts.push(SlicePart::default());
        let mut live = LiveSlices::new(1);
        live.take_new(&[recorder], |number| Some(planned(1, 1)[number as usize]));
        assert_eq!(live.of_phase(Phase::Warmup, NEVER).0.len(), 1);
        assert_eq!(live.of_phase(Phase::Measured, NEVER), (Vec::new(), 0));
    }

    /// However long a run is: what was taken is not taken, and not kept, again.
    #[test]
    fn a_view_keeps_and_takes_a_bounded_number() {
        const MANY: u64 = 20 * PARTS_AT_ONCE as u64;
        let times = planned(MANY, 0);
        let recorder = Arc::new(Recorder::new(false, false));
        let mut live = LiveSlices::new(1);
        let asked = std::cell::Cell::new(0);
        let mut view = || {
            live.take_new(&[Arc::clone(&recorder)], |number| {
                asked.set(asked.get() + 1);
                times.get(number as usize).copied()
            });
            assert!(live.latest.len() <= SNAPSHOT_WINDOWS);
            assert!(live.workers[0].1.is_empty());
        };
        for number in 0..MANY {
            let part = SlicePart {
                number,
                ..SlicePart::default()
            };
            recorder.notes().parts.push(part);
            if number % 500 == 0 {
                view();
                view();
            }
        }
        view();
        assert_eq!(asked.get(), MANY);
    }
}
