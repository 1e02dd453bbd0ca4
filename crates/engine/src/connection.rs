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

use crate::desk::{Broken, Desk};
use crate::expect::{Check, MAX_CHECKED_BODY_BYTES};
use crate::program::{Program, Template};
use crate::protocol::cookies::Jar;
use crate::protocol::{Decoder, Event, Framing, Head};
use crate::record::Failure;

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
    /// The body is wanted for a check.
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
}

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
    was_answered: bool,
    is_answering: bool,
    verdict: Verdict,
    head: Option<Head>,
    body: Vec<u8>,
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
            was_answered: false,
            is_answering: false,
            verdict: Verdict::Right,
            head: None,
            body: Vec::new(),
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
        self.intended_ns = intended_ns;
        self.since_ns = now_ns;
    }

    /// The transport, and the part of the requests that is not sent yet.
    #[inline]
    pub(crate) fn writing<'a>(&'a mut self, program: &'a Program) -> Option<(&'a mut T, &'a [u8])> {
        let template = &program.templates[self.template as usize];
        let bytes = template.fixed(self.taken).unwrap_or(&self.rendered);
        let transport = self.transport.as_mut()?;
        Some((transport, &bytes[self.sent_bytes..]))
    }

    #[inline]
    pub(crate) fn is_all_sent(&self, program: &Program) -> bool {
        let template = &program.templates[self.template as usize];
        let bytes = template.fixed(self.taken).unwrap_or(&self.rendered);
        self.sent_bytes == bytes.len()
    }

    /// Makes the bytes of the requests taken, where they differ from each other.
    #[inline]
    pub(crate) fn render(&mut self, program: &Program, desk: &mut Desk) {
        if let Some(varying) = program.templates[self.template as usize].varying() {
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
            if !self.is_answering && !input.is_empty() {
                self.is_answering = true;
                let first_byte_ns = now_ns.saturating_sub(self.since_ns);
                desk.ledger.first_byte_time.record(first_byte_ns);
            }
            match self
                .decoder
                .next(&mut input, &mut desk.heads, template.is_head)?
            {
                None => return Ok(Turn::Wait),
                Some(Event::Head(head)) => {
                    if program.cookies {
                        self.jar.take_from(desk.heads.last_bytes());
                    }
                    self.begin_answer(head, template, desk);
                }
                Some(Event::Body(data)) => {
                    desk.ledger.totals.body_bytes.add(data.len() as u64);
                    if self.verdict == Verdict::Pending {
                        self.take_body(data, template, desk);
                    }
                }
                Some(Event::End { reusable }) => {
                    if self.outstanding == 1 && !input.is_empty() {
                        let detail = crate::record::example(input);
                        return Err(Broken::new(Failure::ExtraBytes, detail));
                    }
                    self.end_answer(now_ns, template, desk);
                    if self.outstanding == 0 {
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
                _ => Broken::new(Failure::ClosedIdle, "closed between two answers"),
            });
        }
        self.end_answer(now_ns, &program.templates[self.template as usize], desk);
        match self.outstanding {
            0 => Ok(Turn::Done { reusable: false }),
            _ => Err(Broken::new(
                Failure::ClosedEarly,
                "closed before it answered all it was sent",
            )),
        }
    }

    #[inline]
    fn done(&self, reusable: bool, program: &Program) -> Turn {
        // An answer that came before its request was sent leaves the stream out of step.
        let is_all_sent = self.is_all_sent(program);
        Turn::Done {
            reusable: reusable && is_all_sent && self.served < program.requests_per_connection,
        }
    }

    #[inline]
    fn begin_answer(&mut self, head: Head, template: &Template, desk: &mut Desk) {
        self.head = Some(head);
        self.verdict = match &template.check {
            None => Verdict::Right,
            Some(check) => self.check_head(head, check, desk),
        };
    }

    fn check_head(&mut self, head: Head, check: &Check, desk: &mut Desk) -> Verdict {
        if !check.allows(head.status) {
            let wrong = Failure::UnexpectedStatus;
            desk.ledger
                .note_example(wrong, || crate::record::example(desk.heads.last_bytes()));
            return Verdict::Wrong(wrong);
        }
        if !desk.is_check_due(check.every) {
            return Verdict::Right;
        }
        desk.ledger.totals.checked.add(1);
        if let Some(fault) = check.header_fault(desk.heads.last_bytes()) {
            let wrong = Failure::UnexpectedHeader;
            desk.ledger.note_example(wrong, || fault);
            return Verdict::Wrong(wrong);
        }
        if check.wants_body() {
            self.body = desk.spare_bodies.pop().unwrap_or_default();
            return Verdict::Pending;
        }
        Verdict::Right
    }

    fn take_body(&mut self, data: &[u8], template: &Template, desk: &mut Desk) {
        let is_whole = self.body.is_empty()
            && self
                .head
                .is_some_and(|head| head.framing == Framing::Length(data.len() as u64));
        if is_whole {
            self.check_body(Some(data), template, desk);
        } else if self.body.len() + data.len() <= MAX_CHECKED_BODY_BYTES {
            self.body.extend_from_slice(data);
        } else {
            let wrong = Failure::UnexpectedBody;
            desk.ledger
                .note_example(wrong, || "too long to be checked".into());
            self.verdict = Verdict::Wrong(wrong);
        }
    }

    /// Checks `whole`, or what was collected.
    fn check_body(&mut self, whole: Option<&[u8]>, template: &Template, desk: &mut Desk) {
        let number = self.head.map_or(0, |head| head.encoding);
        let encoding = &desk.heads.encodings()[usize::from(number)];
        let body = whole.unwrap_or(&self.body);
        let fault = template
            .check
            .as_ref()
            .and_then(|check| check.body_fault(body, encoding));
        self.verdict = match fault {
            None => Verdict::Right,
            Some(fault) => {
                desk.ledger.note_example(Failure::UnexpectedBody, || fault);
                Verdict::Wrong(Failure::UnexpectedBody)
            }
        };
    }

    #[inline]
    fn end_answer(&mut self, now_ns: u64, template: &Template, desk: &mut Desk) {
        if self.verdict == Verdict::Pending {
            self.check_body(None, template, desk);
        }
        if self.body.capacity() > 0 {
            self.give_body_back(desk);
        }
        self.outstanding -= 1;
        self.served += 1;
        self.is_answering = false;
        self.failures = 0;
        let ledger = &desk.ledger;
        if !self.was_answered {
            self.was_answered = true;
            ledger.answered.add(1);
        }
        if let Some(head) = self.head.take() {
            ledger.statuses[usize::from(head.status)].add(1);
            ledger.encodings[usize::from(head.encoding)].add(1);
        }
        if let Verdict::Wrong(failure) = self.verdict {
            // Its example was noted where it was seen.
            ledger.fail(failure, 1, String::new);
            return;
        }
        ledger.totals.completed.add(1);
        ledger
            .service_time
            .record(now_ns.saturating_sub(self.since_ns));
        if let Some(times) = &ledger.open_loop {
            times
                .response_time
                .record(now_ns.saturating_sub(self.intended_ns));
        }
    }

    fn give_body_back(&mut self, desk: &mut Desk) {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        desk.spare_bodies.push(body);
    }

    /// Makes the place ready for a new connection.
    pub(crate) fn clear(&mut self, desk: &mut Desk) {
        self.transport = None;
        self.stage = Stage::Closed;
        self.outstanding = 0;
        self.served = 0;
        self.is_answering = false;
        self.verdict = Verdict::Right;
        self.head = None;
        self.decoder.reset();
        if self.body.capacity() > 0 {
            self.give_body_back(desk);
        }
    }
}
