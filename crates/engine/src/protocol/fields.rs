//! The fields of a head that httparse has accepted, for whoever wants more of them than their framing.

use std::borrow::Cow;

/// Names and values in their order. A value that goes on in the next line (obs-fold, RFC 9112, 5.2)
/// has a space where that line begins.
pub(crate) fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
    let mut lines = head.split(|byte| *byte == b'\n').skip(1).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let mut value = Cow::Borrowed(line[colon + 1..].trim_ascii());
            while let Some(more) =
                lines.next_if(|line| line.starts_with(b" ") || line.starts_with(b"\t"))
            {
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(more.trim_ascii());
            }
            return Some((&line[..colon], value));
        }
    })
}
