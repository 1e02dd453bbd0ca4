//! The programs of this crate, over real sockets.

mod null;
mod server;
mod truth;
