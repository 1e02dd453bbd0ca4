//! The server's side of a connection against a client that is written by hand, frame by frame.

mod cuts;
mod faults;
mod guest;
mod requests;
mod seeds;
mod streams;
