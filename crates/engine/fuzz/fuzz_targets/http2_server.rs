//! HTTP/2 from a client: no bytes panic, loop or grow without bound, and they mean the same however they are cut.
#![no_main]

use assay_http2::frame;
use assay_http2::server::{Event, Server};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// What became of all requests, which are answered as soon as they are whole.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, Vec<u8>) {
    let mut out = Vec::new();
    let mut server = Server::new(10, &mut out);
    let body: Arc<[u8]> = Arc::from(&[7; 30_000][..]);
    let mut told = Vec::new();
    for mut input in pieces {
        loop {
            match server.next(&mut input, &mut out) {
                Err(fault) => {
                    told.push(fault.to_string());
                    return (told, out);
                }
                Ok(None) => break,
                Ok(Some(event)) => {
                    told.push(format!("{event:?} {}", server.fields().len()));
                    match event {
                        Event::Request {
                            stream,
                            is_whole: true,
                        }
                        | Event::End { stream } => {
                            server.answer(stream, b"\x88", &body, &mut out);
                        }
                        Event::Request { .. } | Event::Reset { .. } => {}
                    }
                }
            }
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
        assert!(
            out.len() < 60_000_000,
            "a small input makes it write without end"
        );
    }
    (told, out)
}

fuzz_target!(|data: &[u8]| {
    // The greeting is given, so that every input is one of a client that speaks HTTP/2.
    let bytes = [frame::PREFACE, &[0, 0, 0, 4, 0, 0, 0, 0, 0], data].concat();
    let whole = read(std::iter::once(&bytes[..]));
    assert_eq!(whole, read(bytes.chunks(1)));
    let cut = data
        .first()
        .map_or(0, |&first| usize::from(first))
        .min(bytes.len());
    let (front, back) = bytes.split_at(cut);
    assert_eq!(whole, read([front, back].into_iter()));
});
