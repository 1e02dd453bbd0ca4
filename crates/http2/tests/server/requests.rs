//! What becomes of requests, whole and malformed.

use crate::guest::{BLOCK, ENDED, GET, Guest, OPEN, POST, Said};
use assay_http2::frame::{Code, flag, kind};
use assay_http2::server::Event;

const WHOLE: [Event; 1] = [Event::Request {
    stream: 1,
    is_whole: true,
}];

/// Fields behind those of a right request, or in their place.
#[rustfmt::skip]
const MALFORMED: [&[(&str, &str)]; 24] = [
    &[],
    &[GET[0]],
    &[GET[1], GET[2]],
    &[GET[0], GET[2]],
    &[GET[0], GET[1]],
    &[GET[0], GET[1], (":path", "")],
    &[("x", "y"), GET[0], GET[1], GET[2]],
    &[GET[0], GET[1], ("x", "y"), GET[2]],
    &[GET[0], GET[1], GET[2], GET[0]],
    &[GET[0], GET[1], GET[2], GET[1]],
    &[GET[0], GET[1], GET[2], GET[2]],
    &[GET[0], GET[1], GET[2], (":status", "200")],
    &[GET[0], GET[1], GET[2], (":test", "ok")],
    &[GET[0], GET[1], GET[2], ("X-Test", "ok")],
    &[GET[0], GET[1], GET[2], ("x test", "ok")],
    &[GET[0], GET[1], GET[2], ("", "ok")],
    &[GET[0], GET[1], GET[2], ("x", "a\nb")],
    &[GET[0], GET[1], GET[2], ("x", " a")],
    &[GET[0], GET[1], GET[2], ("x", "a\t")],
    &[GET[0], GET[1], GET[2], ("connection", "keep-alive")],
    &[GET[0], GET[1], GET[2], ("te", "trailers, deflate")],
    &[GET[0], GET[1], GET[2], ("content-length", "-1")],
    &[GET[0], GET[1], GET[2], ("content-length", "5")],
    &[(":method", "CONNECT"), GET[1], GET[2], (":authority", "a")],
];

#[test]
fn malformed_requests_fail_alone() {
    for fields in MALFORMED {
        let mut guest = Guest::greeted();
        guest.head(1, true, fields).head(3, true, &GET);
        let next = Event::Request {
            stream: 3,
            is_whole: true,
        };
        assert_eq!(guest.told(), Ok(vec![next]), "{fields:?}");
        assert_eq!(
            guest.said(),
            [Said::Reset(1, Code::PROTOCOL_ERROR)],
            "{fields:?}"
        );
    }
}

#[test]
fn right_requests_are_told() {
    let right: [&[(&str, &str)]; 5] = [
        &GET,
        &[GET[2], GET[0], (":authority", ""), GET[1]],
        &[GET[0], GET[1], GET[2], ("te", "trailers"), ("x!", "y\tz")],
        &[GET[0], GET[1], GET[2], ("content-length", "0")],
        &[(":method", "CONNECT"), (":authority", "a:443")],
    ];
    for fields in right {
        let mut guest = Guest::greeted();
        guest.head(1, true, fields);
        assert_eq!(guest.told(), Ok(WHOLE.to_vec()), "{fields:?}");
        assert!(guest.said().is_empty());
        let read: Vec<_> = guest.server.fields().iter().collect();
        let sent = fields
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        assert_eq!(read, sent.collect::<Vec<_>>());
    }
    // Padded, with a priority, in pieces.
    let mut guest = Guest::greeted();
    let payload = [&[2, 0, 0, 0, 0, 7], &BLOCK[..1], &[0, 0]].concat();
    let flags = flag::END_STREAM | flag::PADDED | flag::PRIORITY;
    guest
        .frame(kind::HEADERS, flags, 1, &payload)
        .frame(kind::CONTINUATION, 0, 1, &BLOCK[1..2])
        .frame(kind::CONTINUATION, flag::END_HEADERS, 1, &BLOCK[2..]);
    assert_eq!(guest.told(), Ok(WHOLE.to_vec()));
    // A stream cannot depend on itself.
    let payload = [&[0x80, 0, 0, 3, 7], BLOCK].concat();
    guest.frame(kind::HEADERS, ENDED | flag::PRIORITY, 3, &payload);
    assert_eq!(guest.told(), Ok(vec![]));
    assert_eq!(guest.said(), [Said::Reset(3, Code::PROTOCOL_ERROR)]);
}

#[test]
fn a_body_is_as_long_as_its_head_says() {
    for (length, pieces, is_right) in [
        (None, &["test", "", "more"][..], true),
        (Some("8"), &["test", "more"], true),
        (Some("0"), &[""], true),
        (Some("9"), &["test", "more"], false),
        (Some("7"), &["test", "more"], false),
        (Some("1"), &["test"], false),
    ] {
        let mut guest = Guest::greeted();
        let mut fields = POST.to_vec();
        fields.extend(length.map(|length| ("content-length", length)));
        guest.head(1, false, &fields);
        for (place, piece) in pieces.iter().enumerate() {
            let is_last = u8::from(place + 1 == pieces.len());
            let payload = [&[3], piece.as_bytes(), &[0; 3]].concat();
            guest.frame(kind::DATA, flag::PADDED | is_last, 1, &payload);
        }
        let last = guest.told().unwrap().pop();
        let (event, said) = match is_right {
            true => (Event::End { stream: 1 }, vec![]),
            false => (
                Event::Reset { stream: 1 },
                vec![Said::Reset(1, Code::PROTOCOL_ERROR)],
            ),
        };
        assert_eq!(last, Some(event), "{length:?} {pieces:?}");
        assert_eq!(guest.said(), said, "{length:?} {pieces:?}");
    }
}

#[test]
fn trailers_end_a_request_and_have_no_pseudo_header() {
    let told = |end: bool, fields: &[(&str, &str)]| {
        let mut guest = Guest::greeted();
        guest
            .head(1, false, &POST)
            .frame(kind::DATA, 0, 1, b"test")
            .head(1, end, fields);
        (guest.told().unwrap().pop(), guest.said())
    };
    let reset = (
        Some(Event::Reset { stream: 1 }),
        vec![Said::Reset(1, Code::PROTOCOL_ERROR)],
    );
    assert_eq!(
        told(true, &[("x", "y")]),
        (Some(Event::End { stream: 1 }), vec![])
    );
    assert_eq!(told(false, &[("x", "y")]), reset);
    assert_eq!(told(true, &[(":method", "POST")]), reset);
    assert_eq!(told(true, &GET), reset);
    assert_eq!(told(true, &[("X", "y")]), reset);
}

/// The same block again is one comparison, and means the same; as trailers it means something else.
#[test]
fn what_a_block_means_depends_on_its_place() {
    let mut guest = Guest::greeted();
    guest
        .frame(kind::HEADERS, ENDED, 1, BLOCK)
        .frame(kind::HEADERS, OPEN, 3, BLOCK)
        .frame(kind::HEADERS, ENDED, 3, BLOCK)
        .frame(kind::HEADERS, ENDED, 5, BLOCK);
    let request = |stream, is_whole| Event::Request { stream, is_whole };
    let told = [
        request(1, true),
        request(3, false),
        Event::Reset { stream: 3 },
        request(5, true),
    ];
    assert_eq!(guest.told(), Ok(told.to_vec()));
    assert_eq!(guest.said(), [Said::Reset(3, Code::PROTOCOL_ERROR)]);
}
