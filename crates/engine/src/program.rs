//! A plan, resolved: everything the loop needs, decided once before the run.

use std::fs;

use crate::error::{PlanError, RunError};
use crate::expect::Check;
use crate::plan::{Load, LoadPlan, Pacer, Request, RequestOrder};
use crate::protocol::request;
use crate::target::Target;

/// A request, ready to send.
#[derive(Debug)]
pub(crate) struct Template {
    /// Its bytes, repeated as often as the plan pipelines.
    bytes: Vec<u8>,
    length: usize,
    /// HEAD: its answers have no body.
    pub(crate) is_head: bool,
    pub(crate) check: Option<Check>,
    weight: u64,
}

impl Template {
    fn new(plan: &LoadPlan, request: &Request, authority: &str) -> Result<Self, RunError> {
        let from_file = match &request.body_file {
            Some(path) => Some(fs::read(path).map_err(|source| RunError::File {
                path: path.clone(),
                source,
            })?),
            None => None,
        };
        let body = from_file
            .as_deref()
            .or(request.body.as_deref().map(str::as_bytes));
        let one = request::bytes(plan, request, authority, body);
        let check = match &request.expect {
            Some(expect) => Some(
                Check::new(expect)
                    .map_err(|error| PlanError::new("requests.expect", error.to_string()))?,
            ),
            None => None,
        };
        Ok(Self {
            length: one.len(),
            bytes: one.repeat(plan.pipeline as usize),
            is_head: request.method == "HEAD",
            check,
            weight: u64::from(request.weight),
        })
    }

    /// The bytes of `n` of these requests in a row.
    #[inline]
    pub(crate) fn bytes_of(&self, n: u32) -> &[u8] {
        &self.bytes[..self.length * n as usize]
    }
}

/// How a worker waits when nothing is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// In the selector, to the millisecond: for loads driven by answers alone.
    Coarse,
    /// In the selector while the next start is far, then polling.
    Spin,
    /// Asleep to the timer's precision.
    Precise,
}

/// Everything the loop needs to know, the same for all workers.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) templates: Vec<Template>,
    pub(crate) order: RequestOrder,
    pub(crate) pipeline: u32,
    pub(crate) timeout_ns: u64,
    pub(crate) window_ns: u64,
    pub(crate) think_time_ns: u64,
    /// A connection is closed after so many requests.
    pub(crate) requests_per_connection: u32,
    pub(crate) waiting: Waiting,
    pub(crate) is_open_loop: bool,
}

impl Program {
    pub(crate) fn new(plan: &LoadPlan, target: &Target) -> Result<Self, RunError> {
        let templates: Result<Vec<_>, _> = plan
            .requests
            .iter()
            .map(|request| Template::new(plan, request, &target.authority))
            .collect();
        let (think_time_ns, waiting) = match plan.load {
            Load::Closed {
                think_time_ns: 0, ..
            } => (0, Waiting::Coarse),
            Load::Closed { think_time_ns, .. } => (think_time_ns, Waiting::Precise),
            Load::Open { pacer, .. } => match pacer {
                Pacer::Spin => (0, Waiting::Spin),
                Pacer::Sleep => (0, Waiting::Precise),
            },
        };
        let requests_per_connection = match plan.keep_alive {
            false => 1,
            true => plan.requests_per_connection.unwrap_or(u32::MAX),
        };
        Ok(Self {
            templates: templates?,
            order: plan.request_order,
            // A connection that may carry only so many requests is sent no more at once.
            pipeline: plan.pipeline.min(requests_per_connection),
            timeout_ns: plan.timeout_ns,
            window_ns: plan.window_ns,
            think_time_ns,
            requests_per_connection,
            waiting,
            is_open_loop: matches!(plan.load, Load::Open { .. }),
        })
    }
}

/// Picks the next request of a worker.
#[derive(Debug)]
pub(crate) struct Picker {
    random: Option<fastrand::Rng>,
    total_weight: u64,
    at: usize,
    left: u64,
}

impl Picker {
    pub(crate) fn new(program: &Program, seed: u64) -> Self {
        let random = match program.order {
            RequestOrder::Sequential => None,
            RequestOrder::Random => Some(fastrand::Rng::with_seed(seed)),
        };
        Self {
            random,
            total_weight: program.templates.iter().map(|t| t.weight).sum(),
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
                let mut ticket = random.u64(..self.total_weight);
                let wins = |template: &Template| {
                    let won = ticket < template.weight;
                    ticket = ticket.wrapping_sub(template.weight);
                    won
                };
                templates.iter().position(wins).unwrap_or_default()
            }
        };
        index as u32
    }
}
