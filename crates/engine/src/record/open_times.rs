//! What an open loop records beside: times from intended starts, and how often all places were taken.

use super::counter::Counter;
use super::histogram::Histogram;

/// What only an open loop has.
#[derive(Debug)]
pub(crate) struct OpenTimes {
    pub(crate) response_time: Histogram,
    pub(crate) send_lag: Histogram,
    /// The most connections in use at one time of the current phase.
    pub(crate) busy_peak: Counter,
    /// Starts that came due while every place of the worker was taken.
    pub(crate) waited: Counter,
}

impl OpenTimes {
    /// Forgets everything.
    pub(super) fn clear(&self) {
        let Self {
            response_time,
            send_lag,
            busy_peak,
            waited,
        } = self;
        response_time.clear();
        send_lag.clear();
        busy_peak.set(0);
        waited.set(0);
    }
}
