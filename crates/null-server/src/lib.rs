//! Servers whose behaviour is known beforehand, to weigh the load generator itself:
//!
//! - [`responder::NullServer`] does next to nothing, so that what it cannot exceed is the generator's ceiling;
//! - [`truth::TruthServer`] answers after scripted delays and counts exactly what it did;
//! - [`fault::FaultServer`] misbehaves in some hundred scripted ways.
//!
//! Each is a program of its own and can also be started inside a test.

mod alarm;
pub mod answer;
pub mod bad_request;
pub mod chunks;
mod client;
pub mod command;
pub mod connection;
pub mod fault;
pub mod http2;
pub mod http3;
pub mod listen;
pub mod request;
pub mod responder;
pub mod script;
pub mod truth;
