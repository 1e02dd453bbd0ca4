//! HTTP/2 (RFC 9113) without I/O: bytes in, events and bytes out.
//!
//! [`hpack`] shortens header fields, [`frame`] is the framing.

pub mod hpack;
