//! The answers of `tests/corpus`, read from its lines.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;

/// What becomes of a request that is answered so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Right,
    Last,
    Closed,
    Stray,
    Bad,
    Early,
}

/// One answer and what becomes of it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its line in the corpus.
    pub line: String,
    pub fate: Fate,
    pub status: u16,
    pub body: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Whether its request counts as answered.
    pub fn counts(&self) -> bool {
        !matches!(self.fate, Fate::Bad | Fate::Early)
    }

    /// Whether the server closes after it.
    pub fn closes(&self) -> bool {
        matches!(self.fate, Fate::Closed | Fate::Bad | Fate::Early)
    }
}

/// The answers of a file's text.
pub fn read(text: &str) -> Vec<Answer> {
    let is_answer = |line: &&str| !line.is_empty() && !line.starts_with('#');
    text.lines().filter(is_answer).map(answer).collect()
}

fn answer(line: &str) -> Answer {
    let (said, bytes) = line.split_once("<- ").expect(line);
    let mut words = said.trim().splitn(3, ' ');
    let fate = match words.next().expect(line) {
        "right" => Fate::Right,
        "last" => Fate::Last,
        "closed" => Fate::Closed,
        "stray" => Fate::Stray,
        "bad" => Fate::Bad,
        "early" => Fate::Early,
        other => panic!("{other}: {line}"),
    };
    let status = words.next().map_or(0, |word| word.parse().expect(line));
    let body = words.next().unwrap_or("\"\"");
    let body = body
        .strip_prefix('"')
        .and_then(|body| body.strip_suffix('"'));
    Answer {
        line: line.into(),
        fate,
        status,
        body: unescaped(body.expect(line)),
        bytes: unescaped(bytes),
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let names = BTreeMap::from([
        ("ok", "HTTP/1.1 200 OK\\r\\n"),
        ("five", "Content-Length: 5\\r\\n"),
        ("te", "Transfer-Encoding: chunked\\r\\n"),
        ("/", "\\r\\n"),
    ]);
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '\\' => {
                let (byte, length) = escaped(rest);
                bytes.push(byte);
                rest = &rest[length..];
            }
            '{' => {
                let (inside, after) = rest.split_once('}').expect(text);
                rest = after;
                match inside.split_once('*') {
                    Some((count, part)) => {
                        bytes.extend(unescaped(part).repeat(count.parse().expect(text)));
                    }
                    None => bytes.extend(unescaped(names[inside])),
                }
            }
            other => bytes.extend(other.to_string().bytes()),
        }
    }
    bytes
}

fn escaped(rest: &str) -> (u8, usize) {
    match rest.as_bytes()[0] {
        b'r' => (b'\r', 1),
        b'n' => (b'\n', 1),
        b't' => (b'\t', 1),
        b'0' => (0, 1),
        b'\\' => (b'\\', 1),
        b'x' => (u8::from_str_radix(&rest[1..3], 16).expect(rest), 3),
        other => panic!("no escape: {}", char::from(other)),
    }
}
