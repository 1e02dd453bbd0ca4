//! Several hosts in one plan: each connection goes to one of them and carries its requests alone.

use std::sync::{Arc, Mutex};

use crate::support::http2::answering;
use crate::support::{HELLO, Server, outcomes, plan, run};
use crate::tls::{Authority, answer};
use assay_engine::LoadPlan;
use serde_json::{Value, json};

/// Answers only what is meant for it: with 500 what names another host or another path.
fn server(host: &'static str, path: &'static str) -> Server {
    Server::start(move |peer| {
        let port = peer.stream.local_addr().unwrap().port();
        let wanted = format!("\r\nHost: {host}:{port}\r\n");
        while let Some(request) = peer.request() {
            let is_own = request.starts_with(&format!("GET {path}")) && request.contains(&wanted);
            peer.send(match is_own {
                true => HELLO,
                false => b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
            });
        }
    })
}

fn named(server: &Server, host: &str) -> String {
    format!("http://{host}:{}", server.address.port())
}

#[test]
fn each_host_gets_its_requests_on_its_connections() {
    let (first, other) = (server("127.0.0.1", "/a"), server("b.localhost", "/b"));
    let requests = json!([
        {"target": "/a", "weight": 2}, {"target": "/b?x=1", "host": 1}, {"target": "/a/other"},
    ]);
    for (order, threads) in [("sequential", 1), ("random", 2), ("per_connection", 4)] {
        let before = (first.connections(), other.connections());
        let more = json!({
            "hosts": [{"url": named(&other, "b.localhost"), "address": "127.0.0.1"}],
            "requests": requests, "request_order": order, "threads": threads,
        });
        let measured = run(&plan(&first, 4, 400, more));
        assert_eq!(measured.completed, 400);
        assert_eq!(measured.statuses, [("200".to_owned(), 400)].into());
        let opened = (
            first.connections() - before.0,
            other.connections() - before.1,
        );
        assert_eq!(opened, (3, 1), "{order}");
        let names: Vec<_> = measured
            .by_request
            .iter()
            .map(|one| one.name.clone())
            .collect();
        let port = |server: &Server| server.address.port();
        let expected = [
            format!("GET 127.0.0.1:{}/a", port(&first)),
            format!("GET b.localhost:{}/b", port(&other)),
            format!("GET 127.0.0.1:{}/a/other", port(&first)),
        ];
        assert_eq!(names, expected);
    }
}

#[test]
fn a_host_is_reached_at_the_address_that_is_given() {
    let first = server("127.0.0.1", "/");
    let other = Server::answering(HELLO);
    let more = json!({
        "hosts": [{"url": "http://shop.example", "address": other.address.to_string()}],
        "requests": [{}, {"host": 1}],
    });
    assert_eq!(run(&plan(&first, 2, 100, more)).completed, 100);
    assert_eq!((first.connections(), other.connections()), (1, 1));
}

#[test]
fn one_host_that_is_gone_ends_nothing() {
    let first = Server::answering(HELLO);
    let more = json!({
        "hosts": [{"url": "http://127.0.0.1:1"}], "requests": [{}, {"host": 1}],
        "ends_unreached": true, "retry_wait_max_ns": 0,
    });
    let measured = run(&plan(&first, 2, 400, more));
    assert_eq!(measured.completed + measured.failed, 400);
    assert!(
        measured.completed > 0 && measured.failed > 0,
        "{:?}",
        outcomes(&measured)
    );
    let of = |name: &str| {
        measured
            .by_request
            .iter()
            .find(|one| one.name == name)
            .unwrap()
    };
    assert_eq!(of("GET 127.0.0.1:1/").failed, measured.failed);
}

#[test]
fn http2_names_each_host_as_its_authority() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let start = |host: &'static str| {
        let seen = Arc::clone(&seen);
        answering(100, move |fields| seen.lock().unwrap().push((host, fields)))
    };
    let (first, other) = (start("127.0.0.1"), start("b.localhost"));
    let more = json!({
        "http": "2", "streams": 5, "hosts": [{"url": named(&other, "b.localhost"), "address": "127.0.0.1"}],
        "requests": [{"target": "/127.0.0.1"}, {"target": "/b.localhost", "host": 1}],
    });
    let measured = run(&plan(&first, 4, 200, more));
    assert_eq!(measured.completed, 200);
    assert_eq!((first.connections(), other.connections()), (2, 2));
    for (host, fields) in &*seen.lock().unwrap() {
        assert!(
            fields.contains(&format!(":authority={host}:")),
            "{host}: {fields}"
        );
        assert!(
            fields.contains(&format!(":path=/{host}|"))
                || fields.ends_with(&format!(":path=/{host}"))
        );
    }
}

#[test]
fn each_host_is_asked_for_its_own_certificate() {
    let authority = Authority::new("hosts");
    let start = |name: &str| {
        let (certificate, key) = authority.issue(name);
        authority.serve_as(certificate, &key, false, answer)
    };
    let (first, other) = (start("a.localhost"), start("b.localhost"));
    let url = |server: &Server, name| named(server, name).replacen("http", "https", 1);
    let more = json!({
        "url": url(&first, "a.localhost"), "hosts": [{"url": url(&other, "b.localhost")}],
        "requests": [{}, {"host": 1}], "tls": {"ca_file": authority.path("ca.pem")},
    });
    let measured = run(&plan(&first, 2, 100, more));
    assert_eq!((measured.completed, outcomes(&measured)), (100, vec![]));
}

#[test]
fn what_cannot_be_done_with_several_hosts_is_named() {
    let refused = |more: Value| {
        let mut plan = json!({
            "url": "http://127.0.0.1:1", "hosts": [{"url": "http://127.0.0.1:2"}],
            "requests": [{}, {"host": 1}],
            "load": {"kind": "closed", "connections": 2}, "stop": {"kind": "requests", "count": 1},
        });
        for (key, value) in more.as_object().unwrap() {
            plan[key] = value.clone();
        }
        let told = LoadPlan::from_json(plan.to_string().as_bytes());
        told.map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
    };
    assert_eq!(refused(json!({})), "nothing");
    let open = json!({"kind": "open", "max_connections": 4,
        "stages": [{"duration_ns": 1, "from_per_s": 1.0, "to_per_s": 1.0}]});
    for (more, field) in [
        (json!({"hosts": []}), "requests[1].host"),
        (json!({"hosts": [{"url": "b"}]}), "hosts[0].url"),
        (
            json!({"hosts": [{"url": "http://b", "address": "b"}]}),
            "hosts[0].address",
        ),
        (
            json!({"hosts": [{"url": "https://b"}]}),
            "hosts: must all be http or all https",
        ),
        (json!({"load": open}), "load.stages: must be none"),
        (json!({"http": "auto"}), "http: must be 1 or 2"),
        (json!({"redirects": 1}), "redirects: cannot be followed"),
        (
            json!({"addresses": ["127.0.0.1", "127.0.0.2"]}),
            "addresses: must be at most one",
        ),
        (
            json!({"load": {"kind": "closed", "connections": 1}}),
            "load.connections: must be at least as many",
        ),
    ] {
        let told = refused(more.clone());
        assert!(told.contains(field), "{more}: {told}");
    }
}
