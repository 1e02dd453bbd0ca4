//! [`RequestFigures`]: what each request of a mix came to.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::adding_up::{AddUp, Whole, adding_up, by_name, each, each_of_all, first, total};
use super::stored::Histogram;

adding_up! {
    /// The requests of one name in the measured phase.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct RequestFigures {
        /// `Request.name`, else method and path without a query; "others" stands for all behind the first 64 names.
        pub name: String => first,
        /// Requests answered as expected.
        pub completed: u64 => total,
        /// Requests failed.
        pub failed: u64 => total,
        /// Answers by status code.
        pub statuses: BTreeMap<String, u64> => by_name,
        /// Failed requests by way of failing (`Outcome.kind`).
        pub failures: BTreeMap<String, u64> => by_name,
        /// Send to complete answer, of completed requests.
        pub service_time: Histogram => each,
        /// Intended start to complete answer, of completed requests (open loop).
        #[serde(default)]
        pub response_time: Option<Histogram> => each_of_all,
    }
}

adding_up! {
    /// The live view of the requests of one name.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(deny_unknown_fields)]
    pub struct RequestSnapshot {
        /// As of `RequestFigures`.
        pub name: String => first,
        /// Requests answered as expected.
        pub completed: u64 => total,
        /// Requests failed.
        pub failed: u64 => total,
        /// As of `Snapshot`.
        pub up_to_ns: BTreeMap<String, u64> => by_name,
    }
}

/// Several generators' live views, by name.
pub(super) fn views_by_request(parts: &[&Vec<RequestSnapshot>]) -> Whole<Vec<RequestSnapshot>> {
    let all = parts.iter().flat_map(|part| part.iter());
    let grouped = grouped(all.map(|one| (one.name.clone(), one)));
    let added = grouped
        .iter()
        .map(|(_, same)| RequestSnapshot::add_up(same));
    added.collect()
}

/// Several generators' figures, by name.
pub(super) fn by_request(parts: &[&Vec<RequestFigures>]) -> Whole<Vec<RequestFigures>> {
    let all = parts.iter().flat_map(|part| part.iter());
    let grouped = grouped(all.map(|one| (one.name.clone(), one)));
    let added = grouped.iter().map(|(_, same)| RequestFigures::add_up(same));
    added.collect()
}

/// What belongs to one name together, names in the order in which they come first.
pub(super) fn grouped<T>(named: impl Iterator<Item = (String, T)>) -> Vec<(String, Vec<T>)> {
    let mut places = HashMap::new();
    let mut groups: Vec<(String, Vec<T>)> = Vec::new();
    for (name, one) in named {
        let place = *places.entry(name.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[place].1.push(one);
    }
    groups
}
