//! When to look at which connection's timer.

use std::collections::BTreeSet;

use crate::control::NEVER;

/// The connections of an arm by when their timers are to be looked at: at most one entry each, and never a late one. A
/// timer that is put off keeps its entry, which is looked at too early and then put where it belongs: most are put off
/// with every datagram.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(u64, u32)>);

impl Timers {
    /// Lets a connection's timer be looked at in time; `queued_ns` is when it would be.
    pub(super) fn set(&mut self, number: u32, queued_ns: &mut u64, due_ns: u64) {
        if due_ns < *queued_ns {
            self.forget(number, queued_ns);
            self.0.insert((due_ns, number));
            *queued_ns = due_ns;
        }
    }

    pub(super) fn forget(&mut self, number: u32, queued_ns: &mut u64) {
        if *queued_ns != NEVER {
            self.0.remove(&(*queued_ns, number));
            *queued_ns = NEVER;
        }
    }

    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.0.first().map_or(NEVER, |(at_ns, _)| *at_ns)
    }

    /// Takes out the first connection that is to be looked at by now.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<u32> {
        let (at_ns, _) = self.0.first()?;
        if *at_ns > now_ns {
            return None;
        }
        self.0.pop_first().map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::{NEVER, Timers};

    /// Connections that rest, are asked, and rest again; now and then one is opened anew.
    #[test]
    fn there_is_no_more_than_one_entry_for_a_connection() {
        const RESTS_NS: u64 = 1_000_000;
        const ASKED_NS: u64 = 1_000;
        let (mut timers, mut queued) = (Timers::default(), [NEVER; 3]);
        let mut now_ns = 0;
        for round in 0..1_000 {
            for number in 0..3_u32 {
                let queued_ns = &mut queued[number as usize];
                timers.set(number, queued_ns, now_ns + RESTS_NS);
                timers.set(number, queued_ns, now_ns + ASKED_NS);
                assert_eq!(*queued_ns, now_ns + ASKED_NS);
            }
            now_ns += ASKED_NS;
            while let Some(number) = timers.take_due(now_ns) {
                queued[number as usize] = NEVER;
                timers.set(number, &mut queued[number as usize], now_ns + RESTS_NS);
            }
            if round % 10 == 0 {
                timers.forget(1, &mut queued[1]);
            }
            assert!(timers.0.len() <= 3, "{} in round {round}", timers.0.len());
            assert!(timers.next_ns() > now_ns);
        }
    }
}
