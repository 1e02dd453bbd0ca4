//! Where a chunked request body ends (RFC 9112, section 7.1).

use crate::bad_request::BadRequest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Hexadecimal digits of a chunk's size.
    Size,
    /// The rest of the size's line: an extension and the line's end.
    SizeLine,
    /// The chunk's own bytes, and the line end behind them.
    Data,
    /// A trailer line; `empty` while nothing but its line end was seen.
    Trailer { empty: bool },
}

/// A place in a chunked body.
#[derive(Debug)]
pub struct ChunkReader {
    state: State,
    digits: u32,
    left: u64,
}

impl Default for ChunkReader {
    fn default() -> Self {
        Self {
            state: State::Size,
            digits: 0,
            left: 0,
        }
    }
}

impl ChunkReader {
    /// Moves `input` forward; true once the body has ended, with `input` just behind it.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<bool, BadRequest> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.state == State::Data {
                self.data(input)?;
                continue;
            }
            *input = rest;
            match (self.state, byte) {
                (State::Size, _) => self.size(byte)?,
                (State::SizeLine, b'\n') if self.left == 0 => {
                    self.state = State::Trailer { empty: true }
                }
                (State::SizeLine, b'\n') => {
                    // The CR LF behind the data is counted with it.
                    self.left += 2;
                    self.state = State::Data;
                }
                (State::Trailer { empty: true }, b'\n') => return Ok(true),
                (State::Trailer { .. }, b'\n') => self.state = State::Trailer { empty: true },
                (State::Trailer { .. }, byte) if byte != b'\r' => {
                    self.state = State::Trailer { empty: false }
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn size(&mut self, byte: u8) -> Result<(), BadRequest> {
        match (byte as char).to_digit(16) {
            // 15 digits leave room for the line end in 64 bits.
            Some(digit) if self.digits < 15 => {
                self.left = self.left * 16 + u64::from(digit);
                self.digits += 1;
                Ok(())
            }
            None if self.digits > 0 && matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                self.digits = 0;
                self.state = State::SizeLine;
                Ok(())
            }
            _ => Err(BadRequest("a chunk has no size")),
        }
    }

    fn data(&mut self, input: &mut &[u8]) -> Result<(), BadRequest> {
        let taken = input
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        for (index, &byte) in input[..taken].iter().enumerate().rev().take(2) {
            let expected = match self.left - index as u64 {
                1 => b'\n',
                2 => b'\r',
                _ => continue,
            };
            if byte != expected {
                return Err(BadRequest("a chunk is longer than its size"));
            }
        }
        self.left -= taken as u64;
        *input = &input[taken..];
        if self.left == 0 {
            self.state = State::Size;
        }
        Ok(())
    }
}
