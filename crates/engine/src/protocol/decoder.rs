//! One connection's stream of answers.
//!
//! ```text
//!   Head ──▶ Body(length | chunks | until close) ──▶ End ──▶ Head …
//!     └─ 1xx: back to Head            └─ close ends a body that has no other end
//! ```

use super::chunked::{Chunks, Part};
use super::{Fault, Framing, Head, Heads, MAX_HEAD_BYTES};

/// Interim answers before a final one. A server sends one or two (100, 103).
const MAX_INTERIM: u8 = 32;
/// A buffer for split heads is kept for the next one up to this size.
const KEPT_BYTES: usize = 1024;

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head of a final answer. [`Heads::last_bytes`] has its bytes.
    Head(Head),
    /// A piece of the body, without its framing.
    Body(&'a [u8]),
    /// The answer is complete; whether the connection can carry another one.
    End {
        /// False when the peer closes, or the end was the close.
        reusable: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// Turns the bytes of one connection into events.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    keep_alive: bool,
    interim: u8,
    held: Vec<u8>,
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
            state: State::Head,
            keep_alive: true,
            interim: 0,
            held: Vec::new(),
        }
    }

    /// Forgets the connection, for use on a new one.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.interim = 0;
        self.held.clear();
    }

    /// Whether part of an answer has been seen and its end has not.
    #[must_use]
    pub fn is_inside_answer(&self) -> bool {
        self.state != State::Head || !self.held.is_empty() || self.interim > 0
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
            State::Head if input.is_empty() => Ok(None),
            State::Head => self.head(input, heads, answers_head),
            State::Length(0) => Ok(Some(self.end(self.keep_alive))),
            _ if input.is_empty() => Ok(None),
            State::Length(remaining) => {
                let length = (*remaining).min(input.len() as u64) as usize;
                let (data, rest) = input.split_at(length);
                *input = rest;
                *remaining -= length as u64;
                Ok(Some(Event::Body(data)))
            }
            State::Chunked(chunks) => match chunks.advance(input)? {
                Part::Data(data) => Ok(Some(Event::Body(data))),
                Part::End => Ok(Some(self.end(self.keep_alive))),
                Part::More => Ok(None),
            },
            State::UntilClose => Ok(Some(Event::Body(std::mem::take(input)))),
        }
    }

    /// The peer closed. The end of an answer where that is its end, None between answers.
    ///
    /// # Errors
    /// A [`Fault`] inside a head or a body that announced its end.
    pub fn close(&mut self) -> Result<Option<Event<'static>>, Fault> {
        match self.state {
            State::UntilClose => Ok(Some(self.end(false))),
            State::Head if !self.is_inside_answer() => Ok(None),
            State::Head => Err(Fault::ClosedInHead),
            State::Length(_) | State::Chunked(_) => Err(Fault::ClosedInBody),
        }
    }

    fn end<'a>(&mut self, reusable: bool) -> Event<'a> {
        self.state = State::Head;
        self.interim = 0;
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
            let found = if self.held.is_empty() {
                let found = heads.read(input)?;
                match found {
                    Some((_, length)) => *input = &input[length..],
                    None => self.held.extend_from_slice(std::mem::take(input)),
                }
                found
            } else {
                self.complete_held(input, heads)?
            };
            let Some((head, _)) = found else {
                return Ok(None);
            };
            if head.status >= 200 {
                self.keep_alive = head.keep_alive;
                self.state = body_state(&head, answers_head);
                return Ok(Some(Event::Head(head)));
            }
            self.interim_answer(&head)?;
            if input.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Adds input to a head that came in pieces, up to its empty line and not beyond. Parsing
    /// at line ends only keeps a head that comes byte by byte from costing its square, and
    /// still finds a bad line at once.
    #[cold]
    fn complete_held(
        &mut self,
        input: &mut &[u8],
        heads: &mut Heads,
    ) -> Result<Option<(Head, usize)>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            self.held.push(byte);
            *input = rest;
            if byte == b'\n' {
                if let Some(found) = heads.read(&self.held)? {
                    self.held.clear();
                    self.held.shrink_to(KEPT_BYTES);
                    return Ok(Some(found));
                }
            }
            if self.held.len() > MAX_HEAD_BYTES {
                return Err(Fault::HeadTooLarge);
            }
        }
        Ok(None)
    }

    fn interim_answer(&mut self, head: &Head) -> Result<(), Fault> {
        if head.status == 101 {
            return Err(Fault::Upgrade);
        }
        self.interim += 1;
        if self.interim > MAX_INTERIM {
            return Err(Fault::TooManyInterim);
        }
        Ok(())
    }
}

/// RFC 9112, 6.3: answers to HEAD and those with status 204 or 304 have no body, whatever
/// their fields say.
fn body_state(head: &Head, answers_head: bool) -> State {
    if answers_head || head.status == 204 || head.status == 304 {
        return State::Length(0);
    }
    match head.framing {
        Framing::Length(length) => State::Length(length),
        Framing::Chunked => State::Chunked(Chunks::new()),
        Framing::UntilClose => State::UntilClose,
    }
}
