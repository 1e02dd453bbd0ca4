//! HTTP/2 from a server: no bytes panic, loop or grow without bound, and they mean the same however they are cut.
#![no_main]

use assay_http2::StreamFault;
use assay_http2::client::{Answer, Client, Listener, Request, Windows};
use assay_http2::frame::Code;
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

const WINDOWS: Windows = Windows {
    stream: 100_000,
    connection: 200_000,
};

/// What became of five requests, as text: bodies by their bytes only, for their pieces are TCP's.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, Vec<u8>) {
    let mut out = Vec::new();
    let mut client = Client::new(WINDOWS, &mut out);
    for key in 0..5 {
        let owned = |text: &str| text.as_bytes().to_vec();
        let method = if key == 3 { "HEAD" } else { "POST" };
        let request = Request {
            fields: vec![(owned(":method"), owned(method), true)],
            body: Arc::new(vec![7; key as usize * 10_000]),
            is_head: key == 3,
            number: Some(0),
        };
        client.open(key, &request, &mut out);
    }
    let mut events = Events::default();
    for input in pieces {
        if let Err(fault) = client.receive(input, &mut out, &mut events) {
            events.words.push(fault.to_string());
            break;
        }
        assert!(
            out.len() < 20_000_000,
            "a small input makes it write without end"
        );
    }
    (events.words, out)
}

#[derive(Default)]
struct Events {
    words: Vec<String>,
    bodies: [usize; 5],
}

impl Listener for Events {
    fn answer(&mut self, key: u32, answer: Answer<'_>) {
        self.words
            .push(format!("{key}: answered {}", answer.status));
    }

    fn body(&mut self, key: u32, data: &[u8]) {
        assert!(!data.is_empty(), "a piece of nothing");
        self.bodies[key as usize] += data.len();
    }

    fn end(&mut self, key: u32) {
        let bytes = self.bodies[key as usize];
        self.words.push(format!("{key}: {bytes}"));
    }

    fn failed(&mut self, key: u32, fault: StreamFault) {
        self.words.push(format!("{key}: {fault}"));
    }

    fn going_away(&mut self, code: Code) {
        self.words.push(format!("going away: {}", code.0));
    }
}

fuzz_target!(|data: &[u8]| {
    // The greeting is given, so that every input is one of a server that speaks HTTP/2.
    let bytes = [&[0, 0, 0, 4, 0, 0, 0, 0, 0][..], data].concat();
    let whole = read(std::iter::once(&bytes[..]));
    assert_eq!(whole, read(bytes.chunks(1)));
    let cut = data
        .first()
        .map_or(0, |&first| usize::from(first))
        .min(bytes.len());
    let (front, back) = bytes.split_at(cut);
    assert_eq!(whole, read([front, back].into_iter()));
});
