//! Bytes → frames, however they were cut.

use super::{Client, Listener, MOST_IDLE_FRAMES};
use crate::Fault;
use crate::frame::{DEFAULT_PAYLOAD_BYTES, FrameHeader, HEAD_BYTES, flag, kind};

impl Client {
    #[inline]
    pub(super) fn read(
        &mut self,
        mut input: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        while !input.is_empty() {
            if self.incoming.is_some() || !self.pending.is_empty() {
                self.go_on(&mut input, out, to)?;
            } else if let Some(head) = self.whole(input)? {
                let (frame, rest) = input.split_at(wanted(head));
                input = rest;
                self.frame(head, &frame[HEAD_BYTES..], &mut input, out, to)?;
            } else {
                self.pending.extend_from_slice(std::mem::take(&mut input));
            }
        }
        Ok(())
    }

    /// Goes on with a frame that came in pieces.
    #[inline(never)]
    fn go_on(
        &mut self,
        input: &mut &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if let Some(incoming) = self.incoming.take() {
            self.more_data(incoming, input, out, to);
            return Ok(());
        }
        self.hold(input)?;
        let mut pending = std::mem::take(&mut self.pending);
        let whole = self.whole(&pending)?;
        if let Some(head) = whole {
            self.frame(head, &pending[HEAD_BYTES..], input, out, to)?;
            pending.clear();
        }
        self.pending = pending;
        Ok(())
    }

    /// Adds to a frame that came in pieces what is missing of it, and nothing more.
    fn hold(&mut self, input: &mut &[u8]) -> Result<(), Fault> {
        for _ in 0..2 {
            // First up to the head's end, then, as that says how much, up to the frame's.
            let wanted = match FrameHeader::read(&self.pending) {
                None => HEAD_BYTES,
                Some(_) => match self.whole(&self.pending)? {
                    None => FrameHeader::read(&self.pending).map_or(HEAD_BYTES, wanted),
                    Some(_) => return Ok(()),
                },
            };
            let missing = wanted.saturating_sub(self.pending.len()).min(input.len());
            let (piece, rest) = input.split_at(missing);
            self.pending.extend_from_slice(piece);
            *input = rest;
        }
        Ok(())
    }

    /// The head of the frame that `bytes` begin with, if all is there that is read of it at once.
    #[inline]
    fn whole(&self, bytes: &[u8]) -> Result<Option<FrameHeader>, Fault> {
        let head = FrameHeader::read(bytes);
        if !self.is_greeted {
            is_greeting(bytes, head)?;
        }
        let Some(head) = head else {
            return Ok(None);
        };
        if head.length > DEFAULT_PAYLOAD_BYTES {
            return Err(Fault::FrameTooLong(head.length));
        }
        Ok((bytes.len() >= wanted(head)).then_some(head))
    }

    /// A frame; of DATA no more than its head, what there is of its payload being in `more`.
    #[inline(always)]
    fn frame(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        more: &mut &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if self.block.is_some() && head.kind != kind::CONTINUATION {
            return Err(Fault::BlockInterrupted);
        }
        match head.kind {
            kind::DATA => return self.data(head, payload, more, out, to),
            kind::HEADERS => return self.headers(head, payload, out, to),
            _ => {}
        }
        self.idle_frames += 1;
        if self.idle_frames > MOST_IDLE_FRAMES {
            return Err(Fault::Flood(MOST_IDLE_FRAMES));
        }
        self.control(head, payload, out, to)
    }
}

/// Whether a connection may begin with these bytes, whose head, if they have one, this is.
#[cold]
fn is_greeting(bytes: &[u8], head: Option<FrameHeader>) -> Result<(), Fault> {
    if bytes.starts_with(b"HTTP/") {
        return Err(Fault::Http1);
    }
    match head {
        Some(head) if head.kind != kind::SETTINGS || head.has(flag::ACK) => Err(Fault::NoPreface),
        _ => Ok(()),
    }
}

/// How many bytes of a frame are read at once: all, but of DATA, whose payload is handed on as it comes.
#[inline]
fn wanted(head: FrameHeader) -> usize {
    HEAD_BYTES
        + match head.kind {
            kind::DATA => usize::from(head.has(flag::PADDED) && head.length > 0),
            _ => head.length,
        }
}
