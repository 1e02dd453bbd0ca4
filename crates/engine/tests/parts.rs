//! One load dealt to several processes: together they do what one process would have done.

mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use assay_engine::plan::Part;
use assay_engine::{LoadPlan, Measurement, Run};
use serde_json::{Value, json};
use support::{HELLO, Server, plan, run};

const WORKERS: u32 = 4;

/// A server that answers, and the lines of the requests that it was asked.
fn noting() -> (Server, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let server = Server::start(move |peer| {
        while let Some(head) = peer.request() {
            let line = head.lines().next().unwrap_or_default().to_owned();
            noted.lock().unwrap().push(line);
            peer.send(HELLO);
        }
    });
    (server, asked)
}

fn part(plan: &LoadPlan, first_worker: u32, workers: u32) -> LoadPlan {
    let part = Part {
        first_worker,
        workers,
        starts_at_unix_ns: 0,
    };
    LoadPlan {
        part: Some(part),
        ..plan.clone()
    }
}

fn in_parts(plan: &LoadPlan, each: u32) -> Vec<Measurement> {
    let firsts = (0..WORKERS).step_by(each as usize);
    let runs: Vec<_> = firsts
        .map(|first| Run::start(&part(plan, first, each)).unwrap())
        .collect();
    runs.iter().map(|run| run.result().unwrap()).collect()
}

fn counted(server: &Server, more: Value) -> LoadPlan {
    let mut fields = json!({
        "threads": WORKERS, "seed": 7,
        "requests": [{"target": "/{counter}", "templated": true}],
    });
    for (key, value) in more.as_object().unwrap() {
        fields[key] = value.clone();
    }
    plan(server, 10, 103, fields)
}

#[test]
fn parts_ask_what_the_whole_asks_of_an_open_loop() {
    let open = json!({
        "load": {
            "kind": "open", "max_connections": 40, "pacer": "sleep", "arrivals": "poisson",
            "stages": [{"duration_ns": 1_000_000_000, "from_per_s": 800.0, "to_per_s": 800.0}],
        },
        "stop": {"kind": "duration", "ns": 250_000_000},
    });
    let asked = |each| {
        let (server, asked) = noting();
        let measured = in_parts(&counted(&server, open.clone()), each);
        let due: u64 = measured.iter().map(|m| m.started + m.missed_starts).sum();
        let lines: BTreeSet<String> = asked.lock().unwrap().drain(..).collect();
        (due, lines.len() as u64, lines)
    };
    let (whole, parts) = (asked(WORKERS), asked(1));
    assert_eq!(whole.0, parts.0);
    // A start that comes due in the last moment may be missed on a machine that is busy.
    assert!(whole.2.symmetric_difference(&parts.2).count() <= 8);
    assert!(whole.1 > 150);
}

#[test]
fn parts_of_a_counted_run_start_the_whole_count() {
    for each in [1, 2] {
        let (server, asked) = noting();
        let measured = in_parts(&counted(&server, json!({})), each);
        let ended: u64 = measured.iter().map(|m| m.completed + m.failed).sum();
        assert_eq!(ended, 103);
        // Connections are those of the whole, dealt as to threads: 3, 3, 2, 2.
        let asked_for: Vec<u64> = measured.iter().map(|m| m.connections.asked).collect();
        let expected: &[u64] = if each == 1 { &[3, 3, 2, 2] } else { &[6, 4] };
        assert_eq!(asked_for, expected);
        let lines: BTreeSet<String> = asked.lock().unwrap().drain(..).collect();
        assert_eq!(lines.len(), 103, "counters of two parts met");
    }
}

#[test]
fn a_part_begins_at_its_instant() {
    let (server, _) = noting();
    let now_ns = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64;
    let mut late = part(&counted(&server, json!({})), 0, 1);
    late.part.as_mut().unwrap().starts_at_unix_ns = now_ns + 50_000_000;
    assert!(run(&late).started_at_unix_ns >= now_ns + 50_000_000);
}

#[test]
fn a_part_beyond_the_plan_is_refused() {
    let (server, _) = noting();
    let whole = counted(&server, json!({}));
    for (first, workers) in [(0, 0), (0, 5), (4, 1), (u32::MAX, 1)] {
        let refused = part(&whole, first, workers).validate().unwrap_err();
        assert!(refused.to_string().starts_with("part: "), "{refused}");
    }
}
