//! One connection's stream of answers.
//!
//! ```text
//!   First ──▶ Body(length | chunks | until close) ──▶ End ──▶ Between ──▶ Body …
//!     └─ 1xx: back to it        └─ close ends a body that has no other end
//! ```
//!
//! Bytes between two answers that begin none belong to nobody: a peer that sends more than it
//! announced, or an empty line after a body. They are stray, told as such and passed over, so
//! that an answer means the same whether they came with its end, or later, or byte by byte.

use super::chunked::{ChunkPart, Chunks};
use super::{Fault, Framing, Heads, MAX_HEAD_BYTES, ResponseHead};

/// What every answer begins with that httparse takes.
const BEGINNING: &[u8] = b"HTTP/1.";
/// A buffer for split heads is kept for the next one up to this size.
const KEPT_BYTES: usize = 1024;

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head of a final answer. [`Heads::last_bytes`] has its bytes.
    Head(ResponseHead),
    /// A piece of the body, without its framing.
    Body(&'a [u8]),
    /// So many bytes that belong to no answer.
    Stray(usize),
    /// The answer is complete; whether the connection can carry another one.
    End {
        /// False when the peer closes, or the end was the close.
        reusable: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecoderState {
    /// No answer has begun on this connection.
    First,
    /// An answer has ended.
    Between,
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// Turns the bytes of one connection into events.
#[derive(Debug)]
pub struct Decoder {
    state: DecoderState,
    keep_alive: bool,
    /// Bytes of interim answers before the final one.
    interim_bytes: usize,
    /// The beginning of a head, where it came in pieces.
    pending: Vec<u8>,
    /// How much was held when it was last parsed.
    parsed_bytes: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Waits for the head of the first answer.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: DecoderState::First,
            keep_alive: true,
            interim_bytes: 0,
            pending: Vec::new(),
            parsed_bytes: 0,
        }
    }

    /// Forgets the connection, for use on a new one.
    pub fn reset(&mut self) {
        self.state = DecoderState::First;
        self.interim_bytes = 0;
        self.pending.clear();
    }

    /// Whether part of an answer has been seen and its end has not.
    #[must_use]
    pub fn is_inside_answer(&self) -> bool {
        let is_waiting = matches!(self.state, DecoderState::First | DecoderState::Between);
        !is_waiting || !self.pending.is_empty() || self.interim_bytes > 0
    }

    /// The next event, taking its bytes off the front of `input`; None once more are needed
    /// (then `input` is empty). `answers_head` says that the answer belongs to a HEAD request.
    ///
    /// # Errors
    /// A [`Fault`] of the peer; the stream cannot be read any further.
    #[inline]
    pub fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        heads: &mut Heads,
        answers_head: bool,
    ) -> Result<Option<Event<'a>>, Fault> {
        match &mut self.state {
            DecoderState::First | DecoderState::Between if input.is_empty() => Ok(None),
            DecoderState::First | DecoderState::Between => self.head(input, heads, answers_head),
            DecoderState::Length(0) => Ok(Some(self.end(self.keep_alive))),
            _ if input.is_empty() => Ok(None),
            DecoderState::Length(remaining) => {
                let length = (*remaining).min(input.len() as u64) as usize;
                let (data, rest) = input.split_at(length);
                *input = rest;
                *remaining -= length as u64;
                Ok(Some(Event::Body(data)))
            }
            DecoderState::Chunked(chunks) => match chunks.advance(input)? {
                ChunkPart::Data(data) => Ok(Some(Event::Body(data))),
                ChunkPart::End => Ok(Some(self.end(self.keep_alive))),
                ChunkPart::More => Ok(None),
            },
            DecoderState::UntilClose => Ok(Some(Event::Body(std::mem::take(input)))),
        }
    }

    /// The peer closed. The end of an answer where that is its end, or all of its body is there; None between answers.
    ///
    /// # Errors
    /// A [`Fault`] inside a head or a body that announced its end.
    pub fn close(&mut self) -> Result<Option<Event<'static>>, Fault> {
        match self.state {
            DecoderState::UntilClose => Ok(Some(self.end(false))),
            DecoderState::Chunked(chunks) if chunks.is_complete() => Ok(Some(self.end(false))),
            DecoderState::First | DecoderState::Between if !self.is_inside_answer() => Ok(None),
            // What was wrong with it may not have been looked for yet.
            DecoderState::First | DecoderState::Between => {
                match Heads::new().parse(&self.pending) {
                    Err(fault) => Err(fault),
                    Ok(_) => Err(Fault::ClosedInHead),
                }
            }
            DecoderState::Length(_) | DecoderState::Chunked(_) => Err(Fault::ClosedInBody),
        }
    }

    fn end<'a>(&mut self, reusable: bool) -> Event<'a> {
        self.state = DecoderState::Between;
        self.interim_bytes = 0;
        Event::End { reusable }
    }

    #[inline]
    fn head<'a>(
        &mut self,
        input: &mut &'a [u8],
        heads: &mut Heads,
        answers_head: bool,
    ) -> Result<Option<Event<'a>>, Fault> {
        loop {
            let remembered = match self.pending.is_empty() {
                true => heads.recall(input),
                false => None,
            };
            let (head, length) = match remembered {
                Some((head, length)) => {
                    *input = &input[length..];
                    (head, length)
                }
                None => match self.new_head(input, heads)? {
                    Parsed::Head(head, length) => (head, length),
                    Parsed::Stray(bytes) => return Ok(Some(Event::Stray(bytes))),
                    Parsed::More => return Ok(None),
                },
            };
            if head.status >= 200 {
                self.keep_alive = head.keep_alive;
                self.state = body_state(&head, answers_head);
                return Ok(Some(Event::Head(head)));
            }
            self.interim_answer(&head, length)?;
            if input.is_empty() {
                return Ok(None);
            }
        }
    }

    /// A head that is not the one before, or comes in pieces; or bytes that begin none.
    #[cold]
    fn new_head(&mut self, input: &mut &[u8], heads: &mut Heads) -> Result<Parsed, Fault> {
        if self.interim_bytes == 0 {
            let stray = match self.state {
                DecoderState::Between => self.pass_over(input),
                _ if self.pending.is_empty() => pass_over_line_ends(input),
                _ => 0,
            };
            if stray > 0 {
                return Ok(Parsed::Stray(stray));
            }
            if input.is_empty() {
                return Ok(Parsed::More);
            }
        }
        let found = if self.pending.is_empty() {
            let found = heads.parse(input)?;
            match found {
                Some((_, length)) => *input = &input[length..],
                None => self.pending.extend_from_slice(std::mem::take(input)),
            }
            self.parsed_bytes = self.pending.len();
            found
        } else {
            self.complete_held(input, heads)?
        };
        Ok(found.map_or(Parsed::More, |(head, length)| Parsed::Head(head, length)))
    }

    /// Takes bytes off the input up to the next that may begin an answer, and holds the beginning
    /// of one that is not all there. How many it took that begin none.
    fn pass_over(&mut self, input: &mut &[u8]) -> usize {
        let mut stray = 0;
        while self.pending.len() < BEGINNING.len() {
            if self.pending.is_empty() && input.starts_with(BEGINNING) {
                break;
            }
            let Some((&byte, rest)) = input.split_first() else {
                break;
            };
            if byte == BEGINNING[self.pending.len()] {
                self.pending.push(byte);
                *input = rest;
            } else if self.pending.is_empty() {
                stray += 1;
                *input = rest;
            } else {
                // None of what is held can begin an answer: its first letter is in it once only.
                stray += self.pending.len();
                self.pending.clear();
            }
        }
        stray
    }

    /// Adds input to a head that came in pieces, up to its empty line and not beyond. It is parsed
    /// there, and once where each piece ends, so that a fault is seen as soon as its bytes are
    /// here; a long head only where it has doubled, so that it never costs its square.
    #[cold]
    fn complete_held(
        &mut self,
        input: &mut &[u8],
        heads: &mut Heads,
    ) -> Result<Option<(ResponseHead, usize)>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            self.pending.push(byte);
            *input = rest;
            let is_end = byte == b'\n'
                && (self.pending.ends_with(b"\n\n") || self.pending.ends_with(b"\n\r\n"));
            let is_check_due = rest.is_empty()
                && (self.pending.len() <= KEPT_BYTES
                    || self.pending.len() >= 2 * self.parsed_bytes);
            if is_end || is_check_due {
                self.parsed_bytes = self.pending.len();
                if let Some(found) = heads.read(&self.pending)? {
                    self.pending.clear();
                    self.pending.shrink_to(KEPT_BYTES);
                    return Ok(Some(found));
                }
            }
            if self.pending.len() > MAX_HEAD_BYTES {
                return Err(Fault::HeadTooLarge);
            }
        }
        Ok(None)
    }

    fn interim_answer(&mut self, head: &ResponseHead, length: usize) -> Result<(), Fault> {
        if head.status == 101 {
            return Err(Fault::Upgrade);
        }
        self.interim_bytes += length;
        if self.interim_bytes > MAX_HEAD_BYTES {
            return Err(Fault::TooManyInterim);
        }
        Ok(())
    }
}

impl Framing {
    /// How much of a body has come of an answer that is given up, in words. `is_until_close` says that one without a
    /// length ends with its connection.
    pub(crate) fn so_far(self, bytes: u64, is_until_close: bool) -> String {
        match self {
            Self::Length(length) => format!(", with {bytes} of the body's {length} bytes"),
            Self::UntilClose if is_until_close => format!(
                ", with {bytes} bytes of a body that only a close ends: its head says no length"
            ),
            Self::Chunked | Self::UntilClose => {
                format!(", with {bytes} bytes of a body and no end")
            }
        }
    }
}

/// Takes line ends off the input. Before the first answer nothing else can be passed over: who
/// speaks something else than HTTP must not seem silent.
fn pass_over_line_ends(input: &mut &[u8]) -> usize {
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let count = input.iter().take_while(|byte| is_line_end(byte)).count();
    *input = &input[count..];
    count
}

/// What [`Decoder::new_head`] found.
enum Parsed {
    /// A head and its length.
    Head(ResponseHead, usize),
    /// So many bytes that begin none.
    Stray(usize),
    /// All input is used up.
    More,
}

/// RFC 9112, 6.3: answers to HEAD and those with status 204 or 304 have no body, whatever
/// their fields say.
fn body_state(head: &ResponseHead, answers_head: bool) -> DecoderState {
    if answers_head || head.status == 204 || head.status == 304 {
        return DecoderState::Length(0);
    }
    match head.framing {
        Framing::Length(length) => DecoderState::Length(length),
        Framing::Chunked => DecoderState::Chunked(Chunks::new()),
        Framing::UntilClose => DecoderState::UntilClose,
    }
}
