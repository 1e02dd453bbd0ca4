//! What can go wrong before or around a run: one enum per concern.
//!
//! A request that fails is no error of the run: see [`crate::record::Failure`].

use std::io;

/// The plan asks for something that cannot be done. One line: which field, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct PlanError {
    /// Path of the field as the plan spells it, for example `requests[0].target`.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub problem: String,
}

impl PlanError {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// A source of requests failed; its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// The run could not start, or its result cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The source of the requests failed while the run went on.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The host name of the plan has no address.
    #[error("cannot resolve {host}: {source}; check the name or give an address")]
    Resolve {
        /// The name that was looked up.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The process may not open as many descriptors as the plan needs.
    #[error(
        "{need} file descriptors are needed but only {have} are allowed; raise the hard limit (ulimit -Hn) or ask for fewer connections"
    )]
    Descriptors {
        /// Connections plus what the process itself needs.
        need: u64,
        /// The hard limit, to which the soft limit was raised.
        have: u64,
    },
    /// The operating system refused something the engine itself needs.
    #[error("{what} failed: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A file named by the plan cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A defect of the engine: requests were lost or counted twice. The figures are void.
    #[error(
        "the accounting do not balance: {started} started, but {completed} completed + {failed} failed + {in_flight} in flight; this is a defect of the engine, please report it"
    )]
    Unbalanced {
        /// Requests started.
        started: u64,
        /// Requests answered as expected.
        completed: u64,
        /// Requests that failed.
        failed: u64,
        /// Requests found unanswered on the connections at the end.
        in_flight: u64,
    },
    /// A defect of the engine: a worker thread panicked.
    #[error("a worker of the engine died: {0}; this is a defect of the engine, please report it")]
    WorkerDied(String),
}

impl RunError {
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
