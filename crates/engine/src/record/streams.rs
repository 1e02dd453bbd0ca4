//! What a recorder has of connections that carry several requests at once: how their streams fared beside their answers.

use std::collections::BTreeMap;

use super::counter::Counter;

/// Counts of the current phase.
#[derive(Debug, Default)]
pub(crate) struct StreamCounts {
    /// Requests that waited for the peer's leave to open a stream, and for how long together, as far as it is this phase.
    pub(crate) waits: Counter,
    pub(crate) wait_ns: Counter,
    /// How often a connection's bodies waited for a window, and for how long together.
    pub(crate) stalls: Counter,
    pub(crate) stall_ns: Counter,
}

/// What happens rarely.
#[derive(Debug, Default)]
pub(crate) struct StreamNotes {
    pub(crate) fewest_allowed: Option<u32>,
    /// Connections that the peer broke (HTTP/2) or that were lost (HTTP/3), by stage and how.
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) resets: BTreeMap<String, u64>,
    pub(crate) going_away: BTreeMap<String, u64>,
}

impl StreamCounts {
    /// Starts again with the measured phase.
    pub(crate) fn clear(&self) {
        let Self {
            waits,
            wait_ns,
            stalls,
            stall_ns,
        } = self;
        for figure in [waits, wait_ns, stalls, stall_ns] {
            figure.set(0);
        }
    }
}

impl StreamNotes {
    /// Starts again with the measured phase, but for what the connections still hold to.
    pub(crate) fn clear(&mut self) {
        let Self {
            fewest_allowed: _,
            faults,
            resets,
            going_away,
        } = self;
        for counts in [faults, resets, going_away] {
            counts.clear();
        }
    }
}

/// A peer may make names up, by the number of a code, as many as it likes: so many are kept apart, the rest are `OTHER`.
const MOST_NAMES: usize = 64;
const OTHER: &str = "other";

/// Counts what has a name.
pub(crate) fn count_named(counts: &mut BTreeMap<String, u64>, name: &str) {
    if let Some(known) = counts.get_mut(name) {
        *known += 1;
    } else if counts.len() < MOST_NAMES {
        counts.insert(name.to_owned(), 1);
    } else {
        *counts.entry(OTHER.to_owned()).or_default() += 1;
    }
}

/// Adds counts by name to others.
pub(crate) fn add_named(from: &BTreeMap<String, u64>, to: &mut BTreeMap<String, u64>) {
    for (name, count) in from {
        *to.entry(name.clone()).or_default() += count;
    }
}
