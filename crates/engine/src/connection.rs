//! One connection: which request it carries, and what became of the answer.
//!
//! ```text
//!            open                 established            all answers in
//!   Closed ────────▶ Opening, Shaking ───────▶ Busy ─────────────────────▶ Idle
//!     ▲                 │                       │ ▲        next request      │
//!     └──── failure ────┴────── failure ────────┘ └──────────────────────────┘
//! ```
//!
//! A request is counted as started when a connection takes it, before that connection is open.

mod answer;

use crate::desk::{Broken, Desk};
use crate::program::{Making, Program};
use crate::protocol::cookies::Jar;
use crate::protocol::{Decoder, Event, Head};
use crate::record::{Failure, Stamps};

/// Where a connection is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Closed,
    Opening,
    Shaking,
    Busy,
    Idle,
}

/// What is known of the answer that is coming in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Nothing wrong, nothing more to check.
    Right,
    /// The body is wanted.
    Pending,
    Wrong(Failure),
}

/// What the bytes read so far amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Answers are missing.
    Wait,
    /// All are in.
    Done {
        /// Whether another request can be sent on this connection.
        reusable: bool,
    },
    /// The answer was a redirect, and the request that follows it is to be sent.
    Follow {
        /// Whether it can be sent on this connection.
        reusable: bool,
    },
}

/// No connection answers so many requests.
const NONE_STRAYED: u32 = u32::MAX;

/// One connection and the request (or the pipelined requests) it carries.
#[derive(Debug)]
pub(crate) struct Connection<T> {
    pub(crate) transport: Option<T>,
    pub(crate) stage: Stage,
    /// Requests it carries whose answers are not complete.
    pub(crate) outstanding: u32,
    /// Index of the template they were made from.
    pub(crate) template: u32,
    /// Bytes of them that are sent.
    pub(crate) sent_bytes: usize,
    /// How many were taken at once.
    pub(crate) taken: u32,
    /// When they should have started (the send itself, in a closed loop).
    pub(crate) intended_ns: u64,
    /// When they were sent; before that, when the connection was begun.
    pub(crate) since_ns: u64,
    /// Requests answered since it was opened.
    pub(crate) served: u32,
    /// Failures in a row, of this connection and those before it in its place.
    pub(crate) failures: u32,
    pub(crate) was_opened: bool,
    /// How many requests were answered when bytes came that belong to no answer; [`NONE_STRAYED`]
    /// where none did.
    strayed_after: u32,
    /// Redirects followed for the request it carries.
    pub(crate) redirects: u32,
    pub(crate) stamps: Stamps,
    /// When that request was first sent, where redirects were followed.
    begun_ns: u64,
    /// The request that follows the answer which is coming in.
    following: Option<Vec<u8>>,
    was_answered: bool,
    is_answering: bool,
    verdict: Verdict,
    head: Option<Head>,
    /// The body, where it is wanted; before it the head, where the answer is handed over.
    body: Vec<u8>,
    /// Length of that head.
    head_bytes: usize,
    /// The bytes of requests that differ from each other.
    rendered: Vec<u8>,
    jar: Jar,
    decoder: Decoder,
}

impl<T> Connection<T> {
    pub(crate) fn new() -> Self {
        Self {
            transport: None,
            stage: Stage::Closed,
            outstanding: 0,
            template: 0,
            sent_bytes: 0,
            taken: 0,
            intended_ns: 0,
            since_ns: 0,
            served: 0,
            failures: 0,
            was_opened: false,
            strayed_after: NONE_STRAYED,
            redirects: 0,
            stamps: Stamps::default(),
            begun_ns: 0,
            following: None,
            was_answered: false,
            is_answering: false,
            verdict: Verdict::Right,
            head: None,
            body: Vec::new(),
            head_bytes: 0,
            rendered: Vec::new(),
            jar: Jar::default(),
            decoder: Decoder::new(),
        }
    }

    /// Takes `count` requests to carry.
    #[inline]
    pub(crate) fn take(&mut self, template: u32, count: u32, intended_ns: u64, now_ns: u64) {
        self.template = template;
        self.outstanding = count;
        self.taken = count;
        self.sent_bytes = 0;
        self.redirects = 0;
        self.intended_ns = intended_ns;
        self.since_ns = now_ns;
        self.stamps = Stamps::begun(now_ns);
    }

    /// The transport, and the part of the requests that is not sent yet.
    #[inline]
    pub(crate) fn writing<'a>(&'a mut self, program: &'a Program) -> Option<(&'a mut T, &'a [u8])> {
        let bytes = bytes_of(
            program,
            self.template,
            self.taken,
            self.redirects,
            &self.rendered,
        );
        let transport = self.transport.as_mut()?;
        Some((transport, &bytes[self.sent_bytes..]))
    }

    #[inline]
    pub(crate) fn is_all_sent(&self, program: &Program) -> bool {
        let bytes = bytes_of(
            program,
            self.template,
            self.taken,
            self.redirects,
            &self.rendered,
        );
        self.sent_bytes == bytes.len()
    }

    /// Makes the bytes of the requests taken, where they differ from each other.
    #[inline]
    pub(crate) fn render(&mut self, program: &Program, desk: &mut Desk) {
        match program.templates[self.template as usize].making() {
            Making::Ready => {}
            Making::Fill(varying) => {
                self.rendered.clear();
                for _ in 0..self.taken {
                    varying.render(
                        &mut desk.variables,
                        self.jar.line(),
                        &mut desk.scratch,
                        &mut self.rendered,
                    );
                }
            }
            Making::Ask => {
                self.rendered.clear();
                if let Some(supply) = &mut desk.supply {
                    supply.next(&mut self.rendered);
                }
            }
        }
    }

    /// Takes in bytes that were read at `now_ns`.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        mut input: &[u8],
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Result<Turn, Broken> {
        let template = &program.templates[self.template as usize];
        loop {
            // Whatever else comes before an answer is none of it.
            if !self.is_answering && input.first() == Some(&b'H') {
                self.is_answering = true;
                let first_byte_ns = now_ns.saturating_sub(self.since_ns);
                self.stamps.first_byte_ns = first_byte_ns;
                desk.ledger.first_byte_time.record(first_byte_ns);
            }
            let before = input;
            let is_head = template.is_head(&self.rendered);
            match self.decoder.next(&mut input, &mut desk.heads, is_head)? {
                None => return Ok(Turn::Wait),
                Some(Event::Head(head)) => {
                    if program.cookies {
                        self.jar.take_from(desk.heads.last_bytes());
                    }
                    self.stamps.note_head(head);
                    if let Some(log) = &mut desk.log {
                        log.note_answer(desk.heads.last_bytes(), input);
                    }
                    self.begin_answer(head, program, desk);
                }
                Some(Event::Body(data)) => {
                    desk.ledger.totals.body_bytes.add(data.len() as u64);
                    self.stamps.body_bytes += data.len() as u64;
                    if self.verdict == Verdict::Pending {
                        self.take_body(data, program, desk);
                    }
                }
                Some(Event::Stray(bytes)) => self.note_stray(bytes, before, desk),
                Some(Event::End { reusable }) => {
                    if let Some(next) = self.following.take() {
                        self.note_stray(input.len(), input, desk);
                        return Ok(self.follow(next, reusable, now_ns, program, desk));
                    }
                    self.end_answer(now_ns, program, desk);
                    if self.outstanding == 0 {
                        if !input.is_empty() {
                            self.note_stray(input.len(), input, desk);
                        }
                        return Ok(self.done(reusable, program));
                    }
                    if !reusable {
                        let detail = "the server closes before it answered all it was sent";
                        return Err(Broken::new(Failure::ClosedEarly, detail));
                    }
                }
            }
        }
    }

    /// The peer ended the stream while answers are missing.
    pub(crate) fn receive_close(
        &mut self,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Result<Turn, Broken> {
        if self.decoder.close()?.is_none() {
            return Err(match self.served {
                0 => Broken::new(Failure::ClosedEarly, "closed before the first answer"),
                _ => self.missing(Failure::ClosedIdle, "closed between two answers".into()),
            });
        }
        desk.ledger.totals.ended_by_close.add(1);
        if let Some(next) = self.following.take() {
            return Ok(self.follow(next, false, now_ns, program, desk));
        }
        self.end_answer(now_ns, program, desk);
        match self.outstanding {
            0 => Ok(Turn::Done { reusable: false }),
            _ => Err(Broken::new(
                Failure::ClosedEarly,
                "closed before it answered all it was sent",
            )),
        }
    }

    /// Bytes that belong to no answer: those before them count, but nobody can say what comes
    /// next, so the connection is not used again.
    #[cold]
    pub(crate) fn note_stray(&mut self, bytes: usize, seen: &[u8], desk: &Desk) {
        if bytes > 0 {
            let is_first = self.strayed_after == NONE_STRAYED;
            self.strayed_after = self.served;
            let seen = &seen[..bytes.min(seen.len())];
            desk.ledger.note_stray(bytes as u64, is_first, seen);
        }
    }

    /// Looks at what came after the end of the run: bytes that belong to no answer are noted,
    /// answers are not.
    pub(crate) fn look_over(&mut self, mut input: &[u8], program: &Program, desk: &mut Desk) {
        let template = &program.templates[self.template as usize];
        while !input.is_empty() {
            if self.outstanding == 0 {
                return self.note_stray(input.len(), input, desk);
            }
            let before = input;
            let is_head = template.is_head(&self.rendered);
            match self.decoder.next(&mut input, &mut desk.heads, is_head) {
                Ok(Some(Event::Stray(bytes))) => self.note_stray(bytes, before, desk),
                Ok(Some(Event::End { .. })) => self.outstanding -= 1,
                Ok(Some(Event::Head(_) | Event::Body(_))) => {}
                Ok(None) => return,
                // Whatever it is, it came too late to be told.
                Err(_) => return self.stage = Stage::Closed,
            }
        }
    }

    /// What failed where the peer ends, or says nothing more, although an answer is missing. Stray
    /// bytes that no answer follows were what the peer had to say to the request.
    pub(crate) fn missing(&self, failure: Failure, detail: String) -> Broken {
        match self.strayed_after == self.served {
            true => Broken::new(
                Failure::BadAnswer,
                "bytes that begin no answer, and none after them",
            ),
            false => Broken::new(failure, detail),
        }
    }

    #[inline]
    fn done(&self, reusable: bool, program: &Program) -> Turn {
        Turn::Done {
            reusable: reusable && self.is_in_step(program),
        }
    }

    /// Whether another request can follow those that were answered.
    #[inline]
    fn is_in_step(&self, program: &Program) -> bool {
        // An answer that came before its request was sent leaves the stream out of step.
        self.is_all_sent(program)
            && self.served < program.requests_per_connection
            && self.strayed_after == NONE_STRAYED
    }

    /// Makes the place ready for a new connection.
    pub(crate) fn clear(&mut self, desk: &mut Desk) {
        self.transport = None;
        self.stage = Stage::Closed;
        self.outstanding = 0;
        self.served = 0;
        self.is_answering = false;
        self.strayed_after = NONE_STRAYED;
        self.verdict = Verdict::Right;
        self.head = None;
        self.following = None;
        self.decoder.reset();
        if self.body.capacity() > 0 {
            self.give_body_back(desk);
        }
    }
}

/// The bytes of the requests that a connection carries.
#[inline]
fn bytes_of<'a>(
    program: &'a Program,
    template: u32,
    taken: u32,
    redirects: u32,
    rendered: &'a [u8],
) -> &'a [u8] {
    match redirects {
        0 => program.templates[template as usize]
            .fixed(taken)
            .unwrap_or(rendered),
        _ => rendered,
    }
}
