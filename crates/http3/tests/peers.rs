//! Unidirectional streams: what a peer may say there, how often, and what breaks the connection.

use assay_http3::frame::{self, kind, stream};
use assay_http3::peer::{Event, Peer, Role, Settings, Stream};
use assay_http3::{Code, Fault, varint};

fn frame_of(kind: u64, numbers: &[u64]) -> Vec<u8> {
    let (mut payload, mut out) = (Vec::new(), Vec::new());
    numbers
        .iter()
        .for_each(|&number| varint::write(number, &mut payload));
    frame::write(kind, &payload, &mut out);
    out
}

fn control(frames: &[Vec<u8>]) -> Vec<u8> {
    [&[0][..], &frames.concat()].concat()
}

fn settings(pairs: &[u64]) -> Vec<u8> {
    frame_of(kind::SETTINGS, pairs)
}

fn read<'a>(role: Role, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Event>, Fault> {
    let (mut peer, mut stream, mut told) = (Peer::new(role), Stream::default(), Vec::new());
    for mut input in pieces {
        while let Some(event) = peer.next(&mut stream, &mut input)? {
            told.push(event);
        }
        assert!(input.is_empty());
    }
    Ok(told)
}

/// The same from all cuts.
fn meant(role: Role, bytes: &[u8]) -> Result<Vec<Event>, Fault> {
    let whole = read(role, [bytes]);
    assert_eq!(whole, read(role, bytes.chunks(1)));
    for cut in 0..bytes.len() {
        assert_eq!(whole, read(role, [&bytes[..cut], &bytes[cut..]]));
    }
    whole
}

#[test]
fn our_own_control_stream_is_understood() {
    let mut out = Vec::new();
    frame::write_control(4096, &mut out);
    frame::write_goaway(8, &mut out);
    let said = Settings {
        most_field_bytes: 4096,
        table_bytes: 0,
        blocked_streams: 0,
    };
    assert_eq!(
        meant(Role::Server, &out),
        Ok(vec![Event::Settings(said), Event::GoAway(8)])
    );
}

#[test]
fn settings_with_unknown_ones_and_frames_that_mean_nothing() {
    let bytes = control(&[
        settings(&[0x6, 100, 0x1, 4096, 0x7, 16, 0x33, 1, 0x1f * 7 + 0x21, 9]),
        frame_of(0x21, &[1, 2, 3]),
        frame_of(kind::GOAWAY, &[12]),
        frame_of(kind::GOAWAY, &[4]),
    ]);
    let said = Settings {
        most_field_bytes: 100,
        table_bytes: 4096,
        blocked_streams: 16,
    };
    let told = vec![Event::Settings(said), Event::GoAway(12), Event::GoAway(4)];
    assert_eq!(meant(Role::Server, &bytes), Ok(told));
}

fn are_faults(cases: &[(Role, Vec<u8>, Code)]) {
    for (role, bytes, code) in cases {
        let fault = meant(*role, bytes).unwrap_err();
        assert_eq!(fault.code(), *code, "{fault} of {bytes:?}");
    }
}

#[test]
fn frames_that_do_not_belong_there_break_the_control_stream() {
    let greeted = |kind, numbers: &[u64]| control(&[settings(&[]), frame_of(kind, numbers)]);
    are_faults(&[
        (
            Role::Server,
            control(&[frame_of(kind::GOAWAY, &[0])]),
            Code::MISSING_SETTINGS,
        ),
        (
            Role::Server,
            greeted(kind::SETTINGS, &[]),
            Code::FRAME_UNEXPECTED,
        ),
        (
            Role::Server,
            greeted(kind::DATA, &[]),
            Code::FRAME_UNEXPECTED,
        ),
        (
            Role::Server,
            greeted(kind::HEADERS, &[]),
            Code::FRAME_UNEXPECTED,
        ),
        (Role::Server, greeted(0x9, &[]), Code::FRAME_UNEXPECTED),
        (
            Role::Server,
            greeted(kind::MAX_PUSH_ID, &[1]),
            Code::FRAME_UNEXPECTED,
        ),
        (
            Role::Server,
            greeted(kind::CANCEL_PUSH, &[0]),
            Code::ID_ERROR,
        ),
        (Role::Server, greeted(kind::GOAWAY, &[3]), Code::ID_ERROR),
        (Role::Server, greeted(kind::GOAWAY, &[]), Code::FRAME_ERROR),
        (
            Role::Server,
            greeted(kind::GOAWAY, &[4, 4]),
            Code::FRAME_ERROR,
        ),
    ]);
}

#[test]
fn wrong_settings_and_numbers_that_go_back_break_the_control_stream() {
    are_faults(&[
        (
            Role::Server,
            control(&[settings(&[0x2, 0])]),
            Code::SETTINGS_ERROR,
        ),
        (
            Role::Server,
            control(&[settings(&[0x6, 0, 0x6, 0])]),
            Code::SETTINGS_ERROR,
        ),
        (
            Role::Server,
            control(&[settings(&[0x6])]),
            Code::FRAME_ERROR,
        ),
        (
            Role::Server,
            control(&[
                settings(&[]),
                frame_of(kind::GOAWAY, &[4]),
                frame_of(kind::GOAWAY, &[8]),
            ]),
            Code::ID_ERROR,
        ),
        (
            Role::Client,
            control(&[
                settings(&[]),
                frame_of(kind::MAX_PUSH_ID, &[4]),
                frame_of(kind::MAX_PUSH_ID, &[3]),
            ]),
            Code::ID_ERROR,
        ),
        (Role::Client, vec![1], Code::STREAM_CREATION_ERROR),
        (Role::Server, vec![1], Code::ID_ERROR),
    ]);
}

#[test]
fn too_much_on_the_control_stream_breaks_it() {
    let mut long = vec![0];
    frame::write_head(kind::SETTINGS, 1 << 20, &mut long);
    assert_eq!(
        read(Role::Server, [&long[..]]).unwrap_err().code(),
        Code::EXCESSIVE_LOAD
    );
    let many = [
        control(&[settings(&[])]),
        frame_of(0x21, &[]).repeat(600_000),
    ]
    .concat();
    assert_eq!(
        read(Role::Server, [&many[..]]).unwrap_err().code(),
        Code::EXCESSIVE_LOAD
    );
}

#[test]
fn each_critical_stream_is_there_once_and_never_ends() {
    for kind in [
        stream::CONTROL,
        stream::QPACK_ENCODER,
        stream::QPACK_DECODER,
    ] {
        let mut peer = Peer::new(Role::Server);
        let (mut first, mut second) = (Stream::default(), Stream::default());
        assert_eq!(peer.finish(&first), Ok(()), "a stream that says nothing");
        assert_eq!(peer.next(&mut first, &mut &[kind as u8][..]), Ok(None));
        let fault = peer.next(&mut second, &mut &[kind as u8][..]).unwrap_err();
        assert_eq!(fault.code(), Code::STREAM_CREATION_ERROR);
        assert_eq!(
            peer.finish(&first).unwrap_err().code(),
            Code::CLOSED_CRITICAL_STREAM
        );
    }
    let (mut peer, mut unknown) = (Peer::new(Role::Server), Stream::default());
    assert_eq!(peer.next(&mut unknown, &mut &b"\x21whatever"[..]), Ok(None));
    assert!(unknown.is_useless());
    assert_eq!(peer.finish(&unknown), Ok(()));
}

#[test]
fn instructions_for_a_table_without_room() {
    assert_eq!(meant(Role::Client, b"\x02\x20\x20"), Ok(vec![]));
    for bytes in [
        &b"\x02\x3f\x01"[..],
        b"\x02\x21",
        b"\x02\xc0\x01a",
        b"\x02\x00",
    ] {
        let fault = meant(Role::Client, bytes).unwrap_err();
        assert_eq!(fault.code(), Code::QPACK_ENCODER_STREAM_ERROR);
    }
    // Streams that were given up, with numbers of one byte and of many.
    assert_eq!(
        meant(Role::Client, b"\x03\x44\x7f\xff\xff\xff\xff\xff\x01\x40"),
        Ok(vec![])
    );
    for bytes in [&b"\x03\x80"[..], b"\x03\x01", b"\x03\x44\x00"] {
        let fault = meant(Role::Client, bytes).unwrap_err();
        assert_eq!(fault.code(), Code::QPACK_DECODER_STREAM_ERROR);
    }
}

#[test]
fn codes_have_the_names_of_the_rfcs() {
    assert_eq!(Code::NO_ERROR.name(), "H3_NO_ERROR");
    assert_eq!(Code::VERSION_FALLBACK.name(), "H3_VERSION_FALLBACK");
    assert_eq!(
        Code::QPACK_DECODER_STREAM_ERROR.name(),
        "QPACK_DECODER_STREAM_ERROR"
    );
    assert_eq!(Code(0x33).name(), "unknown");
}
