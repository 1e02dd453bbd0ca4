//! Which request a worker sends next.

use crate::plan::RequestOrder;
use crate::program::{Program, Template};

/// Picks the next request of a worker.
#[derive(Debug)]
pub(crate) struct Picker {
    random: Option<fastrand::Rng>,
    /// The host of each place; empty where there is one.
    hosts: Vec<u32>,
    /// A walk for each host.
    walks: Vec<Walk>,
}

/// The requests of a host, and where the worker is among them.
#[derive(Debug)]
struct Walk {
    templates: Vec<u32>,
    /// For each of them the sum of the weights up to and with it.
    weight_ends: Vec<u64>,
    at: usize,
    left: u64,
}

impl Picker {
    /// `hosts` are those of the worker's connections, each with a place a stream; empty where there is one.
    pub(crate) fn new(program: &Program, hosts: &[u32], seed: u64) -> Self {
        let streams = program.streams.unwrap_or(1) as usize;
        let of_places = |host: &u32| std::iter::repeat_n(*host, streams);
        let random = match program.order {
            RequestOrder::Sequential | RequestOrder::PerConnection => None,
            RequestOrder::Random => Some(fastrand::Rng::with_seed(seed)),
        };
        let last = program.templates.iter().map(|one| one.host).max();
        let walk = |host| Walk::new(&program.templates, host);
        Self {
            random,
            hosts: hosts.iter().flat_map(of_places).collect(),
            walks: (0..=last.unwrap_or(0)).map(walk).collect(),
        }
    }

    /// The index of the template that a place sends next.
    #[inline]
    pub(crate) fn pick(&mut self, place: u32, templates: &[Template]) -> u32 {
        if templates.len() == 1 {
            return 0;
        }
        let host = self.hosts.get(place as usize).copied().unwrap_or(0);
        let walk = &mut self.walks[host as usize];
        let index = match &mut self.random {
            None => walk.next(templates),
            Some(random) => walk.at(random.u64(..walk.weight())),
        };
        walk.templates[index]
    }

    /// The index of the template that comes at this step of a place's walk through all that are its.
    pub(crate) fn at(&self, place: u32, step: u64) -> u32 {
        let host = self.hosts.get(place as usize).copied().unwrap_or(0);
        let walk = &self.walks[host as usize];
        walk.templates[walk.at(step % walk.weight())]
    }
}

impl Walk {
    fn new(templates: &[Template], host: u32) -> Self {
        let own = |index: &u32| templates[*index as usize].host == host;
        let templates_here: Vec<u32> = (0..templates.len() as u32).filter(own).collect();
        let weights = templates_here.iter().scan(0, |sum, index| {
            *sum += templates[*index as usize].weight;
            Some(*sum)
        });
        Self {
            weight_ends: weights.collect(),
            at: templates_here.len().saturating_sub(1),
            templates: templates_here,
            left: 0,
        }
    }

    fn weight(&self) -> u64 {
        self.weight_ends.last().copied().unwrap_or(0)
    }

    #[inline]
    fn next(&mut self, templates: &[Template]) -> usize {
        while self.left == 0 {
            self.at = (self.at + 1) % self.templates.len();
            self.left = templates[self.templates[self.at] as usize].weight;
        }
        self.left -= 1;
        self.at
    }

    fn at(&self, ticket: u64) -> usize {
        self.weight_ends.partition_point(|end| *end <= ticket)
    }
}
