//! What the fields of an answer say, and which are no answer's (RFC 9113, 8.1 to 8.3;
//! RFC 9114, 4.1 to 4.3 say the same of HTTP/3).

use crate::hpack::Fields;

/// The head of an answer, or its trailers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// None: there is no `:status`, as in trailers.
    pub status: Option<u16>,
    /// What content-length says.
    pub length: Option<u64>,
}

/// Fields that speak of a connection, which HTTP/2 has none of (RFC 9113, 8.2.2).
const OF_CONNECTIONS: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// What the fields mean.
///
/// # Errors
/// Why they are malformed.
pub fn meaning(fields: &Fields) -> Result<Meaning, &'static str> {
    let mut meaning = Meaning {
        status: None,
        length: None,
    };
    let mut is_regular = false;
    for (name, value) in fields.iter() {
        if name.first() == Some(&b':') {
            if is_regular {
                return Err("a pseudo-header behind a regular field");
            }
            if name != b":status" {
                return Err("a pseudo-header that answers do not have");
            }
            if meaning.status.is_some() {
                return Err(":status twice");
            }
            meaning.status =
                Some(status(value).ok_or("a :status that is no number of three digits")?);
            continue;
        }
        is_regular = true;
        if !name.iter().all(|&byte| is_name_byte(byte)) || name.is_empty() {
            return Err("a field's name with upper case or what names may not have");
        }
        if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
            return Err("a line end or NUL in a field's value");
        }
        if OF_CONNECTIONS.contains(&name) {
            return Err("a field that speaks of a connection");
        }
        if name == b"content-length" {
            let length = number(value).ok_or("bad content-length")?;
            if meaning.length.is_some_and(|other| other != length) {
                return Err("two content-lengths that differ");
            }
            meaning.length = Some(length);
        }
    }
    Ok(meaning)
}

fn status(value: &[u8]) -> Option<u16> {
    match value {
        [b'1'..=b'9', _, _] => number(value).map(|status| status as u16),
        _ => None,
    }
}

/// A number in digits and nothing else.
#[must_use]
pub fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// RFC 9110, 5.6.2 without the letters of upper case (RFC 9113, 8.2.1).
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
