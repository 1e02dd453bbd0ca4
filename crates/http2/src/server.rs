//! The server's side of one connection, as little of it as a server of known behaviour needs.
//!
//! It reads requests, answers when it is told to, and keeps to the client's windows. Of what a client can break it
//! sees what would leave it out of step; it is no judge of clients.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::frame::{
    self, Code, DEFAULT_PAYLOAD_BYTES, DEFAULT_WINDOW, HEAD_BYTES, Head, MOST, PREFACE, flag, kind,
    setting,
};
use crate::hpack::{Decoder, Encoder, Fields};
use crate::{Fault, hpack};

/// Fields of one request may not be longer.
const MOST_FIELD_BYTES: usize = 64 * 1024;

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The fields of a request, in [`Server::fields`] until the next call.
    Request {
        /// The stream it came on.
        stream: u32,
        /// Whether that is all of it: no body follows.
        is_whole: bool,
    },
    /// The end of a request that had a body.
    End {
        /// The stream it came on.
        stream: u32,
    },
    /// The client gave the stream up.
    Reset {
        /// The stream.
        stream: u32,
    },
}

/// What is left to be sent on a stream.
#[derive(Debug)]
struct Unsent {
    window: i64,
    body: Arc<[u8]>,
    sent: usize,
}

/// One connection.
#[derive(Debug)]
pub struct Server {
    decoder: Decoder,
    encoder: Encoder,
    fields: Fields,
    /// The last block, and the table's state when it was read: the same bytes are then the same fields.
    memo: (Vec<u8>, Option<u64>),
    preface_read: usize,
    held: Vec<u8>,
    /// A block that comes in pieces: its stream, whether the request ends with it, its bytes.
    block: Option<(u32, bool, Vec<u8>)>,
    queued: VecDeque<Event>,
    /// Streams whose windows are not the initial one, or that have something to send.
    unsent: BTreeMap<u32, Unsent>,
    /// Streams that are not answered yet, and what WINDOW_UPDATE added to them.
    due: Vec<(u32, i64)>,
    last_stream: u32,
    send_window: i64,
    peer_window: i64,
    peer_payload: usize,
}

impl Server {
    /// Begins a connection: appends our SETTINGS, which allow so many streams at once, and wide windows.
    #[must_use]
    pub fn new(most_streams: u32, out: &mut Vec<u8>) -> Self {
        let settings = [
            (setting::MAX_CONCURRENT_STREAMS, most_streams),
            (setting::INITIAL_WINDOW_SIZE, MOST),
        ];
        frame::write_settings(&settings, out);
        frame::write_window(0, MOST - DEFAULT_WINDOW, out);
        Self {
            decoder: Decoder::new(MOST_FIELD_BYTES),
            encoder: Encoder::default(),
            fields: Fields::default(),
            memo: (Vec::new(), None),
            preface_read: 0,
            held: Vec::new(),
            block: None,
            queued: VecDeque::new(),
            unsent: BTreeMap::new(),
            due: Vec::new(),
            last_stream: 0,
            send_window: i64::from(DEFAULT_WINDOW),
            peer_window: i64::from(DEFAULT_WINDOW),
            peer_payload: DEFAULT_PAYLOAD_BYTES,
        }
    }

    /// The fields of the last request.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Writes the block of an answer's fields, for this connection's table.
    pub fn block<'a>(
        &mut self,
        fields: impl IntoIterator<Item = (&'a [u8], &'a [u8], bool)>,
        out: &mut Vec<u8>,
    ) {
        self.encoder.encode(fields, out);
    }

    /// A number that stays the same as long as a block written before may be sent again.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.encoder.changes()
    }

    /// Answers: appends the head, and what the windows allow of the body.
    pub fn answer(&mut self, stream: u32, block: &[u8], body: &Arc<[u8]>, out: &mut Vec<u8>) {
        frame::write_block(stream, body.is_empty(), block, self.peer_payload, out);
        let raised = self.no_longer_due(stream);
        if body.is_empty() {
            return;
        }
        let window = self.peer_window + raised;
        let body = Arc::clone(body);
        let mut unsent = Unsent {
            window,
            body,
            sent: 0,
        };
        if !self.send(stream, &mut unsent, out) {
            self.unsent.insert(stream, unsent);
        }
    }

    /// The next event, taking its bytes off the front of `input`; None once more are needed.
    ///
    /// # Errors
    /// How the client broke the connection; it is told, and has to be closed.
    pub fn next(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<Option<Event>, Fault> {
        loop {
            if let Some(event) = self.queued.pop_front() {
                return Ok(Some(event));
            }
            let found = self.advance(input, out);
            if let Err(fault) = found {
                let last = self.last_stream;
                frame::write_goaway(last, fault.code(), &fault.to_string(), out);
            }
            if !found? {
                return Ok(None);
            }
        }
    }

    /// Reads one frame; false once more bytes are needed.
    fn advance(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<bool, Fault> {
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
        if self.held.is_empty() {
            if let Some(head) = whole(input)? {
                let (frame, rest) = input.split_at(HEAD_BYTES + head.length);
                *input = rest;
                self.frame(head, &frame[HEAD_BYTES..], out)?;
                return Ok(true);
            }
            self.held.extend_from_slice(std::mem::take(input));
            return Ok(false);
        }
        while let Some((&byte, rest)) = input.split_first() {
            self.held.push(byte);
            *input = rest;
            if let Some(head) = whole(&self.held)? {
                let held = std::mem::take(&mut self.held);
                self.frame(head, &held[HEAD_BYTES..], out)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn frame(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.block.is_some() && head.kind != kind::CONTINUATION {
            return Err(Fault::BlockInterrupted);
        }
        match head.kind {
            kind::HEADERS => {
                let mut block = frame::unpadded(head, payload).ok_or(Fault::BadPadding)?;
                if head.has(flag::PRIORITY) {
                    block = block.get(5..).ok_or(Fault::BadLength(kind::HEADERS))?;
                }
                if head.stream % 2 == 0 {
                    return Err(Fault::WrongStream(kind::HEADERS, head.stream));
                }
                let is_end = head.has(flag::END_STREAM);
                if head.has(flag::END_HEADERS) {
                    return self.request(head.stream, is_end, block);
                }
                self.block = Some((head.stream, is_end, block.to_vec()));
            }
            kind::CONTINUATION => self.continuation(head, payload)?,
            kind::DATA => self.data(head, payload, out),
            kind::SETTINGS if !head.has(flag::ACK) => self.settings(payload, out)?,
            kind::PING if !head.has(flag::ACK) && payload.len() == 8 => {
                frame::write(kind::PING, flag::ACK, 0, payload, out);
            }
            kind::WINDOW_UPDATE => self.raise(head, payload, out)?,
            kind::RST_STREAM => {
                self.unsent.remove(&head.stream);
                self.no_longer_due(head.stream);
                self.queued.push_back(Event::Reset {
                    stream: head.stream,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn continuation(&mut self, head: Head, payload: &[u8]) -> Result<(), Fault> {
        let (stream, is_end, mut bytes) = self.block.take().ok_or(Fault::BlockInterrupted)?;
        if stream != head.stream {
            return Err(Fault::BlockInterrupted);
        }
        bytes.extend_from_slice(payload);
        if bytes.len() > MOST_FIELD_BYTES {
            return Err(Fault::BadBlock(hpack::Broken::TooLong(MOST_FIELD_BYTES)));
        }
        if head.has(flag::END_HEADERS) {
            return self.request(stream, is_end, &bytes);
        }
        self.block = Some((stream, is_end, bytes));
        Ok(())
    }

    fn request(&mut self, stream: u32, is_whole: bool, block: &[u8]) -> Result<(), Fault> {
        if self.memo.1 != Some(self.decoder.changes()) || self.memo.0 != block {
            let before = self.decoder.changes();
            self.decoder.decode(block, &mut self.fields)?;
            self.memo.1 = (before == self.decoder.changes()).then_some(before);
            self.memo.0.clear();
            self.memo.0.extend_from_slice(block);
        }
        let are_trailers = stream <= self.last_stream;
        self.last_stream = self.last_stream.max(stream);
        if !are_trailers {
            self.due.push((stream, 0));
        }
        self.queued.push_back(match are_trailers {
            true => Event::End { stream },
            false => Event::Request { stream, is_whole },
        });
        Ok(())
    }

    /// A piece of a request's body, which is read away.
    fn data(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) {
        if !payload.is_empty() {
            frame::write_window(0, payload.len() as u32, out);
        }
        if head.has(flag::END_STREAM) {
            self.queued.push_back(Event::End {
                stream: head.stream,
            });
        } else if !payload.is_empty() {
            frame::write_window(head.stream, payload.len() as u32, out);
        }
    }

    fn settings(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        for entry in payload.chunks_exact(6) {
            let name = u16::from_be_bytes([entry[0], entry[1]]);
            let value = u32::from_be_bytes([entry[2], entry[3], entry[4], entry[5]]);
            match name {
                setting::HEADER_TABLE_SIZE => self.encoder.limit_table(value as usize),
                setting::INITIAL_WINDOW_SIZE if value > MOST => {
                    return Err(Fault::BadSetting(name, value));
                }
                setting::INITIAL_WINDOW_SIZE => {
                    let more = i64::from(value) - self.peer_window;
                    self.peer_window = i64::from(value);
                    self.unsent
                        .values_mut()
                        .for_each(|unsent| unsent.window += more);
                }
                setting::MAX_FRAME_SIZE => self.peer_payload = value as usize,
                _ => {}
            }
        }
        frame::write(kind::SETTINGS, flag::ACK, 0, &[], out);
        self.send_all(out);
        Ok(())
    }

    fn raise(&mut self, head: Head, payload: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let by = payload
            .first_chunk()
            .ok_or(Fault::BadLength(kind::WINDOW_UPDATE))?;
        let by = i64::from(u32::from_be_bytes(*by) & MOST);
        if head.stream == 0 {
            self.send_window += by;
            self.send_all(out);
        } else if let Some(mut unsent) = self.unsent.remove(&head.stream) {
            unsent.window += by;
            if !self.send(head.stream, &mut unsent, out) {
                self.unsent.insert(head.stream, unsent);
            }
        } else if let Some((_, raised)) = self.due.iter_mut().find(|due| due.0 == head.stream) {
            *raised += by;
        }
        Ok(())
    }

    fn send_all(&mut self, out: &mut Vec<u8>) {
        let mut waiting = std::mem::take(&mut self.unsent);
        waiting.retain(|&stream, unsent| !self.send(stream, unsent, out));
        self.unsent = waiting;
    }

    /// Sends what the windows allow; whether that is all.
    fn send(&mut self, stream: u32, unsent: &mut Unsent, out: &mut Vec<u8>) -> bool {
        while unsent.sent < unsent.body.len() {
            let window = self
                .send_window
                .min(unsent.window)
                .min(self.peer_payload as i64);
            if window <= 0 {
                return false;
            }
            let end = unsent.body.len().min(unsent.sent + window as usize);
            let piece = &unsent.body[unsent.sent..end];
            let last = if end == unsent.body.len() {
                flag::END_STREAM
            } else {
                0
            };
            frame::write(kind::DATA, last, stream, piece, out);
            self.send_window -= piece.len() as i64;
            unsent.window -= piece.len() as i64;
            unsent.sent = end;
        }
        true
    }

    /// Ends a stream without an answer, or in the middle of it.
    pub fn reset(&mut self, stream: u32, code: Code, out: &mut Vec<u8>) {
        self.unsent.remove(&stream);
        self.no_longer_due(stream);
        frame::write_reset(stream, code, out);
    }

    /// Forgets a stream that is answered; what its window was raised by.
    fn no_longer_due(&mut self, stream: u32) -> i64 {
        let place = self.due.iter().rposition(|due| due.0 == stream);
        place.map_or(0, |place| self.due.swap_remove(place).1)
    }
}

/// The head of the frame that `bytes` begin with, if all of it is there.
fn whole(bytes: &[u8]) -> Result<Option<Head>, Fault> {
    let Some(head) = Head::read(bytes) else {
        return Ok(None);
    };
    if head.length > DEFAULT_PAYLOAD_BYTES {
        return Err(Fault::FrameTooLong(head.length));
    }
    Ok((bytes.len() >= HEAD_BYTES + head.length).then_some(head))
}
