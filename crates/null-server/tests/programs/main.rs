//! The program of this crate, over real sockets.

#[allow(dead_code, reason = "the tests of the scripted servers use all of it")]
mod http2;
mod null;
mod null_http2;
mod null_http3;
#[allow(dead_code, reason = "the tests of the scripted servers use all of it")]
mod server;
#[path = "../../../http2/tests/support/mod.rs"]
mod support;
