//! What a peer makes us say, and may not read.

use crate::Fault;

/// What a peer asks for without a request is not kept beyond so many bytes where it does not read: 61,000
/// acknowledgements of PING.
pub const MOST_UNSENT_ACKS: usize = 1024 * 1024;

/// How many bytes of acknowledgements are not sent, at least.
#[derive(Debug, Default)]
pub(crate) struct Acks(usize);

impl Acks {
    /// So many more are written.
    #[inline]
    pub(crate) fn add(&mut self, bytes: usize) {
        self.0 += bytes;
    }

    /// So many bytes were sent of all that is written.
    #[inline]
    pub(crate) fn note_sent(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Whether the peer takes what it asks for.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match self.0 > MOST_UNSENT_ACKS {
            true => Err(Fault::Unread(MOST_UNSENT_ACKS)),
            false => Ok(()),
        }
    }
}
