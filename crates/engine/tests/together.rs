//! All tests of the engine that share a process: one binary to build, to link and to lint.
//!
//! A file that needs a process to itself is a target of its own in Cargo.toml, which says why. A unit test holds that
//! each file is one or the other (tests/unit/test_layers.py).

mod support;

mod addresses;
mod answers;
mod ask;
mod below_tls;
mod by_request;
mod clients;
mod closed_loop;
mod codings;
mod expectations;
mod failures;
mod floor;
mod given_up;
mod hosts;
mod http2;
mod http2_failing;
mod http2_limits;
mod http3;
mod http3_faults;
mod interleave;
mod interleave_faults;
mod interleave_parts;
mod last_words;
mod open_loop;
mod own_fields;
mod parts;
mod plans;
mod protocol;
mod range;
mod redirects;
mod request_log;
mod resend;
mod schedule;
mod slice_order;
mod stray;
mod supplies;
mod tls;
mod tunnels;
mod under_way;
