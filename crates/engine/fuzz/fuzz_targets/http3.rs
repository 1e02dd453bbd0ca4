//! HTTP/3 from a peer, on a request's stream or on its own: no bytes panic, loop or grow without bound, and they mean
//! the same however they are cut.
#![no_main]

use assay_http3::message::{Event, Reader, Side};
use assay_http3::peer::{Peer, Role, Stream};
use assay_http3::{Fields, Heads, qpack};
use libfuzzer_sys::fuzz_target;

/// What became of a message, as text: its body by its bytes only, for their pieces are QUIC's.
fn message<'a>(side: Side, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let (mut reader, mut heads, mut told) = (Reader::new(side), Heads::default(), Vec::new());
    let mut body = 0;
    for mut input in pieces {
        loop {
            match reader.next(&mut input, &mut heads) {
                Err(broken) => {
                    told.push(broken.to_string());
                    return told;
                }
                Ok(None) => break,
                Ok(Some(Event::Body(data))) => {
                    assert!(!data.is_empty(), "it does not go on");
                    body += data.len();
                }
                Ok(Some(event)) => told.push(format!("{event:?} {:?}", heads.fields().len())),
            }
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
    }
    told.push(format!("{body} {:?}", reader.finish()));
    told
}

/// What a peer said on one of its own streams.
fn own<'a>(role: Role, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let (mut peer, mut stream, mut told) = (Peer::new(role), Stream::default(), Vec::new());
    for mut input in pieces {
        loop {
            match peer.next(&mut stream, &mut input) {
                Err(fault) => {
                    told.push(fault.to_string());
                    return told;
                }
                Ok(None) => break,
                Ok(Some(event)) => told.push(format!("{event:?}")),
            }
        }
        assert!(input.is_empty(), "it wants more and leaves what it has");
    }
    told.push(format!("{:?}", peer.finish(&stream)));
    told
}

/// A block that is read is written so that it is read again.
fn block(bytes: &[u8]) {
    let (mut fields, mut again, mut out) = (Fields::default(), Fields::default(), Vec::new());
    if qpack::decode(bytes, 1 << 16, &mut fields).is_ok() {
        qpack::encode(fields.iter(), &mut out);
        qpack::decode(&out, 1 << 16, &mut again).expect("it is our own");
        assert!(fields.iter().eq(again.iter()));
    }
}

fn alike(bytes: &[u8], cut: usize, read: impl Fn(&mut dyn Iterator<Item = &[u8]>) -> Vec<String>) {
    let whole = read(&mut std::iter::once(bytes));
    assert_eq!(whole, read(&mut bytes.chunks(1)));
    let (front, back) = bytes.split_at(cut.min(bytes.len()));
    assert_eq!(whole, read(&mut [front, back].into_iter()));
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, bytes)) = data.split_first() else {
        return;
    };
    let cut = usize::from(first / 8);
    match first % 8 {
        0 => alike(bytes, cut, |pieces| message(Side::Request, pieces)),
        1 => alike(bytes, cut, |pieces| message(Side::Answer { to_head: true }, pieces)),
        2..5 => alike(bytes, cut, |pieces| message(Side::Answer { to_head: false }, pieces)),
        5 => alike(bytes, cut, |pieces| own(Role::Client, pieces)),
        6 => alike(bytes, cut, |pieces| own(Role::Server, pieces)),
        _ => block(bytes),
    }
});
