//! Redirects within one origin: the request that follows an answer (RFC 9110, 15.4).
//!
//! A redirect that leads to another scheme, host or port is never followed: a load goes where it
//! was sent and nowhere else.

use std::borrow::Cow;

use super::fields::fields;
use crate::plan::LoadPlan;
use crate::record::Failure;
use crate::target::Target;

/// How redirects are followed.
#[derive(Debug)]
pub(crate) struct Redirects {
    most: u32,
    origin: Target,
    /// Written before the target, for a proxy.
    target_prefix: String,
    /// Whether `Cookie` lines are ours to write.
    cookies: bool,
}

/// What an answer asks for, seen from one request.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing: it is the answer.
    Nothing,
    /// This request.
    Request(Vec<u8>),
    /// What is not done.
    Refused(Failure, String),
}

impl Redirects {
    pub(crate) fn new(plan: &LoadPlan, origin: &Target, target_prefix: &str) -> Self {
        Self {
            most: plan.redirects,
            origin: origin.clone(),
            target_prefix: target_prefix.into(),
            cookies: plan.cookies,
        }
    }

    /// What follows on an answer with this `status` and `head` to `request`, after `followed`
    /// redirects. `cookies` is what a `Cookie` line says now.
    pub(crate) fn next(
        &self,
        request: &[u8],
        followed: u32,
        (status, head): (u16, &[u8]),
        cookies: &[u8],
    ) -> Next {
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Next::Nothing;
        }
        let Some(location) = location(head) else {
            return Next::Nothing;
        };
        if followed == self.most {
            let example = crate::record::example(location.as_bytes());
            return Next::Refused(Failure::TooManyRedirects, example);
        }
        let Some(parts) = Parts::of(request) else {
            return Next::Nothing;
        };
        let base = parts.target.strip_prefix(self.target_prefix.as_str());
        match self.resolve(base.unwrap_or(&parts.target), &location) {
            Some(target) => Next::Request(self.rewrite(&parts, status, &target, cookies)),
            None => {
                let example = crate::record::example(location.as_bytes());
                Next::Refused(Failure::RedirectElsewhere, example)
            }
        }
    }

    /// The target that `location` names, seen from `base`; None where it is of another origin
    /// (RFC 3986, 5.2.2).
    fn resolve(&self, base: &str, location: &str) -> Option<String> {
        let location = location.split('#').next().unwrap_or_default();
        let absolute = match location.strip_prefix("//") {
            Some(_) => Some(Cow::from(format!(
                "{}:{location}",
                self.origin.scheme_name()
            ))),
            None => has_scheme(location).then_some(Cow::from(location)),
        };
        let target = if let Some(url) = absolute {
            let there = Target::parse(&url).ok()?;
            let (_, rest) = url.split_once("://")?;
            let start = rest.find(['/', '?']).unwrap_or(rest.len());
            let is_same = there.scheme == self.origin.scheme
                && there.host.eq_ignore_ascii_case(&self.origin.host)
                && there.port == self.origin.port;
            match &rest[start..] {
                _ if !is_same => return None,
                query if !query.starts_with('/') => format!("/{query}"),
                path => path.into(),
            }
        } else {
            let path = base.split('?').next().unwrap_or_default();
            match location.chars().next() {
                None => base.into(),
                Some('/') => location.into(),
                Some('?') => format!("{path}{location}"),
                Some(_) => {
                    let folder = path.rfind('/').map_or("/", |end| &path[..=end]);
                    format!("{folder}{location}")
                }
            }
        };
        Some(escaped(&without_dots(&target)))
    }

    /// The same request for another target. A POST becomes a GET where browsers do that too
    /// (RFC 9110, 15.4.2 to 15.4.4).
    fn rewrite(&self, parts: &Parts<'_>, status: u16, target: &str, cookies: &[u8]) -> Vec<u8> {
        let becomes_get = match status {
            303 => parts.method != "HEAD",
            301 | 302 => parts.method == "POST",
            _ => false,
        };
        let method = if becomes_get { "GET" } else { parts.method };
        let prefix = &self.target_prefix;
        let mut request = format!("{method} {prefix}{target} {}\r\n", parts.version).into_bytes();
        for line in &parts.fields {
            let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
            let name = name.to_ascii_lowercase();
            let of_body = name.starts_with(b"content-") || name == b"transfer-encoding";
            if !(becomes_get && of_body || self.cookies && name == b"cookie") {
                request.extend_from_slice(line);
                request.extend_from_slice(b"\r\n");
            }
        }
        if self.cookies && !cookies.is_empty() {
            request.extend_from_slice(b"Cookie: ");
            request.extend_from_slice(cookies);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        if !becomes_get {
            request.extend_from_slice(parts.body);
        }
        request
    }
}

/// A request of ours, taken apart again.
struct Parts<'a> {
    method: &'a str,
    target: Cow<'a, str>,
    version: &'a str,
    fields: Vec<&'a [u8]>,
    body: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(request: &'a [u8]) -> Option<Self> {
        let end = request.windows(4).position(|four| four == b"\r\n\r\n")?;
        let mut lines = request[..end]
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii_end);
        let mut words = lines.next()?.split(|byte| *byte == b' ');
        Some(Self {
            method: std::str::from_utf8(words.next()?).ok()?,
            target: String::from_utf8_lossy(words.next()?),
            version: std::str::from_utf8(words.next()?).ok()?,
            fields: lines.collect(),
            body: &request[end + 4..],
        })
    }
}

/// Bytes above 127 are escaped one by one, as they came: they need not be UTF-8 (RFC 3986, 2.1).
fn location(head: &[u8]) -> Option<String> {
    let mut named = fields(head).filter(|(name, _)| name.eq_ignore_ascii_case(b"location"));
    let (_, value) = named.next()?;
    let mut text = String::with_capacity(value.len());
    for byte in value.iter() {
        match byte {
            0..=127 => text.push(char::from(*byte)),
            above => text.push_str(&format!("%{above:02X}")),
        }
    }
    Some(text)
}

/// RFC 3986, 3.1: a scheme is letters, digits, "+", "-" and "." before a colon, and no path of
/// a relative reference begins so.
fn has_scheme(location: &str) -> bool {
    location.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// A target without "." and ".." (RFC 3986, 5.2.4).
fn without_dots(target: &str) -> String {
    let (path, query) = match target.find('?') {
        Some(start) => target.split_at(start),
        None => (target, ""),
    };
    let mut kept: Vec<&str> = Vec::new();
    let ends_in_folder = path.ends_with("/.") || path.ends_with("/..");
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let slash = if ends_in_folder && !kept.is_empty() {
        "/"
    } else {
        ""
    };
    format!("/{}{slash}{query}", kept.join("/"))
}

/// Bytes that may not stand in a request line, escaped.
fn escaped(target: &str) -> String {
    let mut text = String::with_capacity(target.len());
    for byte in target.bytes() {
        match byte {
            b'!'..=b'~' => text.push(byte.into()),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
