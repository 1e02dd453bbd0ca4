//! Flow control in both directions.

use crate::talk::{Talk, Told, WIDE, get, request};
use assay_http2::StreamFault;
use assay_http2::client::Windows;
use assay_http2::frame::{FrameHeader, flag, kind, setting};

#[test]
fn bodies_wait_for_the_windows() {
    let mut talk = Talk::new(WIDE);
    talk.settings(&[(setting::INITIAL_WINDOW_SIZE, 10)]);
    talk.told().unwrap();
    talk.out.clear();
    talk.client
        .open(0, &request("POST", "/", &[7; 100_000]), &mut talk.out)
        .unwrap();
    talk.client
        .open(1, &request("POST", "/", b"12345"), &mut talk.out)
        .unwrap();
    let sent = |frames: Vec<(FrameHeader, Vec<u8>)>| -> Vec<(u32, usize, bool)> {
        let data = frames
            .into_iter()
            .filter(|(head, _)| head.kind == kind::DATA);
        data.map(|(head, payload)| (head.stream, payload.len(), head.has(flag::END_STREAM)))
            .collect()
    };
    assert_eq!(sent(talk.written()), [(1, 10, false), (3, 5, true)]);
    assert!(talk.client.is_stalled());
    // A window below zero: ten bytes are under way, none would be allowed.
    talk.settings(&[(setting::INITIAL_WINDOW_SIZE, 0)]);
    talk.frame(kind::WINDOW_UPDATE, 0, 1, &11_u32.to_be_bytes())
        .told()
        .unwrap();
    assert_eq!(sent(talk.written()), [(1, 1, false)]);
    talk.frame(kind::WINDOW_UPDATE, 0, 1, &1_000_000_u32.to_be_bytes())
        .told()
        .unwrap();
    let whole: usize = sent(talk.written()).iter().map(|piece| piece.1).sum();
    assert_eq!(whole, 65_535 - 16, "the connection's window");
    talk.frame(kind::WINDOW_UPDATE, 0, 0, &1_000_000_u32.to_be_bytes())
        .told()
        .unwrap();
    assert!(sent(talk.written()).last().unwrap().2 && !talk.client.is_stalled());
}

#[test]
fn updates_that_let_a_body_go_on_are_no_flood() {
    const UPDATE: u32 = 4096;
    let mut talk = Talk::greeted(0);
    talk.client
        .open(
            0,
            &request("POST", "/", &vec![7; 100_000_000]),
            &mut talk.out,
        )
        .unwrap();
    talk.out.clear();
    let mut sent = 0;
    for _ in 0..20_000 {
        talk.frame(kind::WINDOW_UPDATE, 0, 0, &UPDATE.to_be_bytes())
            .frame(kind::WINDOW_UPDATE, 0, 1, &UPDATE.to_be_bytes());
        assert_eq!(talk.told(), Ok(vec![]), "after {sent} bytes");
        sent += talk.out.len();
        talk.out.clear();
    }
    assert!(sent > 20_000 * UPDATE as usize);
    // Where nothing is left to be sent on it, the same are idle.
    let mut idle = Talk::greeted(1);
    for _ in 0..=assay_http2::client::MOST_IDLE_FRAMES {
        idle.frame(kind::WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes());
    }
    assert!(matches!(idle.fault(), assay_http2::Fault::Flood(_)));
}

#[test]
fn windows_are_given_back_as_they_are_used() {
    let mut talk = Talk::new(Windows {
        stream: 100_000,
        connection: 200_000,
    });
    talk.settings(&[]);
    talk.frame(kind::SETTINGS, flag::ACK, 0, &[])
        .told()
        .unwrap();
    talk.client.open(0, &get("/"), &mut talk.out).unwrap();
    talk.out.clear();
    talk.head(1, false, &[(":status", "200")]);
    for _ in 0..100 {
        talk.frame(
            kind::DATA,
            flag::PADDED,
            1,
            &[&[9][..], &[1; 10_000]].concat(),
        );
    }
    talk.told().unwrap();
    let updates: Vec<_> = talk
        .written()
        .into_iter()
        .map(|(head, _)| head.stream)
        .collect();
    let count = |of: u32| updates.iter().filter(|&&stream| stream == of).count();
    assert_eq!((count(0), count(1)), (10, 20), "{updates:?}");
    talk.frame(kind::DATA, 0, 1, &[0; 16_000]);
    for _ in 0..8 {
        talk.frame(kind::DATA, 0, 1, &[0; 16_384]);
    }
    // The window grows with what is taken, so only a peer that does not wait for it overruns it.
    talk.told().unwrap();
    let mut small = Talk::new(Windows {
        stream: 0,
        connection: 0,
    });
    small.settings(&[]);
    small
        .frame(kind::SETTINGS, flag::ACK, 0, &[])
        .told()
        .unwrap();
    small.client.open(0, &get("/"), &mut small.out).unwrap();
    small
        .head(1, false, &[(":status", "200")])
        .frame(kind::DATA, 0, 1, b"x");
    assert_eq!(
        small.told().unwrap()[1..],
        [Told::Failed(0, StreamFault::WindowOverrun)]
    );
}
