//! A client of HTTP/2: the engine's own side of the protocol, on a socket that waits.

use assay_http2::StreamFault;
use assay_http2::client::{Answer, Client, Listener, Request, Windows};
use assay_http2::frame::Code;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support;

pub const WIDE: Windows = Windows {
    stream: 1 << 24,
    connection: 1 << 30,
};

pub fn request(method: &str, body: &[u8]) -> Request {
    support::request(method, "/", body)
}

/// A connection, and what came of the requests on it, each by its key.
pub struct Talk {
    stream: TcpStream,
    client: Client,
    out: Vec<u8>,
    buffer: Vec<u8>,
    /// Status and length of the body so far.
    pub answers: BTreeMap<u32, (u16, usize)>,
    /// Whose answers are whole, in the order in which they became so.
    pub ended: Vec<u32>,
}

impl Talk {
    /// Reads so many bytes at most at a time.
    pub fn new(stream: TcpStream, windows: Windows, piece: usize) -> Self {
        let mut out = Vec::new();
        Self {
            client: Client::new(windows, &mut out),
            stream,
            out,
            buffer: vec![0; piece],
            answers: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Opens a stream, where there may be another; its number.
    pub fn open(&mut self, key: u32, request: &Request) -> Option<u32> {
        self.client.open(key, request, &mut self.out)
    }

    /// Gives a stream up.
    pub fn cancel(&mut self, stream: u32) {
        self.client.cancel(stream, &mut self.out);
    }

    /// Sends what there is to send, and reads once.
    pub fn go_on(&mut self) {
        self.stream
            .write_all(&std::mem::take(&mut self.out))
            .expect("it reads");
        let read = self.stream.read(&mut self.buffer).expect("it answers");
        assert!(read > 0, "closed after {} answers", self.ended.len());
        let mut heard = Heard {
            answers: &mut self.answers,
            ended: &mut self.ended,
        };
        let received = (self.client).receive(&self.buffer[..read], &mut self.out, &mut heard);
        received.expect("it speaks HTTP/2");
    }

    /// Goes on until so many answers are whole.
    pub fn until(&mut self, answers: usize) {
        while self.ended.len() < answers {
            self.go_on();
        }
    }
}

/// What is read goes here.
struct Heard<'a> {
    answers: &'a mut BTreeMap<u32, (u16, usize)>,
    ended: &'a mut Vec<u32>,
}

impl Listener for Heard<'_> {
    fn answer(&mut self, key: u32, answer: Answer<'_>) {
        self.answers.insert(key, (answer.status, 0));
    }

    fn body(&mut self, key: u32, data: &[u8]) {
        self.answers.get_mut(&key).expect("a head").1 += data.len();
    }

    fn end(&mut self, key: u32) {
        self.ended.push(key);
    }

    fn failed(&mut self, key: u32, fault: StreamFault) {
        panic!("{key}: {fault}");
    }

    fn going_away(&mut self, code: Code) {
        panic!("{}", code.name());
    }
}

/// Sends all requests at once; the status and the body's length of each answer.
pub fn ask(
    stream: TcpStream,
    windows: Windows,
    requests: &[Request],
    piece: usize,
) -> BTreeMap<u32, (u16, usize)> {
    let mut talk = Talk::new(stream, windows, piece);
    let mut waiting = (0..).zip(requests).peekable();
    while talk.ended.len() < requests.len() {
        while let Some((key, request)) = waiting.peek()
            && talk.open(*key, request).is_some()
        {
            waiting.next();
        }
        talk.go_on();
    }
    talk.answers
}
