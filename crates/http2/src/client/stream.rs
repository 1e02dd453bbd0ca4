//! A stream as its client sees it.

use std::sync::Arc;

use crate::streams::Numbered;

/// A request whose answer has not ended.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// Whose it is, in the caller's words.
    pub(super) key: u32,
    /// What may still be sent on it; below 0 where SETTINGS took back more than was left.
    pub(super) send_window: i64,
    /// What may still come on it.
    pub(super) receive_window: i64,
    /// What came and was not yet given back to its window.
    pub(super) taken: u32,
    /// What of the request's body is not sent.
    pub(super) unsent: Option<(Arc<Vec<u8>>, usize)>,
    pub(super) has_head: bool,
    pub(super) is_head_request: bool,
    /// Interim answers so far, in bytes of fields.
    pub(super) interim_bytes: usize,
    /// What is missing of the length that the answer announced.
    pub(super) length_left: Option<u64>,
}

impl Numbered for Stream {
    fn number(&self) -> u32 {
        self.id
    }
}
