//! What a request can be instead of one.

/// Bytes that are no HTTP/1 request; the text says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRequest(pub &'static str);
