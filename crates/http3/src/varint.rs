//! Numbers of one, two, four or eight bytes, RFC 9000, section 16.

/// The largest number there is.
pub const MOST: u64 = (1 << 62) - 1;

/// Appends `value` in as few bytes as it takes.
///
/// # Panics
/// `value` is above [`MOST`].
pub fn write(value: u64, out: &mut Vec<u8>) {
    assert!(value <= MOST, "a number of more than 62 bits");
    match value {
        0..0x40 => out.push(value as u8),
        0x40..0x4000 => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Takes a number off the front of `input`; None, and nothing taken, where it is not whole.
#[inline]
pub fn read(input: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = input.split_first()?;
    if first < 0x40 {
        // As in most heads of frames.
        *input = rest;
        return Some(u64::from(first));
    }
    let length = 1 << (first >> 6);
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    let whole = bytes
        .iter()
        .fold(0, |whole, &byte| whole << 8 | u64::from(byte));
    Some(whole & (u64::MAX >> (66 - 8 * length).min(63)))
}

#[cfg(test)]
mod tests {
    use super::{MOST, read, write};
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_the_rfc() {
        for (bytes, value) in [
            (
                &[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..],
                151_288_809_941_952_652,
            ),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ] {
            assert_eq!(read(&mut &*bytes), Some(value));
            let mut out = Vec::new();
            write(value, &mut out);
            assert_eq!(out, bytes);
        }
        assert_eq!(
            read(&mut &[0x40, 0x25][..]),
            Some(37),
            "longer than it has to be"
        );
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(value in 0..=MOST, bits in 0_u32..62) {
            let (value, mut out) = (value >> bits, Vec::new());
            write(value, &mut out);
            for cut in 0..out.len() {
                prop_assert_eq!(read(&mut &out[..cut]), None);
            }
            out.push(7);
            let mut input = &out[..];
            prop_assert_eq!(read(&mut input), Some(value));
            prop_assert_eq!(input, [7]);
        }
    }
}
