//! HTTP/2 (RFC 9113) without I/O: bytes in, events and bytes out.
//!
//! [`frame`] is the framing, [`hpack`] shortens header fields, [`client`] and [`server`] are the two sides of a connection.

mod acks;
pub mod client;
mod fault;
pub mod frame;
mod given_up;
pub mod hpack;
pub mod meaning;
pub mod server;
mod streams;

pub use acks::MOST_UNSENT_ACKS;
pub use fault::{Fault, StreamFault};
