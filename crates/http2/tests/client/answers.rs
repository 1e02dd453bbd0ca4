//! What becomes of answers, whole and malformed.

use crate::talk::{Talk, Told, WIDE, get, request};
use assay_http2::client::{MOST_FIELD_BYTES, Request};
use assay_http2::frame::{self, Code, flag, kind, setting};
use assay_http2::hpack::{Decoder, Fields};
use assay_http2::{Fault, StreamFault};

#[test]
fn an_answer_from_its_request_to_its_end() {
    let mut talk = Talk::greeted(1);
    talk.head(
        1,
        false,
        &[(":status", "200"), ("content-length", "5"), ("server", "x")],
    );
    talk.frame(kind::DATA, 0, 1, b"hel")
        .frame(kind::DATA, flag::END_STREAM, 1, b"lo");
    let body = [
        Told::Body(0, b"hel".to_vec()),
        Told::Body(0, b"lo".to_vec()),
    ];
    assert_eq!(
        talk.told().unwrap(),
        [&[Told::Answer(0, 200)][..], &body, &[Told::End(0)]].concat()
    );
    let fields: Vec<_> = talk.fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(fields, [":status", "content-length", "server"]);
    assert_eq!(talk.client.under_way(), 0);
    assert!(talk.out.is_empty());
}

#[test]
fn a_connection_begins_with_the_preface_and_what_the_peer_may_send() {
    let mut talk = Talk::new(WIDE);
    assert!(talk.out.starts_with(frame::PREFACE));
    let frames = talk.written();
    assert_eq!(frames[0].0.kind, kind::SETTINGS);
    assert_eq!(frames[0].1, [0, 2, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0]);
    assert_eq!(
        (frames[1].0.kind, &frames[1].1[..]),
        (
            kind::WINDOW_UPDATE,
            &((1_u32 << 24) - 65_535).to_be_bytes()[..]
        )
    );
    talk.settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    talk.frame(kind::PING, 0, 0, b"12345678").told().unwrap();
    let answers: Vec<_> = talk
        .written()
        .into_iter()
        .map(|(head, payload)| (head.kind, head.flags, payload))
        .collect();
    assert_eq!(
        answers,
        [
            (kind::SETTINGS, flag::ACK, vec![]),
            (kind::PING, flag::ACK, b"12345678".to_vec())
        ]
    );
    assert_eq!(talk.client.room(), 2);
    talk.client.open(0, &get("/"), &mut talk.out).unwrap();
    talk.client.open(1, &get("/"), &mut talk.out).unwrap();
    assert_eq!(talk.client.open(2, &get("/"), &mut talk.out), None);
}

/// A block is written once and sent again; a peer reads the same from each, whatever comes in between.
#[test]
fn requests_are_shortened_by_what_was_sent_before() {
    let mut talk = Talk::greeted(0);
    let (mut reader, mut fields) = (Decoder::new(MOST_FIELD_BYTES), Fields::default());
    let mut lengths = Vec::new();
    let other = Request {
        number: Some(1),
        ..request("GET", "/other", b"")
    };
    for (key, request) in [get("/x"), get("/x"), other.clone(), get("/x"), other]
        .iter()
        .enumerate()
    {
        talk.client
            .open(key as u32, request, &mut talk.out)
            .unwrap();
        let frames = talk.written();
        reader.decode(&frames[0].1, &mut fields).unwrap();
        let read: Vec<_> = fields
            .iter()
            .map(|(name, value)| (name.to_vec(), value.to_vec(), true))
            .collect();
        assert_eq!(read, request.fields);
        lengths.push(frames[0].1.len());
    }
    assert!(
        lengths[1] == 4 && lengths[3] == 4 && lengths[4] == 4,
        "{lengths:?}"
    );
}

/// Each time anew, as a block of several frames is not kept.
#[test]
fn a_long_head_goes_in_several_frames() {
    let mut talk = Talk::greeted(0);
    let (mut reader, mut fields) = (Decoder::new(MOST_FIELD_BYTES), Fields::default());
    let mut long = request("GET", "/", b"");
    long.fields
        .push((b"cookie".to_vec(), vec![b'\\'; 40_000], false));
    for key in 0..3 {
        talk.client.open(key, &long, &mut talk.out).unwrap();
        let frames = talk.written();
        let kinds: Vec<_> = frames.iter().map(|(head, _)| head.kind).collect();
        assert_eq!(
            kinds,
            [kind::HEADERS, kind::CONTINUATION, kind::CONTINUATION]
        );
        assert!(frames[0].0.has(flag::END_STREAM) && !frames[0].0.has(flag::END_HEADERS));
        assert!(frames[2].0.has(flag::END_HEADERS));
        let block: Vec<u8> = frames.into_iter().flat_map(|frame| frame.1).collect();
        reader.decode(&block, &mut fields).unwrap();
        assert_eq!(
            fields.iter().last(),
            Some((&b"cookie"[..], &[b'\\'; 40_000][..]))
        );
    }
}

/// What was sent as one frame is not sent so again, where the peer has come to take less at a time.
#[test]
fn a_head_that_was_sent_before_goes_in_frames_that_the_peer_takes_now() {
    let mut talk = Talk::greeted(0);
    let mut long = request("GET", "/", b"");
    long.fields
        .push((b"cookie".to_vec(), vec![b'\\'; 20_000], false));
    let mut frames_sent = Vec::new();
    for (key, most) in [1 << 20, 1 << 20, 16_384].into_iter().enumerate() {
        talk.settings(&[(setting::MAX_FRAME_SIZE, most)]);
        talk.told().unwrap();
        talk.written();
        talk.client.open(key as u32, &long, &mut talk.out).unwrap();
        let frames = talk.written();
        assert!(
            frames
                .iter()
                .all(|(_, payload)| payload.len() <= most as usize)
        );
        frames_sent.push(frames.len());
    }
    assert_eq!(frames_sent, [1, 1, 2]);
}

#[test]
fn interim_answers_and_trailers_are_passed_over() {
    let mut talk = Talk::greeted(1);
    talk.head(1, false, &[(":status", "103"), ("link", "</a>")])
        .head(1, false, &[(":status", "200")]);
    talk.frame(kind::DATA, 0, 1, b"x")
        .head(1, true, &[("x-checksum", "1")]);
    assert_eq!(
        talk.told().unwrap(),
        [
            Told::Answer(0, 200),
            Told::Body(0, b"x".to_vec()),
            Told::End(0)
        ]
    );
}

#[test]
fn what_the_server_did_not_begin_is_told_apart() {
    let mut talk = Talk::greeted(4);
    talk.frame(
        kind::RST_STREAM,
        0,
        1,
        &Code::REFUSED_STREAM.0.to_be_bytes(),
    );
    talk.frame(
        kind::RST_STREAM,
        0,
        3,
        &Code::INTERNAL_ERROR.0.to_be_bytes(),
    );
    talk.frame(
        kind::GOAWAY,
        0,
        0,
        &[5_u32.to_be_bytes(), Code::NO_ERROR.0.to_be_bytes()].concat(),
    );
    talk.head(5, true, &[(":status", "204")]);
    let told = [
        Told::Failed(0, StreamFault::Unprocessed),
        Told::Failed(1, StreamFault::Reset(Code::INTERNAL_ERROR)),
        Told::Failed(3, StreamFault::Unprocessed),
        Told::GoAway(Code::NO_ERROR),
        Told::Answer(2, 204),
        Told::End(2),
    ];
    assert_eq!(talk.told().unwrap(), told);
    assert!(talk.client.is_spent() && talk.client.room() == 0 && talk.out.is_empty());
}

#[test]
fn a_stream_given_up_may_still_be_answered() {
    let mut talk = Talk::greeted(2);
    talk.client.cancel(1, &mut talk.out);
    assert_eq!(talk.written()[0].0.kind, kind::RST_STREAM);
    talk.head(1, false, &[(":status", "200"), ("x", "y")])
        .frame(kind::DATA, flag::END_STREAM, 1, b"late");
    // The table has to be read on, or the next head means something else.
    talk.head(3, true, &[(":status", "200"), ("x", "y")]);
    assert_eq!(talk.told().unwrap(), [Told::Answer(1, 200), Told::End(1)]);
    assert_eq!(talk.fields.last(), Some(&("x".into(), "y".into())));
}

#[test]
fn malformed_answers_fail_alone() {
    let wrong: [&[(&str, &str)]; 14] = [
        &[],
        &[("server", "x")],
        &[(":status", "200"), (":status", "200")],
        &[(":status", "20")],
        &[(":status", "+20")],
        &[(":status", "101")],
        &[("server", "x"), (":status", "200")],
        &[(":status", "200"), (":path", "/")],
        &[(":status", "200"), ("Server", "x")],
        &[(":status", "200"), ("connection", "close")],
        &[
            (":status", "200"),
            ("content-length", "1"),
            ("content-length", "2"),
        ],
        &[(":status", "200"), ("x", "a\nb")],
        &[(":status", "200"), ("x", " a")],
        &[(":status", "200"), ("x", "a\t")],
    ];
    for fields in wrong {
        let mut talk = Talk::greeted(2);
        talk.head(1, false, fields)
            .head(3, true, &[(":status", "200")]);
        let told = talk.told().unwrap();
        assert!(
            matches!(told[0], Told::Failed(0, StreamFault::Malformed(_))),
            "{fields:?}: {told:?}"
        );
        assert_eq!(
            told[1..],
            [Told::Answer(1, 200), Told::End(1)],
            "{fields:?}"
        );
        assert_eq!(
            talk.written()[0].1,
            Code::PROTOCOL_ERROR.0.to_be_bytes(),
            "{fields:?}"
        );
    }
}

#[test]
fn lengths_that_do_not_hold_are_malformed() {
    for (length, data, is_right) in [
        ("3", &b"abc"[..], true),
        ("4", b"abc", false),
        ("2", b"abc", false),
    ] {
        let mut talk = Talk::greeted(1);
        talk.head(1, false, &[(":status", "200"), ("content-length", length)]);
        talk.frame(kind::DATA, flag::END_STREAM, 1, data);
        let last = talk.told().unwrap().pop().unwrap();
        assert_eq!(last == Told::End(0), is_right, "{length}: {last:?}");
    }
    let mut talk = Talk::greeted(0);
    talk.client
        .open(0, &request("HEAD", "/", b""), &mut talk.out)
        .unwrap();
    talk.head(1, true, &[(":status", "200"), ("content-length", "9")]);
    assert_eq!(talk.told().unwrap(), [Told::Answer(0, 200), Told::End(0)]);
}

#[test]
fn what_has_no_body_has_none_whatever_its_length_says() {
    for (method, status) in [("HEAD", "200"), ("GET", "204"), ("GET", "304")] {
        let mut talk = Talk::greeted(0);
        for key in 0..2 {
            talk.client
                .open(key, &request(method, "/", b""), &mut talk.out)
                .unwrap();
        }
        // An empty frame is no body.
        talk.head(1, false, &[(":status", status), ("content-length", "1")])
            .frame(kind::DATA, flag::END_STREAM, 1, b"");
        talk.head(3, false, &[(":status", status), ("content-length", "1")])
            .frame(kind::DATA, flag::END_STREAM, 3, b"x");
        let told = talk.told().unwrap();
        assert_eq!(told[1], Told::End(0), "{method} {status}");
        assert!(
            matches!(told[3], Told::Failed(1, StreamFault::Malformed(_))),
            "{method} {status}: {told:?}"
        );
    }
}

#[test]
fn a_stream_given_up_long_ago_may_still_be_answered() {
    let mut talk = Talk::greeted(0);
    for key in 0..10_000 {
        let id = talk.client.open(key, &get("/"), &mut talk.out).unwrap();
        talk.client.cancel(id, &mut talk.out);
        talk.out.clear();
    }
    let id = talk.client.open(0, &get("/"), &mut talk.out).unwrap();
    talk.head(1, false, &[(":status", "200")])
        .frame(kind::DATA, flag::END_STREAM, 1, b"late")
        .head(id, true, &[(":status", "200")]);
    assert_eq!(talk.told(), Ok(vec![Told::Answer(0, 200), Told::End(0)]));
    // What has ended by an answer has ended.
    talk.frame(kind::DATA, 0, id, b"x");
    assert_eq!(talk.fault(), Fault::ClosedStream(kind::DATA));
}
