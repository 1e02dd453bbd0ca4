//! HPACK: no block panics, loops or grows without bound; what was read is written so that it is read again.
#![no_main]

use assay_http2::hpack::{Decoder, Encoder, Fields, huffman};
use libfuzzer_sys::fuzz_target;

const MOST_BYTES: usize = 1 << 16;

/// Blocks of one connection, each behind a byte that says how long it is.
fn blocks(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = bytes.split_first()?;
        let (block, rest) = rest.split_at(usize::from(length).min(rest.len()));
        bytes = rest;
        Some(block)
    })
}

fuzz_target!(|data: &[u8]| {
    let (mut text, mut coded) = (Vec::new(), Vec::new());
    if huffman::decode(data, &mut text) {
        huffman::encode(&text, &mut coded);
        assert_eq!(coded, data);
    }
    let (mut decoder, mut fields) = (Decoder::new(MOST_BYTES), Fields::default());
    let (mut encoder, mut again) = (Encoder::default(), Decoder::new(MOST_BYTES));
    let mut read = Fields::default();
    for (place, block) in blocks(data).enumerate() {
        let before = decoder.changes();
        if decoder.decode(block, &mut fields).is_err() {
            return;
        }
        assert!(fields.bytes() <= MOST_BYTES);
        if decoder.changes() == before {
            // A block that changes nothing says the same again.
            decoder
                .decode(block, &mut read)
                .expect("it was read before");
            assert!(fields.iter().eq(read.iter()));
        }
        if block.len() % 7 == 0 {
            let bytes = block.len() * 20;
            encoder.limit_table(bytes);
            again.allow_table(bytes);
        }
        let mut out = Vec::new();
        let kept = fields
            .iter()
            .map(|(name, value)| (name, value, (name.len() + place) % 3 > 0));
        encoder.encode(kept, &mut out);
        again.decode(&out, &mut read).expect("it is our own");
        assert!(fields.iter().eq(read.iter()));
    }
});
