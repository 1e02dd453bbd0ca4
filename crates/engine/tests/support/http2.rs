//! Peers that speak HTTP/2.

use std::io::Read;

use assay_http2::frame::{self, Code};
use assay_http2::server::{self, Event};

use super::{Peer, Server};

/// How a peer answers: `:status: 200` of the static table, and this body.
pub const BODY: &[u8] = b"hello";

/// A peer that allows so many streams, answers each request with [`BODY`] and hands its path to `see`.
pub fn answering(most_streams: u32, see: impl Fn(String) + Send + Sync + 'static) -> Server {
    Server::start(move |peer| serve(peer, most_streams, u64::MAX, &see))
}

/// Answers `most` requests, then goes away: what came after them is beyond the last stream.
pub fn serve(peer: &mut Peer, most_streams: u32, most: u64, see: &dyn Fn(String)) {
    let mut served = 0;
    serve_with(peer, most_streams, see, |server, stream, out| {
        if served == most {
            frame::write_goaway(stream - 2, Code::NO_ERROR, "", out);
            return false;
        }
        served += 1;
        server.answer(stream, b"\x88", &BODY.into(), out);
        true
    });
}

/// Lets `react` answer each request by its stream, as long as that says so.
pub fn serve_with(
    peer: &mut Peer,
    most_streams: u32,
    see: &dyn Fn(String),
    mut react: impl FnMut(&mut server::Server, u32, &mut Vec<u8>) -> bool,
) {
    let mut out = Vec::new();
    let mut server = server::Server::new(most_streams, &mut out);
    let mut buffer = [0; 16_384];
    loop {
        server.note_sent(out.len());
        peer.send(std::mem::take(&mut out));
        let Ok(read @ 1..) = peer.stream.read(&mut buffer) else {
            return;
        };
        let mut input = &buffer[..read];
        while let Ok(Some(event)) = server.next(&mut input, &mut out) {
            let stream = match event {
                Event::Request { stream, is_whole } => {
                    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                    let fields = server.fields().iter();
                    let lines = fields.map(|(name, value)| text(name) + "=" + &text(value));
                    see(lines.collect::<Vec<_>>().join("|"));
                    if !is_whole {
                        continue;
                    }
                    stream
                }
                Event::End { stream } => stream,
                Event::Reset { .. } => continue,
            };
            if !react(&mut server, stream, &mut out) {
                return peer.send(&out);
            }
        }
    }
}
