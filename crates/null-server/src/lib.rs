//! The null server: it does next to nothing, so that what it cannot exceed is the generator's ceiling.
//!
//! [`responder::NullServer`] is a program of its own and can also be started inside a test. The servers that the
//! tests script take their connections, requests and answers from here.

pub mod answer;
pub mod bad_request;
pub mod chunks;
pub mod client;
pub mod command;
pub mod connection;
pub mod http2;
pub mod http3;
pub mod listen;
pub mod request;
pub mod responder;
