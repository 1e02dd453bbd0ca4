//! [`Turnbook`]: what a lane that takes turns keeps beside its ledger.
//!
//! It has two ledgers. One is written in the lane's own slices and is what its figures come from, the
//! other while it rests: an answer that comes then is in the books and counts for nobody, a failure
//! counts. Which of the two is written is settled at each switch, so that a request pays nothing for it.

use std::sync::Arc;

use super::Lane;
use crate::clock::ThreadTimes;
use crate::course::Turn;
use crate::record::ledger::{Ledger, Part};
use crate::record::measurement::Phase;
use crate::transport::Transport;

pub(crate) struct Turnbook {
    /// The one of its two ledgers that is not written now.
    other: Arc<Ledger>,
    /// This worker's part of the slice that is under way, or that ended last.
    part: Part,
    /// Counts at the begin of that slice.
    begun: Part,
    /// Whether the part waits for the end of the settle time to be put down.
    is_pending: bool,
    /// Service times that earlier slices had.
    seen: Vec<u64>,
    /// Connections opened again up to the end of the last slice, and late answers up to its begin.
    reopened: u64,
    late: u64,
    /// The worker's time in the slices of the phase.
    cpu_ns: u64,
    wall_ns: u64,
}

/// Whether a worker found somebody there in a slice of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Somebody,
    Nobody,
    /// It did not ask.
    NotSought,
}

impl Found {
    /// By the worker's part of the slice, and connections that are open at its end. A server that answers
    /// nothing and closes each connection is there too: they are opened again.
    fn by(part: &Part, open: u64) -> Self {
        let is_there = part.completed > 0 || open > 0 || part.reopened > 0;
        match (is_there, part.failed > 0) {
            (true, _) => Self::Somebody,
            (false, true) => Self::Nobody,
            (false, false) => Self::NotSought,
        }
    }
}

impl Turnbook {
    pub(crate) fn new(other: Arc<Ledger>) -> Self {
        Self {
            other,
            part: Part::default(),
            begun: Part::default(),
            is_pending: false,
            seen: Vec::new(),
            reopened: 0,
            late: 0,
            cpu_ns: 0,
            wall_ns: 0,
        }
    }

    /// Writes into the other ledger from now on.
    fn turn_over(&mut self, ledger: &mut Arc<Ledger>) {
        ledger.hand_connections_to(&self.other);
        std::mem::swap(ledger, &mut self.other);
    }

    /// Requests under way, by both ledgers.
    fn in_flight(&self, ledger: &Ledger) -> u64 {
        ledger.in_flight().wrapping_add(self.other.in_flight())
    }

    /// What the ledger holds now, to tell later what came since.
    fn counts(ledger: &Ledger, thread: ThreadTimes) -> Part {
        Part {
            started: ledger.totals.started.get(),
            completed: ledger.totals.completed.get(),
            failed: ledger.totals.failed.get(),
            bytes_read: ledger.totals.bytes_read.get(),
            service_time_sum_ns: ledger.service_time.sum_ns(),
            cpu_ns: thread.cpu_ns,
            delayed_ns: thread.delayed_ns,
            ..Part::default()
        }
    }
}

impl<T: Transport> Lane<T> {
    /// Makes this a lane that takes turns and rests; `other` is written while it does.
    pub(crate) fn take_turns(&mut self, number: u32, other: Arc<Ledger>) {
        self.assignment.lane = number;
        let mut book = Turnbook::new(other);
        book.turn_over(&mut self.desk.ledger);
        self.turnbook = Some(Box::new(book));
    }

    /// Its slice begins. `thread` is what the worker's thread has had of its core by then.
    pub(super) fn begin_slice(&mut self, turn: &Turn, thread: ThreadTimes) {
        let brought_ns = self.under_way_ns(turn.start_ns) as i64;
        self.cut_stalls(turn.start_ns);
        let Some(book) = &mut self.turnbook else {
            return;
        };
        let late = self.desk.ledger.totals.completed.get() - book.late;
        book.turn_over(&mut self.desk.ledger);
        let ledger = &self.desk.ledger;
        if turn.phase == Phase::Measured && ledger.is_measuring.get() == 0 {
            ledger.begin_measuring(0);
            book.other.begin_measuring(0);
            book.seen.fill(0);
            book.cpu_ns = 0;
            book.wall_ns = 0;
        }
        book.late = book.other.totals.completed.get();
        book.begun = Turnbook::counts(ledger, thread);
        book.part = Part {
            turn: turn.number,
            edges_ns: -brought_ns,
            late,
            ..Part::default()
        };
    }

    /// The first fifth of its slice is over.
    pub(super) fn note_early(&mut self) {
        if let Some(book) = &mut self.turnbook {
            let completed = self.desk.ledger.totals.completed.get();
            book.part.early_completed = completed - book.begun.completed;
        }
    }

    /// Its slice, so long, is over at that moment. Says whether anybody was there.
    pub(super) fn end_slice(&mut self, length_ns: u64, end_ns: u64, thread: ThreadTimes) -> Found {
        let carried_ns = self.under_way_ns(end_ns) as i64;
        self.cut_stalls(end_ns);
        let Some(book) = &mut self.turnbook else {
            return Found::NotSought;
        };
        let ledger = &self.desk.ledger;
        let now = Turnbook::counts(ledger, thread);
        let (begun, begun_edges_ns) = (book.begun, book.part.edges_ns);
        let reopened = ledger.reopened.get();
        let part = Part {
            started: now.started - begun.started,
            completed: now.completed - begun.completed,
            failed: now.failed - begun.failed,
            bytes_read: now.bytes_read - begun.bytes_read,
            service_time_sum_ns: now
                .service_time_sum_ns
                .wrapping_sub(begun.service_time_sum_ns),
            service_time_p50_ns: ledger.service_time.median_since(&mut book.seen),
            carried: book.in_flight(ledger),
            edges_ns: carried_ns + begun_edges_ns,
            reopened: reopened - book.reopened,
            cpu_ns: now.cpu_ns - begun.cpu_ns,
            delayed_ns: now
                .delayed_ns
                .zip(begun.delayed_ns)
                .map(|(now_ns, begun_ns)| now_ns - begun_ns),
            ..book.part
        };
        let found = Found::by(&part, ledger.open_now.get());
        book.part = part;
        book.reopened = reopened;
        book.is_pending = true;
        book.cpu_ns += part.cpu_ns;
        book.wall_ns += length_ns;
        ledger.cpu_ns.set(book.cpu_ns);
        ledger.wall_ns.set(book.wall_ns);
        book.turn_over(&mut self.desk.ledger);
        found
    }

    /// Puts down how long bodies have waited for windows, before another ledger is written.
    fn cut_stalls(&mut self, at_ns: u64) {
        if let Some(wires) = &mut self.streams {
            wires.cut_stalls(at_ns, &self.desk.ledger);
        }
    }

    /// The settle time after its slice is over, or the run is: the slice is put down.
    pub(super) fn settle(&mut self) {
        let Some(book) = &mut self.turnbook else {
            return;
        };
        if std::mem::take(&mut book.is_pending) {
            book.part.unsettled = book.in_flight(&self.desk.ledger);
            book.other.notes().parts.push(book.part);
        }
    }

    /// The ledgers, both where it takes turns.
    pub(super) fn ledgers(&self) -> impl Iterator<Item = &Arc<Ledger>> {
        let other = self.turnbook.as_ref().map(|book| &book.other);
        std::iter::once(&self.desk.ledger).chain(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_there_who_answers_or_whose_connections_open() {
        let cases = [
            ("nothing happened", [0, 0, 0, 0], Found::NotSought),
            ("refused", [0, 9, 0, 0], Found::Nobody),
            ("answers", [9, 0, 0, 0], Found::Somebody),
            ("answers and failures", [1, 9, 0, 0], Found::Somebody),
            ("closes each unanswered", [0, 9, 9, 0], Found::Somebody),
            ("closed while it rested", [0, 0, 1, 0], Found::Somebody),
            ("hangs", [0, 0, 0, 1], Found::Somebody),
            ("hangs until timeouts", [0, 9, 0, 1], Found::Somebody),
        ];
        for (what, [completed, failed, reopened, open], found) in cases {
            let part = Part {
                completed,
                failed,
                reopened,
                ..Part::default()
            };
            assert_eq!(Found::by(&part, open), found, "{what}");
        }
    }
}
