//! HTTP/3 (RFC 9114) and QPACK (RFC 9204) without I/O: bytes of streams in, events and bytes out.
//!
//! Streams, their order and their windows are QUIC's, whoever speaks it. [`message`] reads the bytes of one request or
//! of one answer, [`peer`] those of the unidirectional streams, [`frame`] writes, and [`qpack`] is blocks of fields.
//! No dynamic table is allowed and none is used, so that no stream ever waits for another.

mod fault;
pub mod frame;
mod heads;
pub mod message;
pub mod peer;
pub mod qpack;
pub mod varint;

pub use assay_http2::hpack::Fields;
pub use fault::{Code, Fault, StreamFault};
pub use heads::Heads;
