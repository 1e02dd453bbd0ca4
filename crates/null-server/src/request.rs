//! Where a request ends: bytes in, requests out, no I/O.
//!
//! ```text
//!        ┌────────── bodyless ──────────┐
//!  Head ─┼─ Content-Length ─▶ Length ───┼─▶ Request, and Head again
//!        └─ chunked ────────▶ Chunks ───┘
//! ```

use crate::bad_request::BadRequest;
use crate::chunks::ChunkReader;

/// Heads longer than this are refused.
pub const LARGEST_HEAD_BYTES: usize = 64 * 1024;
const MOST_HEADERS: usize = 128;
const LONGEST_REMEMBERED_BYTES: usize = 4096;

/// What a request says about its connection, and so about its answer's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// HTTP/1.1 without `Connection: close`.
    Persistent,
    /// HTTP/1.0 with `Connection: keep-alive`: the answer has to agree to it in words.
    AskedToPersist,
    /// The connection ends with the answer.
    Close,
}

/// A complete request, as far as its answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// A HEAD request: the answer ends with its head.
    pub head_only: bool,
    /// What becomes of the connection.
    pub persistence: Persistence,
    /// An HTTP/1.0 client cannot read a chunked body.
    pub understands_chunks: bool,
}

/// How a request's body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// So many bytes, perhaps none.
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// A request's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// Length of the head with its empty line.
    pub bytes: usize,
    /// The request target as sent.
    pub target: String,
    /// What follows the head.
    pub body: Body,
    /// The request itself.
    pub request: Request,
}

/// Reads a head from the start of `input`; None where its end is not yet there.
pub fn parse_head(input: &[u8]) -> Result<Option<RequestHead>, BadRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let bytes = match parsed.parse(input) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if input.len() > LARGEST_HEAD_BYTES => {
            return Err(BadRequest("the head is too large"));
        }
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(BadRequest("the head is not HTTP/1")),
    };
    let is_1_1 = parsed.version == Some(1);
    let mut persists = is_1_1;
    let (mut length_bytes, mut chunked) = (0, false);
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            length_bytes = length(header.value)?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            persists = if is_1_1 {
                !has_token(header.value, b"close")
            } else {
                has_token(header.value, b"keep-alive")
            };
        }
    }
    let persistence = match (persists, is_1_1) {
        (true, true) => Persistence::Persistent,
        (true, false) => Persistence::AskedToPersist,
        (false, _) => Persistence::Close,
    };
    // A transfer coding overrides a length (RFC 9112, section 6.3).
    let body = if chunked {
        Body::Chunked
    } else {
        Body::Length(length_bytes)
    };
    let head_only = parsed.method == Some("HEAD");
    let target = parsed.path.unwrap_or_default().to_owned();
    Ok(Some(RequestHead {
        bytes,
        target,
        body,
        request: Request {
            head_only,
            persistence,
            understands_chunks: is_1_1,
        },
    }))
}

fn length(value: &[u8]) -> Result<u64, BadRequest> {
    let digits = std::str::from_utf8(value).unwrap_or_default().trim();
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if plain { digits.parse().ok() } else { None };
    parsed.ok_or(BadRequest("Content-Length is no length"))
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value
        .split(|&byte| byte == b',')
        .any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

/// The last request that arrived whole, with its bytes.
///
/// A load generator sends the same bytes again and again, and a request delimits itself: bytes that start
/// with a known request hold exactly that request. One comparison then replaces the parser, which keeps
/// this server's own cost out of the ceiling it is there to show.
#[derive(Debug, Default)]
pub struct Remembered {
    known: Option<(Vec<u8>, Request)>,
}

impl Remembered {
    fn find(&self, input: &[u8]) -> Option<(usize, Request)> {
        let (bytes, request) = self.known.as_ref()?;
        input.starts_with(bytes).then_some((bytes.len(), *request))
    }

    fn keep(&mut self, bytes: &[u8], request: Request) {
        if bytes.len() <= LONGEST_REMEMBERED_BYTES {
            self.known = Some((bytes.to_vec(), request));
        }
    }
}

#[derive(Debug)]
enum State {
    Head,
    Length {
        left: u64,
        request: Request,
    },
    Chunks {
        reader: ChunkReader,
        request: Request,
    },
}

/// One connection's place in its stream of requests.
#[derive(Debug)]
pub struct RequestReader {
    state: State,
    /// The beginning of a head whose end has not arrived.
    partial_head: Vec<u8>,
}

impl Default for RequestReader {
    fn default() -> Self {
        Self {
            state: State::Head,
            partial_head: Vec::new(),
        }
    }
}

impl RequestReader {
    /// Moves `input` past the next request's end and returns the request; None once `input` is used up.
    pub fn next(
        &mut self,
        input: &mut &[u8],
        remembered: &mut Remembered,
    ) -> Result<Option<Request>, BadRequest> {
        let fresh = matches!(self.state, State::Head) && self.partial_head.is_empty();
        if !fresh {
            return self.advance(input);
        }
        if let Some((bytes, request)) = remembered.find(input) {
            *input = &input[bytes..];
            return Ok(Some(request));
        }
        let before = *input;
        let found = self.advance(input)?;
        if let Some(request) = found {
            remembered.keep(&before[..before.len() - input.len()], request);
        }
        Ok(found)
    }

    fn advance(&mut self, input: &mut &[u8]) -> Result<Option<Request>, BadRequest> {
        if matches!(self.state, State::Head) {
            let Some(head) = self.head(input)? else {
                return Ok(None);
            };
            self.state = match head.body {
                Body::Length(left) => State::Length {
                    left,
                    request: head.request,
                },
                Body::Chunked => State::Chunks {
                    reader: ChunkReader::default(),
                    request: head.request,
                },
            };
        }
        let ended = match &mut self.state {
            State::Head => None,
            State::Length { left, request } => {
                let taken = input
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                *input = &input[taken..];
                (*left == 0).then_some(*request)
            }
            State::Chunks { reader, request } => reader.read(input)?.then_some(*request),
        };
        if ended.is_some() {
            self.state = State::Head;
        }
        Ok(ended)
    }

    fn head(&mut self, input: &mut &[u8]) -> Result<Option<RequestHead>, BadRequest> {
        if self.partial_head.is_empty() {
            let head = parse_head(input)?;
            match &head {
                Some(head) => *input = &input[head.bytes..],
                None => self.partial_head.extend_from_slice(std::mem::take(input)),
            }
            return Ok(head);
        }
        let already = self.partial_head.len();
        self.partial_head.extend_from_slice(input);
        let head = parse_head(&self.partial_head)?;
        match &head {
            Some(head) => {
                *input = &input[head.bytes - already..];
                self.partial_head = Vec::new();
            }
            None => *input = &[],
        }
        Ok(head)
    }
}
