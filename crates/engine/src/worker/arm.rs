//! [`Arm`]: a server's place in a worker. Its connections stay open, its accounting are its own.
//!
//! A worker waits and reads; an arm says what is sent next, where, and remembers what became of it. It reads no clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::assignment::{Assignment, Clients};
use super::dispatch::Protocol;
use super::slices::SliceRecorder;
use crate::connection::{Connection, ConnectionStage};
use crate::context::ArmContext;
use crate::control::Control;
use crate::picker::Picker;
use crate::plan::RequestOrder;
use crate::program::Program;
use crate::schedule::Schedule;
use crate::streams::{Multiplexer, Quic, SlotState};
use crate::transport::Transport;

/// One program with its connections, its accounting and its schedule.
pub(crate) struct Arm<T: Transport> {
    pub(super) assignment: Assignment,
    pub(crate) program: Arc<Program>,
    pub(super) connector: T::Connector,
    pub(super) context: ArmContext,
    pub(super) protocol: Protocol,
    /// Those of HTTP/1; none where it speaks another one.
    pub(super) connections: Vec<Connection<T>>,
    /// Those of HTTP/2 or HTTP/3; none where it speaks HTTP/1.
    pub(super) mux: Box<Multiplexer<T>>,
    pub(super) picker: Picker,
    /// Where connections are clients of their own.
    clients: Option<Box<Clients>>,
    pub(super) schedule: Schedule,
    /// Open connections that carry nothing. A connection closed meanwhile stays until its turn.
    pub(super) idle: VecDeque<u32>,
    /// Places where a connection can be opened at once.
    pub(super) vacant: Vec<u32>,
    /// Connections that think and places that back off, by the time they wake.
    pub(super) sleepers: BinaryHeap<Reverse<(u64, u32)>>,
    /// Connections that had more to read than one iteration of the loop allows.
    pub(super) unread: Vec<u32>,
    /// Attempts to connect that failed while none had succeeded.
    pub(super) unreached: usize,
    /// Requests that may start without asking.
    pub(super) quota: u64,
    /// Whether the last iteration found no place for another request, and until when there was none for certain.
    pub(super) is_full: bool,
    pub(super) full_until_ns: u64,
    /// Nothing that was begun is overdue before.
    pub(super) overdue_from_ns: u64,
    /// Whether it does nothing more.
    pub(super) is_retired: bool,
    /// What it keeps where it is interleaved with others.
    pub(super) slice_recorder: Option<Box<SliceRecorder>>,
}

impl<T: Transport> Arm<T> {
    pub(crate) fn new(
        assignment: Assignment,
        program: Arc<Program>,
        connector: T::Connector,
        mut context: ArmContext,
    ) -> Self {
        let streams_each = program.streams.unwrap_or(1);
        let places = assignment.connections * streams_each as usize;
        let seed = assignment.seed ^ (u64::from(assignment.number) << 40);
        // With a rate for opening, places become vacant one after the other.
        let later = |slot: u32| {
            let before = u64::from(slot / streams_each) * u64::from(assignment.workers);
            let number = before + u64::from(assignment.number);
            Reverse((number * program.opening_gap_ns, slot))
        };
        // The slots of a connection lie side by side, and are taken one of each connection after the other.
        let of = assignment.connections as u32;
        let spread = |turn: u32| turn % of * streams_each + turn / of;
        let (vacant, sleepers) = match (program.opening_gap_ns, &mut context.supply) {
            (0, Some(supply)) if supply.has_delays() => {
                let later = |slot| Reverse((supply.delay_ns(), slot));
                (Vec::new(), (0..places as u32).map(later).collect())
            }
            (0, _) => {
                let places = (0..places as u32).rev();
                (places.map(spread).collect(), BinaryHeap::new())
            }
            _ => (Vec::new(), (0..places as u32).map(later).collect()),
        };
        let quic = program.streams.and_then(|_| T::quic(&connector));
        let (protocol, of_http1, multiplexed) = match (program.streams, &quic) {
            (None, _) => (Protocol::Http1, places, 0),
            (Some(_), None) => (Protocol::Http2, 0, assignment.connections),
            (Some(_), Some(_)) => (Protocol::Http3, 0, assignment.connections),
        };
        let quic = quic.map(|connector| Quic::new(connector, &program));
        let streams = program.streams.unwrap_or(0) as usize;
        let is_logged = context.log.is_some();
        Self {
            connections: (0..of_http1).map(|_| Connection::new(is_logged)).collect(),
            protocol,
            mux: Box::new(Multiplexer::new(multiplexed, streams, is_logged, quic)),
            picker: Picker::new(&program, &assignment.hosts, seed),
            clients: (program.order == RequestOrder::PerConnection)
                .then(|| Box::new(Clients::new(&assignment))),
            schedule: Schedule::warm_up(
                &assignment.load,
                assignment.share(program.pipeline),
                assignment.seed,
            ),
            idle: VecDeque::with_capacity(places),
            vacant,
            sleepers,
            unread: Vec::new(),
            unreached: 0,
            quota: u64::MAX,
            is_full: false,
            full_until_ns: 0,
            overdue_from_ns: 0,
            is_retired: false,
            slice_recorder: None,
            assignment,
            program,
            connector,
            context,
        }
    }

    /// Begins each connection of HTTP/2 with this stream, as a client may: all of them use up a billion otherwise.
    #[cfg(test)]
    pub(crate) fn begin_streams_at(&mut self, number: u32) {
        for connection in &mut self.mux.connections {
            connection.first_stream = number;
        }
    }

    /// Whether there is a connection, or a place for one, that carries nothing.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        !self.idle.is_empty() || !self.vacant.is_empty()
    }

    /// The same, once places whose clients have nothing left are out of the way.
    #[inline]
    pub(super) fn finds_room(&mut self) -> bool {
        if self.clients.is_some() {
            while self.idle.front().is_some_and(|&slot| self.left(slot) == 0) {
                self.idle.pop_front();
            }
            while self.vacant.last().is_some_and(|&slot| self.left(slot) == 0) {
                self.vacant.pop();
            }
        }
        self.has_room()
    }

    /// The client whose place it is: the number of the connection.
    fn client(&self, slot: u32) -> u32 {
        match self.protocol {
            Protocol::Http1 => slot,
            Protocol::Http2 | Protocol::Http3 => self.mux.connection_of(slot),
        }
    }

    fn left(&self, slot: u32) -> u64 {
        let client = self.client(slot);
        self.clients
            .as_ref()
            .map_or(u64::MAX, |clients| clients.left(client))
    }

    /// More requests that may start, of the count that all workers share or of this worker's clients.
    pub(super) fn refill(&mut self, control: &Control) -> u64 {
        match &mut self.clients {
            Some(clients) => clients.hand_out(),
            None => control.reserve(u64::from(self.program.pipeline)),
        }
    }

    /// When the next request should start, where it has a time of its own and could.
    pub(super) fn next_start_ns(&self) -> Option<u64> {
        let can_start = self.quota > 0 && self.has_room();
        self.schedule.next_ns().filter(|_| can_start)
    }

    /// When the first of those that sleep wakes.
    pub(super) fn next_waking_ns(&self) -> Option<u64> {
        self.sleepers.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    pub(super) fn wake_sleepers(&mut self, now_ns: u64) {
        while let Some(Reverse((at_ns, slot))) = self.sleepers.peek().copied() {
            if at_ns > now_ns {
                return;
            }
            self.sleepers.pop();
            self.idle.push_back(slot);
        }
    }

    /// Gives the next requests to a connection, or to a place for one, and says which. There must
    /// be room.
    #[inline]
    pub(super) fn take_next(&mut self, intended_ns: u64, now_ns: u64) -> u32 {
        let (slot, template, count) = self.take_place();
        self.note_waited(count, intended_ns);
        let connection = &mut self.connections[slot as usize];
        connection.take(template, count, intended_ns, now_ns);
        connection.exchange.render(&self.program, &mut self.context);
        slot
    }

    /// A place that carries nothing, the template of the next requests, and how many they are.
    #[inline]
    fn take_place(&mut self) -> (u32, u32, u32) {
        if self.clients.is_some() {
            return self.take_client();
        }
        let count = u64::from(self.program.pipeline).min(self.quota) as u32;
        self.quota -= u64::from(count);
        self.context.recorder.totals.started.add(u64::from(count));
        let slot = match self.idle.pop_front() {
            Some(slot) => slot,
            None => self.vacant.pop().expect("the caller saw one of the two"),
        };
        let template = self.picker.pick(slot, &self.program.templates);
        (slot, template, count)
    }

    /// The same where connections are clients: those that are not open first, so that all are used.
    fn take_client(&mut self) -> (u32, u32, u32) {
        let slot = self.vacant.pop().or_else(|| self.idle.pop_front());
        let slot = slot.expect("the caller saw one of the two");
        let client = self.client(slot);
        let most = u64::from(self.program.pipeline).min(self.quota);
        let count = most.min(self.left(slot));
        self.quota -= count;
        self.context.recorder.totals.started.add(count);
        let step = self
            .clients
            .as_mut()
            .map_or(0, |clients| clients.begin(client, count));
        (slot, self.picker.at(slot, step), count as u32)
    }

    /// The same for HTTP/2 and HTTP/3: gives the next request to a slot, and says on which connection it waits.
    #[inline]
    pub(super) fn take_slot(&mut self, intended_ns: u64, now_ns: u64) -> u32 {
        let (slot, template, count) = self.take_place();
        self.note_waited(count, intended_ns);
        if let Some(times) = &self.context.recorder.open_loop {
            let spare = self.idle.len() + self.vacant.len();
            let places = self.mux.slots.len();
            let busy = (places - spare) as u64;
            times.busy_peak.set(times.busy_peak.get().max(busy));
        }
        let mux = &mut self.mux;
        let stream = &mut mux.slots[slot as usize];
        stream.state = SlotState::waiting(now_ns);
        stream.exchange.take(template, count, intended_ns, now_ns);
        stream.exchange.render(&self.program, &mut self.context);
        let connection = mux.connection_of(slot);
        mux.connections[connection as usize].waiting.push_back(slot);
        connection
    }

    /// What follows a slot's answer, which is complete.
    #[inline]
    pub(super) fn end_stream(&mut self, slot: u32, now_ns: u64) {
        let mux = &mut self.mux;
        let stream = &mut mux.slots[slot as usize];
        if let Some(next) = stream.exchange.take_following() {
            (stream.exchange).follow(next, now_ns, &self.program, &mut self.context);
            stream.state = SlotState::waiting(now_ns);
            let connection = mux.connection_of(slot);
            let waiting = &mut mux.connections[connection as usize].waiting;
            waiting.push_front(slot);
            return;
        }
        match self.pause_ns() {
            0 => self.idle.push_back(slot),
            pause_ns => self.sleepers.push(Reverse((now_ns + pause_ns, slot))),
        }
    }

    fn pause_ns(&mut self) -> u64 {
        match &mut self.context.supply {
            Some(supply) if supply.has_delays() => supply.delay_ns(),
            _ => self.program.think_time_ns,
        }
    }

    /// All that the connection carried is answered: it thinks, or can be given more.
    #[inline]
    pub(super) fn done(&mut self, slot: u32, reusable: bool, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.stage = ConnectionStage::Idle;
        let pause_ns = self.pause_ns();
        let wake_ns = now_ns + pause_ns;
        if !reusable {
            self.drop_connection(slot);
            if pause_ns > 0 {
                self.sleepers.push(Reverse((wake_ns, slot)));
            } else {
                self.vacant.push(slot);
            }
        } else if pause_ns > 0 {
            self.sleepers.push(Reverse((wake_ns, slot)));
        } else {
            self.idle.push_back(slot);
        }
    }

    /// Closes a connection. One that carries nothing is in `idle` or `sleepers`, where it stays.
    pub(super) fn drop_connection(&mut self, slot: u32) {
        let connection = &mut self.connections[slot as usize];
        if connection.transport.is_some() {
            let open_now = &self.context.recorder.open_now;
            open_now.set(open_now.get() - 1);
        }
        connection.clear(&mut self.context);
    }

    /// Writes down what is known at the end only.
    pub(super) fn close_accounting(&mut self, end_ns: u64) {
        let left = self.connections.iter().map(|c| u64::from(c.outstanding));
        self.mux.tend(&self.context.recorder);
        self.mux.cut_waits(end_ns, &self.context.recorder);
        let left = left.sum::<u64>() + self.mux.outstanding();
        self.context.recorder.left_in_flight.set(left);
        if self.slice_recorder.is_none() && !self.is_retired {
            self.context.recorder.notes().left_ages_ns = Some(self.ages_ns(end_ns).collect());
        }
        for recorder in self.recorders() {
            recorder.ended_ns.set(end_ns);
            recorder.notes().encodings = self.context.heads.encodings().to_vec();
        }
        let mut notes = self.context.recorder.notes();
        notes.log = self.context.log.take();
        notes.tls_bytes = T::tls_bytes(&self.connector);
    }

    /// Does nothing more until the end. What its connections carry stays unanswered.
    pub(super) fn retire(&mut self) {
        for connection in &mut self.connections {
            connection.transport = None;
            connection.stage = ConnectionStage::Closed;
        }
        self.mux.retire();
        self.context.recorder.open_now.set(0);
        self.idle.clear();
        self.vacant.clear();
        self.sleepers.clear();
        self.unread.clear();
        self.is_retired = true;
    }

    /// Notes that an iteration ends without a place for another request.
    #[inline]
    pub(super) fn note_full(&mut self) {
        self.is_full = !self.has_room();
    }

    /// The iteration that began at that moment goes on to starting. Where the one before it left no place, there was none
    /// until then: places become free by what an iteration reads.
    #[inline]
    pub(super) fn note_room(&mut self, began_ns: u64) {
        if std::mem::take(&mut self.is_full) {
            self.full_until_ns = began_ns;
        }
    }

    /// Counts starts that came due while there was no place.
    #[inline]
    pub(super) fn note_waited(&self, count: u32, intended_ns: u64) {
        if let Some(times) = &self.context.recorder.open_loop
            && intended_ns < self.full_until_ns
        {
            times.waited.add(u64::from(count));
        }
    }

    /// How long each request that is under way at that moment has been so.
    pub(super) fn ages_ns(&self, at_ns: u64) -> impl Iterator<Item = u64> {
        let of_http1 = self.connections.iter().flat_map(move |connection| {
            let age_ns = connection.exchange.age_ns(at_ns);
            std::iter::repeat_n(age_ns, connection.outstanding as usize)
        });
        let slots = self.mux.slots.iter();
        let of_streams = slots
            .filter(|slot| slot.state != SlotState::Free)
            .map(move |slot| slot.exchange.age_ns(at_ns));
        of_http1.chain(of_streams)
    }

    /// The same of all of them together.
    pub(super) fn under_way_ns(&self, at_ns: u64) -> u64 {
        self.ages_ns(at_ns).sum()
    }
}
