//! What can go wrong with HTTP/3 and QUIC, and how it is booked.

use std::net::UdpSocket;
use std::time::Duration;

use crate::support::http3::{BODY, answering, http3, null, null_at, plan_of};
use crate::support::quic::{Allows, Peer};
use crate::support::{outcomes, wait_until};
use assay_engine::Run;
use serde_json::json;

#[test]
fn what_is_not_answered_is_given_up_and_its_connection_goes_on() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        0 => {}
        _ => asked.answer(BODY),
    });
    let measured = http3(&peer.url(), 1, 3, 30, json!({"timeout_ns": 1_500_000_000}));
    assert_eq!(outcomes(&measured), ["peer/timeout: 1"]);
    assert_eq!(measured.completed, 29);
    assert_eq!(
        measured.connections.reopened, 0,
        "the server has acknowledged it"
    );
    wait_until("the server is told", || peer.given_up() == 1);
}

#[test]
fn nobody_there_is_told_from_a_port_that_is_closed() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let timeout = json!({"timeout_ns": 200_000_000});
    let measured = http3(&url, 2, 2, 4, timeout);
    assert_eq!(outcomes(&measured), ["network/connect_timeout: 4"]);
    drop(silent);
    let measured = http3(&url, 2, 2, 40, json!({"ends_unreached": true}));
    assert!(measured.interrupted);
    assert_eq!(measured.outcomes.len(), 1, "{:?}", measured.outcomes);
    assert_eq!(measured.outcomes[0].kind, "connect_refused");
    assert_eq!(measured.connections.opened, 0);
}

#[test]
fn a_server_without_http3_is_one_clear_failure() {
    let peer = answering(Allows {
        alpn: "hq-interop",
        ..Allows::default()
    });
    let more = json!({"ends_on": ["wrong_protocol"]});
    let measured = http3(&peer.url(), 1, 4, 1_000, more);
    assert!(measured.interrupted);
    assert_eq!(measured.outcomes.len(), 1, "{:?}", measured.outcomes);
    assert_eq!(measured.outcomes[0].kind, "wrong_protocol");
    assert!(measured.outcomes[0].example.contains("does not pick h3"));
    let lost = measured.http3.unwrap().lost;
    assert_eq!(
        lost.keys().collect::<Vec<_>>(),
        ["handshake: TLS alert 120"]
    );
}

#[test]
fn a_certificate_is_held_to_its_authority_and_its_name() {
    let peer = answering(Allows::default());
    let path = std::env::temp_dir().join(format!("assay-h3-{}.pem", std::process::id()));
    std::fs::write(&path, &peer.pem).unwrap();
    let trusting = |more: serde_json::Value| http3(&peer.url(), 1, 1, 1, json!({"tls": more}));
    let right = trusting(json!({"ca_file": path, "server_name": "localhost"}));
    let named = trusting(json!({"ca_file": path}));
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&path, other.cert.pem()).unwrap();
    let vouched = trusting(json!({"ca_file": path, "server_name": "localhost"}));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(right.completed, 1, "{:?}", right.outcomes);
    assert_eq!(outcomes(&named), ["peer/tls_error: 1"]);
    assert_eq!(outcomes(&vouched), ["peer/tls_error: 1"]);
}

#[test]
fn what_lies_beyond_the_goaway_is_unprocessed_and_the_rest_goes_on() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        0..10 => asked.answer(BODY),
        10 => asked.go_away(40),
        _ => {}
    });
    let measured = http3(&peer.url(), 1, 4, 60, json!({}));
    assert!(measured.completed >= 40, "{measured:?}");
    assert_eq!(measured.completed + measured.failed, 60);
    assert_eq!(measured.outcomes.len(), 1);
    assert_eq!(measured.outcomes[0].kind, "unprocessed");
    assert!(measured.http3.unwrap().goaway > 0);
    assert!(measured.connections.reopened > 0);
}

#[test]
fn resets_are_told_by_their_code() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        0 => asked.reset(0x107),
        1 => asked.reset(0x10b),
        2 => asked.reset(0x4242),
        _ => asked.answer(BODY),
    });
    let measured = http3(&peer.url(), 1, 1, 4, json!({}));
    assert_eq!(
        outcomes(&measured),
        ["peer/stream_reset: 2", "peer/unprocessed: 1"]
    );
    assert_eq!(measured.completed, 1);
    let resets = [
        ("0x4242".to_owned(), 1),
        ("H3_EXCESSIVE_LOAD".to_owned(), 1),
    ];
    assert_eq!(measured.http3.unwrap().resets, resets.into());
    assert_eq!(
        measured.connections.reopened, 0,
        "one stream is not the connection"
    );
}

#[test]
fn malformed_answers_are_booked_by_what_they_break() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        // No :status: the stream's fault.
        0 => asked.answer_with(&[(b"a", b"b")], b""),
        // DATA before the head: the connection's.
        1 => asked.write(vec![0, 1, b'x']),
        _ => asked.answer(BODY),
    });
    let measured = http3(&peer.url(), 1, 1, 2, json!({}));
    assert_eq!(
        outcomes(&measured),
        ["peer/bad_answer: 1", "peer/protocol_error: 1"]
    );
    let http3 = measured.http3.unwrap();
    assert_eq!(
        http3.lost,
        [("open: H3_FRAME_UNEXPECTED".to_owned(), 1)].into()
    );
}

#[test]
fn a_connection_that_the_server_closes_says_with_what() {
    let peer = Peer::start(Allows::default(), |asked| {
        asked.close(0x102, "out of order")
    });
    let measured = http3(&peer.url(), 1, 3, 3, json!({}));
    assert_eq!(outcomes(&measured), ["peer/closed_unannounced: 3"]);
    let example = &measured.outcomes[0].example;
    assert_eq!(
        example,
        "the server closes with H3_INTERNAL_ERROR: out of order"
    );
    assert!(
        measured
            .http3
            .unwrap()
            .lost
            .contains_key("open: H3_INTERNAL_ERROR")
    );
}

#[test]
fn silence_beyond_the_idle_timeout_is_told_from_a_slow_answer() {
    let idle = Some(Duration::from_millis(100));
    let peer = Peer::start(
        Allows {
            idle,
            ..Allows::default()
        },
        |_| {},
    );
    let measured = http3(&peer.url(), 1, 2, 2, json!({}));
    assert_eq!(outcomes(&measured), ["peer/idle_timeout: 2"]);
    let lost = measured.http3.unwrap().lost;
    assert_eq!(lost, [("open: idle timeout".to_owned(), 1)].into());
}

#[test]
fn a_server_that_has_forgotten_the_connection_resets_it() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        0 => asked.answer(BODY),
        _ => asked.forget(),
    });
    let measured = http3(&peer.url(), 1, 1, 2, json!({}));
    assert_eq!(outcomes(&measured), ["network/reset: 1"]);
    let lost = measured.http3.unwrap().lost;
    assert_eq!(lost, [("open: stateless reset".to_owned(), 1)].into());
}

#[test]
fn a_server_of_other_versions_is_one_clear_failure() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", socket.local_addr().unwrap());
    let negotiating = std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        let (_, from) = socket.recv_from(&mut buffer).unwrap();
        // RFC 9000, 17.2.1: the connection's numbers the other way round, and a version that nobody speaks.
        let to_length = usize::from(buffer[5]);
        let to = &buffer[6..6 + to_length];
        let from_length = usize::from(buffer[6 + to_length]);
        let of = &buffer[7 + to_length..7 + to_length + from_length];
        let mut out = vec![0x80, 0, 0, 0, 0, of.len() as u8];
        out.extend_from_slice(of);
        out.push(to.len() as u8);
        out.extend_from_slice(to);
        out.extend_from_slice(&[0x5a, 0x5a, 0x5a, 0x5a]);
        socket.send_to(&out, from).unwrap();
    });
    let measured = http3(&url, 1, 1, 1, json!({}));
    negotiating.join().unwrap();
    assert_eq!(outcomes(&measured), ["peer/wrong_protocol: 1"]);
    assert!(measured.outcomes[0].example.contains("version negotiation"));
}

#[test]
fn a_server_that_goes_and_comes_back_is_found_again() {
    let (server, url) = null(BODY);
    let address = server.address();
    let plan = plan_of(
        &url,
        2,
        3,
        u64::MAX,
        &json!({"stop": {"kind": "duration", "ns": 60_000_000_000_u64}}),
    );
    let run = Run::start(&plan).unwrap();
    wait_until("the first answers", || run.snapshot().completed > 100);
    drop(server);
    // Both have to see that it went: a connection that waits meanwhile would never have been lost.
    wait_until("both connections lost", || {
        run.snapshot().open_connections == 0
    });
    wait_until("failures", || run.snapshot().failed > 10);
    let _server = null_at(UdpSocket::bind(address).unwrap(), BODY);
    let before = run.snapshot().completed;
    wait_until("more answers", || run.snapshot().completed > before + 100);
    wait_until("both connections", || run.snapshot().open_connections == 2);
    run.stop(0);
    let measured = run.result().unwrap();
    let kinds: Vec<&str> = measured
        .outcomes
        .iter()
        .map(|outcome| &*outcome.kind)
        .collect();
    assert!(
        kinds.contains(&"connect_refused") && kinds.contains(&"reset"),
        "{kinds:?}"
    );
    assert_eq!(measured.connections.reopened, 2);
    assert_eq!(measured.http3.unwrap().lost["open: port closed"], 2);
}

#[test]
fn a_control_stream_that_is_stopped_breaks_the_connection() {
    let stops = Allows {
        stops_control: true,
        ..Allows::default()
    };
    let peer = Peer::start(stops, |_| {});
    let measured = http3(
        &peer.url(),
        1,
        1,
        1,
        json!({"timeout_ns": 20_000_000_000_u64}),
    );
    assert_eq!(outcomes(&measured), ["peer/protocol_error: 1"]);
    let lost = measured.http3.unwrap().lost;
    let named = "open: H3_CLOSED_CRITICAL_STREAM".to_owned();
    assert_eq!(lost, [(named, 1)].into());
}

#[test]
fn a_server_is_told_of_a_fault_that_quic_finds() {
    let peer = answering(Allows::default());
    // Nobody vouches for its certificate.
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let path = std::env::temp_dir().join(format!("assay-h3-told-{}.pem", std::process::id()));
    std::fs::write(&path, other.cert.pem()).unwrap();
    let more = json!({"tls": {"ca_file": path, "server_name": "localhost"}});
    let measured = http3(&peer.url(), 1, 1, 1, more);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(outcomes(&measured), ["peer/tls_error: 1"]);
    wait_until("the server is told", || {
        !peer.seen.lost.lock().unwrap().is_empty()
    });
}

#[test]
fn names_that_a_server_makes_up_are_no_end_of_names() {
    let peer = Peer::start(Allows::default(), |asked| match asked.number() {
        // RFC 9114, 8.1: reserved, so that peers learn to ignore them.
        number @ 0..100 => asked.reset(0x21 + 0x1f * number as u32),
        number => asked.reset(0x4_0000 + 0x1f * number as u32),
    });
    let more = json!({"retry_wait_max_ns": 0});
    let measured = http3(&peer.url(), 1, 10, 300, more);
    assert_eq!(outcomes(&measured), ["peer/stream_reset: 300"]);
    let resets = measured.http3.unwrap().resets;
    assert_eq!(resets["reserved"], 100);
    assert_eq!(resets["other"], 200 - 63);
    assert_eq!((resets.len(), resets.values().sum::<u64>()), (65, 300));
}
