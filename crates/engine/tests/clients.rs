//! Connections that are clients of their own: each walks the requests from the first and has its part of a count.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::support::http2::serve;
use crate::support::{HELLO, Server, plan, run};
use assay_engine::{LoadPlan, Measurement};
use serde_json::{Value, json};

/// The targets that each connection was asked for, by its number.
type Walks = Arc<Mutex<BTreeMap<u64, Vec<String>>>>;

fn noting() -> (Server, Walks) {
    let walks = Walks::default();
    let kept = Arc::clone(&walks);
    let server = Server::start(move |peer| {
        while let Some(request) = peer.request() {
            let target = request.split(' ').nth(1).unwrap().to_owned();
            kept.lock()
                .unwrap()
                .entry(peer.number)
                .or_default()
                .push(target);
            peer.send(HELLO);
        }
    });
    (server, walks)
}

fn clients(server: &Server, connections: u32, count: u64, more: &Value) -> LoadPlan {
    let mut plan = plan(server, connections, count, more.clone());
    plan.requests =
        serde_json::from_value(json!([{"target": "/1"}, {"target": "/2"}, {"target": "/3"}]))
            .unwrap();
    plan.request_order = serde_json::from_value(json!("per_connection")).unwrap();
    plan
}

fn lengths(walks: &Walks) -> Vec<usize> {
    let mut lengths: Vec<_> = walks.lock().unwrap().values().map(Vec::len).collect();
    lengths.sort_unstable();
    lengths
}

/// Each walk is the plan's list, from the first request on and again.
fn assert_walked(walks: &Walks) {
    for walk in walks.lock().unwrap().values() {
        let expected: Vec<_> = ["/1", "/2", "/3"].iter().cycle().take(walk.len()).collect();
        assert_eq!(walk.iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn each_walks_the_list_from_its_start_and_has_its_part_of_the_count() {
    for (connections, count, threads, parts) in [
        (5, 20, 1, vec![4, 4, 4, 4, 4]),
        (3, 10, 1, vec![3, 3, 4]),
        (5, 13, 2, vec![2, 2, 3, 3, 3]),
        (4, 4, 2, vec![1, 1, 1, 1]),
    ] {
        let (server, walks) = noting();
        let measured = run(&clients(
            &server,
            connections,
            count,
            &json!({"threads": threads}),
        ));
        assert_eq!(measured.completed, count);
        assert_eq!(lengths(&walks), parts, "{count} over {connections}");
        assert_walked(&walks);
    }
}

#[test]
fn a_pipeline_ends_with_the_part() {
    let (server, walks) = noting();
    let measured = run(&clients(&server, 2, 10, &json!({"pipeline": 4})));
    assert_eq!((measured.completed, lengths(&walks)), (10, vec![5, 5]));
}

#[test]
fn arrivals_go_to_all_connections_in_turn() {
    let (server, walks) = noting();
    let stages = json!([{"duration_ns": 1_000_000_000, "from_per_s": 200.0, "to_per_s": 200.0}]);
    let load = json!({"load": {"kind": "open", "stages": stages, "max_connections": 5}});
    let measured = run(&clients(&server, 5, 20, &load));
    assert_eq!((measured.completed, server.connections()), (20, 5));
    assert_eq!(lengths(&walks), [4, 4, 4, 4, 4]);
    assert_walked(&walks);
}

#[test]
fn a_connection_that_breaks_goes_on_with_its_walk() {
    let asked = Walks::default();
    let kept = Arc::clone(&asked);
    let server = Server::start(move |peer| {
        while let Some(request) = peer.request() {
            let target = request.split(' ').nth(1).unwrap().to_owned();
            kept.lock().unwrap().entry(0).or_default().push(target);
            if peer.number == 0 {
                return peer.reset();
            }
            peer.send(HELLO);
        }
    });
    let measured = run(&clients(&server, 1, 4, &json!({})));
    assert_eq!((measured.completed, measured.failed), (3, 1));
    assert_eq!(asked.lock().unwrap()[&0], ["/1", "/2", "/3", "/1"]);
}

#[test]
fn streams_of_a_connection_walk_together() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let server = Server::start(move |peer| {
        let number = peer.number;
        serve(peer, 100, u64::MAX, &|fields| {
            let path = fields
                .split('|')
                .find_map(|field| field.strip_prefix(":path="))
                .unwrap()
                .to_owned();
            kept.lock().unwrap().push((number, path));
        });
    });
    let measured: Measurement = run(&clients(
        &server,
        2,
        16,
        &json!({"http": "2", "streams": 3}),
    ));
    assert_eq!(measured.completed, 16);
    for number in 0..2 {
        let mut paths: Vec<_> = seen
            .lock()
            .unwrap()
            .iter()
            .filter(|(at, _)| *at == number)
            .map(|(_, path)| path.clone())
            .collect();
        paths.sort_unstable();
        assert_eq!(paths, ["/1", "/1", "/1", "/2", "/2", "/2", "/3", "/3"]);
    }
}

#[test]
fn a_warm_up_before_parts_of_a_count_is_refused() {
    let (server, _) = noting();
    let mut plan = clients(&server, 1, 4, &json!({}));
    plan.warmup_max_ns = 1;
    let refused = plan.validate().unwrap_err().to_string();
    assert_eq!(
        refused,
        "request_order: per_connection deals a count to connections without a warm-up before it"
    );
}
