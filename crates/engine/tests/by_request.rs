//! Figures of each request of a mix, by their names.

use std::time::Duration;

use crate::support::{HELLO, Server, plan, run};
use assay_engine::record::measurement::RequestFigures;
use assay_engine::{Answer, Measurement, Run, Source, SourceError, Supply};
use serde_json::{Value, json};

const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// Answers /missing with 404, closes on /broken, and answers all else.
fn server() -> Server {
    Server::start(|peer| {
        while let Some(request) = peer.request() {
            match request.split([' ', '?']).nth(1) {
                Some("/missing") => peer.send(MISSING),
                Some("/broken") => return,
                _ => peer.send(HELLO),
            }
        }
    })
}

fn named<'a>(measurement: &'a Measurement, name: &str) -> &'a RequestFigures {
    let mut all = measurement.by_request.iter();
    all.find(|one| one.name == name).unwrap_or_else(|| {
        let names: Vec<_> = measurement.by_request.iter().map(|one| &one.name).collect();
        panic!("{name} is none of {names:?}")
    })
}

fn counts(one: &RequestFigures) -> (u64, u64, u64) {
    (one.completed, one.failed, one.service_time.count)
}

#[test]
fn each_name_has_its_own_counts_statuses_failures_and_times() {
    let requests = json!([
        {"target": "/a?x=1", "weight": 3}, {"target": "/a?x=2"}, {"target": "/missing"},
        {"target": "/missing", "name": "gone", "expect": {"status": [200]}},
        {"target": "/broken", "name": "cut \"off\"\n"},
    ]);
    let measured = run(&plan(
        &server(),
        2,
        140,
        json!({"requests": requests.clone()}),
    ));
    let names: Vec<&str> = measured.by_request.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["GET /a", "GET /missing", "gone", "cut \"off\"\n"]);
    assert_eq!(counts(named(&measured, "GET /a")), (80, 0, 80));
    assert_eq!(named(&measured, "GET /a").statuses["200"], 80);
    assert_eq!(counts(named(&measured, "GET /missing")), (20, 0, 20));
    let gone = named(&measured, "gone");
    assert_eq!((counts(gone), gone.statuses["404"]), ((0, 20, 0), 20));
    assert_eq!(gone.failures["unexpected_status"], 20);
    let cut = named(&measured, "cut \"off\"\n");
    assert_eq!((counts(cut), cut.statuses.len()), ((0, 20, 0), 0));
    let more = json!({"requests": requests, "threads": 2});
    let measured = run(&plan(&server(), 2, 140, more));
    let sum = |of: fn(&RequestFigures) -> u64| measured.by_request.iter().map(of).sum::<u64>();
    assert_eq!(sum(|one| one.completed), measured.completed);
    assert_eq!(sum(|one| one.failed), measured.failed);
}

#[test]
fn one_name_has_no_figures_of_its_own() {
    for requests in [json!([{}]), json!([{"target": "/a?b"}, {"target": "/a?c"}])] {
        let measured = run(&plan(&server(), 1, 4, json!({"requests": requests})));
        assert_eq!(measured.by_request, []);
    }
}

#[test]
fn all_behind_the_first_names_are_others() {
    let line = |number: u32| json!({"target": format!("/{number}")});
    let requests: Vec<Value> = (0..10_000).map(line).collect();
    let measured = run(&plan(&server(), 4, 10_000, json!({"requests": requests})));
    assert_eq!(measured.by_request.len(), 65);
    assert_eq!(counts(named(&measured, "GET /63")), (1, 0, 1));
    assert_eq!(counts(named(&measured, "others")), (9_936, 0, 9_936));
}

#[test]
fn an_open_loop_has_response_times_and_streams_have_names_too() {
    let requests = json!([{"target": "/a"}, {"target": "/b"}]);
    let stages = json!([{"duration_ns": 1_000_000_000, "from_per_s": 400.0, "to_per_s": 400.0}]);
    let open = json!({"kind": "open", "stages": stages, "max_connections": 4});
    let measured = run(&plan(
        &server(),
        1,
        40,
        json!({"requests": requests.clone(), "load": open}),
    ));
    let times = named(&measured, "GET /b").response_time.as_ref().unwrap();
    assert_eq!(times.count, 20);
    let streams = crate::support::http2::answering(100, |_| {});
    let more = json!({"requests": requests, "http": "2", "streams": 10});
    let measured = run(&plan(&streams, 1, 40, more));
    assert_eq!(counts(named(&measured, "GET /b")), (20, 0, 20));
}

#[test]
fn a_warm_up_is_in_no_figure_of_a_name() {
    let requests = json!([{"target": "/a"}, {"target": "/missing"}]);
    let more = json!({"requests": requests, "warmup_max_ns": 50_000_000});
    let measured = run(&plan(&server(), 2, 30, more));
    let completed: u64 = measured.by_request.iter().map(|one| one.completed).sum();
    let statuses = measured
        .by_request
        .iter()
        .flat_map(|one| one.statuses.values());
    assert_eq!((completed, statuses.sum::<u64>()), (30, 30));
}

/// Walks through so many paths.
struct Walk(u32, u32);

impl Source for Walk {
    fn next(&mut self, bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        self.0 += 1;
        let path = self.0 % self.1;
        let request = format!("GET /{path}?n={} HTTP/1.1\r\nHost: h\r\n\r\n", self.0);
        bytes.extend_from_slice(request.as_bytes());
        Ok(())
    }

    fn delay(&mut self) -> Result<Duration, SourceError> {
        Ok(Duration::ZERO)
    }

    fn answered(&mut self, _answer: Answer<'_>) -> Result<(), SourceError> {
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

#[test]
fn what_a_supply_sends_is_named_by_its_paths() {
    for (paths, figures) in [(1, 0), (3, 3), (64, 64), (200, 65)] {
        let supply = |from: u32| Supply {
            fixed: None,
            wants_answers: false,
            has_delays: false,
            address: None,
            source: Box::new(Walk(from, paths)),
        };
        let load = plan(&server(), 2, 2_400, json!({"threads": 2}));
        let run = Run::start_supplied(&load, vec![supply(0), supply(50)]).unwrap();
        assert!(run.wait(Duration::from_secs(60)));
        let measured = run.result().unwrap();
        assert_eq!(measured.by_request.len(), figures, "{paths} paths");
        let completed: u64 = measured.by_request.iter().map(|one| one.completed).sum();
        assert_eq!(completed, if figures > 0 { 2_400 } else { 0 });
    }
}
