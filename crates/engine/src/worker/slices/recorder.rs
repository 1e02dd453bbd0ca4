//! [`SliceRecorder`]: what an arm that is interleaved keeps beside its recorder.
//!
//! It has two recorders. One is written in the arm's own slices and is what its figures come from, the
//! other while it rests: an answer that comes then is in the accounting and counts for nobody, a failure
//! counts. Which of the two is written is settled at each switch, so that a request pays nothing for it.

use std::sync::Arc;

use super::super::Arm;
use crate::clock::ThreadTimes;
use crate::course::SliceTimes;
use crate::record::measurement::Phase;
use crate::record::notes::SlicePart;
use crate::record::recorder::Recorder;
use crate::transport::Transport;

pub(crate) struct SliceRecorder {
    /// The one of its two recorders that is not written now.
    other: Arc<Recorder>,
    /// This worker's part of the slice that is under way, or that ended last.
    part: SlicePart,
    /// Counts at the begin of that slice.
    begun: SlicePart,
    /// Connections that were open then.
    open: u64,
    /// Whether the part waits for the end of the washout to be put down.
    is_pending: bool,
    /// Service times that earlier slices had.
    observed: Vec<u64>,
    /// Connections opened again up to the end of the last slice, and late answers up to its begin.
    reopened: u64,
    late: u64,
    /// The worker's time in the slices of the phase.
    cpu_ns: u64,
    wall_ns: u64,
}

/// Whether a worker found somebody there in a slice of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Somebody,
    Nobody,
    /// It did not ask.
    NotAsked,
}

impl Presence {
    /// By the worker's part of the slice, and connections that were open at its begin or are at its end. A
    /// server that answers nothing and closes each connection is there too: they are opened again, though on a
    /// busy machine not always within the slice.
    fn by(part: &SlicePart, open: [u64; 2]) -> Self {
        let is_there = part.completed > 0 || open != [0, 0] || part.reopened > 0;
        match (is_there, part.failed > 0) {
            (true, _) => Self::Somebody,
            (false, true) => Self::Nobody,
            (false, false) => Self::NotAsked,
        }
    }
}

impl SliceRecorder {
    pub(crate) fn new(other: Arc<Recorder>) -> Self {
        Self {
            other,
            part: SlicePart::default(),
            begun: SlicePart::default(),
            open: 0,
            is_pending: false,
            observed: Vec::new(),
            reopened: 0,
            late: 0,
            cpu_ns: 0,
            wall_ns: 0,
        }
    }

    /// Writes into the other recorder from now on.
    fn begin_next(&mut self, recorder: &mut Arc<Recorder>) {
        recorder.hand_connections_to(&self.other);
        std::mem::swap(recorder, &mut self.other);
    }

    /// Requests under way, by both recorders.
    fn in_flight(&self, recorder: &Recorder) -> u64 {
        recorder.in_flight().wrapping_add(self.other.in_flight())
    }

    /// What the recorder holds now, to tell later what came since.
    fn counts(recorder: &Recorder, thread: ThreadTimes) -> SlicePart {
        SlicePart {
            started: recorder.totals.started.get(),
            completed: recorder.totals.completed.get(),
            failed: recorder.totals.failed.get(),
            bytes_read: recorder.totals.bytes_read.get(),
            service_time_sum_ns: recorder.service_time.sum_ns(),
            cpu_ns: thread.cpu_ns,
            delayed_ns: thread.delayed_ns,
            ..SlicePart::default()
        }
    }
}

impl<T: Transport> Arm<T> {
    /// Makes this an arm that is interleaved and rests; `other` is written while it does.
    pub(crate) fn take_slices(&mut self, number: u32, other: Arc<Recorder>) {
        self.assignment.arm = number;
        let mut slices = SliceRecorder::new(other);
        slices.begin_next(&mut self.context.recorder);
        self.slice_recorder = Some(Box::new(slices));
    }

    /// Its slice begins. `thread` is what the worker's thread has had of its core by then.
    pub(super) fn begin_slice(&mut self, times: &SliceTimes, thread: ThreadTimes) {
        let carried_in_ns = self.under_way_ns(times.start_ns) as i64;
        self.cut_stalls(times.start_ns);
        let Some(slices) = &mut self.slice_recorder else {
            return;
        };
        let late = self.context.recorder.totals.completed.get() - slices.late;
        slices.begin_next(&mut self.context.recorder);
        let recorder = &self.context.recorder;
        if times.phase == Phase::Measured && recorder.is_measuring.get() == 0 {
            recorder.begin_measuring(0);
            slices.other.begin_measuring(0);
            slices.observed.fill(0);
            slices.cpu_ns = 0;
            slices.wall_ns = 0;
        }
        slices.late = slices.other.totals.completed.get();
        slices.begun = SliceRecorder::counts(recorder, thread);
        slices.open = recorder.open_now.get();
        slices.part = SlicePart {
            number: times.number,
            edges_ns: -carried_in_ns,
            late,
            ..SlicePart::default()
        };
    }

    /// The first fifth of its slice is over.
    pub(super) fn note_early(&mut self) {
        if let Some(slices) = &mut self.slice_recorder {
            let completed = self.context.recorder.totals.completed.get();
            slices.part.early_completed = completed - slices.begun.completed;
        }
    }

    /// Its slice, so long, is over at that moment. Says whether anybody was there.
    pub(super) fn end_slice(
        &mut self,
        length_ns: u64,
        end_ns: u64,
        thread: ThreadTimes,
    ) -> Presence {
        let carried_ns = self.under_way_ns(end_ns) as i64;
        self.cut_stalls(end_ns);
        let Some(slices) = &mut self.slice_recorder else {
            return Presence::NotAsked;
        };
        let recorder = &self.context.recorder;
        let now = SliceRecorder::counts(recorder, thread);
        let (begun, begun_edges_ns) = (slices.begun, slices.part.edges_ns);
        let reopened = recorder.reopened.get();
        let part = SlicePart {
            started: now.started - begun.started,
            completed: now.completed - begun.completed,
            failed: now.failed - begun.failed,
            bytes_read: now.bytes_read - begun.bytes_read,
            service_time_sum_ns: now
                .service_time_sum_ns
                .wrapping_sub(begun.service_time_sum_ns),
            service_time_p50_ns: recorder.service_time.median_since(&mut slices.observed),
            carried: slices.in_flight(recorder),
            edges_ns: carried_ns + begun_edges_ns,
            reopened: reopened - slices.reopened,
            cpu_ns: now.cpu_ns - begun.cpu_ns,
            delayed_ns: now
                .delayed_ns
                .zip(begun.delayed_ns)
                .map(|(now_ns, begun_ns)| now_ns - begun_ns),
            ..slices.part
        };
        let found = Presence::by(&part, [slices.open, recorder.open_now.get()]);
        slices.part = part;
        slices.reopened = reopened;
        slices.is_pending = true;
        slices.cpu_ns += part.cpu_ns;
        slices.wall_ns += length_ns;
        recorder.cpu_ns.set(slices.cpu_ns);
        recorder.wall_ns.set(slices.wall_ns);
        slices.begin_next(&mut self.context.recorder);
        found
    }

    /// Puts down how long bodies have waited for windows, before another recorder is written.
    fn cut_stalls(&mut self, at_ns: u64) {
        self.mux.cut_stalls(at_ns, &self.context.recorder);
    }

    /// The washout after its slice is over, or the run is: the slice is put down.
    pub(super) fn settle(&mut self) {
        let Some(slices) = &mut self.slice_recorder else {
            return;
        };
        if std::mem::take(&mut slices.is_pending) {
            slices.part.unsettled = slices.in_flight(&self.context.recorder);
            slices.other.notes().parts.push(slices.part);
        }
    }

    /// The recorders, both where it is interleaved.
    pub(in crate::worker) fn recorders(&self) -> impl Iterator<Item = &Arc<Recorder>> {
        let other = self.slice_recorder.as_ref().map(|slices| &slices.other);
        std::iter::once(&self.context.recorder).chain(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_who_answers_or_whose_connections_open() {
        let cases = [
            ("nothing happened", [0, 0, 0], [0, 0], Presence::NotAsked),
            ("refused", [0, 9, 0], [0, 0], Presence::Nobody),
            ("answers", [9, 0, 0], [0, 0], Presence::Somebody),
            (
                "answers and failures",
                [1, 9, 0],
                [0, 0],
                Presence::Somebody,
            ),
            (
                "closes each unanswered",
                [0, 9, 9],
                [0, 0],
                Presence::Somebody,
            ),
            (
                "closed while it rested",
                [0, 0, 1],
                [0, 0],
                Presence::Somebody,
            ),
            ("hangs", [0, 0, 0], [1, 1], Presence::Somebody),
            (
                "hangs until timeouts",
                [0, 9, 0],
                [0, 1],
                Presence::Somebody,
            ),
            (
                "closes all at its end",
                [0, 9, 0],
                [9, 0],
                Presence::Somebody,
            ),
        ];
        for (what, [completed, failed, reopened], open, found) in cases {
            let part = SlicePart {
                completed,
                failed,
                reopened,
                ..SlicePart::default()
            };
            assert_eq!(Presence::by(&part, open), found, "{what}");
        }
    }
}
