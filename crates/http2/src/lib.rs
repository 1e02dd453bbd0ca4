//! HTTP/2 (RFC 9113) without I/O: bytes in, bytes out, and what they mean: told to a listener, or as events of a server.
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
