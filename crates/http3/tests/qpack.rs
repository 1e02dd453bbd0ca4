//! Blocks of fields without a dynamic table: RFC 9204's own example, every form of a field, and what is no block.

use assay_http2::hpack::HpackError;
use assay_http3::{Code, Fault, Fields, qpack};
use proptest::prelude::*;

const MOST: usize = 1 << 16;

fn decoded(block: &[u8]) -> Result<Vec<(String, String)>, Fault> {
    let mut fields = Fields::default();
    qpack::decode(block, MOST, &mut fields)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(fields
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .collect())
}

fn encoded(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    qpack::encode(
        fields
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes())),
        &mut out,
    );
    out
}

fn one(name: &str, value: &str) -> Result<Vec<(String, String)>, Fault> {
    Ok(vec![(name.into(), value.into())])
}

#[test]
fn the_example_of_the_rfc() {
    // RFC 9204, B.1.
    let block = b"\x00\x00\x51\x0b/index.html";
    assert_eq!(decoded(block), one(":path", "/index.html"));
}

#[test]
fn every_form_of_a_field_is_read() {
    for (block, name, value) in [
        (&b"\x00\x00\xd9"[..], ":status", "200"),
        (b"\x00\x00\xff\x23", "x-frame-options", "sameorigin"),
        (b"\x00\x00\x5f\x1d\x03abc", "content-type", "abc"),
        (b"\x00\x00\x75\x01a", "cookie", "a"),
        (b"\x00\x00\x23abc\x01d", "abc", "d"),
        (b"\x00\x00\x33abc\x00", "abc", ""),
        (b"\x00\x00\x2a\x64\x02\x82\x64\x02", "302", "302"),
    ] {
        assert_eq!(decoded(block), one(name, value), "{block:?}");
    }
    assert_eq!(decoded(b"\x00\x00"), Ok(vec![]));
}

#[test]
fn what_is_written_is_as_short_as_it_can_be() {
    assert_eq!(encoded(&[(":status", "200")]), b"\x00\x00\xd9");
    assert_eq!(encoded(&[(":path", "/index.html")])[..3], *b"\x00\x00\x51");
    assert_eq!(encoded(&[("content-type", "text/plain")]), b"\x00\x00\xf5");
    assert_eq!(
        encoded(&[("x-frame-options", "sameorigin")]),
        b"\x00\x00\xff\x23"
    );
    assert_eq!(encoded(&[("q", "\u{1}")]), b"\x00\x00\x21q\x01\x01");
}

#[test]
fn what_is_no_block_is_refused() {
    for (block, fault) in [
        (&b""[..], Fault::BadBlock(HpackError::CutShort)),
        (b"\x00", Fault::BadBlock(HpackError::CutShort)),
        (
            b"\x00\x00\x51\x0b/index.htm",
            Fault::BadBlock(HpackError::CutShort),
        ),
        (b"\x00\x00\xff\x24", Fault::BadBlock(HpackError::NoEntry)),
        (
            b"\x00\x00\x51\x81\x00",
            Fault::BadBlock(HpackError::BadHuffman),
        ),
        (
            b"\x00\x00\xff\xff\xff\xff\xff\xff\x0f",
            Fault::BadBlock(HpackError::Overflow),
        ),
        (b"\x02\x00", Fault::DynamicTable),
        (b"\x00\x80", Fault::DynamicTable),
        (b"\x00\x00\x80", Fault::DynamicTable),
        (b"\x00\x00\x40\x01a", Fault::DynamicTable),
        (b"\x00\x00\x10", Fault::DynamicTable),
        (b"\x00\x00\x00\x01a", Fault::DynamicTable),
    ] {
        assert_eq!(decoded(block), Err(fault), "{block:?}");
        assert_eq!(fault.code(), Code::QPACK_DECOMPRESSION_FAILED);
    }
}

#[test]
fn fields_that_grow_out_of_a_small_block_have_a_bound() {
    // One byte a field, each as long as the longest entry of the static table.
    let block = [&[0, 0][..], &[0xff, 22].repeat(2000)].concat();
    let fault = decoded(&block).unwrap_err();
    assert_eq!(fault, Fault::BadBlock(HpackError::TooLong(MOST)));
    assert_eq!(fault.code(), Code::EXCESSIVE_LOAD);
}

proptest! {
    #[test]
    fn what_was_written_is_read(fields in prop::collection::vec(("[a-z:-]{1,12}|:status|content-type", ".{0,40}|200|text/plain"), 0..9)) {
        let named: Vec<_> = fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        prop_assert_eq!(decoded(&encoded(&named)), Ok(fields.clone()));
    }

    #[test]
    fn a_block_that_is_cut_is_not_taken_for_another(fields in prop::collection::vec(("[a-z]{1,12}", "[a-z]{1,9}"), 1..5), cut: prop::sample::Index) {
        let named: Vec<_> = fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let block = encoded(&named);
        if let Ok(found) = decoded(&block[..cut.index(block.len())]) {
            prop_assert_eq!(&found[..], &fields[..found.len()]);
        }
    }
}
