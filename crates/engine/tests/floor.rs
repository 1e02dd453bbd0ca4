//! The floor that `make bench` holds HTTP/3 against: it asks as often as it is told to, and no server keeps it.

#[path = "../examples/bare_http3/main.rs"]
#[allow(dead_code, reason = "its main is for the program")]
mod bare_http3;

use std::net::UdpSocket;

use crate::support::http3::{BODY, answering, null};
use crate::support::quic::{Allows, Peer};
use bare_http3::floor;

#[test]
fn each_request_has_an_answer() {
    let (server, _) = null(BODY);
    let port = server.address().port();
    for (connections, streams) in [(1, 1), (1, 100), (8, 10)] {
        assert_eq!(
            floor(port, "/", connections, streams, 3_000).unwrap(),
            3_000
        );
    }
}

/// More streams than requests; more streams than the server allows.
#[test]
fn it_asks_no_more_than_it_may() {
    let (server, _) = null(BODY);
    assert_eq!(floor(server.address().port(), "/", 2, 100, 7).unwrap(), 7);
    let peer = answering(Allows {
        streams: 2,
        ..Allows::default()
    });
    assert_eq!(floor(peer.address.port(), "/", 1, 10, 200).unwrap(), 200);
}

#[test]
fn it_says_what_it_met_in_place_of_an_answer() {
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = gone.local_addr().unwrap().port();
    drop(gone);
    let refused = floor(port, "/", 1, 1, 1).unwrap_err().to_string();
    assert!(refused.contains("refused"), "{refused}");
    let resets = Peer::start(Allows::default(), |asked| asked.reset(0x10c));
    let reset = floor(resets.address.port(), "/", 1, 1, 1)
        .unwrap_err()
        .to_string();
    assert!(reset.contains("reset"), "{reset}");
}
