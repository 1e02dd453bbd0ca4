//! Arms beside programs that keep all cores busy. Alone in its file: cargo runs files of tests one after the
//! other, and the slices of no other test are then starved.
#![cfg(target_os = "linux")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;
use support::interleaved::{arm, interleaved, run};
use support::{HELLO, Server};

#[test]
fn a_slice_knows_for_how_long_others_had_the_workers_core() {
    let server = Server::answering(HELLO);
    let cores = thread::available_parallelism().unwrap().get();
    let is_over = Arc::new(AtomicBool::new(false));
    // Two for each core: whichever the worker is on, it has to wait.
    let others: Vec<_> = (0..2 * cores)
        .map(|_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || while !is_over.load(Ordering::Relaxed) {})
        })
        .collect();
    let arms = (0..2).map(|_| arm(&server, 4, 200, &json!({}))).collect();
    let measured = run(&interleaved(arms, 50, 2));
    is_over.store(true, Ordering::Relaxed);
    for other in others {
        other.join().unwrap();
    }
    for arm in &measured.arms {
        let delays = arm.slices.iter().map(|slice| slice.client_delayed_ns);
        let delayed_ns: u64 = delays.map(|delay_ns| delay_ns.expect("Linux tells")).sum();
        assert!(delayed_ns > 0);
    }
}
