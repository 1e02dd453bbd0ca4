//! Packets of a device as a link carries them: whatever bytes they are, none panics, only their two addresses change,
//! and every packet is sent in its order, lost or refused.
#![no_main]

use assay_link::{Line, Settings, turn_back};
use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};

const SOURCE: usize = 12;
const DESTINATION: usize = 16;
const BEHIND: usize = 20;

/// Packets, each behind a byte that says how long it is.
fn packets(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (&length, rest) = bytes.split_first()?;
        let (packet, rest) = rest.split_at(usize::from(length).min(rest.len()));
        bytes = rest;
        Some(packet)
    })
}

/// The packet as it goes back; None where it has no way back.
fn turned(packet: &[u8]) -> Option<Vec<u8>> {
    let mut back = packet.to_vec();
    if !turn_back(&mut back) {
        assert_eq!(back, packet);
        return None;
    }
    assert_eq!(back[..SOURCE], packet[..SOURCE]);
    assert_eq!(back[SOURCE..DESTINATION], packet[DESTINATION..BEHIND]);
    assert_eq!(back[DESTINATION..BEHIND], packet[SOURCE..DESTINATION]);
    assert_eq!(back[BEHIND..], packet[BEHIND..]);
    Some(back)
}

fuzz_target!(|data: &[u8]| {
    let Some((&[way_ms, loss, seed], bytes)) = data.split_first_chunk() else {
        return;
    };
    let mut line = Line::new(&Settings {
        round_trip: Duration::from_millis(u64::from(way_ms) * 2),
        loss: f64::from(loss) / 255.0,
        seed: u64::from(seed),
    });
    let mut now = Instant::now();
    let (mut came, mut sent, mut failed) = (Vec::new(), Vec::new(), 0);
    for packet in packets(bytes) {
        now += Duration::from_millis(packet.len() as u64);
        if let Some(back) = turned(packet) {
            line.accept(&back, now);
            came.push(back);
        }
        // Now and then the device takes none.
        let takes = packet.len() % 5 > 0;
        while line.send_due(now, |packet| {
            sent.push(packet.to_vec());
            failed += u64::from(!takes);
            takes
        }) {}
    }
    now += Duration::from_millis(u64::from(way_ms));
    while line.send_due(now, |packet| {
        sent.push(packet.to_vec());
        true
    }) {}
    assert_eq!(line.next_due(), None);
    let seen = line.take_counters();
    assert_eq!(seen.packets, came.len() as u64);
    assert_eq!(seen.packets, seen.lost + sent.len() as u64);
    assert_eq!(seen.overflowed, failed);
    assert!(seen.late <= seen.packets - seen.lost - seen.overflowed);
    // What was sent is what came, in its order, without the lost ones.
    let mut all = came.iter();
    assert!(sent.iter().all(|one| all.any(|other| other == one)));
});
