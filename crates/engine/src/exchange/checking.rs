//! What becomes of an answer that is looked at: checked by what the plan expects, or handed over to a script.

use super::{Exchange, Verdict};
use crate::context::ArmContext;
use crate::expect::Check;
use crate::program::{Inspection, Program};
use crate::protocol::ResponseHead;
use crate::record::Failure;
use crate::supply::Answer;

impl Exchange {
    /// Keeps the head with the body that follows it: other connections' heads come in between.
    pub(super) fn keep_head(&mut self, context: &mut ArmContext) -> Verdict {
        let details = self.details();
        details.body = context.lend_body(true);
        details.head_bytes = details.body.len();
        Verdict::Pending
    }

    fn hand_over(&mut self, context: &mut ArmContext) {
        if let (Some(details), Some(supply)) = (&self.details, &mut context.supply) {
            let (head, body) = details.body.split_at(details.head_bytes);
            supply.answered(Answer {
                status: self.status,
                head,
                body,
            });
        }
        self.verdict = Verdict::Right;
    }

    pub(super) fn check_head(
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
            self.details().body = context.lend_body(false);
            return Verdict::Pending;
        }
        Verdict::Right
    }

    #[inline(never)]
    pub(super) fn take_body(&mut self, data: &[u8], program: &Program, context: &mut ArmContext) {
        if self.is_whole && self.details().body.is_empty() {
            self.check_body(Some(data), program, context);
        } else if !context.grow_body(&mut self.details().body, data, program.held_body_bytes) {
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
        let encoding = &context.heads.encodings()[usize::from(self.encoding)];
        let collected = self
            .details
            .as_ref()
            .map_or(&[][..], |details| &details.body);
        let body = whole.unwrap_or(collected);
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

    /// Decides what only the whole answer tells.
    #[inline(never)]
    pub(super) fn decide(&mut self, program: &Program, context: &mut ArmContext) {
        match program.templates[self.template as usize].inspection {
            Inspection::HandOver => self.hand_over(context),
            Inspection::Check(_) | Inspection::Nothing => self.check_body(None, program, context),
        }
    }
}
