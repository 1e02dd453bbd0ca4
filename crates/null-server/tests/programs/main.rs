//! The programs of this crate, over real sockets.

mod fault;
mod null;
mod server;
mod truth;
