//! The line of packets under way: order, delay, loss, room.

use assay_link::{Counters, Line, MOST_PACKETS, Settings};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn settings(round_trip: Duration, loss: f64) -> Settings {
    let seed = 7;
    Settings {
        round_trip,
        loss,
        seed,
    }
}

/// All that is due by then, in the order in which it is sent.
fn sent_by(line: &mut Line, now: Instant) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    while line.send_due(now, |packet| {
        sent.push(packet.to_vec());
        true
    }) {}
    sent
}

proptest! {
    #[test]
    fn packets_leave_in_their_order_and_none_before_half_of_the_round_trip(
        round_trip_us in 1u64..200_000,
        gaps_us in prop::collection::vec(0u64..5_000, 1..60),
        look_us in 1u64..20_000,
    ) {
        let begin = Instant::now();
        let round_trip = Duration::from_micros(round_trip_us);
        let mut line = Line::new(&settings(round_trip, 0.0));
        let (mut came, mut sent) = (Vec::new(), Vec::new());
        let mut now = begin;
        for (number, gap) in gaps_us.iter().enumerate() {
            now += Duration::from_micros(*gap);
            came.push(now);
            line.accept(&number.to_be_bytes(), now);
            sent.extend(sent_by(&mut line, now).into_iter().map(|packet| (packet, now)));
        }
        while line.next_due().is_some() {
            now += Duration::from_micros(look_us);
            sent.extend(sent_by(&mut line, now).into_iter().map(|packet| (packet, now)));
        }
        prop_assert_eq!(sent.len(), came.len());
        for (number, (packet, at)) in sent.iter().enumerate() {
            prop_assert_eq!(packet.as_slice(), &number.to_be_bytes());
            prop_assert!(*at - came[number] >= round_trip / 2);
        }
        prop_assert_eq!(line.take_counters().packets, came.len() as u64);
    }

    #[test]
    fn so_many_are_lost_as_were_asked_for(loss in 0.0f64..0.5, seed in any::<u64>()) {
        let packets = 20_000;
        let now = Instant::now();
        let round_trip = Duration::from_millis(20);
        let mut line = Line::new(&Settings { round_trip, loss, seed });
        for _ in 0..packets {
            line.accept(&[0], now);
        }
        let lost = line.take_counters().lost as f64;
        let wanted = f64::from(packets) * loss;
        // Six deviations: once in 500 million.
        prop_assert!((lost - wanted).abs() <= 6.0 * (wanted * (1.0 - loss)).sqrt() + 1.0);
        let later = now + round_trip;
        prop_assert_eq!(sent_by(&mut line, later).len() as f64, f64::from(packets) - lost);
    }
}

#[test]
fn the_same_seed_loses_the_same_packets() {
    let now = Instant::now();
    let survivors = |seed| {
        let round_trip = Duration::ZERO;
        let mut line = Line::new(&Settings {
            round_trip,
            loss: 0.3,
            seed,
        });
        for number in 0..200u8 {
            line.accept(&[number], now);
        }
        sent_by(&mut line, now)
    };
    assert_eq!(survivors(1), survivors(1));
    assert_ne!(survivors(1), survivors(2));
}

#[test]
fn what_finds_no_room_is_counted_and_the_rest_goes_on() {
    let now = Instant::now();
    let mut line = Line::new(&settings(Duration::from_millis(20), 0.0));
    for _ in 0..MOST_PACKETS + 3 {
        line.accept(&[1, 2, 3], now);
    }
    let due = now + Duration::from_millis(10);
    assert_eq!(sent_by(&mut line, due).len(), MOST_PACKETS);
    let seen = line.take_counters();
    assert_eq!(
        (seen.packets, seen.overflowed),
        (MOST_PACKETS as u64 + 3, 3)
    );
    assert_eq!(line.take_counters(), Counters::default());
}

#[test]
fn a_packet_is_late_from_a_tenth_of_its_way_or_a_millisecond_on() {
    let now = Instant::now();
    let late_by = |round_trip_ms, micros| {
        let mut line = Line::new(&settings(Duration::from_millis(round_trip_ms), 0.0));
        line.accept(&[0], now);
        let due = line.next_due().unwrap();
        sent_by(&mut line, due + Duration::from_micros(micros));
        let seen = line.take_counters();
        assert_eq!(seen.latest, Duration::from_micros(micros));
        seen.late
    };
    assert_eq!((late_by(20, 999), late_by(20, 1_000)), (0, 1));
    assert_eq!((late_by(100, 4_999), late_by(100, 5_000)), (0, 1));
    assert_eq!((late_by(1, 999), late_by(1, 1_000)), (0, 1));
}
