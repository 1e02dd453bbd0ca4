//! A request as HTTP/1 writes it → the fields of HTTP/2 (RFC 9113, 8.3.1).
//!
//! Requests are put together in one way, whichever HTTP they go over: plan, templates, cookies and redirects
//! know HTTP/1's text, and this is the one place where it becomes fields.

use std::sync::Arc;

use assay_http2::client::{Field, Request};

/// Fields that speak of a connection, or that a pseudo-header says instead.
const LEFT_OUT: [&[u8]; 6] = [
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// The fields and the body of `text`. A field is worth a place in the peer's table where `before`, the request
/// that was made in its place, had it too; without one all are.
pub(crate) fn request(text: &[u8], scheme: &str, before: Option<&Request>) -> Request {
    let end = text.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or(text.len());
    let mut lines = text[..end]
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let lines = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((
            line[..colon].to_ascii_lowercase(),
            line[colon + 1..].trim_ascii(),
        ))
    });
    let lines: Vec<(Vec<u8>, &[u8])> = lines.collect();
    let host = lines.iter().find(|(name, _)| name == b"host");
    let mut fields: Vec<Field> = Vec::with_capacity(lines.len() + 4);
    let mut add = |name: &[u8], value: &[u8]| {
        let was = before.map(|before| before.fields.get(fields.len()));
        let is_kept = was.is_none_or(|was| was.is_some_and(|(_, was, _)| **was == *value));
        fields.push((name.into(), value.into(), is_kept));
    };
    add(b":method", method);
    add(b":scheme", scheme.as_bytes());
    add(b":authority", host.map_or(&[][..], |(_, value)| value));
    add(b":path", target);
    for (name, value) in &lines {
        if !LEFT_OUT.contains(&&name[..]) {
            add(name, value);
        }
    }
    Request {
        fields,
        body: Arc::from(text.get(end + 4..).unwrap_or_default()),
        is_head: method == b"HEAD",
        number: None,
    }
}
