//! Heads of answers: parsed by `httparse`, interpreted by RFC 9112, and remembered.
//!
//! Servers repeat themselves: on one connection after the other the head is the same, byte for
//! byte, but for a date that changes once a second. [`Heads`] keeps the last head with its
//! meaning, so that a repeated head costs one comparison of memory instead of a parse.

use super::Fault;

/// A longer head is a fault of the peer. (curl takes 300 KiB.)
pub const MAX_HEAD_BYTES: usize = 512 * 1024;
/// More fields are a fault of the peer. (curl takes 5,000.)
const MAX_FIELDS: usize = 8_192;
/// More codings of bodies than this are not told apart: a peer that invents them must not make a table grow.
const MOST_ENCODINGS: usize = 64;
/// What stands for all of those: no coding has this name.
const OTHER_ENCODINGS: &str = "(others)";
/// Room on the stack for the fields of all heads but strange ones.
const COMMON_FIELDS: usize = 128;

/// How the end of a body is found (RFC 9112, 6.3), for an answer that may have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// After the last chunk and the trailers.
    Chunked,
    /// When the connection closes.
    UntilClose,
}

/// What the engine needs to know of an answer's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// How its body ends. Which answers have none is the decoder's knowledge.
    pub framing: Framing,
    /// Whether the peer keeps the connection open after this answer.
    pub keep_alive: bool,
    /// Index of its content coding in [`Heads::encodings`].
    pub encoding: u16,
    /// Whether it came as HTTP/1.0.
    pub is_http10: bool,
}

/// Reads heads and remembers the last one.
#[derive(Debug)]
pub struct Heads {
    last_bytes: Vec<u8>,
    last: ResponseHead,
    encodings: Vec<String>,
    asked_in_http10: bool,
    /// Of which fields of HTTP/2 or HTTP/3 the last head was made.
    last_of: Option<(u32, u64)>,
}

impl Default for Heads {
    fn default() -> Self {
        Self::new()
    }
}

impl Heads {
    /// Remembers nothing yet; knows the coding "identity" as number 0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            last_bytes: Vec::with_capacity(1024),
            last: ResponseHead {
                status: 0,
                framing: Framing::UntilClose,
                keep_alive: false,
                encoding: 0,
                is_http10: false,
            },
            encodings: vec!["identity".into()],
            asked_in_http10: false,
            last_of: None,
        }
    }

    /// The same for answers to requests of HTTP/1.0: only a peer that says so keeps the connection,
    /// whatever its own version (RFC 9112, C.2.2).
    #[must_use]
    pub fn of_http10() -> Self {
        Self {
            asked_in_http10: true,
            ..Self::new()
        }
    }

    /// The content codings seen so far, in lower case.
    #[must_use]
    pub fn encodings(&self) -> &[String] {
        &self.encodings
    }

    /// The bytes of the head that was read last, up to and with its empty line.
    #[must_use]
    pub fn last_bytes(&self) -> &[u8] {
        &self.last_bytes
    }

    /// The head that was read last.
    pub(crate) fn last(&self) -> ResponseHead {
        self.last
    }

    /// Reads a head from the beginning of `input`: its meaning and its length, or None where
    /// it is not complete yet.
    ///
    /// # Errors
    /// A [`Fault`] where no continuation could make a head of it.
    #[inline]
    pub fn read(&mut self, input: &[u8]) -> Result<Option<(ResponseHead, usize)>, Fault> {
        match self.recall(input) {
            Some(found) => Ok(Some(found)),
            None => self.parse(input),
        }
    }

    /// The head that was read last, where `input` begins with it.
    #[inline]
    pub(super) fn recall(&self, input: &[u8]) -> Option<(ResponseHead, usize)> {
        let length = self.last_bytes.len();
        // A head ends at its first empty line, so a prefix that equals a whole head is one.
        (length > 0 && input.len() >= length && input[..length] == self.last_bytes[..])
            .then_some((self.last, length))
    }

    /// The head that these fields of `http` (HTTP/2 or HTTP/3) are. `of` says which connection they came on, or any
    /// where that makes no difference, and which they are of it: the same ones again cost one comparison. With
    /// `is_text_wanted` the head is also there as text, as HTTP/1 writes it.
    #[inline]
    pub(crate) fn of_fields<'a>(
        &mut self,
        http: &'static str,
        of: (u32, u64),
        status: u16,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        is_text_wanted: bool,
    ) -> ResponseHead {
        if self.last_of != Some(of) {
            self.take_fields(http, status, fields, is_text_wanted);
            self.last_of = Some(of);
        }
        self.last
    }

    #[inline(never)]
    fn take_fields<'a>(
        &mut self,
        http: &'static str,
        status: u16,
        fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        is_text_wanted: bool,
    ) {
        self.last_bytes.clear();
        self.last = ResponseHead {
            status,
            framing: Framing::UntilClose,
            keep_alive: true,
            encoding: 0,
            is_http10: false,
        };
        if is_text_wanted {
            let line = format!("{http} {status}\r\n");
            self.last_bytes.extend_from_slice(line.as_bytes());
        }
        let mut codings = Codings::default();
        for (name, value) in fields.filter(|(name, _)| !name.starts_with(b":")) {
            match name {
                b"content-encoding" => codings.add(value),
                b"content-length" => {
                    if let Ok(length) = agreeing_length(None, value) {
                        self.last.framing = Framing::Length(length);
                    }
                }
                _ => {}
            }
            if is_text_wanted {
                for part in [name, b": ", value, b"\r\n"] {
                    self.last_bytes.extend_from_slice(part);
                }
            }
        }
        self.last.encoding = self.encoding_number(codings);
        if is_text_wanted {
            self.last_bytes.extend_from_slice(b"\r\n");
        }
    }

    /// A connection of HTTP/2 or HTTP/3 was opened, whose fields are counted anew.
    pub(crate) fn forget(&mut self) {
        self.last_of = None;
    }

    #[cold]
    pub(super) fn parse(&mut self, input: &[u8]) -> Result<Option<(ResponseHead, usize)>, Fault> {
        // A higher minor version is read as the highest that is known (RFC 9110, 2.5). httparse knows 1.1.
        if let [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor @ b'2'..=b'9',
            ..,
        ] = *input
        {
            let found = self.parse_known(&[b"HTTP/1.1", &input[8..]].concat())?;
            if found.is_some() {
                self.last_bytes[7] = minor;
            }
            return Ok(found);
        }
        self.parse_known(input)
    }

    fn parse_known(&mut self, input: &[u8]) -> Result<Option<(ResponseHead, usize)>, Fault> {
        let mut fields = [httparse::EMPTY_HEADER; COMMON_FIELDS];
        match self.parse_into(input, &mut fields) {
            Err(Fault::TooManyFields) => {
                self.parse_into(input, &mut vec![httparse::EMPTY_HEADER; MAX_FIELDS])
            }
            other => other,
        }
    }

    fn parse_into<'a>(
        &mut self,
        input: &'a [u8],
        fields: &mut [httparse::Header<'a>],
    ) -> Result<Option<(ResponseHead, usize)>, Fault> {
        let mut answer = httparse::Response::new(fields);
        // RFC 9112, 5.2: a user agent takes a value that goes on in the next line.
        let mut config = httparse::ParserConfig::default();
        config.allow_obsolete_multiline_headers_in_responses(true);
        let length = match config.parse_response(&mut answer, input) {
            Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD_BYTES => length,
            Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD_BYTES => return Ok(None),
            Ok(_) => return Err(Fault::HeadTooLarge),
            Err(httparse::Error::TooManyHeaders) => return Err(Fault::TooManyFields),
            Err(error) => return Err(Fault::BadHead(reason(error))),
        };
        let head = self.interpret(&answer)?;
        self.last_bytes.clear();
        self.last_bytes.extend_from_slice(&input[..length]);
        self.last = head;
        Ok(Some((head, length)))
    }

    fn interpret(&mut self, answer: &httparse::Response<'_, '_>) -> Result<ResponseHead, Fault> {
        let status = answer.code.unwrap_or_default();
        if !(100..=999).contains(&status) {
            return Err(Fault::BadHead("the status code is below 100"));
        }
        let is_http11 = answer.version == Some(1);
        let mut close = false;
        let mut keep_alive = false;
        let mut length: Option<u64> = None;
        let mut has_transfer = false;
        let mut is_chunked: Option<bool> = None;
        let mut codings = Codings::default();
        for field in answer.headers.iter() {
            if field.name.eq_ignore_ascii_case("content-length") {
                length = Some(agreeing_length(length, field.value)?);
            } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
                // Several fields are one list, whose empty elements count for nothing
                // (RFC 9110, 5.3 and 5.6.1).
                has_transfer = true;
                is_chunked = elements(field.value).fold(is_chunked, ends_in_chunks);
            } else if field.name.eq_ignore_ascii_case("connection") {
                close |= has_element(field.value, b"close");
                keep_alive |= has_element(field.value, b"keep-alive");
            } else if field.name.eq_ignore_ascii_case("content-encoding") {
                codings.add(field.value);
            }
        }
        let encoding = self.encoding_number(codings);
        // Both a length and chunks, or chunks in HTTP/1.0, is how answers get smuggled: the
        // chunks count and the connection is not used again (RFC 9112, 6.1 and 6.3).
        let suspicious = has_transfer && (length.is_some() || !is_http11);
        let framing = match (is_chunked, length) {
            (Some(true), _) => Framing::Chunked,
            (Some(false), _) | (None, None) => Framing::UntilClose,
            (None, Some(length)) => Framing::Length(length),
        };
        Ok(ResponseHead {
            status,
            framing,
            keep_alive: !close && !suspicious && (keep_alive || is_http11 && !self.asked_in_http10),
            encoding,
            is_http10: !is_http11,
        })
    }

    #[inline]
    fn encoding_number(&mut self, codings: Codings) -> u16 {
        match codings.0.is_empty() {
            true => 0,
            false => self.number_of(codings.0),
        }
    }

    fn number_of(&mut self, name: String) -> u16 {
        let known = self.encodings.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            let last = MOST_ENCODINGS - 1;
            if self.encodings.len() < MOST_ENCODINGS {
                let is_last = self.encodings.len() == last;
                self.encodings.push(match is_last {
                    true => OTHER_ENCODINGS.into(),
                    false => name,
                });
            }
            self.encodings.len() - 1
        });
        number as u16
    }
}

/// The content codings of a body in the order in which they were applied, as one list however many fields say it
/// (RFC 9110, 5.3 and 8.4). "identity" changes nothing and is left out.
#[derive(Default)]
struct Codings(String);

impl Codings {
    fn add(&mut self, value: &[u8]) {
        for coding in elements(value).filter(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
            if !self.0.is_empty() {
                self.0.push_str(", ");
            }
            let coding = String::from_utf8_lossy(coding);
            self.0.push_str(&coding.to_ascii_lowercase());
        }
    }
}

fn reason(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName => "a field name",
        httparse::Error::HeaderValue => "a field value",
        httparse::Error::NewLine => "a line end",
        httparse::Error::Status => "the status line",
        httparse::Error::Version => "the version is not HTTP/1.x",
        httparse::Error::Token => "a token",
        httparse::Error::TooManyHeaders => "too many fields",
    }
}

/// A length, alone or repeated: "5", "5, 5", or the same field twice. All must agree.
fn agreeing_length(before: Option<u64>, value: &[u8]) -> Result<u64, Fault> {
    let mut agreed = before;
    for element in value.split(|byte| *byte == b',') {
        let element = element.trim_ascii();
        if element.is_empty() || !element.iter().all(u8::is_ascii_digit) {
            return Err(Fault::BadLength);
        }
        let length = std::str::from_utf8(element)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or(Fault::BadLength)?;
        if agreed.is_some_and(|agreed: u64| agreed != length) {
            return Err(Fault::BadLength);
        }
        agreed = Some(length);
    }
    agreed.ok_or(Fault::BadLength)
}

fn elements(value: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}

fn has_element(value: &[u8], wanted: &[u8]) -> bool {
    elements(value).any(|element| element.eq_ignore_ascii_case(wanted))
}

/// Whether a list of transfer codings ends in chunks once `coding` follows those `before`. "identity" was one that
/// changes nothing (RFC 2616, 3.6), and some servers still say it; behind another it is one that nobody knows.
fn ends_in_chunks(before: Option<bool>, coding: &[u8]) -> Option<bool> {
    match (before, coding) {
        (None, coding) if coding.eq_ignore_ascii_case(b"identity") => None,
        (_, coding) => Some(coding.eq_ignore_ascii_case(b"chunked")),
    }
}
