//! Which request a worker sends next.

use crate::plan::RequestOrder;
use crate::program::{Program, Template};

/// Picks the next request of a worker.
#[derive(Debug)]
pub(crate) struct Picker {
    random: Option<fastrand::Rng>,
    /// For each template the sum of the weights up to and with it.
    weight_ends: Vec<u64>,
    at: usize,
    left: u64,
}

impl Picker {
    pub(crate) fn new(program: &Program, seed: u64) -> Self {
        let random = match program.order {
            RequestOrder::Sequential | RequestOrder::PerConnection => None,
            RequestOrder::Random => Some(fastrand::Rng::with_seed(seed)),
        };
        Self {
            random,
            weight_ends: program
                .templates
                .iter()
                .scan(0, |sum, template| {
                    *sum += template.weight;
                    Some(*sum)
                })
                .collect(),
            at: program.templates.len() - 1,
            left: 0,
        }
    }

    /// The index of the template to send next.
    #[inline]
    pub(crate) fn pick(&mut self, templates: &[Template]) -> u32 {
        if templates.len() == 1 {
            return 0;
        }
        let index = match &mut self.random {
            None => {
                while self.left == 0 {
                    self.at = (self.at + 1) % templates.len();
                    self.left = templates[self.at].weight;
                }
                self.left -= 1;
                self.at
            }
            Some(random) => {
                let all = self.weight_ends[templates.len() - 1];
                let ticket = random.u64(..all);
                self.weight_ends.partition_point(|end| *end <= ticket)
            }
        };
        index as u32
    }
    /// The index of the template that comes at this place of a walk through all of them.
    pub(crate) fn at(&self, step: u64) -> u32 {
        let all = self.weight_ends[self.weight_ends.len() - 1];
        self.weight_ends.partition_point(|end| *end <= step % all) as u32
    }
}
