//! The programs of this crate, over real sockets.

mod fault;
mod http2;
mod null;
mod null_http2;
mod null_http3;
mod server;
#[path = "../../../http2/tests/support/mod.rs"]
mod support;
mod truth;
mod truth_http2;
