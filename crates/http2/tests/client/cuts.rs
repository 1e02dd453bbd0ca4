//! Any frames, in any order, cut anywhere.

use crate::talk::{Talk, Told, WIDE, request};
use assay_http2::frame;
use proptest::prelude::*;

/// What a peer may send, in any order.
fn script() -> impl Strategy<Value = Vec<(u8, u8, u32, Vec<u8>)>> {
    let payload = prop_oneof![
        Just(vec![]),
        Just(vec![0x88]),
        Just(vec![0x88, 0x0f, 0x0d, 1, b'5']),
        Just(vec![0, 0, 0, 9]),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    let stream = prop::sample::select(vec![0_u32, 1, 1, 3, 3, 5, 7, 9, 2, 99]);
    prop::collection::vec(
        (
            0_u8..11,
            prop_oneof![Just(0), Just(4), Just(5), Just(1), any::<u8>()],
            stream,
            payload,
        ),
        0..40,
    )
}

proptest! {
    /// An answer means the same however TCP cuts it, and nothing makes the client panic.
    #[test]
    fn cuts_change_nothing(script in script(), cuts in prop::collection::vec(1_usize..30, 1..20)) {
        let mut sent = Vec::new();
        frame::write_settings(&[], &mut sent);
        for (kind, flags, stream, payload) in script {
            frame::write(kind, flags, stream, &payload, &mut sent);
        }
        let (mut whole, mut cut) = (Talk::new(WIDE), Talk::new(WIDE));
        for talk in [&mut whole, &mut cut] {
            for key in 0..5 {
                talk.client.open(key, &request(if key == 3 { "HEAD" } else { "POST" }, "/", b"abc"), &mut talk.out).unwrap();
            }
        }
        let expected = whole.read(&sent);
        let mut told = Ok(Vec::new());
        let mut rest = &sent[..];
        for &length in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            match (cut.read(piece), &mut told) {
                (Ok(more), Ok(told)) => told.extend(more),
                (Err(fault), told) => { *told = Err(fault); break; }
                (Ok(_), Err(_)) => unreachable!("it broke off before"),
            }
        }
        // Bodies come in as many pieces as their bytes did.
        let joined = |told: Vec<Told>| {
            let mut joined: Vec<Told> = Vec::new();
            for event in told {
                match (joined.last_mut(), event) {
                    (Some(Told::Body(last, bytes)), Told::Body(key, more)) if *last == key => bytes.extend(more),
                    (_, event) => joined.push(event),
                }
            }
            joined
        };
        prop_assert_eq!(told.map(joined), expected.map(joined));
        prop_assert_eq!(cut.out, whole.out);
    }
}
