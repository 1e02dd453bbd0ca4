//! The body of a request, put together once before the run: text, a file, or a form.

use std::fs;

use crate::error::RunError;
use crate::plan::{FormPart, Request};

/// A body, and what its content type has to be where it is of our making.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: Option<String>,
}

impl Body {
    /// The body that a request asks for; None where it has none.
    pub(crate) fn of(request: &Request) -> Result<Option<Self>, RunError> {
        if !request.form.is_empty() {
            return form(&request.form).map(Some);
        }
        let bytes = match (&request.body_file, &request.body) {
            (Some(path), _) => read(path)?,
            (None, Some(text)) => text.clone().into_bytes(),
            (None, None) => return Ok(None),
        };
        Ok(Some(Self {
            bytes,
            content_type: None,
        }))
    }
}

fn read(path: &str) -> Result<Vec<u8>, RunError> {
    fs::read(path).map_err(|source| RunError::File {
        path: path.into(),
        source,
    })
}

/// A form as RFC 7578 writes it. The boundary is the first of a row of names that no part holds.
fn form(parts: &[FormPart]) -> Result<Body, RunError> {
    let mut contents = Vec::with_capacity(parts.len());
    for part in parts {
        contents.push(match &part.file {
            Some(path) => read(path)?,
            None => part.text.clone().unwrap_or_default().into_bytes(),
        });
    }
    let boundary = (0_u64..)
        .map(|number| format!("assay-{number:016x}"))
        .find(|name| !contents.iter().any(|bytes| holds(bytes, name.as_bytes())))
        .expect("a finite body holds finitely many names");
    let mut bytes = Vec::new();
    for (part, content) in parts.iter().zip(&contents) {
        bytes.extend_from_slice(format!("--{boundary}\r\n{}\r\n", part_head(part)).as_bytes());
        bytes.extend_from_slice(content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok(Body {
        bytes,
        content_type: Some(format!("multipart/form-data; boundary={boundary}")),
    })
}

fn part_head(part: &FormPart) -> String {
    let mut head = format!(
        "Content-Disposition: form-data; name=\"{}\"",
        quoted(&part.name)
    );
    if let Some(path) = &part.file {
        let own = path.rsplit('/').next().unwrap_or_default();
        let name = part.file_name.as_deref().unwrap_or(own);
        head.push_str(&format!("; filename=\"{}\"", quoted(name)));
    }
    let of_file = part.file.as_ref().map(|_| "application/octet-stream");
    if let Some(kind) = part.content_type.as_deref().or(of_file) {
        head.push_str(&format!("\r\nContent-Type: {kind}"));
    }
    head + "\r\n"
}

/// As browsers write names (WHATWG HTML, "multipart/form-data encoding algorithm").
fn quoted(name: &str) -> String {
    name.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|part| part == wanted)
}
