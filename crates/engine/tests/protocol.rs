//! The decoder: any split of any answer means the same; heads agree with httparse, bodies with
//! an independent reading of the chunked coding.

use assay_engine::protocol::{Decoder, Event, Fault, Framing, Heads};
use proptest::prelude::*;

/// Events with pieces of body joined, as nothing may depend on where they were split.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Head(u16),
    Body(Vec<u8>),
    End(bool),
    Stray(usize),
    Fault(Fault),
    NeedMore,
    Nothing,
}

/// Feeds pieces, then a close.
fn decode(pieces: &[&[u8]], answers_head: bool) -> Vec<Seen> {
    let mut heads = Heads::new();
    let mut decoder = Decoder::new();
    let mut seen: Vec<Seen> = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        loop {
            match decoder.next(&mut input, &mut heads, answers_head) {
                Ok(Some(Event::Head(head))) => seen.push(Seen::Head(head.status)),
                Ok(Some(Event::Body(data))) => match seen.last_mut() {
                    Some(Seen::Body(body)) => body.extend_from_slice(data),
                    _ => seen.push(Seen::Body(data.to_vec())),
                },
                Ok(Some(Event::End { reusable })) => seen.push(Seen::End(reusable)),
                Ok(Some(Event::Stray(bytes))) => match seen.last_mut() {
                    Some(Seen::Stray(before)) => *before += bytes,
                    _ => seen.push(Seen::Stray(bytes)),
                },
                Ok(None) => break,
                Err(fault) => {
                    seen.push(Seen::Fault(fault));
                    return seen;
                }
            }
        }
        assert!(input.is_empty(), "the decoder left input behind");
    }
    seen.push(match decoder.close() {
        Ok(Some(Event::End { reusable })) => Seen::End(reusable),
        Ok(_) => Seen::Nothing,
        Err(Fault::ClosedInHead | Fault::ClosedInBody) => Seen::NeedMore,
        Err(fault) => Seen::Fault(fault),
    });
    seen.retain(|event| *event != Seen::Body(Vec::new()));
    seen
}

fn split<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|pair| &bytes[pair[0]..pair[1]])
        .collect()
}

fn chunked(body: &[u8], sizes: &[usize], extension: &str, trailer: &str) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut rest = body;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*size).clamp(1, rest.len()));
        coded.extend(format!("{:X}{extension}\r\n", chunk.len()).bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
        rest = after;
    }
    coded.extend(format!("0{extension}\r\n{trailer}\r\n").bytes());
    coded
}

prop_compose! {
    fn field()(name in "[A-Za-z][A-Za-z0-9-]{0,12}", value in "[ -~]{0,30}") -> String {
        // Fields with a meaning of their own are added where a test wants them.
        format!("X-{name}: {value}\r\n")
    }
}

prop_compose! {
    /// An answer's bytes and its meaning.
    fn answer()(
        status in 200_u16..=599,
        fields in prop::collection::vec(field(), 0..5),
        body in prop::collection::vec(any::<u8>(), 0..300),
        is_chunked in any::<bool>(),
        closes in any::<bool>(),
        sizes in prop::collection::vec(1_usize..50, 1..5),
        extension in "(;[a-z]{1,5}(=[a-z]{1,5})?)?",
        trailer in "(T[a-z]{0,8}: [a-z]{0,8}\r\n){0,2}",
        interim in 0_usize..3,
    ) -> (Vec<u8>, Vec<Seen>) {
        let mut bytes = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(interim);
        bytes.extend(format!("HTTP/1.1 {status} Some Reason\r\n{}", fields.concat()).bytes());
        if closes {
            bytes.extend_from_slice(b"Connection: x, Close\r\n");
        }
        let has_body = status != 204 && status != 304;
        if is_chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        } else {
            bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
        }
        let mut seen = vec![Seen::Head(status)];
        if has_body {
            bytes.extend(if is_chunked { chunked(&body, &sizes, &extension, &trailer) } else { body.clone() });
            if !body.is_empty() {
                seen.push(Seen::Body(body));
            }
        }
        seen.push(Seen::End(!closes));
        (bytes, seen)
    }
}

proptest! {
    #[test]
    fn any_split_of_any_answers_means_the_same(
        answers in prop::collection::vec(answer(), 1..4),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let bytes = answers.iter().map(|(bytes, _)| &bytes[..]).collect::<Vec<_>>().concat();
        let mut expected: Vec<Seen> = answers.iter().flat_map(|(_, seen)| seen.clone()).collect();
        expected.push(Seen::Nothing);
        prop_assert_eq!(decode(&split(&bytes, &cuts), false), expected.clone());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(decode(&single, false), expected);
    }

    #[test]
    fn any_split_of_any_bytes_means_the_same(
        start in prop::sample::select(vec![
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.0 200\r\nContent-Length: 3\r\n\r\n", "HTTP/1.1 100 \r\n\r\n", "HTTP/1.1 200 OK\n\n",
        ]),
        noise in "[ -~\r\n0-9a-f:;]{0,60}",
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        let bytes = [start.as_bytes(), noise.as_bytes()].concat();
        let whole = decode(&[&bytes], false);
        let split = decode(&split(&bytes, &cuts), false);
        // A fault in a head may be seen before its end in one split and at the close in another.
        let verdict = |seen: &[Seen]| {
            let mut seen = seen.to_vec();
            if matches!(seen.last(), Some(Seen::Fault(Fault::BadHead(_)) | Seen::NeedMore)) {
                seen.pop();
            }
            seen
        };
        prop_assert_eq!(verdict(&whole), verdict(&split));
    }

    #[test]
    fn nothing_makes_the_decoder_panic(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        answers_head in any::<bool>(),
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        decode(&pieces, answers_head);
    }

    #[test]
    fn heads_agree_with_httparse(
        version in "HTTP/1\\.[01]",
        status in "[1-9][0-9]{2}",
        fields in prop::collection::vec(field(), 0..6),
        broken_at in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut text = format!("{version} {status} OK\r\n{}\r\n", fields.concat()).into_bytes();
        if let Some(at) = broken_at {
            let at = at.index(text.len());
            text[at] = 0;
        }
        let mut slots = [httparse::EMPTY_HEADER; 128];
        let mut reference = httparse::Response::new(&mut slots);
        let expected = reference.parse(&text);
        let mut heads = Heads::new();
        // Twice: the second time the head is remembered, and must mean the same.
        let first = heads.read(&text);
        prop_assert_eq!(first, heads.read(&text));
        match expected {
            Ok(httparse::Status::Complete(length)) => {
                let (head, own_length) = first.unwrap().unwrap();
                prop_assert_eq!(own_length, length);
                prop_assert_eq!(Some(head.status), reference.code);
                prop_assert_eq!(head.keep_alive, reference.version == Some(1));
                prop_assert_eq!(heads.last_bytes(), &text[..length]);
            }
            Ok(httparse::Status::Partial) => prop_assert_eq!(first, Ok(None)),
            Err(_) => prop_assert!(first.is_err()),
        }
    }
}

fn head_of(text: &str) -> assay_engine::protocol::ResponseHead {
    Heads::new().read(text.as_bytes()).unwrap().unwrap().0
}

#[test]
fn a_remembered_head_is_not_mistaken_for_a_longer_one() {
    let mut heads = Heads::new();
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
    let second = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n";
    assert!(heads.read(first).unwrap().unwrap().0.keep_alive);
    assert!(!heads.read(second).unwrap().unwrap().0.keep_alive);
    assert!(heads.read(first).unwrap().unwrap().0.keep_alive);
}

#[test]
fn framing_follows_rfc_9112() {
    let framing = |fields: &str| head_of(&format!("HTTP/1.1 200 OK\r\n{fields}\r\n")).framing;
    assert_eq!(framing(""), Framing::UntilClose);
    assert_eq!(framing("Content-Length: 7\r\n"), Framing::Length(7));
    assert_eq!(
        framing("Content-Length: 7, 7\r\nContent-Length: 7\r\n"),
        Framing::Length(7)
    );
    assert_eq!(
        framing("Transfer-Encoding: gzip, chunked\r\n"),
        Framing::Chunked
    );
    assert_eq!(
        framing("Transfer-Encoding: chunked, gzip\r\n"),
        Framing::UntilClose
    );
    let both =
        head_of("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!((both.framing, both.keep_alive), (Framing::Chunked, false));
}

#[test]
fn keep_alive_follows_the_version_and_the_fields() {
    let keep_alive = |start: &str| head_of(&format!("{start}\r\n\r\n")).keep_alive;
    assert!(keep_alive("HTTP/1.1 200 OK"));
    assert!(!keep_alive("HTTP/1.1 200 OK\r\nConnection: close"));
    assert!(!keep_alive("HTTP/1.0 200 OK"));
    assert!(keep_alive("HTTP/1.0 200 OK\r\nConnection: Keep-Alive"));
    assert!(!keep_alive(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive, close"
    ));
}

#[test]
fn codings_are_numbered_in_the_order_of_their_appearance() {
    let mut heads = Heads::new();
    for (coding, number) in [("gzip", 1), ("GZIP", 1), ("br", 2)] {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        assert_eq!(
            heads.read(text.as_bytes()).unwrap().unwrap().0.encoding,
            number
        );
    }
    assert_eq!(heads.encodings(), ["identity", "gzip", "br"]);
}

/// What becomes of this text after the head of a chunked answer, in one piece and in several.
fn chunks(text: &str) -> Vec<Seen> {
    let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{text}");
    let whole = decode(&[answer.as_bytes()], false);
    let pieces = split(answer.as_bytes(), &[50, 1_000, 65_000]);
    assert_eq!(decode(&pieces, false), whole);
    whole
}

#[test]
fn a_size_line_and_trailers_hold_64_kib_each_and_not_one_byte_more() {
    const MOST: usize = 64 * 1024;
    const REST: &str = "\r\nhello\r\n0\r\n\r\n";
    // Of a size line, what separates its parts does not count; of trailers, all does but the empty line.
    let extended = |digit: char, n: usize| format!("{digit};{}", "x".repeat(n - 1));
    let trailer = |n: usize| format!("T: {}\r\n", "v".repeat(n - 5));
    let last = |size: &str, trailers: &str| format!("5\r\nhello\r\n{size}\r\n{trailers}\r\n");
    let cases: [(&str, &dyn Fn(usize) -> String); 8] = [
        ("zeros", &|n| "0".repeat(n - 1) + "5" + REST),
        ("blanks", &|n| "5 ".to_owned() + &" ".repeat(n - 1) + REST),
        ("extension", &|n| extended('5', n) + REST),
        ("of the last", &|n| last(&extended('0', n), "")),
        ("trailer", &|n| last("0", &trailer(n))),
        ("two trailers", &|n| {
            last("0", &(trailer(5) + &trailer(n - 5)))
        }),
        ("folded", &|n| {
            last("0", &(trailer(5) + " " + &trailer(n - 6)))
        }),
        // Each size line has the limit for itself, and so have the trailers.
        ("each", &|n| {
            let chunks = [extended('2', n) + "\r\nhe\r\n", extended('3', n)];
            let end = format!("\r\nllo\r\n{}\r\n{}\r\n", extended('0', n), trailer(n));
            chunks.concat() + &end
        }),
    ];
    let right = [
        Seen::Head(200),
        Seen::Body(b"hello".to_vec()),
        Seen::End(true),
    ];
    let refused = Seen::Fault(Fault::BadChunk("64 KiB of size line or trailers"));
    for (name, text) in cases {
        assert_eq!(chunks(&text(MOST))[..3], right, "{name}");
        let beyond = chunks(&text(MOST + 1));
        assert_eq!(beyond.last(), Some(&refused), "{name}");
        assert!(!beyond.contains(&right[2]), "{name}");
    }
}
