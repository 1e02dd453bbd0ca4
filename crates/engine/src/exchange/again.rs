//! A request that is sent more than once: because its answer is a redirect, or because the server did not process it.

use super::{Details, Exchange, Verdict};
use crate::context::ArmContext;
use crate::program::Program;
use crate::protocol::ResponseHead;
use crate::protocol::redirect::{Next, Redirects};

/// So often a request is sent again on streams: where a peer refuses it each time, it has failed. Over HTTP/1 each
/// new connection has answered before, so that there is an end without a limit.
const MOST_RESENT: u32 = 8;

/// Methods of RFC 9110, 9.2.2, each with the space behind it.
const IDEMPOTENT: [&[u8]; 6] = [
    b"GET ",
    b"HEAD ",
    b"OPTIONS ",
    b"TRACE ",
    b"PUT ",
    b"DELETE ",
];

impl Exchange {
    /// Turns to the request that follows a redirect. All of them together are one request, whose
    /// service time began with the first; each may take as long as the plan's timeout.
    #[cold]
    pub(crate) fn follow(
        &mut self,
        next: Vec<u8>,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) {
        if let Some(figures) = &context.recorder.by_request {
            figures.note_followed(self.name(program), self.status);
        }
        self.count_answer(context);
        let details = self.begin_again(now_ns);
        details.redirects += 1;
        details.rendered = next;
    }

    /// Its service time goes on from its first send.
    fn begin_again(&mut self, now_ns: u64) -> &mut Details {
        let sent_ns = std::mem::replace(&mut self.since_ns, now_ns);
        let details = self.details();
        if details.begun_ns == 0 {
            details.begun_ns = sent_ns;
        }
        details
    }

    /// Whether it was never sent before.
    #[inline]
    pub(crate) fn is_first_send(&self) -> bool {
        let details = self.details.as_ref();
        details.is_none_or(|details| details.begun_ns == 0)
    }

    /// Turns to sending the same once more: one request, whose service time began with the first send.
    #[cold]
    pub(crate) fn send_again(&mut self, now_ns: u64, context: &ArmContext) {
        self.begin_again(now_ns).resent += 1;
        context.recorder.totals.resent.add(u64::from(self.taken));
    }

    /// Whether a peer that keeps saying that it did nothing for the request has had it often enough, or
    /// contradicts itself by the answer that it has begun.
    #[cold]
    pub(crate) fn is_final(&self) -> bool {
        self.status != 0
            || self
                .details
                .as_ref()
                .is_some_and(|details| details.resent >= MOST_RESENT)
    }

    /// Whether the requests taken may be sent twice without another effect than once (RFC 9110, 9.2.2).
    #[cold]
    pub(crate) fn is_idempotent(&self, program: &Program) -> bool {
        let bytes = self.bytes(program);
        IDEMPOTENT.iter().any(|method| bytes.starts_with(method))
    }

    /// Forgets the requests taken but for the last `count`; false where their bytes cannot be told apart.
    #[cold]
    pub(crate) fn keep_last(&mut self, count: u32, program: &Program) -> bool {
        let gone = self.taken.saturating_sub(count) as usize;
        if gone == 0 {
            return true;
        }
        if !program.templates[self.template as usize].is_divisible() {
            return false;
        }
        let Details { rendered, ends, .. } = self.details();
        if let Some(&cut) = ends.get(gone - 1) {
            rendered.drain(..cut);
            ends.drain(..gone);
            ends.iter_mut().for_each(|end| *end -= cut);
        }
        self.taken = count;
        true
    }

    /// Whether the answer is a redirect that is followed; or why not, as a verdict.
    #[inline]
    pub(super) fn redirected(
        &mut self,
        head: ResponseHead,
        program: &Program,
        context: &ArmContext,
    ) -> Option<Verdict> {
        let redirects = program.redirects.as_ref()?;
        self.follows(redirects, head, program, context)
    }

    #[inline(never)]
    fn follows(
        &mut self,
        redirects: &Redirects,
        head: ResponseHead,
        program: &Program,
        context: &ArmContext,
    ) -> Option<Verdict> {
        let answer = (head.status, context.heads.last_bytes());
        let cookies = self
            .details
            .as_ref()
            .map_or(&[][..], |details| details.jar.line());
        match redirects.next(self.bytes(program), self.redirects(), answer, cookies) {
            Next::Nothing => None,
            Next::Request(next) => {
                self.details().following = Some(next);
                Some(Verdict::Right)
            }
            Next::Refused(failure, example) => {
                context.recorder.note_example(failure, || example);
                Some(Verdict::Wrong(failure))
            }
        }
    }
}
