//! What becomes of one answer: checked, followed, or counted.

use super::{Connection, Turn, Verdict, bytes_of};
use crate::desk::Desk;
use crate::expect::Check;
use crate::program::{Inspection, Program};
use crate::protocol::redirect::Next;
use crate::protocol::{Framing, Head};
use crate::record::Failure;
use crate::supply::Answer;

impl<T> Connection<T> {
    #[inline]
    pub(super) fn begin_answer(&mut self, head: Head, program: &Program, desk: &mut Desk) {
        self.head = Some(head);
        if let Some(verdict) = self.redirected(head, program, desk) {
            self.verdict = verdict;
            return;
        }
        self.verdict = match &program.templates[self.template as usize].inspection {
            Inspection::Nothing => Verdict::Right,
            Inspection::Check(check) => self.check_head(head, check, desk),
            Inspection::HandOver => self.keep_head(desk),
        };
    }

    /// Keeps the head with the body that follows it: other connections' heads come in between.
    fn keep_head(&mut self, desk: &mut Desk) -> Verdict {
        self.body = desk.lend_body(true);
        self.head_bytes = self.body.len();
        Verdict::Pending
    }

    fn hand_over(&mut self, desk: &mut Desk) {
        if let (Some(head), Some(supply)) = (self.head, &mut desk.supply) {
            let (head_bytes, body) = self.body.split_at(self.head_bytes);
            supply.answered(Answer {
                status: head.status,
                head: head_bytes,
                body,
            });
        }
        self.verdict = Verdict::Right;
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
            self.body = desk.lend_body(false);
            return Verdict::Pending;
        }
        Verdict::Right
    }

    pub(super) fn take_body(&mut self, data: &[u8], program: &Program, desk: &mut Desk) {
        let is_whole = self.body.is_empty()
            && self
                .head
                .is_some_and(|head| head.framing == Framing::Length(data.len() as u64));
        if is_whole {
            self.check_body(Some(data), program, desk);
        } else if !desk.grow_body(&mut self.body, data, program.held_body_bytes) {
            let wrong = Failure::UnexpectedBody;
            desk.ledger.note_example(wrong, || {
                "not checked: bodies that are checked take more memory than the plan's held_body_bytes"
                    .into()
            });
            self.verdict = Verdict::Wrong(wrong);
        }
    }

    /// Checks `whole`, or what was collected.
    fn check_body(&mut self, whole: Option<&[u8]>, program: &Program, desk: &mut Desk) {
        let template = &program.templates[self.template as usize];
        let number = self.head.map_or(0, |head| head.encoding);
        let encoding = &desk.heads.encodings()[usize::from(number)];
        let body = whole.unwrap_or(&self.body);
        let fault = match &template.inspection {
            Inspection::Check(check) => check.body_fault(body, encoding, program.held_body_bytes),
            Inspection::Nothing | Inspection::HandOver => None,
        };
        self.verdict = match fault {
            None => Verdict::Right,
            Some(fault) => {
                desk.ledger.note_example(Failure::UnexpectedBody, || fault);
                Verdict::Wrong(Failure::UnexpectedBody)
            }
        };
    }

    #[inline]
    pub(super) fn end_answer(&mut self, now_ns: u64, program: &Program, desk: &mut Desk) {
        if self.verdict == Verdict::Pending {
            match program.templates[self.template as usize].inspection {
                Inspection::HandOver => self.hand_over(desk),
                Inspection::Check(_) | Inspection::Nothing => self.check_body(None, program, desk),
            }
        }
        if self.body.capacity() > 0 {
            self.give_body_back(desk);
        }
        self.outstanding -= 1;
        self.count_answer(desk);
        if let Some(log) = &mut desk.log {
            let failure = match self.verdict {
                Verdict::Wrong(failure) => Some(failure),
                Verdict::Right | Verdict::Pending => None,
            };
            log.note_end(self.stamps, now_ns, failure);
        }
        let ledger = &desk.ledger;
        if let Verdict::Wrong(failure) = self.verdict {
            // Its example was noted where it was seen.
            ledger.fail(failure, 1, String::new);
            return;
        }
        ledger.totals.completed.add(1);
        let sent_ns = match self.redirects {
            0 => self.since_ns,
            _ => self.begun_ns,
        };
        ledger.service_time.record(now_ns.saturating_sub(sent_ns));
        if let Some(times) = &ledger.open_loop {
            times
                .response_time
                .record(now_ns.saturating_sub(self.intended_ns));
        }
    }

    #[inline]
    fn count_answer(&mut self, desk: &Desk) {
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
            ledger.in_http10.add(u64::from(head.is_http10));
        }
    }

    pub(super) fn give_body_back(&mut self, desk: &mut Desk) {
        desk.take_body_back(std::mem::take(&mut self.body));
    }

    /// Turns to the request that follows a redirect. All of them together are one request, whose
    /// service time began with the first; each may take as long as the plan's timeout.
    #[cold]
    pub(super) fn follow(
        &mut self,
        next: Vec<u8>,
        reusable: bool,
        now_ns: u64,
        program: &Program,
        desk: &mut Desk,
    ) -> Turn {
        self.count_answer(desk);
        let reusable = reusable && self.is_in_step(program);
        if self.redirects == 0 {
            self.begun_ns = self.since_ns;
        }
        self.redirects += 1;
        self.rendered = next;
        self.sent_bytes = 0;
        self.since_ns = now_ns;
        Turn::Follow { reusable }
    }

    /// Whether the answer is a redirect that is followed; or why not, as a verdict.
    #[inline]
    fn redirected(&mut self, head: Head, program: &Program, desk: &Desk) -> Option<Verdict> {
        let redirects = program.redirects.as_ref()?;
        let answer = (head.status, desk.heads.last_bytes());
        let request = bytes_of(program, self.template, 1, self.redirects, &self.rendered);
        match redirects.next(request, self.redirects, answer, self.jar.line()) {
            Next::Nothing => None,
            Next::Request(next) => {
                self.following = Some(next);
                Some(Verdict::Right)
            }
            Next::Refused(failure, example) => {
                desk.ledger.note_example(failure, || example);
                Some(Verdict::Wrong(failure))
            }
        }
    }
}
