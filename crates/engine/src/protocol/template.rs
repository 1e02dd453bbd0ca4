//! Requests that differ from each other: text with places that are filled in anew each time.
//!
//! `{counter}` is different in every request of a run, `{random:LOW-HIGH}` an integer between the
//! two (both included), `{uuid}` a random UUID (version 4). Any other brace is itself.

use std::io::Write as _;

use crate::plan::Request;

/// A piece of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(Vec<u8>),
    Counter,
    Random {
        low: u64,
        high: u64,
    },
    Uuid,
    /// The length of this request's body.
    BodyLength,
    /// A `Cookie` line, or nothing.
    Cookies,
}

/// What the places are filled with; one per worker.
#[derive(Debug)]
pub(crate) struct Variables {
    counter: u64,
    stride: u64,
    random: fastrand::Rng,
}

impl Variables {
    /// Workers count in steps of their number, so that no two count the same.
    pub(crate) fn new(worker: u32, workers: u32, seed: u64) -> Self {
        Self {
            counter: u64::from(worker),
            stride: u64::from(workers),
            random: fastrand::Rng::with_seed(seed),
        }
    }
}

/// A request with places to fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Varying {
    pub(crate) head: Vec<Piece>,
    pub(crate) body: Vec<Piece>,
}

impl Varying {
    /// Appends the next request to `out`. `scratch` is used on the way.
    pub(crate) fn render(
        &self,
        variables: &mut Variables,
        cookies: &[u8],
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) {
        scratch.clear();
        for piece in &self.body {
            fill(piece, variables, cookies, 0, scratch);
        }
        for piece in &self.head {
            fill(piece, variables, cookies, scratch.len(), out);
        }
        out.extend_from_slice(scratch);
        variables.counter += variables.stride;
    }
}

fn fill(
    piece: &Piece,
    variables: &mut Variables,
    cookies: &[u8],
    body_length: usize,
    out: &mut Vec<u8>,
) {
    let written = match piece {
        Piece::Text(text) => out.write_all(text),
        Piece::Counter => write!(out, "{}", variables.counter),
        Piece::Random { low, high } => write!(out, "{}", variables.random.u64(*low..=*high)),
        Piece::Uuid => {
            // RFC 9562, 5.4: version 4, variant 10.
            let bits = variables.random.u128(..) & !(0xf << 76) & !(0x3 << 62);
            let bits = bits | (0x4 << 76) | (0x2 << 62);
            let hex = [
                bits >> 96,
                bits >> 80 & 0xffff,
                bits >> 64 & 0xffff,
                bits >> 48 & 0xffff,
            ];
            let [a, b, c, d] = hex;
            write!(
                out,
                "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{:012x}",
                bits & 0xffff_ffff_ffff
            )
        }
        Piece::BodyLength => write!(out, "{body_length}"),
        Piece::Cookies if cookies.is_empty() => Ok(()),
        Piece::Cookies => {
            out.extend_from_slice(b"Cookie: ");
            out.extend_from_slice(cookies);
            out.write_all(b"\r\n")
        }
    };
    written.expect("writing to memory does not fail");
}

/// Takes text apart.
pub(crate) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        literal.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find('}').unwrap_or(rest.len() - 1);
        match place(&rest[1..end])? {
            Some(piece) => {
                push_text(&mut pieces, &std::mem::take(&mut literal));
                pieces.push(piece);
                rest = &rest[end + 1..];
            }
            None => {
                literal.push('{');
                rest = &rest[1..];
            }
        }
    }
    literal.push_str(rest);
    push_text(&mut pieces, &literal);
    Ok(pieces)
}

/// Adds text to the last piece, if that is text too.
pub(crate) fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.extend_from_slice(text.as_bytes()),
        _ => pieces.push(Piece::Text(text.into())),
    }
}

fn place(name: &str) -> Result<Option<Piece>, String> {
    let Some(range) = name.strip_prefix("random:") else {
        return Ok(match name {
            "counter" => Some(Piece::Counter),
            "uuid" => Some(Piece::Uuid),
            _ => None,
        });
    };
    range
        .split_once('-')
        .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)))
        .filter(|(low, high)| low <= high)
        .map(|(low, high)| Some(Piece::Random { low, high }))
        .ok_or_else(|| format!("{{{name}}} is no range such as {{random:1-100}}"))
}

/// What is wrong with the places of a request.
pub(crate) fn check(request: &Request) -> Result<(), String> {
    if request.chunk_bytes.is_some() {
        return Err("a templated body cannot be sent in chunks".into());
    }
    parse(&request.target)?;
    for (_, value) in &request.headers {
        parse(value)?;
    }
    parse(request.body.as_deref().unwrap_or_default()).map(|_| ())
}
