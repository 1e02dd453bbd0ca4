//! Bytes → frames, however they were cut.

use super::{Client, Event, MOST_IDLE_FRAMES};
use crate::Fault;
use crate::frame::{DEFAULT_PAYLOAD_BYTES, HEAD_BYTES, Head, flag, kind};

impl Client {
    pub(super) fn advance<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, Fault> {
        loop {
            if let Some(event) = self.queued.pop_front() {
                return Ok(Some(event));
            }
            if self.incoming.is_some() {
                match self.data_piece(input, out) {
                    Some(event) => return Ok(Some(event)),
                    None if self.incoming.is_some() => return Ok(None),
                    None => continue,
                }
            }
            if input.is_empty() {
                return Ok(None);
            }
            if !self.held.is_empty() {
                self.hold(input)?;
                let held = std::mem::take(&mut self.held);
                let Some(head) = self.whole(&held)? else {
                    self.held = held;
                    return Ok(None);
                };
                self.frame(head, &held[HEAD_BYTES..], out)?;
                self.held = held;
                self.held.clear();
                continue;
            }
            match self.whole(input)? {
                Some(head) => {
                    let (frame, rest) = input.split_at(wanted(head));
                    *input = rest;
                    self.frame(head, &frame[HEAD_BYTES..], out)?;
                }
                None => self.held.extend_from_slice(std::mem::take(input)),
            }
        }
    }

    /// Adds to a frame that came in pieces what is missing of it, and nothing more.
    #[cold]
    fn hold(&mut self, input: &mut &[u8]) -> Result<(), Fault> {
        for _ in 0..2 {
            // First up to the head's end, then, as that says how much, up to the frame's.
            let wanted = match Head::read(&self.held) {
                None => HEAD_BYTES,
                Some(_) => match self.whole(&self.held)? {
                    None => Head::read(&self.held).map_or(HEAD_BYTES, wanted),
                    Some(_) => return Ok(()),
                },
            };
            let missing = wanted.saturating_sub(self.held.len()).min(input.len());
            let (piece, rest) = input.split_at(missing);
            self.held.extend_from_slice(piece);
            *input = rest;
        }
        Ok(())
    }

    /// The head of the frame that `bytes` begin with, if all is there that is read of it at once.
    #[inline]
    fn whole(&self, bytes: &[u8]) -> Result<Option<Head>, Fault> {
        if !self.is_greeted && bytes.starts_with(b"HTTP/") {
            return Err(Fault::Http1);
        }
        let Some(head) = Head::read(bytes) else {
            return Ok(None);
        };
        if !self.is_greeted && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(Fault::NoPreface);
        }
        if head.length > DEFAULT_PAYLOAD_BYTES {
            return Err(Fault::FrameTooLong(head.length));
        }
        Ok((bytes.len() >= wanted(head)).then_some(head))
    }

    #[inline]
    fn frame(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.block.is_some() && head.kind != kind::CONTINUATION {
            return Err(Fault::BlockInterrupted);
        }
        match head.kind {
            kind::DATA => return self.data(head, payload, out),
            kind::HEADERS => return self.headers(head, payload, out),
            _ => {}
        }
        self.idle_frames += 1;
        if self.idle_frames > MOST_IDLE_FRAMES {
            return Err(Fault::Flood(MOST_IDLE_FRAMES));
        }
        self.control(head, payload, out)
    }
}

/// How many bytes of a frame are read at once: all, but of DATA, whose payload is handed on as it comes.
#[inline]
fn wanted(head: Head) -> usize {
    HEAD_BYTES
        + match head.kind {
            kind::DATA => usize::from(head.has(flag::PADDED) && head.length > 0),
            _ => head.length,
        }
}
