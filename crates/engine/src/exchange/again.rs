//! A request that is sent more than once: because its answer is a redirect, or because the server did not process it.

use super::{Exchange, Verdict};
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
    pub(crate) fn follow(&mut self, next: Vec<u8>, now_ns: u64, context: &mut ArmContext) {
        self.count_answer(context);
        self.begin_again(now_ns);
        self.redirects += 1;
        self.rendered = next;
    }

    /// Its service time goes on from its first send.
    fn begin_again(&mut self, now_ns: u64) {
        if self.begun_ns == 0 {
            self.begun_ns = self.since_ns;
        }
        self.since_ns = now_ns;
    }

    /// Whether it was never sent before.
    #[inline]
    pub(crate) fn is_first_send(&self) -> bool {
        self.begun_ns == 0
    }

    /// Turns to sending the same once more: one request, whose service time began with the first send.
    #[cold]
    pub(crate) fn send_again(&mut self, now_ns: u64, context: &ArmContext) {
        self.begin_again(now_ns);
        self.resent += 1;
        context.recorder.totals.resent.add(u64::from(self.taken));
    }

    /// Whether a peer that keeps saying that it did nothing for the request has had it often enough, or
    /// contradicts itself by the answer that it has begun.
    #[cold]
    pub(crate) fn is_final(&self) -> bool {
        self.resent >= MOST_RESENT || self.head.is_some()
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
        if let Some(&cut) = self.ends.get(gone - 1) {
            self.rendered.drain(..cut);
            self.ends.drain(..gone);
            self.ends.iter_mut().for_each(|end| *end -= cut);
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
        match redirects.next(self.bytes(program), self.redirects, answer, self.jar.line()) {
            Next::Nothing => None,
            Next::Request(next) => {
                self.following = Some(next);
                Some(Verdict::Right)
            }
            Next::Refused(failure, example) => {
                context.recorder.note_example(failure, || example);
                Some(Verdict::Wrong(failure))
            }
        }
    }
}
