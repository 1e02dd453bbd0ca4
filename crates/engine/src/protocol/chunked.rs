//! The chunked transfer coding (RFC 9112, 7.1), one byte or one megabyte at a time.
//!
//! ```text
//!   Size ──digits──▶ Size ──';' ' '──▶ Extension ──CR──▶ SizeLf ──LF──▶ Data (size > 0)
//!     └──────────────CR──────────────────────────────────▲  └──LF──▶ LineStart (size = 0)
//!   Data ──all bytes──▶ DataCr ──CR──▶ DataLf ──LF──▶ Size
//!   LineStart ──CR──▶ LastLf ──LF──▶ end        LineStart ──other──▶ Line ──LF──▶ LineStart
//! ```
//!
//! Line ends inside the framing must be CRLF: leniency here lets answers be smuggled.
//! Trailer lines alone may end in a bare LF, as head lines may.

use super::Fault;

/// Extensions and trailers longer than this are an attack, not metadata.
const MAX_METADATA_BYTES: u32 = 64 * 1024;
/// 2^60 bytes: more digits would overflow the size.
const MAX_SIZE_DIGITS: u8 = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineStart,
    Line,
    LastLf,
}

/// Where in a chunked body the decoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunks {
    at: At,
    digits: u8,
    remaining: u64,
    metadata_bytes: u32,
}

/// What [`Chunks::advance`] found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
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
            digits: 0,
            remaining: 0,
            metadata_bytes: 0,
        }
    }

    /// Takes bytes off the front of `input` up to the next piece of body, or the end.
    pub(super) fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<Part<'a>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.at == At::Data {
                let length = self.remaining.min(input.len() as u64) as usize;
                let (data, rest) = input.split_at(length);
                *input = rest;
                self.remaining -= length as u64;
                if self.remaining == 0 {
                    self.at = At::DataCr;
                }
                return Ok(Part::Data(data));
            }
            *input = rest;
            if self.step(byte)? {
                return Ok(Part::End);
            }
        }
        Ok(Part::More)
    }

    /// One byte of framing; true when it was the last of the body.
    fn step(&mut self, byte: u8) -> Result<bool, Fault> {
        self.at = match (self.at, byte) {
            (At::Size, _) => self.size_byte(byte)?,
            (At::Extension, b'\r') => At::SizeLf,
            (At::Extension, b'\n') => return Err(Fault::BadChunk("a size line without CR")),
            (At::Extension, _) => self.metadata(At::Extension)?,
            (At::SizeLf, b'\n') if self.remaining == 0 => At::LineStart,
            (At::SizeLf, b'\n') => At::Data,
            (At::SizeLf, _) => return Err(Fault::BadChunk("a size line without LF")),
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => {
                self.digits = 0;
                At::Size
            }
            (At::DataCr | At::DataLf, _) => {
                return Err(Fault::BadChunk("data longer than its size"));
            }
            (At::LineStart, b'\r') => At::LastLf,
            (At::LineStart, b'\n') | (At::LastLf, b'\n') => return Ok(true),
            (At::LastLf, _) => return Err(Fault::BadChunk("the last line without LF")),
            (At::Line, b'\n') => At::LineStart,
            (At::LineStart | At::Line, _) => self.metadata(At::Line)?,
            (At::Data, _) => unreachable!("data is taken in pieces, not in bytes"),
        };
        Ok(false)
    }

    fn size_byte(&mut self, byte: u8) -> Result<At, Fault> {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            b'\r' if self.digits > 0 => return Ok(At::SizeLf),
            b';' | b' ' | b'\t' if self.digits > 0 => return Ok(At::Extension),
            _ => return Err(Fault::BadChunk("the size is no hexadecimal number")),
        };
        if self.digits == MAX_SIZE_DIGITS {
            return Err(Fault::BadChunk("the size is too large"));
        }
        self.digits += 1;
        self.remaining = self.remaining * 16 + u64::from(digit);
        Ok(At::Size)
    }

    fn metadata(&mut self, next: At) -> Result<At, Fault> {
        self.metadata_bytes += 1;
        if self.metadata_bytes > MAX_METADATA_BYTES {
            return Err(Fault::BadChunk("too many extension or trailer bytes"));
        }
        Ok(next)
    }
}
