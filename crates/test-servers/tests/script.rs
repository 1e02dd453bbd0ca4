//! The scripted delays, as pure functions.

use assay_test_servers::script::Script;
use proptest::prelude::*;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn script(text: &str) -> Script {
    Script::parse(text).expect("the notation is right")
}

fn holds(text: &str, count: u64) -> Vec<Option<Duration>> {
    let script = script(text);
    (0..count)
        .map(|number| script.hold(number, Duration::ZERO))
        .collect()
}

#[test]
fn delays_are_taken_in_turn() {
    assert_eq!(holds("250us", 2), [Some(MS / 4); 2]);
    assert_eq!(
        holds("5ms*2,1s*1", 4),
        [Some(5 * MS), Some(5 * MS), Some(1000 * MS), Some(5 * MS)]
    );
}

#[test]
fn a_hang_begins_after_so_many_answers() {
    assert_eq!(
        holds("hang:2", 4),
        [Some(Duration::ZERO), Some(Duration::ZERO), None, None]
    );
}

proptest! {
    #[test]
    fn a_stall_holds_every_request_to_its_end(arrived_ms in 0u64..100_000) {
        let hold = script("stall:1s/5s").hold(0, arrived_ms as u32 * MS).expect("a stall ends");
        let answered_ms = arrived_ms + hold.as_millis() as u64;
        prop_assert!(answered_ms % 5000 >= 1000);
        prop_assert!(hold.is_zero() || answered_ms % 5000 == 1000);
    }

    #[test]
    fn no_text_is_a_panic(text in ".{0,20}") {
        let _ = Script::parse(&text);
    }
}

#[test]
fn wrong_notations_are_explained() {
    for text in [
        "",
        "5",
        "5m",
        "ms",
        "5ms*0",
        "5ms*x",
        "hang:",
        "stall:5s",
        "stall:5s/1s",
        "stall:0s/1s",
    ] {
        assert!(
            Script::parse(text).is_err_and(|error| !error.is_empty()),
            "{text}"
        );
    }
}
