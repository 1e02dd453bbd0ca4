//! The request reader against requests of known number, cut anywhere.

use assay_null_server::request::{Persistence, Remembered, Request, RequestReader};
use proptest::prelude::*;

/// A body with the header lines that delimit it.
fn any_body() -> impl Strategy<Value = (String, Vec<u8>)> {
    let chunk = prop::collection::vec(any::<u8>(), 1..40);
    prop_oneof![
        Just((String::new(), Vec::new())),
        prop::collection::vec(any::<u8>(), 0..300)
            .prop_map(|body| (format!("Content-Length: {}\r\n", body.len()), body)),
        // A length beside a transfer coding does not count.
        prop::collection::vec(chunk, 0..6).prop_map(|chunks| (
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n".to_owned(),
            chunked(&chunks)
        )),
    ]
}

fn chunked(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for chunk in chunks {
        body.extend_from_slice(format!("{:X};note=1\r\n", chunk.len()).as_bytes());
        body.extend_from_slice(chunk);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"0\r\nX-Trailer: yes\r\n\r\n");
    body
}

/// A request in bytes and what must be understood of it.
fn any_request() -> impl Strategy<Value = (Vec<u8>, Request)> {
    let methods = prop::sample::select(vec!["GET", "HEAD", "POST"]);
    let connections = prop::sample::select(vec!["", "close", "keep-alive", "x, Close"]);
    (methods, any::<bool>(), connections, any_body()).prop_map(
        |(method, is_1_1, connection, (framing, body))| {
            let version = if is_1_1 { "1.1" } else { "1.0" };
            let line = if connection.is_empty() {
                String::new()
            } else {
                format!("Connection: {connection}\r\n")
            };
            let mut bytes =
                format!("{method} /a?b HTTP/{version}\r\nHost: h\r\n{line}{framing}\r\n")
                    .into_bytes();
            bytes.extend_from_slice(&body);
            let persistence = match (is_1_1, connection) {
                (true, "" | "keep-alive") => Persistence::Persistent,
                (false, "keep-alive") => Persistence::AskedToPersist,
                _ => Persistence::Close,
            };
            (
                bytes,
                Request {
                    head_only: method == "HEAD",
                    persistence,
                    understands_chunks: is_1_1,
                },
            )
        },
    )
}

fn read_all(pieces: &[&[u8]]) -> Vec<Request> {
    let (mut reader, mut remembered) = (RequestReader::default(), Remembered::default());
    let mut requests = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        while !input.is_empty() {
            requests.extend(
                reader
                    .next(&mut input, &mut remembered)
                    .expect("every request here is well formed"),
            );
        }
    }
    requests
}

proptest! {
    #[test]
    fn requests_are_counted_however_their_bytes_arrive(
        requests in prop::collection::vec(any_request(), 1..8),
        repeats in 1usize..4,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        for (bytes, request) in &requests {
            for _ in 0..repeats {
                stream.extend_from_slice(bytes);
                expected.push(*request);
            }
        }
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        places.extend([0, stream.len()]);
        places.sort_unstable();
        let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        prop_assert_eq!(read_all(&pieces), expected);
    }

    #[test]
    fn any_bytes_at_all_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (mut reader, mut remembered) = (RequestReader::default(), Remembered::default());
        let mut input = bytes.as_slice();
        while !input.is_empty() {
            let before = input.len();
            match reader.next(&mut input, &mut remembered) {
                Ok(Some(_)) => prop_assert!(input.len() < before),
                Ok(None) => prop_assert!(input.is_empty()),
                Err(_) => break,
            }
        }
    }
}

#[test]
fn one_byte_at_a_time_is_enough() {
    let stream = b"POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.0\r\n\r\n";
    let pieces: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(read_all(&pieces).len(), 2);
}

#[test]
fn a_remembered_request_is_not_found_in_a_longer_head() {
    let pieces: [&[u8]; 2] = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
    ];
    let persistences: Vec<_> = read_all(&pieces)
        .iter()
        .map(|request| request.persistence)
        .collect();
    assert_eq!(persistences, [Persistence::Persistent, Persistence::Close]);
}

#[test]
fn what_is_no_request_is_refused() {
    let wrong: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
    ];
    for bytes in wrong {
        let mut input = bytes;
        let answer = RequestReader::default().next(&mut input, &mut Remembered::default());
        assert!(answer.is_err(), "{}", bytes.escape_ascii());
    }
}

#[test]
fn an_endless_head_is_refused_in_the_end() {
    let (mut reader, mut remembered) = (RequestReader::default(), Remembered::default());
    let mut start: &[u8] = b"GET / HTTP/1.1\r\nX: ";
    reader
        .next(&mut start, &mut remembered)
        .expect("a head may come in parts");
    let refused = (0..20).any(|_| {
        reader
            .next(&mut [b'a'; 4096].as_slice(), &mut remembered)
            .is_err()
    });
    assert!(refused);
}
