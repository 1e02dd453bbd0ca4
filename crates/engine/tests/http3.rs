//! HTTP/3 against the null server and peers written by hand: what is sent, what is booked, what is waited for.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use crate::support::http3::{BODY, answering, http3, null, plan_of};
use crate::support::interleaved::{self, interleaved};
use crate::support::quic::{Allows, Asked, Peer};
use crate::support::{HELLO, Server, outcomes};
use assay_engine::{LoadPlan, Measurement, Run};
use assay_http3::frame;
use assay_http3::message::MOST_FIELD_BYTES;
use rcgen::generate_simple_self_signed;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

#[test]
fn every_answer_of_every_stream_counts_once() {
    let (_server, url) = null(BODY);
    for (connections, streams, threads) in [(1, 1, 1), (3, 10, 2), (2, 100, 1)] {
        let threads = json!({"threads": threads});
        let measured = http3(&url, connections, streams, 3_000, threads);
        assert_eq!((measured.completed, measured.failed), (3_000, 0));
        assert_eq!(measured.body_bytes, 3_000 * BODY.len() as u64);
        assert_eq!(measured.http_versions, [("3".to_owned(), 3_000)].into());
        assert_eq!(measured.statuses, [("200".to_owned(), 3_000)].into());
        assert_eq!(measured.service_time.count, 3_000);
        let opened = u64::from(connections);
        assert_eq!(measured.connections.opened, opened);
        assert_eq!(measured.connections.answered, opened);
        let agreed = "QUIC v1, TLS 1.3, h3".to_owned();
        assert_eq!(measured.handshakes, [(agreed, opened)].into());
        assert_eq!(
            (measured.connect_time.count, measured.handshake_time),
            (opened, None)
        );
        assert_eq!(measured.http2, None);
        let http3 = measured.http3.unwrap();
        assert_eq!((http3.handshakes, http3.stream_limit_waits), (opened, 0));
        assert!(
            http3.lost.is_empty() && http3.resets.is_empty(),
            "{http3:?}"
        );
        assert!(http3.udp_received > opened && http3.udp_sent > opened);
        assert!(measured.bytes_read > 3_000 * 5 && measured.bytes_written > 3_000 * 5);
    }
}

#[test]
fn what_is_not_written_together_has_stamps_of_its_own() {
    const STREAMS: u32 = 10;
    let (_server, url) = null(BODY);
    let log = json!({"request_log": "times"});
    let run = Run::start(&plan_of(&url, 32, STREAMS, 10_000, &log)).unwrap();
    assert_eq!(run.result().unwrap().completed, 10_000);
    let mut requests = BTreeMap::<u64, u32>::new();
    for entry in run.request_log().chunks(48) {
        let number = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
        // Of those that waited for their connection the first field is when they began to.
        if number(8) == 0 {
            *requests.entry(number(0)).or_default() += 1;
        }
    }
    let most = requests.values().max();
    assert!(most <= Some(&STREAMS), "{most:?} requests have one stamp");
}

#[test]
fn resumed_sessions_are_told_as_such() {
    let (_server, url) = null(BODY);
    let resumed_with = |resumption: bool| {
        let tls = json!({"insecure": true, "resumption": resumption});
        let more = json!({"tls": tls, "keep_alive": false});
        let measured = http3(&url, 1, 1, 10, more);
        assert_eq!(measured.handshakes.values().sum::<u64>(), 10);
        let resumed = measured.handshakes.get("QUIC v1, TLS 1.3, h3, resumed");
        resumed.copied().unwrap_or_default()
    };
    assert_eq!(resumed_with(true), 9);
    assert_eq!(resumed_with(false), 0);
}

#[test]
fn a_request_is_written_as_fields() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let sees = Arc::clone(&seen);
    let peer = Peer::start(Allows::default(), move |asked: &mut Asked<'_>| {
        let body = asked.body;
        sees.lock()
            .unwrap()
            .insert(format!("{}, {body}", asked.fields));
        asked.answer(BODY);
    });
    let requests = json!([
        {"target": "/a", "headers": [["Accept", "x/y"], ["Connection", "close"], ["TE", "gzip"]], "weight": 2},
        {"target": "/{counter}", "method": "POST", "headers": [["te", "trailers"]], "body": "{counter}", "templated": true, "chunk_bytes": null},
    ]);
    let measured = http3(
        &peer.url(),
        1,
        1,
        6,
        json!({"requests": requests, "cookies": true}),
    );
    assert_eq!(measured.completed, 6);
    let host = peer.address;
    let expected = [
        format!(":method=GET|:scheme=https|:authority={host}|:path=/a|accept=x/y, 0"),
        format!(
            ":method=POST|:scheme=https|:authority={host}|:path=/2|te=trailers|content-length=1, 1"
        ),
        format!(
            ":method=POST|:scheme=https|:authority={host}|:path=/5|te=trailers|content-length=1, 1"
        ),
    ];
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from(expected));
}

#[test]
fn cookies_are_kept_and_redirects_followed_as_with_http1() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let peer = Peer::start(Allows::default(), move |asked: &mut Asked<'_>| {
        sees.lock().unwrap().push(asked.fields.clone());
        match asked.fields.contains(":path=/there") {
            true => asked.answer(BODY),
            false => asked.answer_with(
                &[
                    (b":status", b"302"),
                    (b"location", b"/there"),
                    (b"set-cookie", b"a=b"),
                ],
                b"",
            ),
        }
    });
    let more = json!({"redirects": 2, "cookies": true});
    let measured = http3(&peer.url(), 1, 1, 1, more);
    assert_eq!(measured.completed, 1, "{:?}", measured.outcomes);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert!(
        seen[1].contains(":path=/there") && seen[1].contains("cookie=a=b"),
        "{seen:?}"
    );
}

#[test]
fn bodies_are_checked_whatever_the_expectation() {
    let body = "x".repeat(100_000);
    let (_server, url) = null(body.as_bytes());
    let expecting = |text: &str| {
        let expect = json!({"status": [200], "body": {"kind": "equals", "text": text}});
        json!({"requests": [{"expect": expect}]})
    };
    let right = http3(&url, 2, 5, 100, expecting(&body));
    assert_eq!(
        (right.completed, right.checked),
        (100, 100),
        "{:?}",
        right.outcomes
    );
    assert_eq!(right.body_bytes, 100 * 100_000);
    let wrong = http3(&url, 2, 5, 100, expecting("bye"));
    assert_eq!(outcomes(&wrong), ["plan/unexpected_body: 100"]);
    let header = json!({"requests": [{"expect": {"headers": [{"name": "X-Missing"}]}}]});
    let without = http3(&url, 1, 1, 3, header);
    assert_eq!(outcomes(&without), ["plan/unexpected_header: 3"]);
}

/// So many bodies of so many bytes each, on so many streams of a connection to a peer with such a window; all come
/// through whole.
fn upload(window: u32, body: usize, streams: u32, count: u64) -> (Peer, Measurement) {
    let sizes = Arc::new(Mutex::new(BTreeSet::new()));
    let sees = Arc::clone(&sizes);
    let allows = Allows {
        window,
        ..Allows::default()
    };
    let peer = Peer::start(allows, move |asked| {
        sees.lock().unwrap().insert(asked.body);
        asked.answer(BODY);
    });
    let request = json!({"requests": [{"method": "POST", "body": "x".repeat(body)}]});
    let measured = http3(&peer.url(), 1, streams, count, request);
    assert_eq!(measured.completed, count, "{:?}", measured.outcomes);
    assert_eq!(*sizes.lock().unwrap(), BTreeSet::from([body]));
    (peer, measured)
}

#[test]
fn a_large_body_goes_through_the_windows_and_waiting_for_them_is_told() {
    let (_peer, measured) = upload(20_000, 100_000, 4, 20);
    assert!(measured.bytes_written > 20 * 100_000);
    let http3 = measured.http3.unwrap();
    assert!(
        http3.flow_stalls > 0 && http3.flow_stall_ns > 0,
        "{http3:?}"
    );
}

/// Neither takes the place of the other where both wait for the first bytes to be taken.
#[test]
fn windows_of_a_few_bytes_let_both_settings_and_a_body_through() {
    let (peer, _) = upload(3, 50, 1, 1);
    let mut settings = Vec::new();
    frame::write_control(MOST_FIELD_BYTES as u64, &mut settings);
    assert_eq!(*peer.seen.control.lock().unwrap(), settings);
}

#[test]
fn what_the_server_does_not_allow_waits_and_is_no_service_time() {
    let peer = answering(Allows {
        streams: 2,
        ..Allows::default()
    });
    let measured = http3(&peer.url(), 1, 10, 200, json!({}));
    assert_eq!(measured.completed, 200);
    let http3 = measured.http3.unwrap();
    assert!(http3.stream_limit_waits > 150, "{http3:?}");
    assert!(http3.stream_limit_ns > 0);
}

/// A block that was read before is not read again, on whichever connection it comes.
#[test]
fn heads_that_differ_are_told_apart_on_all_connections() {
    let counts = Arc::new(Mutex::new([0; 2]));
    let counted = Arc::clone(&counts);
    let peer = Peer::start(Allows::default(), move |asked| {
        let kind = asked.number() as usize % 2;
        counted.lock().unwrap()[kind] += 1;
        let status: &[u8] = [b"200", b"201"][kind];
        asked.answer_with(&[(b":status", status)], BODY);
    });
    let measured = http3(&peer.url(), 4, 3, 400, json!({}));
    let [ok, created] = *counts.lock().unwrap();
    let statuses = [("200".to_owned(), ok), ("201".to_owned(), created)];
    assert_eq!(measured.statuses, statuses.into());
    assert_eq!((measured.failed, ok + created), (0, 400));
}

#[test]
fn an_open_loop_keeps_its_rate_on_few_streams() {
    let (_server, url) = null(BODY);
    let load = json!({"kind": "open", "max_connections": 2, "pacer": "sleep",
        "stages": [{"duration_ns": 1_000_000_000, "from_per_s": 2000.0, "to_per_s": 2000.0}]});
    let measured = http3(&url, 2, 5, 400, json!({"load": load}));
    assert_eq!(measured.completed, 400);
    assert_eq!(measured.response_time.unwrap().count, 400);
    assert_eq!(measured.send_lag.unwrap().count, 400);
    assert!(measured.connections.busy_peak.unwrap() <= 10);
}

#[test]
fn a_connection_carries_so_many_requests_and_another_follows() {
    let (_server, url) = null(BODY);
    let measured = http3(&url, 2, 3, 100, json!({"requests_per_connection": 5}));
    assert_eq!((measured.completed, measured.failed), (100, 0));
    assert!(
        measured.connections.reopened >= 18,
        "{:?}",
        measured.connections
    );
}

#[test]
fn plans_that_http3_cannot_do_are_refused_in_a_line() {
    let refused = |more: Value| {
        let mut plan = json!({"url": "https://127.0.0.1:9", "http": "3",
            "load": {"kind": "closed", "connections": 1}, "stop": {"kind": "requests", "count": 1}});
        for (key, value) in more.as_object().unwrap() {
            plan[key] = value.clone();
        }
        LoadPlan::from_json(plan.to_string().as_bytes()).unwrap_err()
    };
    let cases = [
        (json!({"url": "http://127.0.0.1:9"}), "url", "must be https"),
        (json!({"pipeline": 2}), "pipeline", "must be 1"),
        (json!({"streams": 0}), "streams", "must be at least 1"),
        (
            json!({"http_version": "1.0"}),
            "http_version",
            "must be 1.1",
        ),
        (json!({"proxy": "http://a:1"}), "proxy", "must be none"),
        (
            json!({"addresses": ["unix:/a"]}),
            "addresses",
            "must be of IP",
        ),
        (
            json!({"tls": {"versions": ["1.2"]}}),
            "tls.versions",
            "must have 1.3",
        ),
    ];
    for (more, field, problem) in cases {
        let error = refused(more);
        assert_eq!(error.field, field);
        assert!(error.problem.starts_with(problem), "{}", error.problem);
    }
}

/// HTTP/1.1 over TLS.
fn old() -> Server {
    let made = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    Server::start(move |peer| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, peer.stream.try_clone().unwrap());
        let mut buffer = [0; 16_384];
        while matches!(stream.read(&mut buffer), Ok(1..)) {
            let _ = stream.write_all(HELLO);
        }
    })
}

#[test]
fn arms_of_both_protocols_are_interleaved() {
    let (_server, new_url) = null(BODY);
    let old = old();
    let old_url = format!("https://{}", old.address);
    let arm = |url: &str, http: &str, streams: u32| {
        let more = json!({"url": url, "http": http, "streams": streams, "tls": {"insecure": true}});
        interleaved::arm(&old, 2, 500, &more)
    };
    let arms = vec![
        arm(&new_url, "3", 4),
        arm(&old_url, "1", 1),
        arm(&new_url, "3", 1),
    ];
    let measured = interleaved::run(&interleaved(arms, 100, 20));
    for (arm, version) in measured.arms.iter().zip(["3", "1.1", "3"]) {
        let figures = &arm.measurement;
        assert!(figures.completed > 0);
        assert_eq!(figures.failed, 0, "{:?}", figures.outcomes);
        assert_eq!(figures.http_versions.keys().collect::<Vec<_>>(), [version]);
        assert_eq!(figures.http3.is_some(), version == "3");
        assert_eq!(figures.connections.reopened, 0);
    }
}
