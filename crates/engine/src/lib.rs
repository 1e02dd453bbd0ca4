//! The load engine of Assay: drives HTTP/1.x, HTTP/2 and HTTP/3 load and keeps exact accounting.
//!
//! A [`LoadPlan`] says what to do; [`Run::start`] does it on threads of its own;
//! [`Run::result`] is the [`Measurement`]. Nothing here
//! prints, and nothing here knows Python or a command line.
//!
//! ```text
//!   plan ─▶ program (resolved once) ─▶ worker ×threads ─▶ recorder ×threads ─▶ measurement
//!                                        │  one loop
//!                    schedule ───────────┤  when a request should start
//!                    transport ──────────┤  how bytes travel
//!                    protocol ───────────┘  what bytes mean
//! ```
//!
//! Principles, each explained where it is kept:
//!
//! * One loop for every load shape and every transport.
//! * Load shapes are values, pure functions of elapsed time and count: [`schedule`].
//! * The protocol does no I/O; wanting more bytes is no error: [`protocol`].
//! * No lock, no allocation, and no system call but send, receive and wait on the request path.
//! * Every failure has an origin and a kind: [`record::Failure`].
//! * The accounting balances in every run, or the run is an error: [`RunError::Unbalanced`].
#![forbid(unsafe_code)]

mod agree;
mod agreed;
mod ask;
mod body;
mod change;
mod clock;
mod connection;
mod context;
mod control;
mod course;
mod error;
mod exchange;
mod expect;
mod interleaved;
mod launch;
mod machine;
mod picker;
pub mod plan;
mod program;
pub mod protocol;
pub mod record;
pub mod schedule;
pub mod schema;
mod streams;
mod supply;
mod target;
mod transport;
mod trial;
mod waiter;
mod worker;

pub use agreed::AgreedSlices;
pub use ask::{Asked, Reply, ask};
pub use change::{Change, Ended};
pub use course::SliceTimes;
pub use error::{PlanError, RunError, SourceError};
pub use interleaved::InterleavedRun;
pub use plan::{InterleavedPlan, LoadPlan};
pub use record::measurement::{Measurement, Snapshot};
pub use supply::{Answer, Source, Supply};
pub use target::Target;
pub use trial::Run;
