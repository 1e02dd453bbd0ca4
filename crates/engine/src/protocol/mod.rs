//! HTTP/1.x without I/O: bytes in, events out.
//!
//! [`Decoder`] turns whatever bytes arrive, split anywhere, into [`Event`]s; wanting more
//! bytes is no error. [`Heads`] reads the heads of answers and remembers the last one.
//! A violation is a [`Fault`], and always the peer's.

mod chunked;
pub(crate) mod cookies;
mod decoder;
mod head;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod template;

pub use decoder::{Decoder, Event};
pub use head::{Framing, Head, Heads, MAX_HEAD_BYTES};

/// How a peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The head is no HTTP/1.x head.
    #[error("malformed head: {0}")]
    BadHead(&'static str),
    /// The head is longer than [`MAX_HEAD_BYTES`] or has more than 128 fields.
    #[error("the head is too large")]
    HeadTooLarge,
    /// `Content-Length` is no number, or there are two that differ.
    #[error("bad Content-Length")]
    BadLength,
    /// The chunked framing is broken.
    #[error("malformed chunk: {0}")]
    BadChunk(&'static str),
    /// More interim answers than any server has a reason to send.
    #[error("too many 1xx answers")]
    TooManyInterim,
    /// The connection changed to a protocol nobody asked for.
    #[error("101 Switching Protocols without an Upgrade")]
    Upgrade,
    /// The connection ended inside a head.
    #[error("the connection closed inside the head")]
    ClosedInHead,
    /// The connection ended inside a body whose end was announced.
    #[error("the connection closed inside the body")]
    ClosedInBody,
}
