//! Servers beside that of a plan's URL, and which connection goes to which.

use serde::{Deserialize, Serialize};

use super::validate::{Checked, ensure};
use super::{Http, Load, LoadPlan};
use crate::error::PlanError;
use crate::target::{Target, parse_endpoint};

const MOST_HOSTS: usize = 256;

/// A server that requests go to beside that of the plan's URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Scheme, host and port, as in `LoadPlan.url`; the scheme is the same.
    pub url: String,
    /// The address to use instead of resolving the host.
    #[serde(default)]
    pub address: Option<String>,
}

impl LoadPlan {
    /// Where requests go: the URL's target, then those of the other hosts.
    ///
    /// # Errors
    /// The first that the engine cannot use.
    pub(crate) fn targets(&self) -> Result<Vec<Target>, PlanError> {
        let named = |index: usize| {
            move |e: PlanError| PlanError::new(format!("hosts[{index}].url"), e.problem)
        };
        let mut targets = vec![Target::parse(&self.url)?];
        for (index, host) in self.hosts.iter().enumerate() {
            targets.push(Target::parse(&host.url).map_err(named(index))?);
        }
        Ok(targets)
    }

    /// How much of the requests each host has, by their weights.
    fn weights_of_hosts(&self) -> Vec<u64> {
        let mut weights = vec![0; 1 + self.hosts.len()];
        for request in &self.requests {
            weights[request.host as usize] += u64::from(request.weight);
        }
        weights
    }

    /// The host of each connection, by its number; empty where there is one host. They are dealt by weight (Sainte-Laguë),
    /// so that any so many in a row are near their shares, and each host that has requests gets one.
    pub(crate) fn dealt(&self) -> Vec<u32> {
        if self.hosts.is_empty() {
            return Vec::new();
        }
        let weights = self.weights_of_hosts();
        let mut dealt = vec![0_u64; weights.len()];
        let mut left_out = weights.iter().filter(|weight| **weight > 0).count();
        let connections = self.load.connections() as usize;
        let next = |number: usize| {
            // The last ones are for hosts that have none yet.
            let is_due = |host: &usize| dealt[*host] == 0 || connections - number > left_out;
            let claim = |host: usize| (u128::from(weights[host]), 2 * u128::from(dealt[host]) + 1);
            let host = (0..weights.len())
                .filter(|host| weights[*host] > 0)
                .filter(is_due)
                .reduce(|best, host| {
                    let ((ours, our_share), (its, its_share)) = (claim(best), claim(host));
                    if its * our_share > ours * its_share {
                        host
                    } else {
                        best
                    }
                })
                .unwrap_or_default();
            left_out -= usize::from(dealt[host] == 0);
            dealt[host] += 1;
            host as u32
        };
        (0..connections).map(next).collect()
    }

    pub(super) fn validate_hosts(&self) -> Checked {
        let targets = self.targets()?;
        for (index, request) in self.requests.iter().enumerate() {
            ensure(
                (request.host as usize) < targets.len(),
                &format!("requests[{index}].host"),
                "must be 0 for the URL, or which of the hosts it is, from 1 on",
            )?;
        }
        if self.hosts.is_empty() {
            return Ok(());
        }
        for (index, host) in self.hosts.iter().enumerate() {
            if let Some(address) = &host.address {
                parse_endpoint(address, 0).map_err(|problem| {
                    PlanError::new(format!("hosts[{index}].address"), problem)
                })?;
            }
        }
        let loaded = self.weights_of_hosts();
        let loaded = loaded.iter().filter(|weight| **weight > 0).count();
        let rules = [
            (targets.len() <= MOST_HOSTS, "hosts", "must be at most 255"),
            (
                targets.iter().all(|one| one.scheme == targets[0].scheme),
                "hosts",
                "must all be http or all https",
            ),
            (
                matches!(self.load, Load::Closed { .. }),
                "load.stages",
                "must be none where requests go to several hosts: the load has to be closed",
            ),
            (
                matches!(self.http, Http::One | Http::Two),
                "http",
                "must be 1 or 2 where requests go to several hosts",
            ),
            (
                self.redirects == 0,
                "redirects",
                "cannot be followed where requests go to several hosts",
            ),
            (
                self.addresses.len() <= 1,
                "addresses",
                "must be at most one where requests go to several hosts",
            ),
            (
                self.load.connections() as usize >= loaded,
                "load.connections",
                "must be at least as many as hosts: each goes to one of them",
            ),
        ];
        for (right, field, problem) in rules {
            ensure(right, field, problem)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(weights: &[u32], connections: u32) -> Vec<u32> {
        let hosts = weights.len() - 1;
        let hosts: Vec<_> = (0..hosts)
            .map(|_| serde_json::json!({"url": "http://a"}))
            .collect();
        let requests = (weights.iter().enumerate())
            .map(|(host, weight)| serde_json::json!({"host": host, "weight": weight}));
        let plan = serde_json::json!({
            "url": "http://b", "hosts": hosts, "requests": requests.collect::<Vec<_>>(),
            "load": {"kind": "closed", "connections": connections},
            "stop": {"kind": "requests", "count": 1},
        });
        LoadPlan::from_json(plan.to_string().as_bytes())
            .unwrap()
            .dealt()
    }

    #[test]
    fn connections_are_dealt_by_weight_and_none_is_left_out() {
        assert!(dealt(&[1], 3).is_empty());
        assert_eq!(dealt(&[1, 1], 4), [0, 1, 0, 1]);
        assert_eq!(dealt(&[3, 1], 4), [0, 0, 1, 0]);
        assert_eq!(dealt(&[1_000, 1, 0, 1], 3), [0, 1, 3]);
        let many = dealt(&[90, 9, 1], 100);
        let of = |host| many.iter().filter(|one| **one == host).count();
        assert_eq!((of(0), of(1), of(2)), (90, 9, 1));
    }
}
