//! The contract's pages, rendered by minijinja.

use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use axum::http::header::{CONTENT_LANGUAGE, CONTENT_TYPE, SERVER};
use axum::response::{IntoResponse, Response};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Environment, Output, State, Value, escape_formatter, path_loader};

use crate::answer::Refusal;

/// The templates of one worker; each is compiled at its first use and kept.
pub struct Pages {
    folder: PathBuf,
    environment: Environment<'static>,
}

impl Pages {
    pub fn new(contract: &Path) -> Self {
        let mut environment = Environment::new();
        environment.set_loader(path_loader(contract.join("pages")));
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .keep_trailing_newline(true)
            .build();
        environment.set_syntax(syntax.expect("only white space differs from the default"));
        environment.set_formatter(format);
        Self {
            folder: contract.to_owned(),
            environment,
        }
    }

    /// The contract's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn show(&self, name: &str, context: Value) -> Result<Response, Refusal> {
        self.show_with(StatusCode::OK, name, context)
    }

    pub fn show_with(
        &self,
        status: StatusCode,
        name: &str,
        context: Value,
    ) -> Result<Response, Refusal> {
        let body = self.environment.get_template(name)?.render(context)?;
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_LANGUAGE, "en"),
            (
                SERVER,
                concat!("petclinic-reference/", env!("CARGO_PKG_VERSION")),
            ),
        ];
        Ok((status, headers, body).into_response())
    }
}

/// Escapes text as the other stacks do; minijinja's own way would also escape every slash.
fn format(out: &mut Output, state: &mut State, value: &Value) -> Result<(), minijinja::Error> {
    let (ValueKind::String, Some(text)) = (value.kind(), value.as_str()) else {
        return escape_formatter(out, state, value);
    };
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.write_str(&rest[..at])?;
        out.write_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    out.write_str(rest).map_err(Into::into)
}
