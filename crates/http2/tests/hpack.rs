//! HPACK through its public face: the RFC's examples, and any fields there and back.

use assay_http2::hpack::{Decoder, Encoder, Fields, HpackError};
use proptest::prelude::*;

const MOST: usize = 512 * 1024;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn read(decoder: &mut Decoder, hex: &str) -> Vec<String> {
    let mut fields = Fields::default();
    decoder.decode(&bytes(hex), &mut fields).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    fields
        .iter()
        .map(|(name, value)| format!("{}: {}", text(name), text(value)))
        .collect()
}

fn fault(hex: &str) -> HpackError {
    Decoder::new(MOST)
        .decode(&bytes(hex), &mut Fields::default())
        .unwrap_err()
}

/// RFC 7541, C.4: three requests on one connection, and what an encoder of ours makes of them.
#[test]
fn requests_of_the_rfc() {
    let first = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/"),
        (":authority", "www.example.com"),
    ];
    let second = [&first[..], &[("cache-control", "no-cache")]].concat();
    let third = vec![
        (":method", "GET"),
        (":scheme", "https"),
        (":path", "/index.html"),
        (":authority", "www.example.com"),
        ("custom-key", "custom-value"),
    ];
    let blocks = [
        (first.to_vec(), "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"),
        (second, "8286 84be 5886 a8eb 1064 9cbf"),
        (
            third,
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ),
    ];
    let (mut decoder, mut encoder) = (Decoder::new(MOST), Encoder::default());
    for (fields, hex) in blocks {
        let told: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(read(&mut decoder, hex), told);
        let mut block = Vec::new();
        encoder.encode(
            fields
                .iter()
                .map(|(name, value)| (name.as_bytes(), value.as_bytes(), true)),
            &mut block,
        );
        assert_eq!(block, bytes(hex));
    }
}

/// RFC 7541, C.6: three answers through a table of 256 bytes, where entries have to go.
#[test]
fn answers_of_the_rfc() {
    let mut decoder = Decoder::new(MOST);
    decoder
        .decode(&[0x3f, 0xe1, 0x01], &mut Fields::default())
        .unwrap();
    let first = read(
        &mut decoder,
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
         1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
    );
    assert_eq!(
        first,
        [
            ":status: 302",
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com"
        ]
    );
    assert_eq!(read(&mut decoder, "4883 640e ffc1 c0bf")[0], ":status: 307");
    let third = read(
        &mut decoder,
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
         e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    );
    assert_eq!(third[0], ":status: 200");
    assert_eq!(third[4], "content-encoding: gzip");
    assert_eq!(
        third[5],
        "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
    );
    // Only the three newest are left: cookie, coding, date.
    let mut fields = Fields::default();
    decoder.decode(&[0x80 | 64], &mut fields).unwrap();
    assert_eq!(
        decoder.decode(&[0x80 | 65], &mut fields),
        Err(HpackError::NoEntry)
    );
}

#[test]
fn what_breaks_a_block() {
    assert_eq!(fault("80"), HpackError::NoEntry, "index 0");
    assert_eq!(fault("be"), HpackError::NoEntry, "an empty table");
    assert_eq!(
        fault("7e 01 61"),
        HpackError::NoEntry,
        "a name of an empty table"
    );
    assert_eq!(fault("40 03 6162"), HpackError::CutShort);
    assert_eq!(fault("82 20"), HpackError::MisplacedSize);
    assert_eq!(fault("3f e2 1f"), HpackError::TableTooLarge, "4,097 bytes");
    assert_eq!(fault("ff ff ff ff ff ff"), HpackError::Overflow);
    assert_eq!(fault("00 81 00 00"), HpackError::BadHuffman);
    let mut small = Decoder::new(100);
    let block = bytes("82 82 82");
    assert_eq!(
        small.decode(&block, &mut Fields::default()),
        Err(HpackError::TooLong(100))
    );
}

/// A block of a few hundred bytes may stand for megabytes: an entry of 4 kB, named again and again.
#[test]
fn a_small_block_of_long_fields_is_refused_before_it_is_unfolded() {
    let mut block = vec![0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
    block.extend(std::iter::repeat_n(b'x', 4000));
    block.extend(std::iter::repeat_n(0xbe, 4000));
    let mut fields = Fields::default();
    assert_eq!(
        Decoder::new(MOST).decode(&block, &mut fields),
        Err(HpackError::TooLong(MOST))
    );
    assert!(fields.len() < 200);
}

/// RFC 7541, 4.2: the next block begins with the least size that the table had in between, then the last one.
#[test]
fn sizes_between_two_blocks_are_told_as_the_least_and_the_last() {
    let cases: [(&[usize], &str); 7] = [
        (&[4096], ""),
        (&[100], "3f45"),
        (&[100, 3000], "3f45 3f99 17"),
        (&[100, 4096], "3f45 3fe1 1f"),
        (&[3000, 100], "3f45"),
        (&[1000, 0, 100], "20 3f45"),
        (&[0, 30, 20], "20 34"),
    ];
    let field = [(&b"custom-key"[..], &[b'v'; 80][..], true)];
    for (sizes, told) in cases {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::new(MOST));
        let mut read = |encoder: &mut Encoder| {
            let (mut block, mut fields) = (Vec::new(), Fields::default());
            encoder.encode(field, &mut block);
            decoder.decode(&block, &mut fields).unwrap();
            let (name, value) = fields.iter().next().unwrap();
            assert_eq!((name, value), (field[0].0, field[0].1), "{sizes:?}");
            block
        };
        let first = read(&mut encoder);
        for size in sizes {
            encoder.limit_table(*size);
        }
        let sized = read(&mut encoder);
        let rest = sized.strip_prefix(&bytes(told)[..]);
        // A table that was too small for the entry in between has lost it.
        let again = match sizes.iter().any(|size| *size < 122) {
            true => &first[..],
            false => &[0x80 | 62],
        };
        assert_eq!(rest, Some(again), "{sizes:?}");
        // Once told, sizes are not told again.
        assert!(!matches!(read(&mut encoder)[0], 0x20..=0x3f), "{sizes:?}");
    }
}

type Sent = Vec<(Vec<u8>, Vec<u8>, bool)>;

fn field() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, bool)> {
    let name = prop_oneof![
        prop::sample::select(vec![":path", "date", "x-a", "x-b", "cookie"])
            .prop_map(|name| name.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..40)
    ];
    (
        name,
        prop::collection::vec(any::<u8>(), 0..300),
        any::<bool>(),
    )
}

proptest! {
    /// Any fields, with tables that shrink and grow in between.
    #[test]
    fn fields_come_back(blocks in prop::collection::vec((prop::collection::vec(field(), 0..12), prop::option::of(0_usize..5000)), 1..12)) {
        let (mut encoder, mut decoder, mut fields) = (Encoder::default(), Decoder::new(MOST), Fields::default());
        for (sent, limit) in blocks {
            if let Some(limit) = limit {
                encoder.limit_table(limit);
                decoder.allow_table(limit);
            }
            let sent: Sent = sent;
            let mut block = Vec::new();
            encoder.encode(sent.iter().map(|(name, value, kept)| (&name[..], &value[..], *kept)), &mut block);
            decoder.decode(&block, &mut fields).unwrap();
            let got: Vec<_> = fields.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            let told: Vec<_> = sent.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(got, told);
        }
    }

    /// As long as a block changes no table, it may be sent and read again as it is.
    #[test]
    fn a_block_that_changes_nothing_says_the_same_again(sent in prop::collection::vec(field(), 0..6)) {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::new(MOST));
        let fields = || sent.iter().map(|(name, value, kept)| (&name[..], &value[..], *kept && value.len() < 50));
        let mut read = Vec::new();
        let mut last = (Vec::new(), u64::MAX);
        for _ in 0..4 {
            let before = encoder.changes();
            let mut block = Vec::new();
            encoder.encode(fields(), &mut block);
            if last.1 == before && encoder.changes() == before {
                prop_assert_eq!(&block, &last.0);
            }
            let mut got = Fields::default();
            let unread = decoder.changes();
            decoder.decode(&block, &mut got).unwrap();
            prop_assert_eq!(decoder.changes() == unread, encoder.changes() == before);
            read.push(got.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect::<Vec<_>>());
            last = (block, before);
        }
        prop_assert!(read.windows(2).all(|two| two[0] == two[1]));
    }

    #[test]
    fn any_bytes_are_read_or_refused(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..5)) {
        let (mut decoder, mut fields) = (Decoder::new(4096), Fields::default());
        for block in blocks {
            if decoder.decode(&block, &mut fields).is_err() {
                break;
            }
        }
    }
}
