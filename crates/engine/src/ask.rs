//! One request, asked by itself: is a server ready, and does it answer as it should?
//!
//! It goes the way that every request of a load goes, over the same HTTP and the same TLS. So a server that is
//! found ready is one that the load will be answered by.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::agree;
use crate::error::{RunError, SourceError};
use crate::plan::{Load, LoadPlan, RequestLog, Stop};
use crate::program;
use crate::record::Failure;
use crate::supply::{Answer, Source, Supply};
use crate::target::Target;
use crate::trial::Run;

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A complete answer.
    Answered(Reply),
    /// None: in what way ([`Failure::name`]), and what was seen.
    Failed {
        /// The failure's name.
        kind: String,
        /// What was seen, in a line.
        evidence: String,
    },
}

/// A complete answer, which is there whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its head as HTTP/1 writes it, whichever HTTP it came by.
    pub head: Vec<u8>,
    /// Its body; the content coding is left as it is.
    pub body: Vec<u8>,
    /// How long it took, from before the connection was opened.
    pub took: Duration,
}

/// Asks the first request of a plan, once, on a connection of its own; nothing is checked of the answer.
///
/// How much is loaded, for how long and by whom does not matter; how the server is reached and spoken to does.
///
/// # Errors
/// Where the plan is wrong, its request differs each time, or the machine lacks something.
pub fn ask(plan: &LoadPlan) -> Result<Asked, RunError> {
    let begun = Instant::now();
    let plan = once(plan);
    plan.validate()?;
    let plan = &*agree::settled(&plan)?;
    let request = program::fixed_request(plan, &Target::parse(&plan.url)?)?;
    let (answers, answered) = channel();
    let supply = Supply {
        fixed: Some(request),
        wants_answers: true,
        has_delays: false,
        address: None,
        source: Box::new(Asker { answers, begun }),
    };
    let measured = Run::start_settled(plan, vec![supply])?.result()?;
    Ok(match (answered.try_recv(), measured.outcomes.first()) {
        (_, Some(outcome)) => Asked::Failed {
            kind: outcome.kind.clone(),
            evidence: outcome.example.clone(),
        },
        (Ok(reply), None) => Asked::Answered(reply),
        (Err(_), None) => Asked::Failed {
            kind: Failure::Unreachable.name().into(),
            evidence: "nothing came of it".into(),
        },
    })
}

/// The plan with one request of the kind that comes first, which ends it whatever comes of it.
fn once(plan: &LoadPlan) -> LoadPlan {
    let mut requests = plan.requests.clone();
    requests.truncate(1);
    let (mut url, mut addresses) = (plan.url.clone(), plan.addresses.clone());
    for request in &mut requests {
        request.expect = None;
        let number = std::mem::take(&mut request.host) as usize;
        if let Some(host) = number.checked_sub(1).and_then(|at| plan.hosts.get(at)) {
            url.clone_from(&host.url);
            addresses = host.address.iter().cloned().collect();
        }
    }
    let kinds = Failure::ALL.iter().map(|failure| failure.name().into());
    LoadPlan {
        url,
        addresses,
        hosts: Vec::new(),
        requests,
        load: Load::Closed {
            connections: 1,
            think_time_ns: 0,
        },
        stop: Stop::AtCount {
            count: 1,
            within_ns: None,
        },
        warmup_max_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        streams: 1,
        pipeline: 1,
        connections_per_s: None,
        request_log: RequestLog::Off,
        ends_unreached: true,
        ends_on: kinds.collect(),
        part: None,
        ..plan.clone()
    }
}

/// Keeps the one answer.
struct Asker {
    answers: Sender<Reply>,
    begun: Instant,
}

impl Source for Asker {
    fn next(&mut self, _bytes: &mut Vec<u8>) -> Result<(), SourceError> {
        Err(SourceError("the request is always the same".into()))
    }

    fn delay(&mut self) -> Result<Duration, SourceError> {
        Ok(Duration::ZERO)
    }

    fn answered(&mut self, answer: Answer<'_>) -> Result<(), SourceError> {
        let reply = Reply {
            status: answer.status,
            head: answer.head.to_vec(),
            body: answer.body.to_vec(),
            took: self.begun.elapsed(),
        };
        // Who asked is there until the run has ended.
        let _ = self.answers.send(reply);
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
