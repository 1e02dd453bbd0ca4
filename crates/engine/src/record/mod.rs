//! What is written down: histograms, counts, windows, failures, and their stored form.
//!
//! Each worker has one recorder of single-writer counters. It writes with
//! plain loads and stores, so nothing on the request path waits for anyone, and the live view
//! and the result read the same counters.

pub mod adding_up;
mod buckets;
pub(crate) mod by_request;
mod counter;
mod failure;
mod histogram;
mod http2;
pub(crate) mod http3;
pub(crate) mod interleaved;
pub(crate) mod live;
mod log;
pub mod measurement;
pub mod merge;
pub mod merge_interleaved;
mod moments;
pub(crate) mod notes;
mod open_times;
pub(crate) mod recorder;
mod recorder_of_streams;
pub mod request_figures;
pub(crate) mod series;
mod slots;
pub mod stored;
pub(crate) mod streams;
pub(crate) mod summary;
mod under_way;
pub mod window_times;
mod windows;

pub(crate) use counter::Counter;
pub use failure::{Failure, Origin, example};
pub use histogram::Histogram;
pub use http2::Http2;
pub use http3::Http3;
pub use interleaved::{
    ArmMeasurement, ArmSnapshot, InterleavedMeasurement, InterleavedSnapshot, Slice,
};
pub use log::Session;
pub(crate) use log::{Log, Stamps};
