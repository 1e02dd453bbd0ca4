//! Any frames, in any order, cut anywhere; and those of our own client.

use std::sync::Arc;

use crate::guest::Guest;
use assay_http2::StreamFault;
use assay_http2::client::{Answer, Client, Listener, Request, Windows};
use assay_http2::frame::{self, Code};
use assay_http2::server::{Event, Server};
use proptest::prelude::*;

/// What a client may send, in any order.
fn script() -> impl Strategy<Value = Vec<(u8, u8, u32, Vec<u8>)>> {
    let payload = prop_oneof![
        Just(vec![]),
        Just(vec![0x82, 0x86, 0x84]),
        Just(vec![0x83, 0x86, 0x84, 0x0f, 0x0d, 1, b'5']),
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

/// Answers all that is asked for; what was told, and how it ended.
pub fn serve<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, String, Vec<u8>) {
    let mut guest = Guest::greeted();
    let mut told = Vec::new();
    for mut input in pieces {
        loop {
            match guest.server.next(&mut input, &mut guest.out) {
                Err(fault) => return (told, fault.to_string(), guest.out),
                Ok(None) => break,
                Ok(Some(event)) => {
                    told.push(event);
                    if let Event::Request {
                        stream,
                        is_whole: true,
                    }
                    | Event::End { stream } = event
                    {
                        guest.answer(stream, &[7; 30_000]);
                    }
                }
            }
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
    }
    (told, String::new(), guest.out)
}

proptest! {
    /// Requests mean the same however TCP cuts them, and nothing makes the server panic.
    #[test]
    fn cuts_change_nothing(script in script(), length in 1_usize..30) {
        let mut sent = Vec::new();
        for (kind, flags, stream, payload) in script {
            frame::write(kind, flags, stream, &payload, &mut sent);
        }
        let whole = serve(std::iter::once(&sent[..]));
        prop_assert_eq!(serve(sent.chunks(length)), whole);
    }

    /// Whatever our client sends is right, and each request is told once, with its end.
    #[test]
    fn our_own_client_keeps_to_the_rules(
        bodies in prop::collection::vec(prop_oneof![Just(0_usize), 1_usize..100_000], 1..20),
        cancelled: u8,
    ) {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let windows = Windows { stream: 1 << 20, connection: 1 << 24 };
        let mut client = Client::new(windows, &mut up);
        let mut server = Server::new(100, &mut down);
        for (key, &bytes) in bytes_of(&bodies) {
            let owned = |text: &str| text.as_bytes().to_vec();
            let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/"), ("x", "y")];
            let request = Request {
                fields: fields.iter().map(|(name, value)| (owned(name), owned(value), true)).collect(),
                body: Arc::new(vec![1; bytes]),
                is_head: false,
                number: Some(u16::from(bytes > 0)),
            };
            client.open(key, &request, &mut up);
        }
        client.cancel(1 + 2 * u32::from(cancelled), &mut up);
        let mut ended = 0;
        while !up.is_empty() {
            let sent = std::mem::take(&mut up);
            let mut input = &sent[..];
            while let Some(event) = server.next(&mut input, &mut down).expect("it is right") {
                match event {
                    Event::Request { stream, is_whole: true } | Event::End { stream } => {
                        server.answer(stream, b"\x88", &Arc::from(&b"x"[..]), &mut down);
                    }
                    Event::Request { .. } => {}
                    Event::Reset { stream } => {
                        prop_assert_eq!(stream, 1 + 2 * u32::from(cancelled));
                        ended += 1;
                    }
                }
            }
            let sent = std::mem::take(&mut down);
            let mut answers = Answers::default();
            client.receive(&sent, &mut up, &mut answers).expect("it is right");
            ended += answers.ended;
        }
        prop_assert_eq!(client.under_way(), 0);
        // One that was given up may be told on either side, or have been answered already, so on none.
        prop_assert!((bodies.len() - 1..=bodies.len()).contains(&ended), "{} of {}", ended, bodies.len());
    }
}

fn bytes_of(bodies: &[usize]) -> impl Iterator<Item = (u32, &usize)> {
    (0..).zip(bodies)
}

/// Counts answers that end.
#[derive(Default)]
struct Answers {
    ended: usize,
}

impl Listener for Answers {
    fn answer(&mut self, _: u32, _: Answer<'_>) {}

    fn body(&mut self, _: u32, _: &[u8]) {}

    fn end(&mut self, _: u32) {
        self.ended += 1;
    }

    fn failed(&mut self, _: u32, _: StreamFault) {}

    fn going_away(&mut self, _: Code) {}
}
