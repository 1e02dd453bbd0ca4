//! A client, and the peer that a test writes by hand, frame by frame.

use assay_http2::client::{Answer, Client, Listener, Request, Windows};
use assay_http2::frame::{self, Code, FrameHeader, HEAD_BYTES};
use assay_http2::hpack::Encoder;
use assay_http2::{Fault, StreamFault};

use crate::support;

pub const WIDE: Windows = Windows {
    stream: 1 << 20,
    connection: 1 << 24,
};

/// What an event said, with its bytes copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Answer(u32, u16),
    Body(u32, Vec<u8>),
    End(u32),
    Failed(u32, StreamFault),
    GoAway(Code),
}

/// A client, what it has sent, and the writer of the peer's frames.
pub struct Talk {
    pub client: Client,
    pub out: Vec<u8>,
    pub sent: Vec<u8>,
    pub encoder: Encoder,
    /// The fields of the last answer.
    pub fields: Vec<(String, String)>,
}

impl Talk {
    pub fn new(windows: Windows) -> Self {
        let mut out = Vec::new();
        let client = Client::new(windows, &mut out);
        Self {
            client,
            out,
            sent: Vec::new(),
            encoder: Encoder::default(),
            fields: Vec::new(),
        }
    }

    /// One where both sides have greeted each other, and so many streams are open, their keys 0, 1, …
    pub fn greeted(streams: u32) -> Self {
        let mut talk = Self::new(WIDE);
        talk.settings(&[]);
        assert_eq!(talk.told(), Ok(vec![]));
        for key in 0..streams {
            talk.client.open(key, &get("/"), &mut talk.out).unwrap();
        }
        talk.out.clear();
        talk
    }

    pub fn settings(&mut self, settings: &[(u16, u32)]) {
        frame::write_settings(settings, &mut self.sent);
    }

    pub fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> &mut Self {
        frame::write(kind, flags, stream, payload, &mut self.sent);
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

    /// What the client makes of all that was sent to it.
    pub fn told(&mut self) -> Result<Vec<Told>, Fault> {
        let sent = std::mem::take(&mut self.sent);
        self.read(&sent)
    }

    pub fn read(&mut self, input: &[u8]) -> Result<Vec<Told>, Fault> {
        let mut heard = Heard {
            told: Vec::new(),
            fields: &mut self.fields,
        };
        self.client.receive(input, &mut self.out, &mut heard)?;
        Ok(heard.told)
    }

    /// What the client has written since, frame by frame.
    pub fn written(&mut self) -> Vec<(FrameHeader, Vec<u8>)> {
        let out = std::mem::take(&mut self.out);
        let mut frames = Vec::new();
        let mut rest = out.strip_prefix(frame::PREFACE).unwrap_or(&out);
        while let Some(head) = FrameHeader::read(rest) {
            let (whole, after) = rest.split_at(HEAD_BYTES + head.length);
            frames.push((head, whole[HEAD_BYTES..].to_vec()));
            rest = after;
        }
        assert!(rest.is_empty());
        frames
    }

    pub fn fault(&mut self) -> Fault {
        self.told().unwrap_err()
    }
}

struct Heard<'a> {
    told: Vec<Told>,
    fields: &'a mut Vec<(String, String)>,
}

impl Listener for Heard<'_> {
    fn answer(&mut self, key: u32, answer: Answer<'_>) {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let fields = answer.fields.iter();
        *self.fields = fields
            .map(|(name, value)| (text(name), text(value)))
            .collect();
        self.told.push(Told::Answer(key, answer.status));
    }

    fn body(&mut self, key: u32, data: &[u8]) {
        self.told.push(Told::Body(key, data.to_vec()));
    }

    fn end(&mut self, key: u32) {
        self.told.push(Told::End(key));
    }

    fn failed(&mut self, key: u32, fault: StreamFault) {
        self.told.push(Told::Failed(key, fault));
    }

    fn going_away(&mut self, code: Code) {
        self.told.push(Told::GoAway(code));
    }
}

pub fn request(method: &str, path: &str, body: &[u8]) -> Request {
    Request {
        number: Some(0),
        ..support::request(method, path, body)
    }
}

pub fn get(path: &str) -> Request {
    request("GET", path, b"")
}
