//! What a worker has to do for an arm: its share of the plan ([`Assignment`]), and of its clients ([`Clients`]).

use crate::plan::{Load, Stop};
use crate::schedule::Share;

/// What an arm is, before it runs.
pub(crate) struct Assignment {
    /// Its number among those that are interleaved.
    pub(crate) arm: u32,
    /// The worker's number.
    pub(crate) number: u32,
    pub(crate) workers: u32,
    pub(crate) connections: usize,
    /// The host of each of them; empty where there is one.
    pub(crate) hosts: Vec<u32>,
    pub(crate) load: Load,
    pub(crate) stop: Stop,
    pub(crate) seed: u64,
}

impl Assignment {
    /// This worker's share of the starts, each of so many requests.
    pub(crate) fn share(&self, batch: u32) -> Share {
        Share {
            number: self.number,
            workers: self.workers,
            batch,
        }
    }
}

/// A worker's clients. A client is a connection, whatever streams it carries and however often it is opened.
pub(super) struct Clients {
    /// Requests that each has begun.
    begun: Vec<u64>,
    /// What the worker may begin of a counted run, in all; None where nothing is counted.
    count: Option<u64>,
    is_handed_out: bool,
}

impl Clients {
    pub(super) fn new(assignment: &Assignment) -> Self {
        let workers = u64::from(assignment.workers);
        let number = u64::from(assignment.number);
        Self {
            begun: vec![0; assignment.connections],
            count: match assignment.stop {
                Stop::After { .. } => None,
                Stop::AtCount { count, .. } => {
                    Some(count / workers + u64::from(number < count % workers))
                }
            },
            is_handed_out: false,
        }
    }

    /// How many requests a client has left.
    pub(super) fn left(&self, client: u32) -> u64 {
        let Some(count) = self.count else {
            return u64::MAX;
        };
        let clients = self.begun.len() as u64;
        let part = count / clients + u64::from(u64::from(client) < count % clients);
        part.saturating_sub(self.begun[client as usize])
    }

    /// Begins requests of a client; how many it had begun before.
    pub(super) fn begin(&mut self, client: u32, count: u64) -> u64 {
        let before = self.begun[client as usize];
        self.begun[client as usize] += count;
        before
    }

    /// All that the worker may begin, once; then 0.
    pub(super) fn hand_out(&mut self) -> u64 {
        match std::mem::replace(&mut self.is_handed_out, true) {
            false => self.count.unwrap_or(u64::MAX),
            true => 0,
        }
    }
}
