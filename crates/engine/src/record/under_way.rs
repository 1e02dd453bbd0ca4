//! The requests that were under way when a run ended: they are nobody's success and nobody's failure, and have waited.

use std::sync::Arc;

use super::histogram::{Histogram, Merged};
use super::measurement::UnderWay;
use super::recorder::Recorder;

/// What no answer had ended of a measured phase between these two moments; none where a recorder does not tell.
pub(super) fn under_way(
    recorders: &[Arc<Recorder>],
    from_ns: u64,
    end_ns: u64,
) -> Option<UnderWay> {
    let ages = Histogram::new();
    let mut edges_ns = 0;
    for recorder in recorders {
        let notes = recorder.notes();
        let left_ns = notes.left_ages_ns.as_ref()?;
        left_ns.iter().for_each(|age_ns| ages.record(*age_ns));
        edges_ns += left_ns.iter().sum::<u64>() as i64 - notes.carried_in_ns as i64;
    }
    let answers = recorders
        .iter()
        .map(|recorder| recorder.last_answer_ns.get());
    let latest_ns = answers.max()?.max(from_ns);
    Some(UnderWay {
        ages: Merged::of(std::iter::once(&ages)).export(),
        quiet_ns: end_ns.saturating_sub(latest_ns),
        edges_ns,
    })
}
