//! HTTP/2 from a server: no bytes panic, loop or grow without bound, and they mean the same however they are cut.
#![no_main]

use assay_http2::client::{Client, Event, Request, Windows};
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
    let mut told: Vec<String> = Vec::new();
    let mut bodies = [0_usize; 5];
    for mut input in pieces {
        loop {
            match client.next(&mut input, &mut out) {
                Err(fault) => {
                    told.push(fault.to_string());
                    return (told, out);
                }
                Ok(None) => break,
                Ok(Some(Event::Body { key, data })) => {
                    assert!(!data.is_empty(), "it does not go on");
                    bodies[key as usize] += data.len();
                }
                Ok(Some(Event::End { key })) => {
                    told.push(format!("{key}: {}", bodies[key as usize]))
                }
                Ok(Some(event)) => told.push(format!("{event:?}")),
            }
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
        assert!(
            out.len() < 20_000_000,
            "a small input makes it write without end"
        );
    }
    (told, out)
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
