//! HTTP/1.x without I/O: bytes in, events out.
//!
//! [`Decoder`] turns whatever bytes arrive, split anywhere, into [`Event`]s; wanting more
//! bytes is no error. [`Heads`] reads the heads of answers and remembers the last one.
//! A violation is a [`Fault`], and always the peer's.

mod chunked;
mod cookie_date;
pub(crate) mod cookies;
mod decoder;
pub(crate) mod fields;
mod head;
pub(crate) mod http2;
pub(crate) mod redirect;
pub(crate) mod request;
pub(crate) mod template;

pub use decoder::{Decoder, Event};
pub use head::{Framing, Heads, MAX_HEAD_BYTES, ResponseHead};

/// How a peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The head is no HTTP/1.x head.
    #[error("malformed head: {0}")]
    BadHead(&'static str),
    /// The heads of one answer are longer than [`MAX_HEAD_BYTES`] together.
    #[error("the head is longer than 512 KiB")]
    HeadTooLarge,
    /// The head has more than 8,192 fields.
    #[error("the head has more than 8192 fields")]
    TooManyFields,
    /// `Content-Length` is no number, or there are two that differ.
    #[error("bad Content-Length")]
    BadLength,
    /// The chunked framing is broken.
    #[error("malformed chunk: {0}")]
    BadChunk(&'static str),
    /// Interim answers longer than [`MAX_HEAD_BYTES`] together.
    #[error("interim answers (1xx) of more than 512 KiB")]
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

/// RFC 9110, 5.6.2: `tchar`.
pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
