//! A server, and the client that a test writes by hand, frame by frame.

use std::sync::Arc;

use assay_http2::Fault;
use assay_http2::frame::{self, Code, FrameHeader, HEAD_BYTES, kind};
use assay_http2::hpack::Encoder;
use assay_http2::server::{Event, Server};

/// As many streams as the server allows at once.
pub const STREAMS: u32 = 3;

pub const GET: [(&str, &str); 3] = [(":method", "GET"), (":scheme", "http"), (":path", "/")];
pub const POST: [(&str, &str); 3] = [(":method", "POST"), (":scheme", "http"), (":path", "/")];

/// `GET /` by the static table.
pub const BLOCK: &[u8] = &[0x82, 0x86, 0x84];
/// HEADERS that are whole, with the request and without its end.
pub const ENDED: u8 = 5;
pub const OPEN: u8 = 4;

/// What the server tells its client, of what is no matter of course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Head(u32),
    Data(u32, usize),
    Reset(u32, Code),
    GoAway(u32, Code),
}

/// A server, what it has sent, and the writer of the client's frames.
pub struct Guest {
    pub server: Server,
    pub out: Vec<u8>,
    pub sent: Vec<u8>,
    pub encoder: Encoder,
}

impl Guest {
    /// One that has said nothing yet.
    pub fn new() -> Self {
        let mut out = Vec::new();
        let server = Server::new(STREAMS, &mut out);
        Self {
            server,
            out,
            sent: Vec::new(),
            encoder: Encoder::default(),
        }
    }

    /// One that has sent its preface and SETTINGS.
    pub fn greeted() -> Self {
        let mut guest = Self::new();
        guest.sent.extend_from_slice(frame::PREFACE);
        frame::write_settings(&[], &mut guest.sent);
        assert_eq!(guest.told(), Ok(vec![]));
        guest.out.clear();
        guest
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) -> &mut Self {
        frame::write_settings(settings, &mut self.sent);
        self
    }

    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> &mut Self {
        frame::write(kind, flags, stream, payload, &mut self.sent);
        self
    }

    pub fn window(&mut self, stream: u32, by: u32) -> &mut Self {
        frame::write_window(stream, by, &mut self.sent);
        self
    }

    pub fn head(&mut self, stream: u32, end: bool, fields: &[(&str, &str)]) -> &mut Self {
        let mut block = Vec::new();
        let fields = fields
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes(), true));
        self.encoder.encode(fields, &mut block);
        frame::write_block(stream, end, &block, 16_384, &mut self.sent);
        self
    }

    /// What the server makes of all that was sent to it.
    pub fn told(&mut self) -> Result<Vec<Event>, Fault> {
        let sent = std::mem::take(&mut self.sent);
        self.read(&sent)
    }

    pub fn read(&mut self, mut input: &[u8]) -> Result<Vec<Event>, Fault> {
        let mut told = Vec::new();
        while let Some(event) = self.server.next(&mut input, &mut self.out)? {
            told.push(event);
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
        Ok(told)
    }

    pub fn answer(&mut self, stream: u32, body: &[u8]) -> &mut Self {
        let body = Arc::from(body);
        self.server.answer(stream, b"\x88", &body, &mut self.out);
        self
    }

    /// What the server has sent since, but for the windows that it gives back and what it acknowledges.
    pub fn said(&mut self) -> Vec<Said> {
        let out = std::mem::take(&mut self.out);
        let (mut said, mut rest) = (Vec::new(), &out[..]);
        while let Some(head) = FrameHeader::read(rest) {
            let (whole, after) = rest.split_at(HEAD_BYTES + head.length);
            let number = |at: usize| {
                let four = whole[HEAD_BYTES + at..].first_chunk();
                u32::from_be_bytes(*four.expect("four bytes"))
            };
            match head.kind {
                kind::HEADERS => said.push(Said::Head(head.stream)),
                kind::DATA => said.push(Said::Data(head.stream, head.length)),
                kind::RST_STREAM => said.push(Said::Reset(head.stream, Code(number(0)))),
                kind::GOAWAY => said.push(Said::GoAway(number(0), Code(number(4)))),
                _ => {}
            }
            rest = after;
        }
        assert!(rest.is_empty());
        said
    }
}
