//! What the fuzz target begins with, and what becomes of it.

use crate::cuts::serve;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../engine/fuzz/seeds/http2_server/"
);

/// Name, how many events it comes to, and what ends the connection, if anything does.
const SEEDS: [(&str, usize, &str); 15] = [
    ("closed", 1, "a frame of type 0 on a stream that has ended"),
    ("connect", 1, ""),
    ("get", 2, ""),
    ("head", 1, ""),
    ("left-out", 1, "a frame of type 1 on stream 3"),
    ("malformed", 0, ""),
    ("pieces", 1, ""),
    ("post", 2, ""),
    ("priority", 1, "a stream that depends on itself"),
    ("resets", 2, "a frame of type 0 on a stream that has ended"),
    ("rfc7541-c4", 3, ""),
    ("settings", 1, ""),
    ("too-many", 4, ""),
    ("trailers", 2, ""),
    ("windows", 2, ""),
];

#[test]
fn seeds_come_to_what_they_were_written_for() {
    let mut names: Vec<_> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, SEEDS.map(|(name, ..)| name));
    for (name, events, ends) in SEEDS {
        let bytes = std::fs::read([FOLDER, name].concat()).unwrap();
        let whole = serve(std::iter::once(&bytes[..]));
        assert_eq!(
            (whole.0.len(), &whole.1[..]),
            (events, ends),
            "{name}: {whole:?}"
        );
        assert_eq!(serve(bytes.chunks(1)), whole, "{name}");
    }
}
