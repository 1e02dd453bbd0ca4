//! A stream as its client sees it.

use std::sync::Arc;

use crate::streams::Numbered;

/// No length was announced.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// A request whose answer has not ended. Less than a cache line: with thousands under way, memory is what each costs.
/// Windows reach from -[`MOST`](crate::frame::MOST) to [`MOST`](crate::frame::MOST).
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: u32,
    /// Whose it is, in the caller's words.
    pub(super) key: u32,
    /// What may still be sent on it; below 0 where SETTINGS took back more than was left.
    pub(super) send_window: i32,
    /// What may still come on it.
    pub(super) receive_window: i32,
    /// What came and was not yet given back to its window.
    pub(super) taken: u32,
    /// The request's body, where it is not all sent, and how much of it is: a plan's bodies are shorter than 4 GiB.
    pub(super) unsent: Option<Arc<Vec<u8>>>,
    pub(super) sent: u32,
    pub(super) has_head: bool,
    pub(super) is_head_request: bool,
    /// Interim answers so far, in bytes of fields.
    pub(super) interim_bytes: u32,
    /// What is missing of the length that the answer announced; [`UNKNOWN`] where it announced none.
    pub(super) length_left: u64,
}

const _: () = assert!(size_of::<Option<Stream>>() <= 48);

impl Numbered for Stream {
    fn number(&self) -> u32 {
        self.id
    }
}
