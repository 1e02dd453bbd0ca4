//! One exchange: a request that is under way, and what becomes of its answer: checked, followed, or counted.
//!
//! Which connection it goes over is not known here: one of HTTP/1 carries it alone, one of HTTP/2 or HTTP/3 among others.

mod again;
mod checking;
mod naming;

use crate::context::ArmContext;
use crate::program::{Inspection, Making, Program};
use crate::protocol::cookies::Jar;
use crate::protocol::{Framing, ResponseHead};
use crate::record::{Failure, Stamps};

/// What is known of the answer that is coming in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Nothing wrong, nothing more to check.
    Right,
    /// The body is wanted.
    Pending,
    Wrong(Failure),
}

/// What stands for the two framings without a length, in place of one: no body is as long.
const CHUNKED: u64 = u64::MAX - 1;
const UNTIL_CLOSE: u64 = u64::MAX;

/// A request (or pipelined ones, made from one template) and the answer that is coming in.
///
/// Thousands may be under way, and memory is what most of their cost is: here is what every request needs, and in
/// [`Details`] what few do.
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
    /// Failures in a row, of this one and those before it in its place.
    pub(crate) failures: u8,
    verdict: Verdict,
    /// Of the answer that is coming in: its status (0 before its head), the number of its coding, its version.
    status: u16,
    encoding: u16,
    is_http10: bool,
    /// Whether all of the body came in one piece.
    is_whole: bool,
    /// How long its body is, or one of [`CHUNKED`] and [`UNTIL_CLOSE`].
    length: u64,
    details: Option<Box<Details>>,
}

const _: () = assert!(size_of::<Exchange>() <= 48);

/// Of an exchange: what its log, a body that is looked at, a request that is made anew, a redirect or a repetition needs.
#[derive(Debug, Default)]
struct Details {
    stamps: Stamps,
    /// When it was first sent, where redirects were followed or it was sent again; 0 before that.
    begun_ns: u64,
    /// Redirects followed for it.
    redirects: u32,
    /// How often it was sent again.
    resent: u32,
    /// Bytes of the body that is coming in in pieces.
    body_bytes: u64,
    /// The request that follows the answer which is coming in.
    following: Option<Vec<u8>>,
    /// The body, where it is wanted; before it the head, where the answer is handed over.
    body: Vec<u8>,
    /// Length of that head.
    head_bytes: usize,
    /// The bytes of requests that differ from each other.
    rendered: Vec<u8>,
    /// Where each of them ends, where they are several.
    ends: Vec<usize>,
    /// The number of its name, where a supply made it.
    name: Option<u32>,
    jar: Jar,
}

impl Exchange {
    /// `is_logged`: a log wants its stamps.
    pub(crate) fn new(is_logged: bool) -> Self {
        Self {
            template: 0,
            taken: 0,
            intended_ns: 0,
            since_ns: 0,
            failures: 0,
            verdict: Verdict::Right,
            status: 0,
            encoding: 0,
            is_http10: false,
            is_whole: false,
            length: UNTIL_CLOSE,
            details: is_logged.then(Box::default),
        }
    }

    #[inline]
    fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_with(Box::default)
    }

    /// What a log says of it, where one wants to.
    #[inline]
    pub(crate) fn stamps(&mut self) -> Option<&mut Stamps> {
        self.details.as_mut().map(|details| &mut details.stamps)
    }

    /// Redirects followed for it.
    #[inline]
    pub(crate) fn redirects(&self) -> u32 {
        self.details.as_ref().map_or(0, |details| details.redirects)
    }

    #[inline]
    fn rendered(&self) -> &[u8] {
        self.details
            .as_ref()
            .map_or(&[], |details| &details.rendered)
    }

    /// Takes `count` requests.
    #[inline]
    pub(crate) fn take(&mut self, template: u32, count: u32, intended_ns: u64, now_ns: u64) {
        self.template = template;
        self.taken = count;
        self.intended_ns = intended_ns;
        self.since_ns = now_ns;
        self.is_whole = false;
        if let Some(details) = &mut self.details {
            details.body_bytes = 0;
            details.redirects = 0;
            details.begun_ns = 0;
            details.resent = 0;
            details.stamps = Stamps::begun(now_ns);
        }
    }

    /// The bytes of what was taken, as HTTP/1 writes them.
    #[inline]
    pub(crate) fn bytes<'a>(&'a self, program: &'a Program) -> &'a [u8] {
        match self.redirects() {
            0 => program.templates[self.template as usize]
                .fixed(self.taken)
                .unwrap_or(self.rendered()),
            _ => self.rendered(),
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
        let taken = self.taken;
        let Details {
            rendered,
            ends,
            name,
            jar,
            ..
        } = self.details();
        rendered.clear();
        match making {
            Making::Ready => {}
            Making::Fill(varying) => {
                ends.clear();
                for _ in 0..taken {
                    varying.render(
                        &mut context.variables,
                        jar.line(),
                        &mut context.scratch,
                        rendered,
                    );
                    if taken > 1 {
                        ends.push(rendered.len());
                    }
                }
            }
            Making::Ask => {
                if let Some(supply) = &mut context.supply {
                    supply.next(rendered);
                    let by_request = context.recorder.by_request.as_deref();
                    *name = by_request.map(|figures| supply.number_of(rendered, figures));
                }
            }
        }
    }

    /// Whether it is for HEAD, whose answers have no body.
    #[inline]
    pub(crate) fn is_head(&self, program: &Program) -> bool {
        program.templates[self.template as usize].is_head(self.rendered())
    }

    /// The first byte of an answer; how long after the send, which the caller records.
    #[inline]
    pub(crate) fn note_first_byte(&mut self, now_ns: u64) -> u64 {
        let first_byte_ns = now_ns.saturating_sub(self.since_ns);
        if let Some(stamps) = self.stamps() {
            stamps.first_byte_ns = first_byte_ns;
        }
        first_byte_ns
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
            let jar = &mut self.details().jar;
            jar.take_from(context.heads.last_bytes());
        }
        if let Some(details) = &mut self.details {
            details.stamps.note_head(head);
            details.body_bytes = 0;
        }
        if let Some(log) = &mut context.log {
            log.note_answer(context.heads.last_bytes(), with_it);
        }
        self.status = head.status;
        self.encoding = head.encoding;
        self.is_http10 = head.is_http10;
        self.is_whole = false;
        self.length = match head.framing {
            Framing::Length(length) => length.min(CHUNKED - 1),
            Framing::Chunked => CHUNKED,
            Framing::UntilClose => UNTIL_CLOSE,
        };
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
        self.is_whole = self.length == data.len() as u64;
        if !self.is_whole {
            self.details().body_bytes += data.len() as u64;
        }
        if self.verdict == Verdict::Pending {
            self.take_body(data, program, context);
        }
    }

    /// Forgets the answer that was coming in.
    pub(crate) fn clear(&mut self, context: &mut ArmContext) {
        self.verdict = Verdict::Right;
        self.status = 0;
        if let Some(details) = &mut self.details {
            details.following = None;
            details.give_body_back(context);
        }
    }

    /// Whether a request follows the answer which has come in.
    #[inline]
    pub(crate) fn is_followed(&self) -> bool {
        let details = self.details.as_ref();
        details.is_some_and(|details| details.following.is_some())
    }

    /// The request that follows the answer which has come in, where it is a redirect that is followed.
    #[inline]
    pub(crate) fn take_following(&mut self) -> Option<Vec<u8>> {
        self.details.as_mut()?.following.take()
    }

    /// Counts the answer, which is complete; its service time where it was right, which the caller records.
    #[inline]
    pub(crate) fn end_answer(
        &mut self,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Option<u64> {
        if self.verdict == Verdict::Pending {
            self.decide(program, context);
        }
        if let Some(details) = &mut self.details {
            details.give_body_back(context);
        }
        if let Some(figures) = &context.recorder.by_request {
            self.note_by_request(now_ns, program, figures);
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
            return None;
        }
        recorder.totals.completed.add(1);
        if let Some(times) = &recorder.open_loop {
            times
                .response_time
                .record(now_ns.saturating_sub(self.intended_ns));
        }
        Some(self.age_ns(now_ns))
    }

    #[inline(never)]
    fn log_end(&mut self, now_ns: u64, context: &mut ArmContext) {
        self.log(now_ns, self.failure(), context);
    }

    /// Writes it into the log, where there is one, as it has come to that end.
    pub(crate) fn log(&mut self, now_ns: u64, failure: Option<Failure>, context: &mut ArmContext) {
        let body_bytes = self.body_bytes();
        if let (Some(log), Some(details)) = (&mut context.log, &mut self.details) {
            details.stamps.body_bytes = body_bytes;
            log.note_end(details.stamps, now_ns, failure);
        }
    }

    fn body_bytes(&self) -> u64 {
        match (self.is_whole, &self.details) {
            (true, _) => self.length,
            (false, Some(details)) => details.body_bytes,
            (false, None) => 0,
        }
    }

    /// How much of the answer's body has come, in words; None before its head. `is_until_close`: see
    /// [`Framing::so_far`].
    pub(crate) fn came_so_far(&self, is_until_close: bool) -> Option<String> {
        let framing = match self.length {
            CHUNKED => Framing::Chunked,
            UNTIL_CLOSE => Framing::UntilClose,
            length => Framing::Length(length),
        };
        (self.status != 0).then(|| framing.so_far(self.body_bytes(), is_until_close))
    }

    /// What its service time would be, were the answer whole at that moment.
    #[inline]
    pub(crate) fn age_ns(&self, at_ns: u64) -> u64 {
        let sent_ns = match &self.details {
            Some(details) if details.begun_ns > 0 => details.begun_ns,
            _ => self.since_ns,
        };
        at_ns.saturating_sub(sent_ns)
    }

    #[inline]
    fn count_answer(&mut self, context: &ArmContext) {
        self.failures = 0;
        let recorder = &context.recorder;
        let status = std::mem::take(&mut self.status);
        if status > 0 {
            recorder.statuses[usize::from(status)].add(1);
            recorder.encodings[usize::from(self.encoding)].add(1);
            recorder.in_http10.add(u64::from(self.is_http10));
        }
    }
}

impl Details {
    #[inline]
    fn give_body_back(&mut self, context: &mut ArmContext) {
        if self.body.capacity() > 0 {
            context.take_body_back(std::mem::take(&mut self.body));
        }
    }
}
