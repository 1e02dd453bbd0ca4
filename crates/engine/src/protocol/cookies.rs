//! The cookies one connection was given: names and values, as a server reads them back.
//!
//! A load has one origin, so domains and paths are not looked at (RFC 6265 without its scopes).

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

    /// Takes the cookies that the head of an answer sets; `Max-Age=0` takes one away.
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
        let is_gone = parts.any(|attribute| attribute.eq_ignore_ascii_case(b"max-age=0"));
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
