//! A request as HTTP/1 writes it → the fields of HTTP/2 (RFC 9113, 8.3.1).
//!
//! Requests are put together in one way, whichever HTTP they go over: plan, templates, cookies and redirects
//! know HTTP/1's text, and this is the one place where it becomes fields.

use std::sync::Arc;

pub(crate) use assay_http2::client::Request;

use assay_http2::client::Field;

/// Fields that speak of a connection, or that a pseudo-header says instead. What TE says is left out too, but for
/// "trailers" (RFC 9113, 8.2.2).
const LEFT_OUT: [&[u8]; 6] = [
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// The fields and the body of `text`, in the memory of `made`: the request that was made in its place before, if
/// there was one. A field is worth a place in the peer's table where that had it too; in a first one all are.
pub(crate) fn make<'a>(text: &[u8], scheme: &str, made: &'a mut Option<Request>) -> &'a Request {
    let (head, body) = match text.windows(4).position(|four| four == b"\r\n\r\n") {
        Some(end) => (&text[..end], &text[end + 4..]),
        None => (text, &[][..]),
    };
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let lines = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    });
    let host = lines
        .clone()
        .find(|(name, _)| name.eq_ignore_ascii_case(b"host"));
    let is_first = made.is_none();
    let made = made.get_or_insert_with(|| Request {
        fields: Vec::new(),
        body: Arc::default(),
        is_head: false,
        number: None,
    });
    let pseudo: [(&[u8], &[u8]); 4] = [
        (b":method", method),
        (b":scheme", scheme.as_bytes()),
        (b":authority", host.map_or(&[], |(_, value)| value)),
        (b":path", target),
    ];
    let is_left_out = |name: &[u8], value: &[u8]| {
        LEFT_OUT.iter().any(|out| name.eq_ignore_ascii_case(out))
            || (name.eq_ignore_ascii_case(b"te") && !value.eq_ignore_ascii_case(b"trailers"))
    };
    let regular = lines.filter(|(name, value)| !is_left_out(name, value));
    let mut count = 0;
    for (name, value) in pseudo.into_iter().chain(regular) {
        put(&mut made.fields, count, name, value, is_first);
        count += 1;
    }
    made.fields.truncate(count);
    made.is_head = method == b"HEAD";
    match Arc::get_mut(&mut made.body) {
        Some(before) => {
            before.clear();
            before.extend_from_slice(body);
        }
        // What was asked before is still being sent.
        None => made.body = Arc::new(body.to_vec()),
    }
    made
}

/// Puts a field in its place.
fn put(fields: &mut Vec<Field>, place: usize, name: &[u8], value: &[u8], is_first: bool) {
    if place == fields.len() {
        fields.push((Vec::new(), Vec::new(), is_first));
    } else {
        fields[place].2 = fields[place].1 == value;
    }
    let (its_name, its_value, _) = &mut fields[place];
    its_name.clear();
    its_name.extend(name.iter().map(u8::to_ascii_lowercase));
    its_value.clear();
    its_value.extend_from_slice(value);
}

/// The fields and the body of `text`, which is always the same. The body stays in its memory.
pub(crate) fn request(mut text: Vec<u8>, scheme: &str) -> Request {
    let head = text.windows(4).position(|four| four == b"\r\n\r\n");
    let head = head.map_or(text.len(), |end| end + 4);
    let mut made = None;
    make(&text[..head], scheme, &mut made);
    let mut request = made.expect("it was just made");
    text.drain(..head);
    request.body = Arc::new(text);
    request
}
