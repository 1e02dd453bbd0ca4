//! The cookies one connection was given: names and values, as a server reads them back.
//!
//! A load has one origin, so domains and paths are not looked at (RFC 6265 without its scopes).

use std::time::{SystemTime, UNIX_EPOCH};

use super::cookie_date;
use super::fields::fields;

/// The cookies of one connection, kept when it is opened again.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    /// As a `Cookie` field says them: `name=value; name=value`.
    line: Vec<u8>,
}

impl Jar {
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Takes the cookies that the head of an answer sets; one that has expired is taken away.
    #[inline(never)]
    pub(crate) fn take_from(&mut self, head: &[u8]) {
        for (name, value) in fields(head) {
            if name.eq_ignore_ascii_case(b"set-cookie") {
                self.set(&value);
            }
        }
    }

    fn set(&mut self, cookie: &[u8]) {
        let mut parts = cookie.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let Some(pair) = parts.next() else { return };
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else {
            return;
        };
        let is_gone = has_expired(parts);
        let name = &pair[..=equals];
        let kept = self
            .line
            .split(|byte| *byte == b';')
            .map(<[u8]>::trim_ascii);
        let kept = kept.filter(|known| !known.is_empty() && !known.starts_with(name));
        let new = (!is_gone).then_some(pair);
        self.line = kept.chain(new).collect::<Vec<_>>().join(&b"; "[..]);
    }
}

/// Whether a cookie's attributes say that it is over: the last `Max-Age` counts, and only without one the last
/// `Expires` (RFC 6265, 5.2 and 5.3). One that expires later is kept for the whole run.
fn has_expired<'a>(attributes: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut by_age, mut by_date) = (None, None);
    for attribute in attributes {
        let Some(equals) = attribute.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let name = attribute[..equals].trim_ascii();
        let value = attribute[equals + 1..].trim_ascii();
        if name.eq_ignore_ascii_case(b"max-age") {
            by_age = age_is_over(value).or(by_age);
        } else if name.eq_ignore_ascii_case(b"expires") {
            by_date = cookie_date::seconds(value).or(by_date);
        }
    }
    by_age.unwrap_or_else(|| by_date.is_some_and(|date| date <= now()))
}

/// Whether so many seconds are over at once; None for what is no number of them.
fn age_is_over(value: &[u8]) -> Option<bool> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_none = digits.len() < value.len() || digits.iter().all(|digit| *digit == b'0');
    is_number.then_some(is_none)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}
