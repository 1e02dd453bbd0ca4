//! HTTP/2 (RFC 9113) without I/O: bytes in, events and bytes out.
//!
//! [`frame`] is the framing, [`hpack`] shortens header fields, [`client`] and [`server`] are the two sides of a connection.

pub mod client;
mod fault;
pub mod frame;
pub mod hpack;
pub mod meaning;
pub mod server;
mod streams;

pub use fault::{Fault, StreamFault};
