//! Windows: the slices of the time series.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adding_up::{AddUp, Whole, adding_up, first, least, most, total};

/// How many windows or slices a live view shows.
const LIVE_WINDOWS: usize = 1_200;

/// Whether figures belong to the warm-up or to the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the measurement.
    Warmup,
    /// The measurement.
    Measured,
}

adding_up! {
    /// One slice of the run, summed over the workers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct Window {
        /// Its start, from the start of the run.
        pub start_ns: u64 => least,
        /// Its length; the last of a phase may be shorter than the others.
        pub length_ns: u64 => most,
        /// The phase it lies in.
        pub phase: Phase => first,
        /// Requests started in it.
        pub started: u64 => total,
        /// Requests answered as expected in it.
        pub completed: u64 => total,
        /// Requests failed in it.
        pub failed: u64 => total,
        /// Bytes received in it.
        pub bytes_read: u64 => total,
    }
}

/// The warm-up, until all measure.
pub(super) fn phase(parts: &[&Phase]) -> Whole<Phase> {
    let is_measuring = parts.iter().all(|phase| **phase == Phase::Measured);
    Ok(match is_measuring {
        true => Phase::Measured,
        false => Phase::Warmup,
    })
}

/// Windows of one phase and place added up; where parts ended at their own times, the later go on.
pub(super) fn windows(parts: &[&Vec<Window>]) -> Whole<Vec<Window>> {
    let mut at_place: BTreeMap<(bool, usize), Vec<&Window>> = BTreeMap::new();
    for part in parts {
        for is_measured in [false, true] {
            let own = part.iter();
            let own = own.filter(|one| (one.phase == Phase::Measured) == is_measured);
            for (place, window) in own.enumerate() {
                let same = at_place.entry((is_measured, place)).or_default();
                same.push(window);
            }
        }
    }
    at_place.values().map(|same| Window::add_up(same)).collect()
}

/// The windows that all live views have ended, added up. They begin at the same instants.
pub(super) fn common_windows(parts: &[&Vec<Window>]) -> Whole<Vec<Window>> {
    let mut by_start: BTreeMap<u64, Vec<&Window>> = BTreeMap::new();
    for one in parts.iter().copied().flatten() {
        by_start.entry(one.start_ns).or_default().push(one);
    }
    let of_all = by_start.values().filter(|same| same.len() == parts.len());
    let all: Whole<Vec<Window>> = of_all.map(|same| Window::add_up(same)).collect();
    all.map(latest)
}

pub(super) fn latest<T>(mut all: Vec<T>) -> Vec<T> {
    all.split_off(all.len().saturating_sub(LIVE_WINDOWS))
}
