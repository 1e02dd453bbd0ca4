//! A shard of a load: the workers that run in this process, where others run the rest.

use serde::{Deserialize, Serialize};

use super::{LoadPlan, Stop};

/// Which of a plan's workers run in one process, where others run elsewhere, and from which instant on. The plan stays that of the whole:
/// its connections, rates, counts and seeds are dealt to all of its workers, wherever they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(rename = "Part"))]
pub struct Shard {
    /// The number of the first worker that runs there.
    pub first_worker: u32,
    /// How many run there.
    pub workers: u32,
    /// When the run begins, by the calendar of the machine that executes the part, in nanoseconds since 1970; at once where that
    /// is over.
    #[serde(default)]
    pub starts_at_unix_ns: u64,
}

impl LoadPlan {
    /// The shard of the plan that is executed here: all of it, unless it says otherwise.
    #[must_use]
    pub fn shard_here(&self) -> Shard {
        self.part.unwrap_or(Shard {
            first_worker: 0,
            workers: self.threads,
            starts_at_unix_ns: 0,
        })
    }

    /// How many of the plan's connections worker `number` has; the first ones take the remainder.
    #[must_use]
    pub fn connections_of(&self, number: u32) -> u32 {
        let connections = self.load.connections();
        connections / self.threads + u32::from(number < connections % self.threads)
    }

    /// How many of the plan's counted requests the workers of a shard share: so many for each of them,
    /// and what is left over for the first workers of the plan.
    #[must_use]
    pub fn count_of(&self, shard: Shard) -> Option<u64> {
        let Stop::AtCount { count, .. } = self.stop else {
            return None;
        };
        let (each, left) = (
            count / u64::from(self.threads),
            count % u64::from(self.threads),
        );
        let before = |worker: u32| u64::from(worker) * each + left.min(u64::from(worker));
        Some(before(shard.first_worker + shard.workers) - before(shard.first_worker))
    }
}
