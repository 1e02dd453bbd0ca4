//! Requests as bytes, built once before the run.

use crate::plan::{HttpVersion, LoadPlan, Request};

/// Writes `request` as it goes over the wire, `Host`, `Content-Length` and `Connection`
/// added where the plan's own header fields do not give them.
#[must_use]
pub fn bytes(plan: &LoadPlan, request: &Request, authority: &str, body: Option<&[u8]>) -> Vec<u8> {
    let has = |name: &str| {
        let mut names = request.headers.iter().map(|(name, _)| name);
        names.any(|given| given.eq_ignore_ascii_case(name))
    };
    let version = match plan.http_version {
        HttpVersion::Http11 => "HTTP/1.1",
        HttpVersion::Http10 => "HTTP/1.0",
    };
    let mut text = format!("{} {} {version}\r\n", request.method, request.target);
    let mut field = |name: &str, value: &str| {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    };
    if !has("host") {
        field("Host", authority);
    }
    for (name, value) in &request.headers {
        field(name, value);
    }
    if !has("connection") {
        match (plan.http_version, plan.keep_alive) {
            (HttpVersion::Http11, false) => field("Connection", "close"),
            (HttpVersion::Http10, true) => field("Connection", "Keep-Alive"),
            // The version's own default says it already.
            (HttpVersion::Http11, true) | (HttpVersion::Http10, false) => {}
        }
    }
    if let Some(body) = body {
        if !has("content-length") && !has("transfer-encoding") {
            field("Content-Length", &body.len().to_string());
        }
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}
