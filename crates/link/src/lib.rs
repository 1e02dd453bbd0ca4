//! A link between a client and a server of one machine, with a round trip time and loss.
//!
//! A TUN device has an address of its own and one of a peer that is not there. Every packet that the kernel sends to the
//! peer comes to the program behind the device. It holds each back for half of the round trip time, loses some by
//! chance, lets both addresses change places ([`turn_back`]) and hands it back: the kernel then takes it for one that the
//! peer sent to its own address. So a server that listens on the device's address is met at the peer's, with the link
//! in between each way.

mod carrier;
pub mod command;
mod line;
mod packet;

pub use carrier::carry;
pub use line::{Counters, Line, MOST_PACKETS, Settings};
pub use packet::turn_back;
