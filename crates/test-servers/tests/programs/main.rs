//! The programs of this crate, over real sockets.

mod faults;
#[path = "../../../null-server/tests/programs/http2.rs"]
mod http2;
mod scripted;
mod scripted_http2;
#[path = "../../../null-server/tests/programs/server.rs"]
mod server;
#[path = "../../../http2/tests/support/mod.rs"]
mod support;
