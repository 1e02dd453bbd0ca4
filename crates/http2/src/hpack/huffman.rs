//! The Huffman code of RFC 7541, appendix B.
//!
//! The code is canonical: shorter codes come before longer ones, and among equals the lower
//! symbol first. So the lengths alone give the codes, and decoding needs only where each
//! length begins.

/// Bits of each symbol's code; 256 is the end of the string, which may not be sent.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const LONGEST: usize = 30;
const END: usize = 256;

/// What follows from the lengths.
struct Code {
    /// The code of each symbol, in its lowest bits.
    codes: [u32; 257],
    /// All symbols, by code.
    by_code: [u16; 257],
    /// By length: the first code above all codes of that length, moved up to 32 bits.
    limits: [u64; LONGEST + 1],
    /// By length: what to add to a code of that length to find its place in `by_code`.
    offsets: [i64; LONGEST + 1],
}

const CODE: Code = derive();

const fn derive() -> Code {
    let mut code = Code {
        codes: [0; 257],
        by_code: [0; 257],
        limits: [0; LONGEST + 1],
        offsets: [0; LONGEST + 1],
    };
    let (mut next, mut place, mut length) = (0_u32, 0, 1);
    while length <= LONGEST {
        next <<= 1;
        code.offsets[length] = place as i64 - next as i64;
        let mut symbol = 0;
        while symbol <= END {
            if LENGTHS[symbol] as usize == length {
                code.codes[symbol] = next;
                code.by_code[place] = symbol as u16;
                next += 1;
                place += 1;
            }
            symbol += 1;
        }
        code.limits[length] = (next as u64) << (32 - length);
        length += 1;
    }
    code
}

/// How many bytes `text` takes in this code.
#[must_use]
pub fn encoded_bytes(text: &[u8]) -> usize {
    let bits: usize = text
        .iter()
        .map(|&byte| usize::from(LENGTHS[usize::from(byte)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends `text` in this code, filled up with ones to a whole byte.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut held, mut bits) = (0_u64, 0_u32);
    for &byte in text {
        let length = u32::from(LENGTHS[usize::from(byte)]);
        held = held << length | u64::from(CODE.codes[usize::from(byte)]);
        bits += length;
        while bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    if bits > 0 {
        out.push((held << (8 - bits)) as u8 | (0xff >> bits));
    }
}

/// Appends what `coded` says. False where it is no code: it holds the end of the string, or ends
/// in something else than up to seven ones (RFC 7541, 5.2).
#[must_use]
pub fn decode(coded: &[u8], out: &mut Vec<u8>) -> bool {
    let (mut held, mut bits) = (0_u64, 0_u32);
    let mut input = coded.iter();
    loop {
        while bits <= 56 {
            let Some(&byte) = input.next() else { break };
            held = held << 8 | u64::from(byte);
            bits += 8;
        }
        if bits == 0 {
            return true;
        }
        // The next 32 bits, with ones where there are no more.
        let next = match bits {
            32.. => held >> (bits - 32) & 0xffff_ffff,
            _ => (held << (32 - bits) | ((1 << (32 - bits)) - 1)) & 0xffff_ffff,
        };
        let mut length = 5;
        while next >= CODE.limits[length] {
            length += 1;
            if length > LONGEST {
                return false;
            }
        }
        if length as u32 > bits {
            return bits < 8 && next == 0xffff_ffff;
        }
        let place = (next >> (32 - length)) as i64 + CODE.offsets[length];
        let symbol = usize::from(CODE.by_code[place as usize]);
        if symbol == END {
            return false;
        }
        out.push(symbol as u8);
        bits -= length as u32;
        held &= (1 << bits) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode, encoded_bytes};
    use proptest::prelude::*;

    fn coded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encode(text.as_bytes(), &mut out);
        out
    }

    #[test]
    fn the_examples_of_the_rfc() {
        assert_eq!(
            coded("www.example.com"),
            [
                0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff
            ]
        );
        assert_eq!(coded("no-cache"), [0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]);
        assert_eq!(coded("302"), [0x64, 0x02]);
    }

    #[test]
    fn padding_is_ones_and_less_than_a_byte() {
        let mut out = Vec::new();
        assert!(
            !decode(&[0x64, 0x02, 0xff], &mut out),
            "a whole byte of padding"
        );
        assert!(!decode(&[0xa8], &mut Vec::new()), "padding of zeros");
        assert!(
            !decode(&[0xff, 0xff, 0xff, 0xff], &mut Vec::new()),
            "the end of the string"
        );
        assert!(decode(&[], &mut Vec::new()));
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(text: Vec<u8>) {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            encode(&text, &mut there);
            prop_assert_eq!(there.len(), encoded_bytes(&text));
            prop_assert!(decode(&there, &mut back));
            prop_assert_eq!(back, text);
        }

        #[test]
        fn what_is_taken_is_what_would_be_sent(coded: Vec<u8>) {
            let (mut text, mut again) = (Vec::new(), Vec::new());
            if decode(&coded, &mut text) {
                encode(&text, &mut again);
                prop_assert_eq!(again, coded);
            }
        }
    }
}
