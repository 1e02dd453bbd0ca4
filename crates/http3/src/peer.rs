//! What a peer says on its unidirectional streams: SETTINGS, GOAWAY, and instructions for the table of QPACK.

use crate::Fault;
use crate::fault::{ACKNOWLEDGED, INSERTED};
use crate::frame::{self, kind, setting, stream};
use crate::message::MOST_PASSED_BYTES;
use crate::varint;

/// SETTINGS, GOAWAY and the like may not be longer.
const MOST_PAYLOAD_BYTES: u64 = 16 * 1024;

/// Which side the peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It asks.
    Client,
    /// It answers.
    Server,
}

/// What a peer's SETTINGS say, with the defaults for what they leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The longest fields that it takes.
    pub most_field_bytes: u64,
    /// The largest dynamic table that it would keep; none is used.
    pub table_bytes: u64,
    /// How many streams might wait for entries of it.
    pub blocked_streams: u64,
}

/// What the bytes meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The peer's SETTINGS, which come once.
    Settings(Settings),
    /// The peer takes no request from this stream on; from a client: no push.
    GoAway(u64),
}

/// What is known of a peer.
#[derive(Debug)]
pub struct Peer {
    role: Role,
    has: [bool; 4],
    goaway: Option<u64>,
    most_push: u64,
}

/// How far one of its unidirectional streams was read.
#[derive(Debug, Default)]
pub struct Stream {
    kind: Option<u64>,
    is_greeted: bool,
    /// A frame's type, and how much of its payload is left.
    frame: Option<(u64, u64)>,
    pending: Vec<u8>,
    passed_bytes: u64,
    is_in_number: bool,
}

impl Stream {
    /// Whether nothing of this stream is of use: it may be told so (STOP_SENDING).
    #[must_use]
    pub fn is_useless(&self) -> bool {
        self.kind.is_some_and(|kind| kind > stream::QPACK_DECODER)
    }
}

impl Peer {
    /// A peer that has said nothing.
    #[must_use]
    pub fn new(role: Role) -> Self {
        Self {
            role,
            has: [false; 4],
            goaway: None,
            most_push: 0,
        }
    }

    /// The next event of a stream, taking its bytes off the front of `input`; None once more are needed (then `input`
    /// is empty).
    ///
    /// # Errors
    /// How the peer broke the connection.
    pub fn next(&mut self, from: &mut Stream, input: &mut &[u8]) -> Result<Option<Event>, Fault> {
        loop {
            match from.kind {
                None => {
                    let Some(kind) = whole(&mut from.pending, input, varint::read) else {
                        return Ok(None);
                    };
                    self.open(kind)?;
                    from.kind = Some(kind);
                }
                Some(stream::CONTROL) => match from.frame {
                    None => {
                        let Some(head) = whole(&mut from.pending, input, frame::read_head) else {
                            return Ok(None);
                        };
                        self.begin(from, head)?;
                    }
                    Some(_) => {
                        let Some(event) = self.payload(from, input)? else {
                            if from.frame.is_some() {
                                return Ok(None);
                            }
                            continue;
                        };
                        return Ok(Some(event));
                    }
                },
                Some(kind) => {
                    let bytes = std::mem::take(input);
                    match kind {
                        stream::QPACK_ENCODER => insertions(bytes)?,
                        stream::QPACK_DECODER => acknowledgements(from, bytes)?,
                        _ => {}
                    }
                    return Ok(None);
                }
            }
        }
    }

    /// Says that a stream has ended, or was reset.
    ///
    /// # Errors
    /// It must not (RFC 9114, 6.2.1; RFC 9204, 4.2).
    pub fn finish(&self, from: &Stream) -> Result<(), Fault> {
        match from.kind {
            Some(kind @ (stream::CONTROL | stream::QPACK_ENCODER | stream::QPACK_DECODER)) => {
                Err(Fault::Closed(kind))
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, kind: u64) -> Result<(), Fault> {
        match kind {
            stream::PUSH if self.role == Role::Client => Err(Fault::SecondStream(kind)),
            stream::PUSH => Err(Fault::Push),
            stream::CONTROL | stream::QPACK_ENCODER | stream::QPACK_DECODER => {
                match std::mem::replace(&mut self.has[kind as usize], true) {
                    true => Err(Fault::SecondStream(kind)),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Begins a frame of the control stream, where it may be.
    fn begin(&self, from: &mut Stream, (kind, length): (u64, u64)) -> Result<(), Fault> {
        match (kind, from.is_greeted) {
            (kind::SETTINGS, true) => return Err(Fault::Unexpected(kind, "a second time")),
            (kind::SETTINGS, false) => from.is_greeted = true,
            (_, false) => return Err(Fault::NoSettings),
            (kind::DATA | kind::HEADERS | kind::PUSH_PROMISE, true) => {
                return Err(Fault::Unexpected(kind, "on the control stream"));
            }
            (kind::MAX_PUSH_ID, true) if self.role == Role::Server => {
                return Err(Fault::Unexpected(kind, "from a server"));
            }
            (kind::GOAWAY | kind::MAX_PUSH_ID | kind::CANCEL_PUSH, true) => {}
            _ if kind::OF_HTTP2.contains(&kind) => {
                return Err(Fault::Unexpected(kind, "of HTTP/2"));
            }
            _ => {
                from.passed_bytes = from.passed_bytes.saturating_add(2 + length);
                if from.passed_bytes > MOST_PASSED_BYTES {
                    return Err(Fault::Flood(MOST_PASSED_BYTES));
                }
            }
        }
        if is_known(kind) && length > MOST_PAYLOAD_BYTES {
            return Err(Fault::Flood(MOST_PAYLOAD_BYTES));
        }
        from.frame = Some((kind, length));
        Ok(())
    }

    /// Reads a payload, and says what it means once all of it is there; the frame is then over.
    fn payload(&mut self, from: &mut Stream, input: &mut &[u8]) -> Result<Option<Event>, Fault> {
        let Some((kind, left)) = from.frame else {
            return Ok(None);
        };
        let length = (input.len() as u64).min(left);
        let (piece, rest) = input.split_at(length as usize);
        *input = rest;
        if is_known(kind) {
            from.pending.extend_from_slice(piece);
        }
        from.frame = (left > length).then_some((kind, left - length));
        if from.frame.is_some() || !is_known(kind) {
            return Ok(None);
        }
        let payload = std::mem::take(&mut from.pending);
        if kind == kind::SETTINGS {
            return settings(&payload).map(|settings| Some(Event::Settings(settings)));
        }
        let mut rest = &payload[..];
        let id = varint::read(&mut rest).filter(|_| rest.is_empty());
        let id = id.ok_or(Fault::BadLength(kind))?;
        match kind {
            kind::GOAWAY => self.goes_away(id).map(Some),
            kind::MAX_PUSH_ID if id < self.most_push => Err(Fault::BadId(id)),
            kind::MAX_PUSH_ID => {
                self.most_push = id;
                Ok(None)
            }
            // Nothing was ever pushed, and no push allowed.
            _ => Err(Fault::BadId(id)),
        }
    }

    fn goes_away(&mut self, id: u64) -> Result<Event, Fault> {
        let is_request = id % 4 == 0;
        let is_more = self.goaway.is_some_and(|before| id > before);
        if is_more || (self.role == Role::Server && !is_request) {
            return Err(Fault::BadId(id));
        }
        self.goaway = Some(id);
        Ok(Event::GoAway(id))
    }
}

/// Frames of the control stream that have a meaning.
fn is_known(kind: u64) -> bool {
    matches!(
        kind,
        kind::SETTINGS | kind::GOAWAY | kind::MAX_PUSH_ID | kind::CANCEL_PUSH
    )
}

/// What `read` finds at the front of `pending` and `input`, as soon as it is whole.
fn whole<T>(
    pending: &mut Vec<u8>,
    input: &mut &[u8],
    read: impl Fn(&mut &[u8]) -> Option<T>,
) -> Option<T> {
    while let Some((&byte, rest)) = input.split_first() {
        pending.push(byte);
        *input = rest;
        let found = read(&mut &pending[..]);
        if found.is_some() {
            pending.clear();
            return found;
        }
    }
    None
}

fn settings(mut payload: &[u8]) -> Result<Settings, Fault> {
    let mut settings = Settings {
        most_field_bytes: varint::MOST,
        table_bytes: 0,
        blocked_streams: 0,
    };
    let mut seen = Vec::new();
    while !payload.is_empty() {
        let pair = frame::read_head(&mut payload);
        let (name, value) = pair.ok_or(Fault::BadLength(kind::SETTINGS))?;
        if setting::OF_HTTP2.contains(&name) {
            return Err(Fault::BadSetting(name, "is HTTP/2's"));
        }
        if seen.contains(&name) {
            return Err(Fault::BadSetting(name, "stands twice"));
        }
        seen.push(name);
        match name {
            setting::MAX_FIELD_SECTION_SIZE => settings.most_field_bytes = value,
            setting::QPACK_MAX_TABLE_CAPACITY => settings.table_bytes = value,
            setting::QPACK_BLOCKED_STREAMS => settings.blocked_streams = value,
            _ => {}
        }
    }
    Ok(settings)
}

/// Instructions for our table, which has no room: its capacity may be set to 0 (RFC 9204, 4.3.1), and that is all.
fn insertions(bytes: &[u8]) -> Result<(), Fault> {
    match bytes.iter().all(|&byte| byte == 0x20) {
        true => Ok(()),
        false => Err(Fault::BadInstruction(INSERTED)),
    }
}

/// What the peer says of our table: that it gave streams up (RFC 9204, 4.4.2), whose numbers say nothing to us. All
/// else would acknowledge what we never sent.
fn acknowledgements(from: &mut Stream, bytes: &[u8]) -> Result<(), Fault> {
    for &byte in bytes {
        from.is_in_number = match (from.is_in_number, byte) {
            (true, _) => byte & 0x80 != 0,
            (false, 0x40..=0x7f) => byte == 0x7f,
            _ => return Err(Fault::BadInstruction(ACKNOWLEDGED)),
        };
    }
    Ok(())
}
