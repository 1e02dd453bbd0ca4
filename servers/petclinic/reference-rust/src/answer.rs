//! What every answer goes through: pages for what went wrong, compression for clients that accept it.

use std::cell::RefCell;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, LOCATION, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use libdeflater::{CompressionLvl, Compressor};
use minijinja::context;

use crate::Failure;
use crate::clinic::Clinic;

/// The level that Tomcat has fixed, and the least length that the other stacks are set to.
const GZIP_LEVEL: i32 = 6;
const GZIP_LEAST_BYTES: u64 = 1024;
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// Why there is no page of the handler's own.
pub enum Refusal {
    NotFound,
    Broken(Failure),
}

impl<E: Into<Failure>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

/// The ids of an address that is not made of numbers lead nowhere.
pub fn ids<T>(path: Result<axum::extract::Path<T>, PathRejection>) -> Result<T, Refusal> {
    path.map(|axum::extract::Path(ids)| ids)
        .map_err(|_| Refusal::NotFound)
}

impl IntoResponse for Refusal {
    /// A bare status: `finish` gives it its page.
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND.into_response(),
            Self::Broken(error) => {
                eprintln!("{error}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// 303: the browser goes on with a GET.
pub fn see_owner(owner_id: i64) -> Response {
    (
        StatusCode::SEE_OTHER,
        [(LOCATION, format!("/owners/{owner_id}"))],
    )
        .into_response()
}

/// The middleware around all routes.
pub async fn finish(State(clinic): State<Clinic>, request: Request, next: Next) -> Response {
    let accepts_gzip = accepts_gzip(request.headers());
    let response = with_page(&clinic, next.run(request).await);
    if is_text(&response) && response.body().size_hint().lower() >= GZIP_LEAST_BYTES {
        return compress(response, accepts_gzip).await;
    }
    response
}

fn with_page(clinic: &Clinic, response: Response) -> Response {
    let (active, title, message) = match response.status() {
        StatusCode::NOT_FOUND => ("", "Not found", "There is nothing at this address."),
        StatusCode::METHOD_NOT_ALLOWED => (
            "",
            "Not allowed",
            "This address does not answer that method.",
        ),
        StatusCode::INTERNAL_SERVER_ERROR => (
            "oops",
            "Something went wrong",
            "The clinic could not answer this request. It has been noted.",
        ),
        _ => return response,
    };
    let context = context! { active, title, message };
    let Ok(page) = clinic.pages.show("error.html", context) else {
        return response;
    };
    let (mut head, _) = response.into_parts();
    head.headers.remove(CONTENT_LENGTH);
    head.headers.extend(page.headers().clone());
    Response::from_parts(head, page.into_body())
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|text| {
            text.split(',').any(|coding| {
                let mut parts = coding.split(';').map(str::trim);
                parts.next() == Some("gzip") && !parts.any(|weight| weight == "q=0")
            })
        })
}

fn is_text(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/") || kind == "image/svg+xml")
}

async fn compress(response: Response, accepted: bool) -> Response {
    let (mut head, body) = response.into_parts();
    head.headers
        .insert(VARY, HeaderValue::from_static("accept-encoding"));
    if !accepted {
        return Response::from_parts(head, body);
    }
    let Ok(plain) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(CONTENT_ENCODING, GZIP);
    Response::from_parts(head, Body::from(gzip(&plain)))
}

fn gzip(plain: &[u8]) -> Bytes {
    thread_local! {
        static COMPRESSOR: RefCell<Compressor> = RefCell::new(Compressor::new(
            CompressionLvl::new(GZIP_LEVEL).expect("libdeflate knows the level"),
        ));
    }
    COMPRESSOR.with_borrow_mut(|compressor| {
        let mut packed = vec![0; compressor.gzip_compress_bound(plain.len())];
        let length = compressor
            .gzip_compress(plain, &mut packed)
            .expect("the bound is enough");
        packed.truncate(length);
        packed.into()
    })
}
