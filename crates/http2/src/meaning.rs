//! What the fields of a message say, and which are no message's (RFC 9113, 8.1 to 8.3;
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

/// The head of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Whether it is a HEAD request, whose answer has no body.
    pub is_head: bool,
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

/// The pseudo-headers of requests, RFC 9113, 8.3.1.
const METHOD: u8 = 1;
const SCHEME: u8 = 2;
const PATH: u8 = 4;
const AUTHORITY: u8 = 8;

/// What the fields of an answer mean.
///
/// # Errors
/// Why they are malformed.
pub fn meaning(fields: &Fields) -> Result<Meaning, &'static str> {
    let mut status = None;
    let mut regular = Regular::default();
    for (name, value) in fields.iter() {
        if name.first() != Some(&b':') {
            regular.take(name, value)?;
            continue;
        }
        if regular.is_any {
            return Err("a pseudo-header behind a regular field");
        }
        if name != b":status" {
            return Err("a pseudo-header that answers do not have");
        }
        if status.is_some() {
            return Err(":status twice");
        }
        status = Some(three_digits(value).ok_or("a :status that is no number of three digits")?);
    }
    let length = regular.length;
    Ok(Meaning { status, length })
}

/// What the fields of a request mean; None where there is no pseudo-header, as in trailers.
///
/// # Errors
/// Why they are malformed.
pub fn asked(fields: &Fields) -> Result<Option<Asked>, &'static str> {
    let (mut seen, mut is_head, mut is_connect) = (0, false, false);
    let mut regular = Regular::default();
    for (name, value) in fields.iter() {
        if name.first() != Some(&b':') {
            regular.take(name, value)?;
            if name == b"te" && value != b"trailers" {
                return Err("te with something else than trailers");
            }
            continue;
        }
        let pseudo = match name {
            b":method" => METHOD,
            b":scheme" => SCHEME,
            b":path" => PATH,
            b":authority" => AUTHORITY,
            _ => return Err("a pseudo-header that requests do not have"),
        };
        if regular.is_any || seen & pseudo != 0 {
            return Err("a pseudo-header twice or behind a regular field");
        }
        if value.is_empty() && pseudo != AUTHORITY {
            return Err("an empty :method, :scheme or :path");
        }
        is_of_one_line(value)?;
        seen |= pseudo;
        if pseudo == METHOD {
            is_head = value == b"HEAD";
            is_connect = value == b"CONNECT";
        }
    }
    let is_whole = match is_connect {
        true => seen == METHOD | AUTHORITY,
        false => seen & (METHOD | SCHEME | PATH) == METHOD | SCHEME | PATH,
    };
    match seen {
        0 => Ok(None),
        _ if is_whole => {
            let length = regular.length;
            Ok(Some(Asked { is_head, length }))
        }
        _ if is_connect => Err("CONNECT without :authority, or with :scheme or :path"),
        _ => Err("a request without :method, :scheme or :path"),
    }
}

/// What comes behind the pseudo-headers.
#[derive(Default)]
struct Regular {
    is_any: bool,
    length: Option<u64>,
}

impl Regular {
    #[inline]
    fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        self.is_any = true;
        if !name.iter().all(|&byte| is_name_byte(byte)) || name.is_empty() {
            return Err("a field's name with upper case or what names may not have");
        }
        is_of_one_line(value)?;
        if OF_CONNECTIONS.contains(&name) {
            return Err("a field that speaks of a connection");
        }
        if name == b"content-length" {
            let length = number(value).ok_or("bad content-length")?;
            if self.length.is_some_and(|other| other != length) {
                return Err("two content-lengths that differ");
            }
            self.length = Some(length);
        }
        Ok(())
    }
}

/// What RFC 9113, 8.2.1 asks of a value at least.
fn is_of_one_line(value: &[u8]) -> Result<(), &'static str> {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if is_blank(value.first()) || is_blank(value.last()) {
        return Err("a blank at the begin or the end of a field's value");
    }
    match value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        true => Err("a line end or NUL in a field's value"),
        false => Ok(()),
    }
}

fn three_digits(value: &[u8]) -> Option<u16> {
    match value {
        [b'1'..=b'9', _, _] => number(value).map(|status| status as u16),
        _ => None,
    }
}

/// A number in digits and nothing else.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// RFC 9110, 5.6.2 without the letters of upper case (RFC 9113, 8.2.1).
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
