//! Numbers with a prefix of some bits and strings behind such a number, RFC 7541, section 5; QPACK writes them alike.

use super::{HpackError, huffman};

/// Appends `value`, its first bits in the lowest `bits` of a byte whose others are `flags`.
pub fn write(value: usize, bits: u32, flags: u8, out: &mut Vec<u8>) {
    let most = (1_usize << bits) - 1;
    if value < most {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Takes a number off the front of `input`, whose first byte has `bits` of it.
///
/// # Errors
/// It is cut short, or has more than 32 bits.
#[inline]
pub fn read(input: &mut &[u8], bits: u32) -> Result<usize, HpackError> {
    let (&first, mut rest) = input.split_first().ok_or(HpackError::CutShort)?;
    let most = (1_u64 << bits) - 1;
    let mut value = u64::from(first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (&byte, after) = rest.split_first().ok_or(HpackError::CutShort)?;
            rest = after;
            value += u64::from(byte & 0x7f) << shift;
            if value > u64::from(u32::MAX) {
                return Err(HpackError::Overflow);
            }
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return Err(HpackError::Overflow);
            }
        }
    }
    *input = rest;
    Ok(value as usize)
}

/// Appends a string, Huffman-coded where that is shorter: its length has `bits` of the first byte, the bit above
/// says that it is coded, the others are `flags`.
pub fn write_text(text: &[u8], bits: u32, flags: u8, out: &mut Vec<u8>) {
    let coded_bytes = huffman::encoded_bytes(text);
    if coded_bytes < text.len() {
        write(coded_bytes, bits, flags | 1 << bits, out);
        huffman::encode(text, out);
    } else {
        write(text.len(), bits, flags, out);
        out.extend_from_slice(text);
    }
}

/// Takes a string off the front of `input`, whose length has `bits` of the first byte, and appends it to `out`.
///
/// # Errors
/// It is cut short, or no Huffman code.
pub fn read_text(input: &mut &[u8], bits: u32, out: &mut Vec<u8>) -> Result<(), HpackError> {
    let is_coded = input.first().is_some_and(|first| first >> bits & 1 != 0);
    let length = read(input, bits)?;
    let (text, rest) = input.split_at_checked(length).ok_or(HpackError::CutShort)?;
    *input = rest;
    if !is_coded {
        out.extend_from_slice(text);
    } else if !huffman::decode(text, out) {
        return Err(HpackError::BadHuffman);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{read, write};
    use crate::hpack::HpackError;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_rfc() {
        let mut out = Vec::new();
        write(10, 5, 0, &mut out);
        write(1337, 5, 0, &mut out);
        write(42, 8, 0, &mut out);
        assert_eq!(out, [10, 31, 154, 10, 42]);
    }

    #[test]
    fn no_number_is_larger_than_32_bits() {
        for mut input in [
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0][..],
            &[0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
        ] {
            assert_eq!(read(&mut input, 7), Err(HpackError::Overflow));
        }
        assert_eq!(read(&mut &[0xff, 0x80][..], 7), Err(HpackError::CutShort));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(value in 0_usize..1 << 32, bits in 1_u32..=8) {
            let mut out = Vec::new();
            write(value, bits, 0, &mut out);
            out.push(7);
            let mut input = &out[..];
            prop_assert_eq!(read(&mut input, bits), Ok(value));
            prop_assert_eq!(input, [7]);
        }
    }
}
