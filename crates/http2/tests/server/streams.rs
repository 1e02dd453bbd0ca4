//! Streams from their request to the end of their answer, and the windows between.

use std::sync::Arc;

use crate::guest::{GET, Guest, POST, STREAMS, Said};
use assay_http2::Fault;
use assay_http2::frame::{Code, MOST, flag, kind, setting};
use assay_http2::server::Event;

#[test]
fn more_streams_than_allowed_are_refused() {
    let mut guest = Guest::greeted();
    for place in 0..STREAMS + 1 {
        guest.head(1 + 2 * place, false, &POST);
    }
    // What is under way on it is passed over, though its fields are read.
    guest
        .frame(kind::DATA, 0, 7, b"x")
        .head(7, true, &[("a", "b")]);
    assert_eq!(guest.told().unwrap().len() as u32, STREAMS);
    assert_eq!(guest.said(), [Said::Reset(7, Code::REFUSED_STREAM)]);
    guest
        .frame(kind::DATA, flag::END_STREAM, 3, b"x")
        .told()
        .unwrap();
    guest
        .answer(3, b"")
        .head(9, true, &[&GET[..], &[("a", "b")]].concat());
    let next = Event::Request {
        stream: 9,
        is_whole: true,
    };
    assert_eq!(guest.told(), Ok(vec![next]), "one has ended");
}

#[test]
fn what_comes_behind_the_end_of_a_request_ends_its_stream() {
    let late: [fn(&mut Guest) -> &mut Guest; 2] = [
        |guest| guest.frame(kind::DATA, 0, 1, b"x"),
        |guest| guest.head(1, true, &GET),
    ];
    for late in late {
        let mut guest = Guest::greeted();
        guest.head(1, true, &GET);
        late(&mut guest);
        guest.head(3, true, &GET);
        let told = guest.told().unwrap();
        assert_eq!(told.len(), 3);
        assert_eq!(told[1], Event::Reset { stream: 1 });
        assert_eq!(guest.said(), [Said::Reset(1, Code::STREAM_CLOSED)]);
        assert!(guest.answer(1, b"late").said().is_empty());
    }
}

#[test]
fn windows_of_streams_have_their_bounds() {
    for (by, code) in [(0, Code::PROTOCOL_ERROR), (MOST, Code::FLOW_CONTROL_ERROR)] {
        let mut guest = Guest::greeted();
        guest.head(1, false, &POST).window(1, by).window(1, 1);
        guest.head(3, true, &GET);
        assert_eq!(guest.told().unwrap().len(), 3, "{by}");
        assert_eq!(guest.said(), [Said::Reset(1, code)], "{by}");
    }
    let mut guest = Guest::greeted();
    guest.settings(&[(setting::INITIAL_WINDOW_SIZE, 1)]);
    guest.head(1, false, &POST).window(1, MOST - 1);
    guest.settings(&[(setting::INITIAL_WINDOW_SIZE, 2)]);
    assert_eq!(
        guest.told().map_err(Fault::code),
        Err(Code::FLOW_CONTROL_ERROR)
    );
}

/// Below zero, too: what was sent before the window was taken back has to be made up for.
#[test]
fn answers_keep_to_the_windows() {
    let mut guest = Guest::greeted();
    guest
        .settings(&[(setting::INITIAL_WINDOW_SIZE, 3)])
        .head(1, true, &GET)
        .head(3, true, &GET)
        .told()
        .unwrap();
    guest.answer(1, b"hello").answer(3, b"abc");
    let said = [
        Said::Head(1),
        Said::Data(1, 3),
        Said::Head(3),
        Said::Data(3, 3),
    ];
    assert_eq!(guest.said(), said);
    guest
        .settings(&[(setting::INITIAL_WINDOW_SIZE, 1)])
        .window(1, 2)
        .told()
        .unwrap();
    assert_eq!(guest.said(), [], "-2 and 2 more");
    guest.window(1, 1).told().unwrap();
    assert_eq!(guest.said(), [Said::Data(1, 1)]);
    guest
        .settings(&[(setting::INITIAL_WINDOW_SIZE, 100)])
        .told()
        .unwrap();
    assert_eq!(guest.said(), [Said::Data(1, 1)]);
    // The connection's window is one for all, and each has its turn.
    guest.settings(&[(setting::INITIAL_WINDOW_SIZE, MOST)]);
    guest
        .head(5, true, &GET)
        .head(7, true, &GET)
        .told()
        .unwrap();
    guest.answer(5, &[0; 65_000]).answer(7, &[0; 65_000]);
    let sent = |said: &[Said], id: u32| -> usize {
        let data = said.iter().map(|said| match said {
            Said::Data(stream, bytes) if *stream == id => *bytes,
            _ => 0,
        });
        data.sum()
    };
    let said = guest.said();
    assert_eq!(
        (sent(&said, 5), sent(&said, 7)),
        (65_000, 65_535 - 65_000 - 8)
    );
    guest.window(0, 100_000).told().unwrap();
    assert_eq!(sent(&guest.said(), 7), 65_000 - 527);
}

#[test]
fn answers_to_head_have_no_body_and_early_answers_end_their_stream() {
    let mut guest = Guest::greeted();
    guest.head(1, true, &[(":method", "HEAD"), GET[1], GET[2]]);
    guest.head(3, false, &POST).told().unwrap();
    guest.answer(1, b"x").answer(3, b"x");
    let said = [
        Said::Head(1),
        Said::Head(3),
        Said::Data(3, 1),
        Said::Reset(3, Code::NO_ERROR),
    ];
    assert_eq!(guest.said(), said);
    guest.frame(kind::DATA, flag::END_STREAM, 3, b"late");
    assert_eq!(guest.told(), Ok(vec![]));
    assert!(guest.said().is_empty());
}

#[test]
fn a_stream_given_up_is_told_and_not_answered() {
    let mut guest = Guest::greeted();
    guest.settings(&[(setting::INITIAL_WINDOW_SIZE, 1)]);
    guest.head(1, true, &GET).told().unwrap();
    guest.answer(1, b"hello").said();
    guest
        .frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8])
        .settings(&[(setting::INITIAL_WINDOW_SIZE, 99)]);
    assert_eq!(guest.told(), Ok(vec![Event::Reset { stream: 1 }]));
    assert!(guest.said().is_empty());
    // And by us, at any time.
    guest.head(3, false, &POST).told().unwrap();
    guest.server.reset(3, Code::INTERNAL_ERROR, &mut guest.out);
    guest.server.reset(3, Code::INTERNAL_ERROR, &mut guest.out);
    guest
        .server
        .answer(3, b"\x88", &Arc::default(), &mut guest.out);
    assert_eq!(guest.said(), [Said::Reset(3, Code::INTERNAL_ERROR)]);
}

#[test]
fn a_stream_that_was_given_up_long_ago_may_still_be_sent_on() {
    let mut guest = Guest::greeted();
    for place in 0..10_000 {
        let id = 1 + 2 * place;
        guest.head(id, false, &POST).told().unwrap();
        let said = guest.answer(id, b"").said();
        assert_eq!(said, [Said::Head(id), Said::Reset(id, Code::NO_ERROR)]);
        guest.server.note_sent(MOST as usize);
    }
    guest.frame(kind::DATA, flag::END_STREAM, 1, b"late");
    assert_eq!(guest.told(), Ok(vec![]));
    // One that its client ended has ended.
    guest.head(20_001, true, &GET).told().unwrap();
    guest.answer(20_001, b"").frame(kind::DATA, 0, 20_001, b"x");
    assert_eq!(guest.told(), Err(Fault::ClosedStream(kind::DATA)));
}

#[test]
fn answers_count_once_they_are_written_to_their_end() {
    let mut guest = Guest::greeted();
    guest
        .settings(&[(setting::INITIAL_WINDOW_SIZE, 3)])
        .head(1, true, &GET)
        .head(3, true, &GET)
        .told()
        .unwrap();
    guest.answer(1, b"hello").answer(3, b"abc");
    assert_eq!(guest.server.answers(), 1);
    guest.window(1, 2).told().unwrap();
    assert_eq!(guest.server.answers(), 2);
}
