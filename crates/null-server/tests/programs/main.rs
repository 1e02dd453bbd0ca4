//! The programs of this crate, over real sockets.

mod fault;
mod null;
mod null_http2;
mod null_http3;
mod server;
mod truth;
