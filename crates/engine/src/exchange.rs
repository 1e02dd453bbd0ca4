//! One exchange: a request that is under way, and what becomes of its answer: checked, followed, or counted.
//!
//! Which connection it goes over is not known here: one of HTTP/1 carries it alone, one of HTTP/2 or HTTP/3 among others.

mod again;

use crate::context::ArmContext;
use crate::expect::Check;
use crate::program::{Inspection, Making, Program};
use crate::protocol::cookies::Jar;
use crate::protocol::{Framing, ResponseHead};
use crate::record::{Failure, Stamps};
use crate::supply::Answer;

/// What is known of the answer that is coming in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Nothing wrong, nothing more to check.
    Right,
    /// The body is wanted.
    Pending,
    Wrong(Failure),
}

/// A request (or pipelined ones, made from one template) and the answer that is coming in.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Index of the template that it was made from.
    pub(crate) template: u32,
    /// How many were taken at once.
    pub(crate) taken: u32,
    /// When it should have started (the send itself, in a closed loop).
    pub(crate) intended_ns: u64,
    /// When it was sent; before that, when it was taken or its connection was begun.
    pub(crate) since_ns: u64,
    /// Redirects followed for it.
    pub(crate) redirects: u32,
    /// Failures in a row, of this one and those before it in its place.
    pub(crate) failures: u32,
    pub(crate) stamps: Stamps,
    /// When it was first sent, where redirects were followed or it was sent again; 0 before that.
    begun_ns: u64,
    /// How often it was sent again.
    resent: u32,
    /// The request that follows the answer which is coming in.
    following: Option<Vec<u8>>,
    verdict: Verdict,
    /// The head of the answer that is coming in.
    pub(crate) head: Option<ResponseHead>,
    /// The body, where it is wanted; before it the head, where the answer is handed over.
    body: Vec<u8>,
    /// Length of that head.
    head_bytes: usize,
    /// The bytes of requests that differ from each other.
    pub(crate) rendered: Vec<u8>,
    /// Where each of them ends, where they are several.
    ends: Vec<usize>,
    jar: Jar,
}

impl Exchange {
    pub(crate) fn new() -> Self {
        Self {
            template: 0,
            taken: 0,
            intended_ns: 0,
            since_ns: 0,
            redirects: 0,
            failures: 0,
            stamps: Stamps::default(),
            begun_ns: 0,
            resent: 0,
            following: None,
            verdict: Verdict::Right,
            head: None,
            body: Vec::new(),
            head_bytes: 0,
            rendered: Vec::new(),
            ends: Vec::new(),
            jar: Jar::default(),
        }
    }

    /// Takes `count` requests.
    #[inline]
    pub(crate) fn take(&mut self, template: u32, count: u32, intended_ns: u64, now_ns: u64) {
        self.template = template;
        self.taken = count;
        self.redirects = 0;
        self.begun_ns = 0;
        self.resent = 0;
        self.intended_ns = intended_ns;
        self.since_ns = now_ns;
        self.stamps = Stamps::begun(now_ns);
    }

    /// The bytes of what was taken, as HTTP/1 writes them.
    #[inline]
    pub(crate) fn bytes<'a>(&'a self, program: &'a Program) -> &'a [u8] {
        match self.redirects {
            0 => program.templates[self.template as usize]
                .fixed(self.taken)
                .unwrap_or(&self.rendered),
            _ => &self.rendered,
        }
    }

    /// Makes the bytes of the requests taken, where they differ from each other.
    #[inline]
    pub(crate) fn render(&mut self, program: &Program, context: &mut ArmContext) {
        let template = &program.templates[self.template as usize];
        if !matches!(template.making(), Making::Ready) {
            self.render_anew(template.making(), context);
        }
    }

    #[inline(never)]
    fn render_anew(&mut self, making: Making<'_>, context: &mut ArmContext) {
        match making {
            Making::Ready => {}
            Making::Fill(varying) => {
                self.rendered.clear();
                self.ends.clear();
                for _ in 0..self.taken {
                    varying.render(
                        &mut context.variables,
                        self.jar.line(),
                        &mut context.scratch,
                        &mut self.rendered,
                    );
                    if self.taken > 1 {
                        self.ends.push(self.rendered.len());
                    }
                }
            }
            Making::Ask => {
                self.rendered.clear();
                if let Some(supply) = &mut context.supply {
                    supply.next(&mut self.rendered);
                }
            }
        }
    }

    /// Whether it is for HEAD, whose answers have no body.
    #[inline]
    pub(crate) fn is_head(&self, program: &Program) -> bool {
        program.templates[self.template as usize].is_head(&self.rendered)
    }

    /// The first byte of an answer.
    #[inline]
    pub(crate) fn note_first_byte(&mut self, now_ns: u64, context: &ArmContext) {
        let first_byte_ns = now_ns.saturating_sub(self.since_ns);
        self.stamps.first_byte_ns = first_byte_ns;
        context.recorder.first_byte_time.record(first_byte_ns);
    }

    /// An answer's head, whose bytes the context has; `with_it` is what of the body came together with it.
    #[inline]
    pub(crate) fn take_head(
        &mut self,
        head: ResponseHead,
        with_it: &[u8],
        program: &Program,
        context: &mut ArmContext,
    ) {
        if program.cookies {
            self.jar.take_from(context.heads.last_bytes());
        }
        self.stamps.note_head(head);
        if let Some(log) = &mut context.log {
            log.note_answer(context.heads.last_bytes(), with_it);
        }
        self.head = Some(head);
        self.verdict = match self.redirected(head, program, context) {
            Some(verdict) => verdict,
            None => match &program.templates[self.template as usize].inspection {
                Inspection::Nothing => Verdict::Right,
                Inspection::Check(check) => self.check_head(head, check, context),
                Inspection::HandOver => self.keep_head(context),
            },
        };
    }

    /// A piece of its body.
    #[inline]
    pub(crate) fn take_data(&mut self, data: &[u8], program: &Program, context: &mut ArmContext) {
        context.recorder.totals.body_bytes.add(data.len() as u64);
        self.stamps.body_bytes += data.len() as u64;
        if self.verdict == Verdict::Pending {
            self.take_body(data, program, context);
        }
    }

    /// Forgets the answer that was coming in.
    pub(crate) fn clear(&mut self, context: &mut ArmContext) {
        self.verdict = Verdict::Right;
        self.head = None;
        self.following = None;
        if self.body.capacity() > 0 {
            self.give_body_back(context);
        }
    }

    /// Whether a request follows the answer which has come in.
    #[inline]
    pub(crate) fn is_followed(&self) -> bool {
        self.following.is_some()
    }

    /// The request that follows the answer which has come in, where it is a redirect that is followed.
    #[inline]
    pub(crate) fn take_following(&mut self) -> Option<Vec<u8>> {
        self.following.take()
    }

    /// Keeps the head with the body that follows it: other connections' heads come in between.
    fn keep_head(&mut self, context: &mut ArmContext) -> Verdict {
        self.body = context.lend_body(true);
        self.head_bytes = self.body.len();
        Verdict::Pending
    }

    fn hand_over(&mut self, context: &mut ArmContext) {
        if let (Some(head), Some(supply)) = (self.head, &mut context.supply) {
            let (head_bytes, body) = self.body.split_at(self.head_bytes);
            supply.answered(Answer {
                status: head.status,
                head: head_bytes,
                body,
            });
        }
        self.verdict = Verdict::Right;
    }

    fn check_head(
        &mut self,
        head: ResponseHead,
        check: &Check,
        context: &mut ArmContext,
    ) -> Verdict {
        if !check.allows(head.status) {
            let wrong = Failure::UnexpectedStatus;
            context
                .recorder
                .note_example(wrong, || crate::record::example(context.heads.last_bytes()));
            return Verdict::Wrong(wrong);
        }
        if !context.is_check_due(check.every) {
            return Verdict::Right;
        }
        context.recorder.totals.checked.add(1);
        if let Some(fault) = check.header_fault(context.heads.last_bytes()) {
            let wrong = Failure::UnexpectedHeader;
            context.recorder.note_example(wrong, || fault);
            return Verdict::Wrong(wrong);
        }
        if check.wants_body() {
            self.body = context.lend_body(false);
            return Verdict::Pending;
        }
        Verdict::Right
    }

    #[inline(never)]
    fn take_body(&mut self, data: &[u8], program: &Program, context: &mut ArmContext) {
        let is_whole = self.body.is_empty()
            && self
                .head
                .is_some_and(|head| head.framing == Framing::Length(data.len() as u64));
        if is_whole {
            self.check_body(Some(data), program, context);
        } else if !context.grow_body(&mut self.body, data, program.held_body_bytes) {
            let wrong = Failure::UnexpectedBody;
            context.recorder.note_example(wrong, || {
                "not checked: bodies that are checked take more memory than the plan's held_body_bytes"
                    .into()
            });
            self.verdict = Verdict::Wrong(wrong);
        }
    }

    /// Checks `whole`, or what was collected.
    fn check_body(&mut self, whole: Option<&[u8]>, program: &Program, context: &mut ArmContext) {
        let template = &program.templates[self.template as usize];
        let number = self.head.map_or(0, |head| head.encoding);
        let encoding = &context.heads.encodings()[usize::from(number)];
        let body = whole.unwrap_or(&self.body);
        let fault = match &template.inspection {
            Inspection::Check(check) => check.body_fault(body, encoding, program.held_body_bytes),
            Inspection::Nothing | Inspection::HandOver => None,
        };
        self.verdict = match fault {
            None => Verdict::Right,
            Some(fault) => {
                context
                    .recorder
                    .note_example(Failure::UnexpectedBody, || fault);
                Verdict::Wrong(Failure::UnexpectedBody)
            }
        };
    }

    #[inline]
    pub(crate) fn end_answer(&mut self, now_ns: u64, program: &Program, context: &mut ArmContext) {
        if self.verdict == Verdict::Pending {
            self.decide(program, context);
        }
        if self.body.capacity() > 0 {
            self.give_body_back(context);
        }
        self.count_answer(context);
        if context.log.is_some() {
            self.log_end(now_ns, context);
        }
        let recorder = &context.recorder;
        recorder.last_answer_ns.set(now_ns);
        if let Verdict::Wrong(failure) = self.verdict {
            // Its example was noted where it was seen.
            recorder.fail(failure, 1, String::new);
            return;
        }
        recorder.totals.completed.add(1);
        recorder.service_time.record(self.age_ns(now_ns));
        if let Some(times) = &recorder.open_loop {
            times
                .response_time
                .record(now_ns.saturating_sub(self.intended_ns));
        }
    }

    /// Decides what only the whole answer tells.
    #[inline(never)]
    fn decide(&mut self, program: &Program, context: &mut ArmContext) {
        match program.templates[self.template as usize].inspection {
            Inspection::HandOver => self.hand_over(context),
            Inspection::Check(_) | Inspection::Nothing => self.check_body(None, program, context),
        }
    }

    #[inline(never)]
    fn log_end(&self, now_ns: u64, context: &mut ArmContext) {
        let failure = match self.verdict {
            Verdict::Wrong(failure) => Some(failure),
            Verdict::Right | Verdict::Pending => None,
        };
        if let Some(log) = &mut context.log {
            log.note_end(self.stamps, now_ns, failure);
        }
    }

    /// What its service time would be, were the answer whole at that moment.
    #[inline]
    pub(crate) fn age_ns(&self, at_ns: u64) -> u64 {
        let sent_ns = match self.begun_ns {
            0 => self.since_ns,
            begun_ns => begun_ns,
        };
        at_ns.saturating_sub(sent_ns)
    }

    #[inline]
    fn count_answer(&mut self, context: &ArmContext) {
        self.failures = 0;
        let recorder = &context.recorder;
        if let Some(head) = self.head.take() {
            recorder.statuses[usize::from(head.status)].add(1);
            recorder.encodings[usize::from(head.encoding)].add(1);
            recorder.in_http10.add(u64::from(head.is_http10));
        }
    }

    #[inline(never)]
    fn give_body_back(&mut self, context: &mut ArmContext) {
        context.take_body_back(std::mem::take(&mut self.body));
    }
}
