//! Packets under way: in at one end, lost by chance, out at the other when they are due.

use fastrand::Rng;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many packets may be under way. At 1,500 bytes they are 100 MB, and 20 ms of 39 Gbit/s.
pub const MOST_PACKETS: usize = 65_536;
/// Buffers kept for packets to come.
const MOST_SPARE: usize = 4_096;
/// A packet is late from this part of its way on ...
const LATE_PART: u32 = 10;
/// ... and at least this.
const LEAST_LATE: Duration = Duration::from_millis(1);

/// What a link is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// There and back.
    pub round_trip: Duration,
    /// The share of packets that are lost, each by itself.
    pub loss: f64,
    /// Of the chance by which they are.
    pub seed: u64,
}

/// What became of the packets that came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// All that came.
    pub packets: u64,
    /// Those lost by chance, as asked for.
    pub lost: u64,
    /// Those for which there was no room.
    pub overflowed: u64,
    /// Those sent later than they were due, by a tenth of their way or a millisecond, whichever is more.
    pub late: u64,
    /// How long after it was due the latest was sent.
    pub latest: Duration,
}

#[derive(Debug)]
struct QueuedPacket {
    due: Instant,
    packet: Vec<u8>,
}

/// A line of packets, each as long under way as the other: so they leave in the order in which they came.
#[derive(Debug)]
pub struct Line {
    way: Duration,
    late_from: Duration,
    loss: f64,
    chance: Rng,
    queued: VecDeque<QueuedPacket>,
    spare: Vec<Vec<u8>>,
    counters: Counters,
}

impl Line {
    /// A line on which nothing is under way yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let nanos = settings.round_trip.as_nanos().div_ceil(2);
        let way = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Self {
            way,
            late_from: LEAST_LATE.max(way / LATE_PART),
            loss: settings.loss,
            chance: Rng::with_seed(settings.seed),
            queued: VecDeque::new(),
            spare: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Takes a packet in, or loses it.
    pub fn accept(&mut self, packet: &[u8], now: Instant) {
        self.counters.packets += 1;
        // Drawn for each packet, so that no other thing changes who is lost.
        if self.chance.f64() < self.loss {
            self.counters.lost += 1;
        } else if self.queued.len() >= MOST_PACKETS {
            self.counters.overflowed += 1;
        } else {
            let mut kept = self.spare.pop().unwrap_or_default();
            kept.extend_from_slice(packet);
            self.queued.push_back(QueuedPacket {
                due: now + self.way,
                packet: kept,
            });
        }
    }

    /// When the next packet is to be sent.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.queued.front().map(|queued| queued.due)
    }

    /// Sends the next packet by `send`, which says whether it could; false where none is due yet.
    pub fn send_due(&mut self, now: Instant, send: impl FnOnce(&[u8]) -> bool) -> bool {
        if self.next_due().is_none_or(|due| due > now) {
            return false;
        }
        let Some(mut queued) = self.queued.pop_front() else {
            return false;
        };
        let late = now.saturating_duration_since(queued.due);
        if !send(&queued.packet) {
            self.counters.overflowed += 1;
        } else if late >= self.late_from {
            self.counters.late += 1;
        }
        self.counters.latest = self.counters.latest.max(late);
        if self.spare.len() < MOST_SPARE {
            queued.packet.clear();
            self.spare.push(queued.packet);
        }
        true
    }

    /// What became of packets since this was asked before.
    pub fn take_counters(&mut self) -> Counters {
        std::mem::take(&mut self.counters)
    }
}
