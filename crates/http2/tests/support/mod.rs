//! What tests of several crates ask.

use std::sync::Arc;

use assay_http2::client::Request;

/// A request as no server has met it before.
pub fn request(method: &str, path: &str, body: &[u8]) -> Request {
    let fields = [
        (":method", method),
        (":scheme", "http"),
        (":authority", "a"),
        (":path", path),
    ];
    let owned = |text: &str| text.as_bytes().to_vec();
    Request {
        fields: fields
            .iter()
            .map(|(name, value)| (owned(name), owned(value), true))
            .collect(),
        body: Arc::new(body.to_vec()),
        is_head: method == "HEAD",
        number: None,
    }
}
