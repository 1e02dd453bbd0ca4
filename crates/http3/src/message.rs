//! The bytes of one request's stream, one way: a head, a body, trailers (RFC 9114, section 4).

use crate::fault::PUSHED;
use crate::frame::{self, kind};
use crate::{Fault, Fields, Heads, StreamFault};
use assay_http2::hpack::HpackError;
use assay_http2::meaning::{Meaning, asked};

/// The fields of one message, and its interim answers, may not be longer; as with HTTP/1 and HTTP/2.
pub const MOST_FIELD_BYTES: usize = 512 * 1024;
/// Frames that mean nothing may not be longer altogether; each counts as `HEAD_BYTES` and its payload.
pub const MOST_PASSED_BYTES: u64 = 1024 * 1024;
const HEAD_BYTES: u64 = 2;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// A request: we are the server.
    Request,
    /// The answer to a request: we are the client.
    Answer {
        /// Whether to a HEAD request, so that no body belongs to it.
        to_head: bool,
    },
}

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The fields of a request.
    Request,
    /// The fields of a final answer.
    Answer {
        /// 200 to 999.
        status: u16,
    },
    /// A piece of the body.
    Body(&'a [u8]),
}

/// How a peer broke a message: with it the connection, or nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The connection cannot be used any further.
    #[error(transparent)]
    Connection(#[from] Fault),
    /// The other streams go on.
    #[error(transparent)]
    Stream(#[from] StreamFault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadStage {
    Head,
    Body,
    Trailers,
}

/// A frame whose payload is not all read.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: u64,
    left: u64,
}

/// Reads one message.
#[derive(Debug)]
pub struct Reader {
    side: Side,
    stage: ReadStage,
    frame: Option<Frame>,
    /// The beginning of what came in pieces: of a frame's head, or of a block.
    pending: Vec<u8>,
    interim_bytes: usize,
    passed_bytes: u64,
    length_left: Option<u64>,
}

impl Reader {
    /// Of a stream from which nothing was read.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Self {
            side,
            stage: ReadStage::Head,
            frame: None,
            pending: Vec::new(),
            interim_bytes: 0,
            passed_bytes: 0,
            length_left: None,
        }
    }

    /// The next event, taking its bytes off the front of `input`; None once more are needed (then `input` is empty).
    /// The fields of a head are put into `heads`.
    ///
    /// # Errors
    /// How the peer broke the message; it cannot be read any further.
    #[inline]
    pub fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        heads: &mut Heads,
    ) -> Result<Option<Event<'a>>, MessageError> {
        loop {
            let Some(frame) = self.frame else {
                let Some((kind, length)) = self.read_head(input) else {
                    return Ok(None);
                };
                self.begin(kind, length)?;
                continue;
            };
            match frame.kind {
                kind::HEADERS => match self.block(frame, input, heads)? {
                    None if self.frame.is_some() => return Ok(None),
                    None => {}
                    event => return Ok(event),
                },
                _ if frame.left == 0 => self.frame = None,
                _ if input.is_empty() => return Ok(None),
                _ => {
                    let length = (input.len() as u64).min(frame.left);
                    let (data, rest) = input.split_at(length as usize);
                    *input = rest;
                    self.frame = Some(Frame {
                        left: frame.left - length,
                        ..frame
                    });
                    if frame.kind == kind::DATA {
                        self.count(length)?;
                        return Ok(Some(Event::Body(data)));
                    }
                }
            }
        }
    }

    /// Says that the stream has ended.
    ///
    /// # Errors
    /// The message has not.
    pub fn finish(&self) -> Result<(), MessageError> {
        if !self.pending.is_empty() || self.frame.is_some_and(|frame| frame.left > 0) {
            return Err(Fault::CutShort.into());
        }
        if self.stage == ReadStage::Head {
            return Err(StreamFault::Incomplete.into());
        }
        match self.length_left {
            None | Some(0) => Ok(()),
            Some(_) => Err(StreamFault::Malformed("less body than content-length says").into()),
        }
    }

    /// A frame's type and length, as soon as they are there.
    #[inline]
    fn read_head(&mut self, input: &mut &[u8]) -> Option<(u64, u64)> {
        if self.pending.is_empty() {
            let head = frame::read_head(input);
            if head.is_none() {
                self.pending.extend_from_slice(std::mem::take(input));
            }
            return head;
        }
        while let Some((&byte, rest)) = input.split_first() {
            self.pending.push(byte);
            *input = rest;
            let head = frame::read_head(&mut &self.pending[..]);
            if head.is_some() {
                self.pending.clear();
                return head;
            }
        }
        None
    }

    /// Begins a frame, where it may be.
    fn begin(&mut self, kind: u64, length: u64) -> Result<(), Fault> {
        match (kind, self.stage) {
            (kind::HEADERS, ReadStage::Trailers) => {
                return Err(Fault::Unexpected(kind, "behind the trailers"));
            }
            (kind::HEADERS, _) if length > MOST_FIELD_BYTES as u64 => {
                return Err(HpackError::TooLong(MOST_FIELD_BYTES).into());
            }
            (kind::DATA, ReadStage::Head) => {
                return Err(Fault::Unexpected(kind, "before the head"));
            }
            (kind::DATA, ReadStage::Trailers) => {
                return Err(Fault::Unexpected(kind, "behind the trailers"));
            }
            (kind::DATA, ReadStage::Body) if length > 0 => {}
            (kind::HEADERS, _) => {}
            (kind::SETTINGS | kind::GOAWAY | kind::MAX_PUSH_ID | kind::CANCEL_PUSH, _) => {
                return Err(Fault::Unexpected(kind, "on a request's stream"));
            }
            (kind::PUSH_PROMISE, _) => {
                let is_request = self.side == Side::Request;
                return Err(if is_request { PUSHED } else { Fault::Push });
            }
            _ if kind::OF_HTTP2.contains(&kind) => {
                return Err(Fault::Unexpected(kind, "of HTTP/2"));
            }
            _ => {
                self.passed_bytes = self.passed_bytes.saturating_add(HEAD_BYTES + length);
                if self.passed_bytes > MOST_PASSED_BYTES {
                    return Err(Fault::Flood(MOST_PASSED_BYTES));
                }
            }
        }
        self.frame = Some(Frame { kind, left: length });
        Ok(())
    }

    /// A block of fields, once all of it is there; the frame is then over.
    fn block<'a>(
        &mut self,
        frame: Frame,
        input: &mut &'a [u8],
        heads: &mut Heads,
    ) -> Result<Option<Event<'a>>, MessageError> {
        let length = (input.len() as u64).min(frame.left) as usize;
        let (piece, rest) = input.split_at(length);
        *input = rest;
        let left = frame.left - length as u64;
        if left == 0 && self.pending.is_empty() {
            self.frame = None;
            return self.whole_block(piece, heads);
        }
        self.pending.extend_from_slice(piece);
        if left > 0 {
            self.frame = Some(Frame { left, ..frame });
            return Ok(None);
        }
        self.frame = None;
        let pending = std::mem::take(&mut self.pending);
        self.whole_block(&pending, heads)
    }

    #[inline]
    fn whole_block<'a>(
        &mut self,
        block: &[u8],
        heads: &mut Heads,
    ) -> Result<Option<Event<'a>>, MessageError> {
        heads.read(block, MOST_FIELD_BYTES)?;
        match self.side {
            Side::Request => self.request(heads.fields()),
            Side::Answer { to_head } => self.answer(heads, to_head, block.len()),
        }
    }

    fn answer<'a>(
        &mut self,
        heads: &mut Heads,
        to_head: bool,
        block_bytes: usize,
    ) -> Result<Option<Event<'a>>, MessageError> {
        let Meaning { status, length } = heads.meaning().map_err(StreamFault::Malformed)?;
        match (status, self.stage) {
            (Some(101), _) => Err(StreamFault::Malformed(
                "101 Switching Protocols, which HTTP/3 has not",
            ))?,
            (Some(100..=199), ReadStage::Head) => {
                self.interim_bytes += block_bytes.max(1);
                if self.interim_bytes > MOST_FIELD_BYTES {
                    Err(StreamFault::TooManyInterim(MOST_FIELD_BYTES))?;
                }
                Ok(None)
            }
            (Some(status), ReadStage::Head) => {
                self.stage = ReadStage::Body;
                let has_no_body = to_head || matches!(status, 204 | 304);
                // What has no body may say how long it would be (RFC 9110, 8.6), and has none all the same.
                self.length_left = if has_no_body { Some(0) } else { length };
                Ok(Some(Event::Answer { status }))
            }
            (None, ReadStage::Head) => Err(StreamFault::Malformed("no :status"))?,
            (Some(_), _) => Err(StreamFault::Malformed("a second head"))?,
            (None, _) => {
                self.stage = ReadStage::Trailers;
                Ok(None)
            }
        }
    }

    fn request<'a>(&mut self, fields: &Fields) -> Result<Option<Event<'a>>, MessageError> {
        let asked = asked(fields).map_err(StreamFault::Malformed)?;
        self.length_left = match (asked, self.stage) {
            (Some(asked), ReadStage::Head) => asked.length,
            (Some(_), _) => Err(StreamFault::Malformed("a second head"))?,
            (None, ReadStage::Head) => Err(StreamFault::Malformed(
                "a request without :method, :scheme or :path",
            ))?,
            (None, _) => {
                self.stage = ReadStage::Trailers;
                return Ok(None);
            }
        };
        self.stage = ReadStage::Body;
        Ok(Some(Event::Request))
    }

    /// Counts a piece of the body.
    fn count(&mut self, bytes: u64) -> Result<(), StreamFault> {
        if let Some(left) = &mut self.length_left {
            let Some(less) = left.checked_sub(bytes) else {
                return Err(StreamFault::Malformed(
                    "more body than content-length says, or its status allows",
                ));
            };
            *left = less;
        }
        Ok(())
    }
}
