//! The time series, added up over the workers.

use std::sync::Arc;

use super::{Recorders, SNAPSHOT_WINDOWS, Times};
use crate::record::measurement::{Phase, Window};
use crate::record::notes::Counts;
use crate::record::recorder::Recorder;

/// Where a phase begins and ends.
fn bounds(phase: Phase, times: Times) -> (u64, u64) {
    match phase {
        Phase::Warmup => (0, times.measure_from_ns.min(times.end_ns)),
        Phase::Measured => (times.measure_from_ns, times.end_ns),
    }
}

/// An empty window, of which the last of a phase may be short.
fn window(index: usize, phase: Phase, times: Times) -> Window {
    let (phase_start_ns, end_ns) = bounds(phase, times);
    let start_ns = phase_start_ns.saturating_add(times.window_ns.saturating_mul(index as u64));
    Window {
        start_ns,
        length_ns: times.window_ns.min(end_ns.saturating_sub(start_ns)),
        phase,
        started: 0,
        completed: 0,
        failed: 0,
        bytes_read: 0,
    }
}

impl Window {
    fn add(&mut self, counts: &Counts) {
        self.started += counts.started;
        self.completed += counts.completed;
        self.failed += counts.failed;
        self.bytes_read += counts.bytes_read;
    }
}

pub(super) fn windows(recorders: &Recorders, phase: Phase, times: Times) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for recorder in recorders {
        for (index, slice) in recorder.notes().windows[phase as usize].iter().enumerate() {
            if index == windows.len() {
                windows.push(window(index, phase, times));
            }
            windows[index].add(slice);
        }
    }
    windows
}

/// The latest of those that every worker has ended and that were over at `times.end_ns`. While this looks at a
/// thousand recorders, the first of them may end one more. It holds no worker up for longer than their number takes.
pub(super) fn latest_windows(recorders: &Recorders, phase: Phase, times: Times) -> Vec<Window> {
    let (start_ns, _) = bounds(phase, times);
    let ended = |recorder: &Arc<Recorder>| recorder.notes().windows[phase as usize].len();
    let ended_by_all = recorders.iter().map(ended).min().unwrap_or(0);
    let over = times.end_ns.saturating_sub(start_ns) / times.window_ns;
    let end = ended_by_all.min(over as usize);
    let first = end.saturating_sub(SNAPSHOT_WINDOWS);
    let mut windows: Vec<Window> = (first..end)
        .map(|index| window(index, phase, times))
        .collect();
    for recorder in recorders {
        let slices = &recorder.notes().windows[phase as usize][first..end];
        for (window, slice) in windows.iter_mut().zip(slices) {
            window.add(slice);
        }
    }
    windows
}
