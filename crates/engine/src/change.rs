//! [`Change`]: what is asked of slices while they go on, and why an arm has no more of them.

use serde::{Deserialize, Serialize};

/// Why an arm has no more slices before the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// In a whole slice nothing was answered and every attempt to connect failed.
    Unreachable,
    /// A kind of failure was seen on which its plan ends.
    Failure,
    /// It was asked for.
    Asked,
}

/// What is asked of slices from outside. It holds from a round on, the same for all who share them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    #[cfg_attr(test, schemars(title = "Measure"))]
    /// Arms measure; all of them where none is named. Without effect on those that do.
    Measure {
        /// Which ones.
        #[serde(default)]
        arms: Option<Vec<u32>>,
    },
    #[cfg_attr(test, schemars(title = "GiveSlices"))]
    /// Only these arms have slices; the connections of the others stay open. Where none of them is left,
    /// all have slices.
    Slices {
        /// Which ones.
        arms: Vec<u32>,
    },
    #[cfg_attr(test, schemars(title = "SetLengths"))]
    /// Slices are of another length, and the washout before them.
    Lengths {
        /// Of a slice.
        slice_ns: u64,
        /// Of a washout.
        washout_ns: u64,
    },
    #[cfg_attr(test, schemars(title = "EndArm"))]
    /// An arm has no more slices; its accounting stay.
    EndArm {
        /// Which one.
        arm: u32,
        /// Why.
        #[serde(default = "asked")]
        why: Ended,
    },
    #[cfg_attr(test, schemars(title = "End"))]
    /// There are no more rounds.
    End,
}

fn asked() -> Ended {
    Ended::Asked
}
