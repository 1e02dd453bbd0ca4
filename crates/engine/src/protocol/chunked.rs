//! The chunked transfer coding (RFC 9112, 7.1), one byte or one megabyte at a time.
//!
//! ```text
//!   Size ──digits──▶ Size ──' '──▶ AfterSize ──';'──▶ Extension ──CR──▶ SizeLf ──LF──▶ Data (size > 0)
//!     └──────────────CR────────────────────────────────────────────────▲  └──LF──▶ LineStart (size = 0)
//!   Data ──all bytes──▶ DataCr ──CR──▶ DataLf ──LF──▶ Size
//!   LineStart ──token──▶ Name ──':'──▶ Value ──CR──▶ ValueLf ──LF──▶ LineStart ──CR──▶ LastLf ──LF──▶ end
//! ```
//!
//! Line ends inside the framing must be CRLF: leniency here lets answers be smuggled.
//! Trailer lines alone may end in a bare LF, as head lines may; for the rest they are fields as
//! those of a head are (7.1.2), and what is no field is no trailer.

use super::{Fault, is_token_byte};

/// A size line, or all trailers together, longer than this are an attack, not metadata.
const MAX_METADATA_BYTES: u32 = 64 * 1024;
/// Another digit would overflow the size.
const LARGEST_BEFORE_A_DIGIT: u64 = u64::MAX >> 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Size,
    AfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineStart,
    Name,
    Value,
    ValueLf,
    LastLf,
}

/// Where in a chunked body the decoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    at: At,
    has_digits: bool,
    /// A trailer may go on in the next line (obs-fold) once there is one.
    has_trailer: bool,
    remaining: u64,
    metadata_bytes: u32,
}

/// What [`Chunks::advance`] found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkPart<'a> {
    /// Bytes of the body.
    Data(&'a [u8]),
    /// The body and its trailers are complete.
    End,
    /// All input is used up.
    More,
}

impl Chunks {
    pub(super) fn new() -> Self {
        Self {
            at: At::Size,
            has_digits: false,
            has_trailer: false,
            remaining: 0,
            metadata_bytes: 0,
        }
    }

    /// Whether all of the body is there, should the connection end here: the chunk of size zero has come, and no
    /// trailer is begun (RFC 9112, 8).
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.at, At::LineStart | At::LastLf)
    }

    /// Takes bytes off the front of `input` up to the next piece of body, or the end.
    pub(super) fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<ChunkPart<'a>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.at == At::Data {
                let length = self.remaining.min(input.len() as u64) as usize;
                let (data, rest) = input.split_at(length);
                *input = rest;
                self.remaining -= length as u64;
                if self.remaining == 0 {
                    self.at = At::DataCr;
                }
                return Ok(ChunkPart::Data(data));
            }
            *input = rest;
            if self.step(byte)? {
                return Ok(ChunkPart::End);
            }
        }
        Ok(ChunkPart::More)
    }

    /// One byte of framing; true when it was the last of the body.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        self.at = match (self.at, byte) {
            (At::Size, _) => self.size_byte(byte)?,
            (At::AfterSize, b' ' | b'\t') => self.metadata(At::AfterSize)?,
            (At::AfterSize, b';') => At::Extension,
            (At::AfterSize | At::Extension, b'\r') => At::SizeLf,
            (At::AfterSize, _) => return Err(Fault::BadChunk("no extension after the size")),
            (At::Extension, b'\n') => return Err(Fault::BadChunk("a size line without CR")),
            (At::Extension, _) if !is_text(byte) => {
                return Err(Fault::BadChunk("a control character in an extension"));
            }
            (At::Extension, _) => self.metadata(At::Extension)?,
            (At::SizeLf, b'\n') => {
                self.metadata_bytes = 0;
                match self.remaining {
                    0 => At::LineStart,
                    _ => At::Data,
                }
            }
            (At::SizeLf, _) => return Err(Fault::BadChunk("a size line without LF")),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => {
                self.has_digits = false;
                At::Size
            }
            (At::DataCr | At::DataLf, _) => {
                return Err(Fault::BadChunk("data longer than its size"));
            }
            (At::LineStart, b'\r') => At::LastLf,
            (At::LineStart, b'\n') | (At::LastLf, b'\n') => return Ok(true),
            (At::LastLf, _) => return Err(Fault::BadChunk("the last line without LF")),
            (At::LineStart | At::Name | At::Value | At::ValueLf, _) => self.trailer_byte(byte)?,
            (At::Data, _) => unreachable!("data is taken in pieces, not in bytes"),
        };
        Ok(false)
    }

    /// A byte of a trailer: `name: value`, which may go on in a line that begins with a space.
    fn trailer_byte(&mut self, byte: u8) -> Result<At, Fault> {
        let next = match (self.at, byte) {
            (At::LineStart, b' ' | b'\t') if self.has_trailer => At::Value,
            (At::LineStart | At::Name, _) if is_token_byte(byte) => At::Name,
            (At::Name, b':') => {
                self.has_trailer = true;
                At::Value
            }
            (At::Value, b'\r') => At::ValueLf,
            (At::Value | At::ValueLf, b'\n') => At::LineStart,
            (At::Value, _) if is_text(byte) => At::Value,
            (At::LineStart | At::Name, _) => {
                return Err(Fault::BadChunk("a trailer that is no field"));
            }
            _ => return Err(Fault::BadChunk("a control character in a trailer")),
        };
        self.metadata(next)
    }

    fn size_byte(&mut self, byte: u8) -> Result<At, Fault> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\r' if self.has_digits => return Ok(At::SizeLf),
            b';' if self.has_digits => return Ok(At::Extension),
            b' ' | b'\t' if self.has_digits => return Ok(At::AfterSize),
            _ => return Err(Fault::BadChunk("the size is no hexadecimal number")),
        };
        if self.remaining > LARGEST_BEFORE_A_DIGIT {
            return Err(Fault::BadChunk("the size is too large"));
        }
        self.has_digits = true;
        self.remaining = self.remaining * 16 + u64::from(digit);
        // Any number of zeros may lead (7.1), but not without end.
        self.metadata(At::Size)
    }

    fn metadata(&mut self, next: At) -> Result<At, Fault> {
        self.metadata_bytes += 1;
        if self.metadata_bytes > MAX_METADATA_BYTES {
            return Err(Fault::BadChunk("64 KiB of size line or trailers"));
        }
        Ok(next)
    }
}

/// What may be in a value: no control character but the tabulator (RFC 9110, 5.5).
fn is_text(byte: u8) -> bool {
    byte == b'\t' || byte >= b' ' && byte != 0x7f
}
