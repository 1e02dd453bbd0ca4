//! What the fuzz target begins with, and what becomes of it.

use crate::talk::{Talk, Told, WIDE, request};
use assay_http2::Fault;
use assay_http2::frame::{self, Code};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/fuzz/seeds/http2/");

/// Name, and how many events it comes to, or what ends the connection.
const SEEDS: [(&str, Result<usize, Code>); 15] = [
    ("answer", Ok(4)),
    ("below-zero", Ok(0)),
    ("goaway", Ok(8)),
    ("interim-trailers", Ok(3)),
    ("no-body", Ok(6)),
    ("padded", Ok(2)),
    ("pieces", Ok(3)),
    ("push", Err(Code::PROTOCOL_ERROR)),
    ("resets", Err(Code::STREAM_CLOSED)),
    ("rfc7541-c6", Ok(3)),
    ("settings", Ok(0)),
    ("table", Ok(6)),
    ("twice", Err(Code::STREAM_CLOSED)),
    ("unknown", Ok(2)),
    ("wrong-length", Ok(2)),
];

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Told>, Fault> {
    let mut talk = Talk::new(WIDE);
    for key in 0..5 {
        let method = if key == 3 { "HEAD" } else { "POST" };
        let asked = request(method, "/", b"abc");
        talk.client.open(key, &asked, &mut talk.out).unwrap();
    }
    let mut told = Vec::new();
    for piece in pieces {
        told.extend(talk.read(piece)?);
    }
    Ok(told)
}

#[test]
fn seeds_come_to_what_they_were_written_for() {
    let mut names: Vec<_> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, SEEDS.map(|(name, _)| name));
    for (name, expected) in SEEDS {
        let mut bytes = Vec::new();
        frame::write_settings(&[], &mut bytes);
        bytes.extend(std::fs::read([FOLDER, name].concat()).unwrap());
        let whole = read(std::iter::once(&bytes[..]));
        let came = whole.clone().map(|told| told.len()).map_err(Fault::code);
        assert_eq!(came, expected, "{name}: {whole:?}");
        let pieces = read(bytes.chunks(1)).map(drop);
        assert_eq!(pieces, whole.map(drop), "{name}");
    }
}
