//! How many streams there may be: at once, and in all.

use crate::talk::{Talk, Told, get, request};
use assay_http2::StreamFault;
use assay_http2::frame::{Code, MOST, flag, kind, setting};

#[test]
fn a_limit_that_falls_below_what_is_open_is_waited_for() {
    let mut talk = Talk::greeted(4);
    talk.settings(&[(setting::MAX_CONCURRENT_STREAMS, 2)]);
    talk.told().unwrap();
    let mut rooms = vec![talk.client.room()];
    for stream in [1, 3, 5, 7] {
        talk.head(stream, true, &[(":status", "200")]);
        assert_eq!(talk.told().unwrap().len(), 2, "those that are open go on");
        rooms.push(talk.client.room());
    }
    assert_eq!(rooms, [0, 0, 0, 1, 2]);
    talk.settings(&[(setting::MAX_CONCURRENT_STREAMS, 0)]);
    talk.told().unwrap();
    assert_eq!((talk.client.room(), talk.client.is_spent()), (0, false));
    assert_eq!(talk.client.open(9, &get("/"), &mut talk.out), None);
}

#[test]
fn numbers_come_to_an_end_and_that_is_no_fault() {
    let mut talk = Talk::greeted(0);
    talk.client.leave_out_up_to(MOST - 2);
    assert_eq!(talk.client.room(), 2);
    let post = request("POST", "/", &[1; 100_000]);
    assert_eq!(
        talk.client.open(7, &get("/"), &mut talk.out),
        Some(MOST - 2)
    );
    assert_eq!((talk.client.room(), talk.client.is_spent()), (1, false));
    assert_eq!(talk.client.open(8, &post, &mut talk.out), Some(MOST));
    assert_eq!((talk.client.room(), talk.client.is_spent()), (0, true));
    assert_eq!(talk.client.open(9, &get("/"), &mut talk.out), None);
    // What is under way ends as ever.
    talk.frame(kind::WINDOW_UPDATE, 0, 0, &100_000_u32.to_be_bytes())
        .frame(kind::WINDOW_UPDATE, 0, MOST, &100_000_u32.to_be_bytes())
        .head(MOST, false, &[(":status", "200")])
        .frame(kind::DATA, flag::END_STREAM, MOST, b"x")
        .frame(kind::RST_STREAM, 0, MOST - 2, &[0, 0, 0, 8]);
    let told = [
        Told::Answer(8, 200),
        Told::Body(8, b"x".to_vec()),
        Told::End(8),
        Told::Failed(7, StreamFault::Reset(Code::CANCEL)),
    ];
    assert_eq!(talk.told().unwrap(), told);
    assert_eq!(talk.client.under_way(), 0);
    let sent = talk.written().into_iter().map(|(head, payload)| {
        let is_data = head.kind == kind::DATA && head.stream == MOST;
        if is_data { payload.len() } else { 0 }
    });
    assert_eq!(sent.sum::<usize>(), 100_000);
}
