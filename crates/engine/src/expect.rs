//! Whether an answer is right: the plan's expectations, compiled.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use regex::bytes::Regex;

use crate::plan::{BodyExpected, Expect};
use crate::protocol::fields::fields;
use crate::record::example;

#[derive(Debug)]
enum Body {
    Any,
    OneOf(Vec<Vec<u8>>),
    Matches(Regex),
    Length(u64),
}

/// The compiled expectation of one request.
#[derive(Debug)]
pub(crate) struct Check {
    statuses: Vec<u16>,
    headers: Vec<(String, Option<Regex>)>,
    body: Body,
    /// Headers and body are checked on every so many answers; 0 when there is nothing to check.
    pub(crate) every: u64,
}

impl Check {
    pub(crate) fn new(expect: &Expect) -> Result<Self, regex::Error> {
        let body = match &expect.body {
            None => Body::Any,
            Some(BodyExpected::Equals { text }) => Body::OneOf(vec![text.clone().into_bytes()]),
            Some(BodyExpected::OneOf { texts }) => {
                Body::OneOf(texts.iter().map(|text| text.clone().into_bytes()).collect())
            }
            Some(BodyExpected::Matches { pattern }) => Body::Matches(Regex::new(pattern)?),
            Some(BodyExpected::Length { bytes }) => Body::Length(*bytes),
        };
        let mut headers = Vec::with_capacity(expect.headers.len());
        for header in &expect.headers {
            let pattern = header.pattern.as_deref().map(Regex::new).transpose()?;
            headers.push((header.name.clone(), pattern));
        }
        let nothing_sampled = headers.is_empty() && matches!(body, Body::Any);
        Ok(Self {
            statuses: expect.status.clone(),
            headers,
            body,
            every: if nothing_sampled {
                0
            } else {
                expect.check_every
            },
        })
    }

    /// Whether the status is one of the allowed.
    #[inline]
    pub(crate) fn allows(&self, status: u16) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    pub(crate) fn wants_body(&self) -> bool {
        !matches!(self.body, Body::Any)
    }

    /// What is wrong with the header fields of a head, in words.
    pub(crate) fn header_fault(&self, head: &[u8]) -> Option<String> {
        for (name, pattern) in &self.headers {
            let mut named = fields(head).filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
            let Some(pattern) = pattern else {
                if named.next().is_none() {
                    return Some(format!("no {name}"));
                }
                continue;
            };
            let mut seen = None;
            if !named.any(|(_, value)| {
                let is_match = pattern.is_match(&value);
                seen = Some(value);
                is_match
            }) {
                return Some(match seen {
                    Some(value) => format!("{name}: {}", example(&value)),
                    None => format!("no {name}"),
                });
            }
        }
        None
    }

    /// What is wrong with a body, in words. `encoding` is its content coding, without which it may be
    /// so long at most.
    pub(crate) fn body_fault(
        &self,
        body: &[u8],
        encoding: &str,
        most_bytes: usize,
    ) -> Option<String> {
        let body = match decoded(body, encoding, most_bytes as u64) {
            Ok(body) => body,
            Err(reason) => return Some(reason),
        };
        let is_right = match &self.body {
            Body::Any => true,
            Body::OneOf(texts) => texts.iter().any(|text| text[..] == body[..]),
            Body::Matches(pattern) => pattern.is_match(&body),
            Body::Length(bytes) => body.len() as u64 == *bytes,
        };
        match &self.body {
            _ if is_right => None,
            Body::Length(_) => Some(format!("{} bytes", body.len())),
            _ => Some(example(&body)),
        }
    }
}

/// The body without its content codings, which were applied in the order of the list.
fn decoded<'a>(body: &'a [u8], codings: &str, limit: u64) -> Result<Cow<'a, [u8]>, String> {
    // An empty body (of a HEAD or 304 answer) is not coded, whatever the head says.
    if codings == "identity" || body.is_empty() {
        return Ok(Cow::Borrowed(body));
    }
    let mut plain = Cow::Borrowed(body);
    for coding in codings.rsplit(", ") {
        plain = Cow::Owned(without(&plain, coding, limit)?);
    }
    Ok(plain)
}

fn without(body: &[u8], coding: &str, limit: u64) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let read = match coding {
        "gzip" | "x-gzip" => MultiGzDecoder::new(body)
            .take(limit.saturating_add(1))
            .read_to_end(&mut plain),
        "deflate" => ZlibDecoder::new(body)
            .take(limit.saturating_add(1))
            .read_to_end(&mut plain),
        other => {
            return Err(format!(
                "a body coded as {} cannot be checked",
                example(other.as_bytes())
            ));
        }
    };
    let read =
        read.map_err(|error| format!("the {coding} body cannot be decoded: {error}"))? as u64;
    if read > limit {
        return Err(format!(
            "not checked: the {coding} body is longer than the plan's held_body_bytes"
        ));
    }
    Ok(plain)
}
