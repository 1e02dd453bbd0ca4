//! HTTP/2 and HTTP/3 in an arm: a [`MuxConnection`] carries the requests of several [`StreamSlot`]s at once.
//!
//! A slot is to them what a connection is to HTTP/1: it has one request under way at a time, thinks between
//! two of them, and waits after failures. A plan has as many as connections times streams; those of one
//! connection lie side by side. Nothing here reads a clock or waits.
//!
//! ```text
//!   Free ── taken ─▶ Waiting ── a stream is opened ─▶ Sent ── answered, failed ─▶ Free
//! ```

mod connection;
mod http2;
mod http3;
mod reading;
mod slot;
mod waiting;

use crate::connection::ConnectionStage;
use crate::context::{ArmContext, ConnectionFailure};
use crate::program::Program;
use crate::protocol::http2::{Request, make};
use crate::record::recorder::Recorder;
use crate::transport::Transport;
pub(crate) use connection::{Carrier, MuxConnection};
pub(crate) use http2::Http2;
pub(crate) use http3::{Http3, Quic};
use reading::{Reading, Repeated};
pub(crate) use slot::{EndedStreams, SlotState, StreamSlot};

/// The multiplexed connections of an arm, with the slots for their requests.
pub(crate) struct Multiplexer<T> {
    pub(crate) slots: Vec<StreamSlot>,
    pub(crate) connections: Vec<MuxConnection<T>>,
    /// Connections that have something to send.
    pub(crate) due: Vec<u32>,
    /// How many slots each connection has.
    streams: u32,
    /// A request as fields, where it is made anew each time.
    made: Option<Request>,
    /// Slots whose requests are in a connection's buffer and not stamped yet: they are when that is written.
    unstamped: Vec<u32>,
    /// What came of the streams since it was last looked at.
    pub(crate) ended: EndedStreams,
    /// What those of HTTP/3 share.
    pub(crate) quic: Option<Box<Quic>>,
}

impl<T: Transport> Multiplexer<T> {
    /// `is_logged`: its requests are logged.
    pub(crate) fn new(
        connections: usize,
        streams: usize,
        is_logged: bool,
        quic: Option<Quic>,
    ) -> Self {
        Self {
            slots: (0..connections * streams)
                .map(|_| StreamSlot::new(is_logged))
                .collect(),
            connections: (0..connections).map(|_| MuxConnection::new()).collect(),
            due: Vec::with_capacity(connections),
            streams: streams as u32,
            made: None,
            unstamped: Vec::with_capacity(streams),
            ended: EndedStreams::default(),
            quic: quic.map(Box::new),
        }
    }

    /// The connection that a slot's requests go over.
    #[inline]
    pub(crate) fn connection_of(&self, slot: u32) -> u32 {
        slot / self.streams
    }

    /// The connection is among those that are written next.
    #[inline]
    pub(crate) fn is_due(&mut self, number: u32) {
        let connection = &mut self.connections[number as usize];
        if !connection.is_due && (connection.has_something() || !connection.waiting.is_empty()) {
            connection.is_due = true;
            self.due.push(number);
        }
    }

    /// Puts what waits on a connection into its buffer, each on a stream of its own, as far as that has room. Whether
    /// anything was: then it is stamped next, and written.
    #[inline]
    pub(crate) fn send_waiting(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> bool {
        loop {
            let connection = &mut self.connections[number as usize];
            let Some(&slot) = connection.waiting.front() else {
                break;
            };
            // Whether the peer allows a stream is seen when it is opened.
            if connection.takes_enough(program)
                || !self.send(slot, number, now_ns, program, context)
            {
                self.hold(number);
                break;
            }
            self.connections[number as usize].waiting.pop_front();
            self.unstamped.push(slot);
        }
        self.connections[number as usize].note_stall(now_ns, &context.recorder);
        !self.unstamped.is_empty()
    }

    /// What was put into a connection's buffer is written now: the moment its service time begins. `loop_began_ns`: what
    /// was begun in this iteration has waited for nobody but us.
    #[inline]
    pub(crate) fn stamp(&mut self, now_ns: u64, loop_began_ns: u64, context: &ArmContext) {
        for slot in self.unstamped.drain(..) {
            let exchange = &mut self.slots[slot as usize].exchange;
            exchange.since_ns = now_ns;
            if !exchange.is_first_send() {
                continue;
            }
            if let Some(stamps) = exchange.stamps() {
                match stamps.begun_ns >= loop_began_ns {
                    true => stamps.begun_ns = now_ns,
                    false => stamps.connect_ns = now_ns.saturating_sub(stamps.begun_ns),
                }
            }
            match &context.recorder.open_loop {
                Some(times) => {
                    let lag_ns = now_ns.saturating_sub(exchange.intended_ns);
                    times.send_lag.record(lag_ns);
                }
                None => exchange.intended_ns = now_ns,
            }
        }
    }

    /// Puts a slot's request into its connection's buffer, on a stream of its own. False where the peer allows none.
    #[inline]
    fn send(
        &mut self,
        number: u32,
        connection: u32,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> bool {
        let Some(stream) = self.open_stream(number, connection, program) else {
            return false;
        };
        let slot = &mut self.slots[number as usize];
        let connection = &mut self.connections[connection as usize];
        slot.note_wait(now_ns, &context.recorder);
        slot.state = SlotState::Sent { stream };
        connection.carried += 1;
        true
    }

    /// Opens a stream for a slot's request, as its carrier writes it.
    #[inline]
    fn open_stream(&mut self, number: u32, connection: u32, program: &Program) -> Option<u64> {
        let exchange = &self.slots[number as usize].exchange;
        let template = &program.templates[exchange.template as usize];
        let fixed = template.fields.as_ref();
        let fixed = fixed.filter(|_| exchange.redirects() == 0);
        if fixed.is_none() {
            let text = exchange.bytes(program);
            make(text, program.scheme, &mut self.made);
        }
        let fields = fixed.or(self.made.as_ref())?;
        match &mut self.connections[connection as usize].carrier {
            Carrier::None => None,
            Carrier::Http2(http2) => http2.open(number, fields),
            Carrier::Http3(http3) => {
                let written = match (fixed, &self.quic) {
                    (Some(_), Some(quic)) => quic.written(exchange.template),
                    _ => None,
                };
                let bytes = written.unwrap_or_else(|| http3::written(fields));
                http3.open(number, bytes, fields.is_head)
            }
        }
    }

    /// Takes in bytes of a connection that were read at `now_ns`; what they end is in `ended`.
    ///
    /// # Errors
    /// How the peer broke the connection.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        number: u32,
        input: &[u8],
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Result<(), ConnectionFailure> {
        let received =
            self.read_with(
                number,
                now_ns,
                program,
                context,
                |carrier, _, at| match carrier {
                    Carrier::Http2(http2) => http2.receive(input, at),
                    Carrier::None | Carrier::Http3(_) => Ok(()),
                },
            );
        let connection = &mut self.connections[number as usize];
        connection.heard_ns = now_ns;
        connection.note_allowed(&context.recorder);
        received
    }

    /// The same for HTTP/3, whose datagrams QUIC has read; whether its handshake is done with them.
    ///
    /// # Errors
    /// How the connection was lost, or broken by its peer.
    #[inline]
    pub(crate) fn serve(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
    ) -> Result<bool, ConnectionFailure> {
        self.read_with(
            number,
            now_ns,
            program,
            context,
            |carrier, quic, at| match (carrier, quic) {
                (Carrier::Http3(http3), Some(quic)) => http3.serve(&mut quic.heads, at),
                _ => Ok(false),
            },
        )
    }

    #[inline]
    fn read_with<R>(
        &mut self,
        number: u32,
        now_ns: u64,
        program: &Program,
        context: &mut ArmContext,
        read: impl FnOnce(&mut Carrier<T>, Option<&mut Quic>, &mut Reading<'_>) -> R,
    ) -> R {
        let connection = &mut self.connections[number as usize];
        let mut reading = Reading {
            number,
            now_ns,
            slots: &mut self.slots,
            ended: &mut self.ended,
            program,
            context,
            answers: 0,
            first_bytes: Repeated::default(),
            services: Repeated::default(),
        };
        let result = read(
            &mut connection.carrier,
            self.quic.as_deref_mut(),
            &mut reading,
        );
        let answers = reading.end();
        connection.note_answered(answers, &context.recorder);
        connection.note_stall(now_ns, &context.recorder);
        result
    }

    /// A connection of HTTP/3, with what it shares with the others.
    pub(crate) fn http3(&mut self, number: u32) -> Option<(&mut Quic, &mut Http3)> {
        match &mut self.connections[number as usize].carrier {
            Carrier::Http3(http3) => Some((self.quic.as_mut()?, http3)),
            Carrier::None | Carrier::Http2(_) => None,
        }
    }

    /// Closes a connection; the slots whose streams were under way.
    pub(crate) fn clear(&mut self, number: u32, now_ns: u64, recorder: &Recorder) -> Vec<u32> {
        self.let_wait(number, now_ns, recorder);
        let connection = &mut self.connections[number as usize];
        if let (Carrier::Http3(http3), Some(quic)) = (&mut connection.carrier, &mut self.quic) {
            quic.forget(number, http3);
        }
        connection.clear(now_ns, recorder)
    }

    /// Looks after connections of HTTP/3 that carry nothing, and notes of all what is not told as it happens.
    pub(crate) fn tend(&mut self, recorder: &Recorder) {
        if self.quic.is_none() {
            return;
        }
        for connection in &mut self.connections {
            if let Carrier::Http3(http3) = &mut connection.carrier {
                http3.rest();
                http3.note_path(recorder);
            }
        }
    }

    /// The requests that no answer has ended.
    pub(crate) fn outstanding(&self) -> u64 {
        let taken = |slot: &&StreamSlot| slot.state != SlotState::Free;
        self.slots.iter().filter(taken).count() as u64
    }

    /// Closes all connections. What they carry stays unanswered.
    pub(crate) fn retire(&mut self) {
        for connection in &mut self.connections {
            connection.carrier = Carrier::None;
            connection.stage = ConnectionStage::Closed;
            connection.waiting.clear();
        }
    }
}
