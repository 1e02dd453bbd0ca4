//! What a request's own header fields, and its method, mean to the client that sends them: they are obeyed, or refused in a line.
//!
//! A field that says something of the connection, of the body or of how both are sent binds whoever sends it. One that
//! is sent and not kept would be a fault of ours that looks like the server's. A raw head stands for itself.

use super::validate::{Checked, ensure};
use super::{HttpVersion, LoadPlan, Request};
use crate::error::PlanError;
use crate::record::by_request::name_of;

const PROXY_AUTHORIZATION: &str = "proxy-authorization";
/// The size of the chunks that a `Transfer-Encoding` of the plan's asks for.
const CHUNK_BYTES: u32 = 64 * 1024;

impl LoadPlan {
    /// What a proxy is told of who opens a tunnel through it: the requests go to the server, and the proxy sees none of
    /// them (RFC 9110, 11.7.2).
    pub(crate) fn tunnel_credentials(&self) -> Option<&str> {
        let mut requests = self.requests.iter();
        requests.find_map(|request| request.values(PROXY_AUTHORIZATION).next())
    }

    /// Whether a field goes with a tunnel's opening, and with no request.
    pub(crate) fn is_of_tunnel(&self, scheme: &str, field: &str) -> bool {
        let is_tunnel = self.proxy.is_some() && scheme == "https";
        is_tunnel && field.eq_ignore_ascii_case(PROXY_AUTHORIZATION)
    }
}

impl Request {
    /// What its figures go by; `authority` is empty where all requests go to one host.
    pub(crate) fn name(&self, authority: &str) -> String {
        match (&self.name, &self.head) {
            (Some(name), _) => name.clone(),
            (None, Some(head)) => String::from_utf8_lossy(name_of(head.as_bytes())).into_owned(),
            (None, None) => {
                let line = format!("{} {authority}{}", self.method, self.target);
                String::from_utf8_lossy(name_of(line.as_bytes())).into_owned()
            }
        }
    }

    /// Whether nothing more is sent on the connection after it: it says so itself (RFC 9112, 9.6).
    pub(crate) fn closes(&self) -> bool {
        self.values("connection")
            .any(|value| elements(value).any(|option| option.eq_ignore_ascii_case("close")))
    }

    /// The size of its body's chunks, where it goes in chunks.
    pub(crate) fn chunks(&self) -> Option<u32> {
        let is_said = || self.values("transfer-encoding").next().is_some();
        self.chunk_bytes
            .or_else(|| is_said().then_some(CHUNK_BYTES))
    }

    /// The values of its fields of a name.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.headers.iter();
        fields
            .filter(move |(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    /// Checks what can be known before a file is read.
    pub(super) fn validate_meaning(&self, plan: &LoadPlan, at: &str) -> Checked {
        ensure(
            self.method != "CONNECT",
            &format!("{at}.method"),
            "must not be CONNECT, after which no HTTP follows; a proxy is the plan's",
        )?;
        let field = format!("{at}.headers");
        ensure(
            self.values("host").count() < 2,
            &field,
            "Host must be there once: a server refuses it twice (RFC 9112, 3.2)",
        )?;
        ensure(
            self.values("expect").all(str::is_empty),
            &field,
            "Expect must not be there: the body goes with the head and waits for no 100",
        )?;
        let others = plan.tunnel_credentials();
        ensure(
            self.values(PROXY_AUTHORIZATION)
                .all(|own| Some(own) == others),
            &field,
            "Proxy-Authorization must be the same in all requests: a tunnel is opened for all of them",
        )?;
        let closes = self.closes();
        ensure(
            !closes || plan.pipeline == 1,
            &field,
            "Connection: close and pipelining exclude each other: nothing is sent after it",
        )?;
        self.validate_coding(plan, &field)?;
        if self.body_file.is_some() || !self.form.is_empty() {
            return Ok(());
        }
        let length = self.body.as_ref().map_or(0, String::len);
        self.check_length(&field, length)
    }

    fn validate_coding(&self, plan: &LoadPlan, field: &str) -> Checked {
        let mut codings = self.values("transfer-encoding").flat_map(elements);
        let Some(coding) = codings.next() else {
            return Ok(());
        };
        ensure(
            coding.eq_ignore_ascii_case("chunked") && codings.next().is_none(),
            field,
            "Transfer-Encoding must be chunked: no other coding is made here",
        )?;
        let has_body = self.body.is_some() || self.body_file.is_some() || !self.form.is_empty();
        ensure(has_body, field, "Transfer-Encoding needs a body")?;
        ensure(
            !self.templated,
            field,
            "Transfer-Encoding and a template exclude each other: it cannot be sent in chunks",
        )?;
        ensure(
            plan.http_version == HttpVersion::Http11,
            field,
            "Transfer-Encoding and HTTP/1.0 exclude each other: it knows no chunks",
        )
    }

    /// Checks that a `Content-Length` of the plan's is that of the body, which has so many `bytes`.
    pub(crate) fn check_length(&self, field: &str, bytes: usize) -> Checked {
        for said in self.values("content-length") {
            ensure(
                self.chunks().is_none(),
                field,
                "Content-Length and chunks exclude each other (RFC 9112, 6.2)",
            )?;
            ensure(
                !self.templated,
                field,
                "Content-Length and a template exclude each other: each body's own length is sent",
            )?;
            if said.parse() != Ok(bytes) {
                let problem = format!(
                    "Content-Length says {said}, but the body has {bytes} bytes; leave it out, its length is sent"
                );
                return Err(PlanError::new(field, problem));
            }
        }
        ensure(
            self.values("content-length").count() < 2,
            field,
            "Content-Length must be there once",
        )
    }
}

/// The elements of a list (RFC 9110, 5.6.1).
fn elements(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|element| !element.is_empty())
}
