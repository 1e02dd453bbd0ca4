//! Errors as problem details (RFC 9457).

use axum::Json;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub struct Problem {
    status: StatusCode,
    instance: String,
}

impl Problem {
    pub fn new(status: StatusCode, target: &Uri) -> Self {
        Self {
            status,
            instance: target.path().to_owned(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let detail = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason(),
            "status": self.status.as_u16(),
            "instance": self.instance,
        });
        let kind = [(CONTENT_TYPE, "application/problem+json")];
        (self.status, kind, Json(detail)).into_response()
    }
}
