//! Bytes → frames, however they were cut.

use super::{FrameHeader, Server, flag, kind};
use crate::Fault;
use crate::frame::{DEFAULT_PAYLOAD_BYTES, HEAD_BYTES, PREFACE};

impl Server {
    /// Reads one frame; false once more bytes are needed.
    pub(super) fn advance(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<bool, Fault> {
        while self.preface_read < PREFACE.len() {
            let Some((&byte, rest)) = input.split_first() else {
                return Ok(false);
            };
            if byte != PREFACE[self.preface_read] {
                return Err(Fault::NoPreface);
            }
            self.preface_read += 1;
            *input = rest;
        }
        if self.pending.is_empty()
            && let Some(head) = self.head(input)?
            && let Some((frame, rest)) = input.split_at_checked(HEAD_BYTES + head.length)
        {
            *input = rest;
            self.frame(head, &frame[HEAD_BYTES..], out)?;
            return Ok(true);
        }
        let Some(head) = self.hold(input)? else {
            return Ok(false);
        };
        let mut pending = std::mem::take(&mut self.pending);
        self.frame(head, &pending[HEAD_BYTES..], out)?;
        pending.clear();
        self.pending = pending;
        Ok(true)
    }

    /// Adds to a frame that came in pieces what is missing of it; its head, once it is whole.
    fn hold(&mut self, input: &mut &[u8]) -> Result<Option<FrameHeader>, Fault> {
        loop {
            let head = self.head(&self.pending)?;
            // First up to the head's end, then, as that says how much, up to the frame's.
            let wanted = head.map_or(HEAD_BYTES, |head| HEAD_BYTES + head.length);
            let missing = wanted - self.pending.len();
            if missing == 0 {
                return Ok(head);
            }
            if input.is_empty() {
                return Ok(None);
            }
            let (piece, rest) = input.split_at(missing.min(input.len()));
            self.pending.extend_from_slice(piece);
            *input = rest;
        }
    }

    /// The head of the frame that `bytes` begin with, if that may be one.
    #[inline]
    fn head(&self, bytes: &[u8]) -> Result<Option<FrameHeader>, Fault> {
        let Some(head) = FrameHeader::read(bytes) else {
            return Ok(None);
        };
        if !self.is_greeted && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(Fault::NoPreface);
        }
        if head.length > DEFAULT_PAYLOAD_BYTES {
            return Err(Fault::FrameTooLong(head.length));
        }
        Ok(Some(head))
    }

    #[inline]
    fn frame(&mut self, head: FrameHeader, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.block.is_some() && head.kind != kind::CONTINUATION {
            return Err(Fault::BlockInterrupted);
        }
        match head.kind {
            kind::HEADERS => self.headers(head, payload, out)?,
            kind::DATA => self.data(head, payload, out)?,
            _ => self.control(head, payload, out)?,
        }
        self.acks.check()
    }
}
