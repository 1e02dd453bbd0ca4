//! The figures of each request of a mix, added up over the workers.

use std::collections::HashMap;

use super::Recorders;
use crate::record::buckets::Buckets;
use crate::record::by_request::{MOST_NAMED, OTHERS, RequestRecord};
use crate::record::counter::STATUSES;
use crate::record::failure::Failure;
use crate::record::histogram::Merged;
use crate::record::measurement::{RequestFigures, RequestSnapshot};
use crate::record::request_figures::grouped;

/// The figures of a run or an arm: `recorders` are what figures come from, `whole` what failures come from. None where
/// there is one name.
pub(super) fn figures(
    recorders: &Recorders,
    whole: &Recorders,
    is_open_loop: bool,
) -> Vec<RequestFigures> {
    let failed: HashMap<String, Vec<&RequestRecord>> = records(whole).into_iter().collect();
    let groups = records(recorders);
    if groups.len() < 2 {
        return Vec::new();
    }
    let figures = |(name, records): (String, Vec<&RequestRecord>)| {
        let failed = failed.get(&name).map_or(&[][..], |failed| failed);
        let sum = |of: &dyn Fn(&RequestRecord) -> u64| records.iter().map(|one| of(one)).sum();
        RequestFigures {
            completed: sum(&|one| one.completed.get()),
            failed: failed.iter().map(|one| one.failed.get()).sum(),
            statuses: (0..STATUSES)
                .map(|status| (status.to_string(), sum(&|one| one.statuses[status].get())))
                .filter(|(_, count)| *count > 0)
                .collect(),
            failures: (Failure::ALL.iter())
                .map(|kind| {
                    let of = |one: &&RequestRecord| one.failures[*kind as usize].get();
                    (kind.name().to_owned(), failed.iter().map(of).sum())
                })
                .filter(|(_, count)| *count > 0)
                .collect(),
            service_time: Merged::of_sparse(records.iter().map(|one| &one.service_time)).export(),
            response_time: is_open_loop.then(|| {
                let times = records.iter().filter_map(|one| one.response_time.as_ref());
                Merged::of_sparse(times).export()
            }),
            name,
        }
    };
    groups.into_iter().map(figures).collect()
}

/// The live view of the same.
pub(super) fn views(recorders: &Recorders) -> Vec<RequestSnapshot> {
    let view = |(name, records): (String, Vec<&RequestRecord>)| {
        let mut buckets = Buckets::default();
        for one in &records {
            (one.response_time.as_ref())
                .unwrap_or(&one.service_time)
                .add_to(&mut buckets);
        }
        RequestSnapshot {
            name,
            completed: records.iter().map(|one| one.completed.get()).sum(),
            failed: records.iter().map(|one| one.failed.get()).sum(),
            up_to_ns: buckets.by_name(),
        }
    };
    let groups = records(recorders);
    match groups.len() {
        1 => Vec::new(),
        _ => groups.into_iter().map(view).collect(),
    }
}

/// The workers' records of each name; of a name that nothing has ended of, none. Where supplies' workers met more names
/// than there is room for, the later ones are others, too.
fn records(recorders: &Recorders) -> Vec<(String, Vec<&RequestRecord>)> {
    let all = recorders.iter().filter_map(|one| one.by_request.as_ref());
    let mut groups = grouped(all.flat_map(|one| one.all()));
    let others = groups.iter().position(|(name, _)| name == OTHERS);
    let mut others: Vec<_> = others.map_or_else(Vec::new, |at| groups.remove(at).1);
    let beyond = groups.drain(MOST_NAMED.min(groups.len())..);
    others.extend(beyond.flat_map(|(_, records)| records));
    if !others.is_empty() {
        groups.push((OTHERS.to_owned(), others));
    }
    let some = |(name, of): (String, Vec<Option<_>>)| (name, of.into_iter().flatten().collect());
    groups.into_iter().map(some).collect()
}
