//! The answer, built before the first request: every form of it that a request can ask for.

use crate::request::{Persistence, Request};
use http::{HeaderName, HeaderValue, StatusCode};
use std::io::Write as _;

/// What is answered to every request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status code.
    pub status: StatusCode,
    /// Headers beside `Content-Length`, `Transfer-Encoding` and `Connection`, in order.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The body before any transfer coding.
    pub body: Vec<u8>,
    /// Send the body chunked, in chunks of so many bytes.
    pub chunk_bytes: Option<usize>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            status: StatusCode::OK,
            headers: Vec::new(),
            body: Vec::new(),
            chunk_bytes: None,
        }
    }
}

/// An index into [`PreparedAnswers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form(u8);

const FORMS: usize = 13;
const BAD_REQUEST: u8 = 12;

impl Form {
    /// The answer to bytes that are no request.
    pub const BAD_REQUEST: Self = Self(BAD_REQUEST);

    /// The form that fits `request`.
    pub fn of(request: Request) -> Self {
        let persistence = match request.persistence {
            Persistence::Persistent => 0,
            Persistence::AskedToPersist => 1,
            Persistence::Close => 2,
        };
        Self(
            persistence
                + 3 * u8::from(request.head_only)
                + 6 * u8::from(!request.understands_chunks),
        )
    }

    /// True where the connection ends with this answer.
    pub fn closes(self) -> bool {
        self.0 == BAD_REQUEST || self.0 % 3 == 2
    }
}

/// The bytes of every form.
#[derive(Debug)]
pub struct PreparedAnswers([Box<[u8]>; FORMS]);

impl PreparedAnswers {
    /// Builds all forms of `answer`.
    pub fn new(answer: &Answer) -> Self {
        let persistences = [
            Persistence::Persistent,
            Persistence::AskedToPersist,
            Persistence::Close,
        ];
        Self(std::array::from_fn(|index| {
            if index == usize::from(BAD_REQUEST) {
                return (*b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").into();
            }
            let request = Request {
                persistence: persistences[index % 3],
                head_only: index / 3 % 2 == 1,
                understands_chunks: index / 6 == 0,
            };
            bytes_of(answer, request).into()
        }))
    }

    /// The bytes of one form.
    pub fn bytes(&self, form: Form) -> &[u8] {
        &self.0[usize::from(form.0)]
    }
}

fn bytes_of(answer: &Answer, request: Request) -> Vec<u8> {
    let status = answer.status;
    let bodyless = status.is_informational() || status == StatusCode::NO_CONTENT;
    let chunk_bytes = answer.chunk_bytes.filter(|_| request.understands_chunks);
    let mut bytes = format!(
        "HTTP/1.1 {} {}\r\n",
        status.as_u16(),
        status.canonical_reason().unwrap_or("")
    )
    .into_bytes();
    for (name, value) in &answer.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    match request.persistence {
        Persistence::Persistent => {}
        Persistence::AskedToPersist => bytes.extend_from_slice(b"connection: keep-alive\r\n"),
        Persistence::Close => bytes.extend_from_slice(b"connection: close\r\n"),
    }
    if !bodyless {
        match chunk_bytes {
            Some(_) => bytes.extend_from_slice(b"transfer-encoding: chunked\r\n"),
            None => bytes
                .extend_from_slice(format!("content-length: {}\r\n", answer.body.len()).as_bytes()),
        }
    }
    bytes.extend_from_slice(b"\r\n");
    if bodyless || request.head_only || status == StatusCode::NOT_MODIFIED {
        return bytes;
    }
    match chunk_bytes {
        Some(chunk_bytes) => append_chunks(&mut bytes, &answer.body, chunk_bytes),
        None => bytes.extend_from_slice(&answer.body),
    }
    bytes
}

fn append_chunks(bytes: &mut Vec<u8>, body: &[u8], chunk_bytes: usize) {
    for chunk in body.chunks(chunk_bytes.max(1)) {
        write!(bytes, "{:x}\r\n", chunk.len()).expect("a Vec takes every byte");
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
}
