//! HTTP/3: its connections over QUIC, and what those of an arm share.

mod connection;
mod lost;
mod numbers;
mod quic;
mod serving;
mod timers;

pub(crate) use connection::Http3;
pub(crate) use quic::{Quic, written};
