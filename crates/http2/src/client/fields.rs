//! Heads of answers and of requests, as blocks.

use super::stream::UNKNOWN;
use super::{Answer, Client, Listener, MOST_FIELD_BYTES, Request};
use crate::frame::{self, DEFAULT_PAYLOAD_BYTES, FrameHeader, flag, kind};
use crate::meaning::{Meaning, meaning};
use crate::{Fault, StreamFault, hpack};

/// A block of fields that comes in pieces.
#[derive(Debug)]
pub(super) struct Block {
    stream: u32,
    is_end: bool,
    bytes: Vec<u8>,
}

/// The frame of a request's head as it was sent on this connection, which is the same but for the stream's number as
/// long as the table is as it was.
#[derive(Debug)]
pub(super) struct Cached {
    changes: u64,
    frame: Box<[u8]>,
}

/// The last block that was read, and what it meant. Servers repeat themselves: as long as no block changes the
/// table, the same bytes are the same fields, and one comparison of memory is all that they cost.
#[derive(Debug, Default)]
pub(super) struct Memo {
    block: Vec<u8>,
    /// None: nothing to be repeated.
    changes: Option<u64>,
    meaning: Option<Meaning>,
}

impl Client {
    /// Appends a request's fields.
    #[inline]
    pub(super) fn write_block(&mut self, id: u32, request: &Request, out: &mut Vec<u8>) {
        let start = out.len();
        if let Some(cached) = request
            .number
            .and_then(|number| self.cached.get(usize::from(number))?.as_ref())
            && cached.changes == self.encoder.changes()
        {
            out.extend_from_slice(&cached.frame);
            return frame::renumber(&mut out[start..], id);
        }
        self.encode_block(id, request, out);
    }

    #[cold]
    fn encode_block(&mut self, id: u32, request: &Request, out: &mut Vec<u8>) {
        let before = self.encoder.changes();
        let start = out.len();
        let encoder = &mut self.encoder;
        let ends = request.body.is_empty();
        frame::write_fields(id, ends, self.peer_payload, out, |out| {
            let fields = request.fields.iter();
            encoder.encode(
                fields.map(|(name, value, kept)| (&**name, &**value, *kept)),
                out,
            );
        });
        if let (Some(number), true) = (request.number, before == self.encoder.changes()) {
            let number = usize::from(number);
            if self.cached.len() <= number {
                self.cached.resize_with(number + 1, || None);
            }
            // One that is longer than every peer takes in a frame is written anew each time: that may change.
            let frame = &out[start..];
            let is_short = frame.len() <= frame::HEAD_BYTES + DEFAULT_PAYLOAD_BYTES;
            self.cached[number] = is_short.then(|| Cached {
                changes: before,
                frame: frame.into(),
            });
        }
    }

    #[inline(always)]
    pub(super) fn headers(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        if head.stream == 0 {
            return Err(Fault::WrongStream(kind::HEADERS, 0));
        }
        let mut block = frame::unpadded(head, payload).ok_or(Fault::BadPadding)?;
        if head.has(flag::PRIORITY) {
            block = block.get(5..).ok_or(Fault::BadLength(kind::HEADERS))?;
        }
        let is_end = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.whole_block(head, is_end, block, out, to);
        }
        self.block = Some(Block {
            stream: head.stream,
            is_end,
            bytes: block.to_vec(),
        });
        Ok(())
    }

    pub(super) fn continuation(
        &mut self,
        head: FrameHeader,
        payload: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
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
            let head = FrameHeader {
                kind: kind::HEADERS,
                ..head
            };
            return self.whole_block(head, block.is_end, &block.bytes, out, to);
        }
        self.block = Some(block);
        Ok(())
    }

    /// A whole block: an interim answer, a head, or trailers.
    #[inline(always)]
    fn whole_block(
        &mut self,
        head: FrameHeader,
        is_end: bool,
        block: &[u8],
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        // It is read whoever it is for, for it may change the table.
        let meant =
            match self.memo.changes == Some(self.decoder.changes()) && self.memo.block == block {
                true => self.memo.meaning.ok_or(""),
                false => self.read_block(block)?,
            };
        let Some(stream) = self.streams.get(head.stream) else {
            return self.stray(head);
        };
        let (
            false,
            Ok(Meaning {
                status: Some(status @ 200..),
                length,
            }),
        ) = (stream.has_head, meant)
        else {
            return self.other_block(head, is_end, block.len(), meant, out, to);
        };
        stream.has_head = true;
        let has_no_body = stream.is_head_request || matches!(status, 204 | 304);
        // What has no body may say how long it would be (RFC 9110, 8.6), and has none all the same.
        stream.length_left = if has_no_body {
            0
        } else {
            length.map_or(UNKNOWN, |length| length.min(UNKNOWN - 1))
        };
        let key = stream.key;
        let answer = Answer {
            status,
            fields: &self.fields,
            number: self.blocks_read,
        };
        to.answer(key, answer);
        self.idle_frames = 0;
        if is_end {
            self.end_answer(head.stream, out, to);
        }
        Ok(())
    }

    /// A block that is no head of a final answer: an interim one, trailers, or what there may not be.
    #[inline(never)]
    fn other_block(
        &mut self,
        head: FrameHeader,
        is_end: bool,
        block_bytes: usize,
        meant: Result<Meaning, &'static str>,
        out: &mut Vec<u8>,
        to: &mut impl Listener,
    ) -> Result<(), Fault> {
        let Some(stream) = self.streams.get(head.stream) else {
            return Ok(());
        };
        let status = meant.map(|meant| meant.status);
        let why = match (status, stream.has_head, is_end) {
            (Err(why), ..) => why,
            (Ok(Some(101)), ..) => "101 Switching Protocols, which HTTP/2 has not",
            (Ok(Some(_)), false, false) => {
                stream.interim_bytes += block_bytes.max(1) as u32;
                if stream.interim_bytes > MOST_FIELD_BYTES as u32 {
                    let fault = StreamFault::TooManyInterim(MOST_FIELD_BYTES);
                    self.fail(head.stream, fault, out, to);
                }
                return Ok(());
            }
            (Ok(Some(_)), false, true) => "an interim answer that ends the stream",
            (Ok(None), false, _) => "no :status",
            (Ok(Some(_)), true, _) => "a second head",
            (Ok(None), true, false) => "trailers that do not end the stream",
            (Ok(None), true, true) => {
                self.idle_frames = 0;
                self.end_answer(head.stream, out, to);
                return Ok(());
            }
        };
        self.idle_frames = 0;
        self.fail(head.stream, StreamFault::Malformed(why), out, to);
        Ok(())
    }

    /// Reads a block that is not the one before; what it means, or why it is malformed.
    #[cold]
    fn read_block(&mut self, block: &[u8]) -> Result<Result<Meaning, &'static str>, Fault> {
        let before = self.decoder.changes();
        self.memo.changes = None;
        self.blocks_read += 1;
        self.decoder.decode(block, &mut self.fields)?;
        let meant = meaning(&self.fields);
        if let (Ok(meant), true) = (meant, before == self.decoder.changes()) {
            self.memo.block.clear();
            self.memo.block.extend_from_slice(block);
            self.memo.meaning = Some(meant);
            self.memo.changes = Some(before);
        }
        Ok(meant)
    }
}
