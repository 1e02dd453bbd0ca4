//! Whose figures an exchange counts to, where requests have several names.

use super::{Exchange, Verdict};
use crate::context::ArmContext;
use crate::program::Program;
use crate::record::Failure;
use crate::record::by_request::{Answered, ByRequest};

impl Exchange {
    #[inline(never)]
    pub(super) fn note_by_request(&self, now_ns: u64, program: &Program, figures: &ByRequest) {
        let answered = Answered {
            status: self.status,
            failure: self.failure(),
            service_time_ns: self.age_ns(now_ns),
            response_time_ns: now_ns.saturating_sub(self.intended_ns),
        };
        figures.note_answer(self.name(program), answered);
    }

    /// The number of the name that its figures go by.
    pub(super) fn name(&self, program: &Program) -> u32 {
        let made = self.details.as_ref().and_then(|details| details.name);
        made.unwrap_or_else(|| program.templates[self.template as usize].name)
    }

    /// Counts by its name that `n` of it failed without an answer.
    #[cold]
    pub(crate) fn fail_by_request(
        &self,
        failure: Failure,
        n: u64,
        program: &Program,
        context: &ArmContext,
    ) {
        if let Some(figures) = &context.recorder.by_request {
            figures.fail(self.name(program), failure, n);
        }
    }

    /// What the verdict on its answer says has failed.
    pub(super) fn failure(&self) -> Option<Failure> {
        match self.verdict {
            Verdict::Wrong(failure) => Some(failure),
            Verdict::Right | Verdict::Pending => None,
        }
    }
}
