//! Requests as bytes, built before the run, or the pieces of those that differ each time.

use super::template::{self, Piece, Varying};
use crate::body::Body;
use crate::error::PlanError;
use crate::plan::{Http, HttpVersion, LoadPlan, Request};

/// The bytes of a request.
#[derive(Debug)]
pub(crate) enum EncodedRequest {
    /// Always the same.
    Fixed(Vec<u8>),
    /// Made anew each time.
    Varying(Varying),
}

/// What of a request is not in the request itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a LoadPlan,
    /// What `Host` says.
    pub(crate) authority: &'a str,
    /// Written before the target, for a proxy: scheme and authority.
    pub(crate) target_prefix: &'a str,
    /// The URL's.
    pub(crate) scheme: &'static str,
}

/// Builds a request. `Host`, `Content-Length` and `Connection` are added where the plan's own
/// header fields do not give them.
///
/// # Errors
/// Where the request's own fields say another length than the body has.
pub(crate) fn encode(
    context: Context<'_>,
    request: &Request,
    body: Option<Body>,
) -> Result<EncodedRequest, PlanError> {
    let length = body.as_ref().map_or(0, |body| body.bytes.len());
    request.check_length("requests.headers", length)?;
    Ok(written(context, request, body))
}

fn written(context: Context<'_>, request: &Request, body: Option<Body>) -> EncodedRequest {
    let plan = context.plan;
    let mut pieces = Pieces {
        list: Vec::new(),
        templated: request.templated,
    };
    if let Some(head) = &request.head {
        pieces.text(&format!("{head}\r\n"));
        return finish(pieces, context, request, body);
    }
    let version = match plan.http_version {
        HttpVersion::Http11 => "HTTP/1.1",
        HttpVersion::Http10 => "HTTP/1.0",
    };
    pieces.text(&format!("{} {}", request.method, context.target_prefix));
    pieces.given(&request.target);
    pieces.text(&format!(" {version}\r\n"));
    if !has(request, "host") {
        pieces.text(&format!("Host: {}\r\n", context.authority));
    }
    let own = (request.headers.iter())
        .filter(|(name, _)| !context.plan.is_of_tunnel(context.scheme, name));
    for (name, value) in own {
        pieces.text(&format!("{name}: "));
        pieces.given(value);
        pieces.text("\r\n");
    }
    if !has(request, "connection") {
        pieces.text(match (plan.http_version, plan.keep_alive) {
            (HttpVersion::Http11, false) => "Connection: close\r\n",
            (HttpVersion::Http10, true) => "Connection: Keep-Alive\r\n",
            // The version's own default says it already.
            (HttpVersion::Http11, true) | (HttpVersion::Http10, false) => "",
        });
    }
    if plan.cookies {
        pieces.list.push(Piece::Cookies);
    }
    framing(&mut pieces, context, request, body.as_ref());
    pieces.text("\r\n");
    finish(pieces, context, request, body)
}

impl Context<'_> {
    /// The size of a request's chunks, where it has them: HTTP/2 frames a body of unknown length itself.
    fn chunk_bytes(self, request: &Request) -> Option<u32> {
        request.chunks().filter(|_| self.plan.http == Http::One)
    }
}

fn framing(pieces: &mut Pieces, context: Context<'_>, request: &Request, body: Option<&Body>) {
    let Some(body) = body else { return };
    if let Some(content_type) = &body.content_type {
        pieces.text(&format!("Content-Type: {content_type}\r\n"));
    }
    if has(request, "content-length") || has(request, "transfer-encoding") {
        return;
    }
    if context.chunk_bytes(request).is_some() {
        pieces.text("Transfer-Encoding: chunked\r\n");
    } else if request.chunks().is_some() {
        // HTTP/2: no length is said.
    } else if request.templated {
        pieces.text("Content-Length: ");
        pieces.list.push(Piece::BodyLength);
        pieces.text("\r\n");
    } else {
        pieces.text(&format!("Content-Length: {}\r\n", body.bytes.len()));
    }
}

fn finish(
    mut pieces: Pieces,
    context: Context<'_>,
    request: &Request,
    body: Option<Body>,
) -> EncodedRequest {
    let body = body.map_or_else(Vec::new, |body| body.bytes);
    let body = match context.chunk_bytes(request) {
        Some(size) => chunked(&body, size as usize),
        None => body,
    };
    let body = match (request.templated, std::str::from_utf8(&body)) {
        (true, Ok(text)) => parsed(text),
        _ => vec![Piece::Text(body)],
    };
    match (&pieces.list[..], <[Piece; 1]>::try_from(body)) {
        ([Piece::Text(head)], Ok([Piece::Text(body)])) => EncodedRequest::Fixed(joined(head, body)),
        (_, body) => EncodedRequest::Varying(Varying {
            head: std::mem::take(&mut pieces.list),
            body: body.map_or_else(|body| body, Vec::from),
        }),
    }
}

/// A head and its body, in the body's own memory: it may be most of what there is.
fn joined(head: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    body.reserve_exact(head.len());
    body.splice(..0, head.iter().copied());
    body
}

/// A request as it grows.
struct Pieces {
    list: Vec<Piece>,
    templated: bool,
}

impl Pieces {
    fn text(&mut self, text: &str) {
        template::push_text(&mut self.list, text);
    }

    /// Text of the plan's, with places to fill in where it asks for that.
    fn given(&mut self, text: &str) {
        if !self.templated {
            return self.text(text);
        }
        for piece in parsed(text) {
            match piece {
                Piece::Text(text) => self.text(&String::from_utf8_lossy(&text)),
                place => self.list.push(place),
            }
        }
    }
}

/// Text of a plan that was validated.
fn parsed(text: &str) -> Vec<Piece> {
    template::parse(text).unwrap_or_else(|_| vec![Piece::Text(text.into())])
}

fn has(request: &Request, name: &str) -> bool {
    let mut names = request.headers.iter().map(|(name, _)| name);
    names.any(|given| given.eq_ignore_ascii_case(name))
}

fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut coded = Vec::with_capacity(body.len() + body.len() / size * 8 + 16);
    for chunk in body.chunks(size) {
        coded.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
    }
    coded.extend_from_slice(b"0\r\n\r\n");
    coded
}
