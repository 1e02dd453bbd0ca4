//! One load dealt to several processes: together they do what one process would have done.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::{HELLO, Server, plan, run};
use assay_engine::plan::Shard;
use assay_engine::{LoadPlan, Measurement, Run};
use proptest::prelude::*;
use serde_json::{Value, json};

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
    let part = Shard {
        first_worker,
        workers,
        starts_at_unix_ns: 0,
    };
    LoadPlan {
        part: Some(part),
        ..plan.clone()
    }
}

/// The plan's workers, so many of them in each process.
fn in_parts(plan: &LoadPlan, dealt: &[u32]) -> Vec<Measurement> {
    let mut first = 0;
    let mut start = |workers: &u32| {
        let run = Run::start(&part(plan, first, *workers)).unwrap();
        first += workers;
        run
    };
    let runs: Vec<_> = dealt.iter().map(&mut start).collect();
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

/// What an open loop did.
struct Asked {
    /// Starts that were intended before its end.
    due: u64,
    /// Those of which the server may not have heard: missed, or cut off by the end.
    unheard: u64,
    /// What the server was asked. A worker's counters are its own: a line names it, and which of its starts.
    lines: BTreeSet<String>,
}

fn asked(fields: &Value, dealt: &[u32]) -> Asked {
    let (server, noted) = noting();
    let measured = in_parts(&counted(&server, fields.clone()), dealt);
    let of = |count: fn(&Measurement) -> u64| measured.iter().map(count).sum::<u64>();
    Asked {
        due: of(|m| m.started + m.missed_starts),
        unheard: of(|m| m.missed_starts + m.requests.in_flight + m.failed),
        lines: noted.lock().unwrap().drain(..).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// How many starts are due before an instant drawn by chance is what their intended times make of it.
    #[test]
    fn parts_ask_at_the_times_of_the_whole_what_it_asks(
        seed in any::<u64>(),
        is_poisson in any::<bool>(),
        from_per_s in 200.0..3_000.0_f64,
        to_per_s in 200.0..3_000.0_f64,
        ms in 20..80_u64,
        dealt in prop::sample::select(vec![vec![1, 1, 1, 1], vec![2, 2], vec![3, 1], vec![1, 3]]),
    ) {
        let fields = json!({
            "seed": seed,
            "load": {
                "kind": "open", "max_connections": 40, "pacer": "sleep",
                "arrivals": if is_poisson { "poisson" } else { "constant" },
                "stages": [{"duration_ns": 100_000_000, "from_per_s": from_per_s, "to_per_s": to_per_s}],
            },
            "stop": {"kind": "duration", "ns": ms * 1_000_000},
        });
        let (whole, parts) = (asked(&fields, &[WORKERS]), asked(&fields, &dealt));
        prop_assert_eq!(whole.due, parts.due);
        let apart = whole.lines.symmetric_difference(&parts.lines).count() as u64;
        prop_assert!(apart <= whole.unheard + parts.unheard, "{apart} requests differ");
    }
}

#[test]
fn parts_of_a_counted_run_start_the_whole_count() {
    // Connections are those of the whole, dealt as to threads: 3, 3, 2, 2.
    for (dealt, connections) in [(&[1, 1, 1, 1][..], &[3, 3, 2, 2][..]), (&[2, 2], &[6, 4])] {
        let (server, asked) = noting();
        let measured = in_parts(&counted(&server, json!({})), dealt);
        let ended: u64 = measured.iter().map(|m| m.completed + m.failed).sum();
        assert_eq!(ended, 103);
        let asked_for: Vec<u64> = measured.iter().map(|m| m.connections.asked).collect();
        assert_eq!(asked_for, connections);
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
