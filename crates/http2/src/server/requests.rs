//! Requests: their fields and their bodies.

use super::{Code, Event, FrameHeader, LEFT_OUT, MOST_FIELD_BYTES, Server, Stream, flag, kind};
use crate::frame;
use crate::meaning::{Asked, asked};
use crate::{Fault, hpack};

/// A block of fields that comes in pieces: its stream, whether the request ends with it, its bytes.
#[derive(Debug)]
pub(super) struct Block {
    stream: u32,
    is_end: bool,
    /// Whether its stream depends on itself.
    is_own: bool,
    bytes: Vec<u8>,
}

/// The last block that was read, and what it meant: as long as no block changes the table, the same bytes are the
/// same fields.
#[derive(Debug, Default)]
pub(super) struct Memo {
    block: Vec<u8>,
    /// None: nothing to be repeated.
    changes: Option<u64>,
    /// None: trailers.
    asked: Option<Asked>,
}

impl Server {
    #[inline]
    pub(super) fn headers(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if head.stream % 2 == 0 {
            return Err(Fault::WrongStream(kind::HEADERS, head.stream));
        }
        let mut block = frame::unpadded(head, payload).ok_or(Fault::BadPadding)?;
        let mut is_own = false;
        if head.has(flag::PRIORITY) {
            let (priority, rest) = block
                .split_at_checked(5)
                .ok_or(Fault::BadLength(kind::HEADERS))?;
            is_own = super::control::number(priority) & frame::MOST == head.stream;
            block = rest;
        }
        let is_end = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.whole_block(head.stream, is_end, is_own, block, out);
        }
        self.block = Some(Block {
            stream: head.stream,
            is_end,
            is_own,
            bytes: block.to_vec(),
        });
        Ok(())
    }

    pub(super) fn continuation(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut block = self.block.take().ok_or(Fault::BlockInterrupted)?;
        if block.stream != head.stream {
            return Err(Fault::BlockInterrupted);
        }
        block.bytes.extend_from_slice(payload);
        if block.bytes.len() > MOST_FIELD_BYTES {
            return Err(Fault::BadBlock(hpack::HpackError::TooLong(
                MOST_FIELD_BYTES,
            )));
        }
        if head.has(flag::END_HEADERS) {
            let Block {
                stream,
                is_end,
                is_own,
                bytes,
            } = block;
            return self.whole_block(stream, is_end, is_own, &bytes, out);
        }
        self.block = Some(block);
        Ok(())
    }

    /// A whole block: a head, or trailers. It is read whoever it is for, for it may change the table.
    #[inline]
    fn whole_block(
        &mut self,
        id: u32,
        is_end: bool,
        is_own: bool,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let is_known =
            self.memo.changes == Some(self.decoder.changes()) && self.memo.block == block;
        let asked = match is_known {
            true => Ok(self.memo.asked),
            false => self.read_block(block)?,
        };
        if id <= self.last_stream {
            return self.trailers(id, is_end, asked, out);
        }
        self.note_left_out(id);
        self.last_stream = id;
        if self.streams.len() >= self.most_streams {
            self.give_up(id, Code::REFUSED_STREAM, out);
            return Ok(());
        }
        let is_right = |asked: &Asked| !(is_end && asked.length.is_some_and(|length| length > 0));
        let Some(asked) = asked.ok().flatten().filter(is_right).filter(|_| !is_own) else {
            // RFC 9113, 8.1.1; and RFC 7540, 5.3.1, which has a stream depend on no stream but another.
            self.give_up(id, Code::PROTOCOL_ERROR, out);
            return Ok(());
        };
        self.streams.add(Stream {
            id,
            is_head: asked.is_head,
            is_whole: is_end,
            length_left: asked.length,
            window: self.peer_window,
            unsent: None,
        });
        self.queued.push_back(Event::Request {
            stream: id,
            is_whole: is_end,
        });
        Ok(())
    }

    /// Fields on a stream that was opened before.
    #[cold]
    fn trailers(
        &mut self,
        id: u32,
        is_end: bool,
        asked: Result<Option<Asked>, &'static str>,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let Some(stream) = self.streams.get(id) else {
            return self.stray(FrameHeader {
                length: 0,
                kind: kind::HEADERS,
                flags: 0,
                stream: id,
            });
        };
        if stream.is_whole {
            self.fail(id, Code::STREAM_CLOSED, out);
        } else if asked != Ok(None) || !is_end {
            self.fail(id, Code::PROTOCOL_ERROR, out);
        } else {
            self.end(id, out);
        }
        Ok(())
    }

    /// Reads a block that is not the one before; what it asks for, or why it is malformed.
    #[cold]
    fn read_block(&mut self, block: &[u8]) -> Result<Result<Option<Asked>, &'static str>, Fault> {
        let before = self.decoder.changes();
        self.memo.changes = None;
        self.decoder.decode(block, &mut self.fields)?;
        let asked = asked(&self.fields);
        if let (Ok(asked), true) = (asked, before == self.decoder.changes()) {
            self.memo.block.clear();
            self.memo.block.extend_from_slice(block);
            self.memo.asked = asked;
            self.memo.changes = Some(before);
        }
        Ok(asked)
    }

    /// A stream that is opened closes all those before it that were not (RFC 9113, 5.1.1).
    #[inline]
    fn note_left_out(&mut self, id: u32) {
        // The first stream has number 1.
        let next = (self.last_stream + 1) | 1;
        if id > next {
            if self.left_out.len() == LEFT_OUT {
                self.left_out.pop_front();
            }
            self.left_out.push_back((next, id - 2));
        }
    }

    /// A piece of a request's body, which is read away.
    pub(super) fn data(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if head.stream == 0 {
            return Err(Fault::WrongStream(kind::DATA, 0));
        }
        let data = frame::unpadded(head, payload).ok_or(Fault::BadPadding)?;
        // What was taken is given back at once, so that no window is ever overrun.
        if !payload.is_empty() {
            self.give_back(0, payload.len(), out);
        }
        let Some(stream) = self.streams.get(head.stream) else {
            return self.stray(head);
        };
        if stream.is_whole {
            self.fail(head.stream, Code::STREAM_CLOSED, out);
            return Ok(());
        }
        if let Some(left) = &mut stream.length_left {
            let Some(less) = left.checked_sub(data.len() as u64) else {
                self.fail(head.stream, Code::PROTOCOL_ERROR, out);
                return Ok(());
            };
            *left = less;
        }
        if head.has(flag::END_STREAM) {
            self.end(head.stream, out);
        } else if !payload.is_empty() {
            self.give_back(head.stream, payload.len(), out);
        }
        Ok(())
    }

    /// Gives back to a window what was taken of it.
    fn give_back(&mut self, stream: u32, bytes: usize, out: &mut Vec<u8>) {
        let by = (bytes as u32).to_be_bytes();
        self.say(kind::WINDOW_UPDATE, 0, stream, &by, out);
    }

    /// All of a request is there.
    fn end(&mut self, id: u32, out: &mut Vec<u8>) {
        let Some(stream) = self.streams.get(id) else {
            return;
        };
        if stream.length_left.is_some_and(|left| left > 0) {
            return self.fail(id, Code::PROTOCOL_ERROR, out);
        }
        stream.is_whole = true;
        self.queued.push_back(Event::End { stream: id });
    }
}
