//! The client's side of a connection against a peer that is written by hand, frame by frame.

mod answers;
mod cuts;
mod faults;
mod limits;
mod seeds;
#[path = "../support/mod.rs"]
mod support;
mod talk;
mod windows;
