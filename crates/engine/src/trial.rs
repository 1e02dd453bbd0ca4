//! [`Run`]: one execution of a plan, from its start to its measurement.

use std::sync::Arc;
use std::time::Duration;

use crate::agree;
use crate::clock::Clock;
use crate::control::Control;
use crate::error::{PlanError, RunError};
use crate::launch::{self, DESCRIPTORS_PER_WORKER, Threads, Written};
use crate::machine;
use crate::plan::{Http, LoadPlan};
use crate::record::Session;
use crate::record::measurement::{Measurement, Snapshot};
use crate::record::recorder::Recorder;
use crate::record::summary::{self, Kept, Times};
use crate::supply::Supply;
use crate::target::Scheme;
use crate::transport::{Plain, TlsStream, Transport};
use crate::worker::Worker;

/// A load that is going on, or has ended. Dropping it stops it.
///
/// ```no_run
/// use assay_engine::{LoadPlan, Run};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = LoadPlan::from_json(br#"{
///     "url": "http://127.0.0.1:8080",
///     "load": {"kind": "closed", "connections": 64},
///     "stop": {"kind": "duration", "ns": 1000000000}
/// }"#)?;
/// let measurement = Run::start(&plan)?.result()?;
/// println!("{} requests a second", measurement.completed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Run {
    control: Arc<Control>,
    clock: Clock,
    recorders: Vec<Arc<Recorder>>,
    cpus: Vec<Option<u32>>,
    window_ns: u64,
    asked: u64,
    threads: Threads,
}

impl Run {
    /// Validates the plan, resolves its host, raises the descriptor limit where needed, and
    /// starts one thread per worker.
    ///
    /// # Errors
    /// Where the plan is wrong or the machine lacks something; then nothing was sent.
    pub fn start(plan: &LoadPlan) -> Result<Self, RunError> {
        Self::start_supplied(plan, Vec::new())
    }

    /// Starts a plan whose requests come from outside it, from one supply per worker.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_supplied(plan: &LoadPlan, supplies: Vec<Supply>) -> Result<Self, RunError> {
        plan.validate()?;
        let plan = &*agree::settled(plan)?;
        if !supplies.is_empty() && plan.http != Http::One {
            return Err(PlanError::new("http", "must be 1: scripts write HTTP/1.1").into());
        }
        if !supplies.is_empty() && !plan.hosts.is_empty() {
            return Err(PlanError::new("hosts", "must be none: scripts load one host").into());
        }
        Self::start_settled(plan, supplies)
    }

    /// Starts a valid plan of which it is settled which HTTP it speaks.
    pub(crate) fn start_settled(plan: &LoadPlan, supplies: Vec<Supply>) -> Result<Self, RunError> {
        let workers = plan.shard_here().workers;
        if !supplies.is_empty() && supplies.len() != workers as usize {
            return Err(PlanError::new("threads", "must be as many as there are supplies").into());
        }
        machine::check_cpus(&plan.cpus)?;
        let descriptors = launch::asked(plan) + u64::from(workers) * DESCRIPTORS_PER_WORKER;
        machine::allow_descriptors(descriptors)?;
        let targets = plan.targets()?;
        match targets[0].scheme {
            Scheme::Http => {
                let connect = launch::plain(plan, &targets)?;
                Self::launch::<Plain>(plan, launch::arms(plan, &targets, &connect, supplies)?)
            }
            Scheme::Https => {
                let connect = launch::tls(plan, &targets)?;
                Self::launch::<TlsStream>(plan, launch::arms(plan, &targets, &connect, supplies)?)
            }
        }
    }

    fn launch<T: Transport + Send + 'static>(
        plan: &LoadPlan,
        arms: Vec<Written<T>>,
    ) -> Result<Self, RunError> {
        let part = plan.shard_here();
        let count = plan.count_of(part);
        let control = Arc::new(Control::new(part.workers, plan.warmup_max_ns, count));
        let mut recorders = Vec::new();
        let mut workers = Vec::new();
        for (arm, recorder) in arms {
            recorders.push(recorder);
            let worker = Worker::new(arm, Arc::clone(&control));
            workers.push(worker.map_err(RunError::system("creating a selector"))?);
        }
        let cpus = launch::cpus(plan);
        let start = || Clock::start_at(part.starts_at_unix_ns);
        let (clock, threads) = launch::spawn(workers, &cpus, &control, start)?;
        Ok(Self {
            control,
            clock,
            recorders,
            cpus,
            window_ns: plan.window_ns,
            asked: launch::asked(plan),
            threads,
        })
    }

    /// The live view.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let end_ns = self.ended_ns().unwrap_or_else(|| self.clock.now_ns());
        summary::snapshot(Kept::alone(&self.recorders), self.times(end_ns))
    }

    /// Ends the warm-up, so many nanoseconds after the start of the run or, where that is over, soon;
    /// the load goes on without a gap. Without effect once the warm-up has ended.
    pub fn begin_measuring(&self, at_ns: u64) {
        self.control.begin_measuring(self.clock.now_ns(), at_ns);
    }

    /// Ends the run early, so many nanoseconds after its start or, where that is over, now; its result
    /// is complete and says that it was interrupted. Without effect once the run has ended.
    pub fn stop(&self, at_ns: u64) {
        self.control.stop(self.clock.now_ns().max(at_ns));
    }

    /// Waits for the end of the run, for at most so long; whether it has ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.control.wait(timeout)
    }

    /// Waits for the end of the run and adds up what the workers wrote down.
    ///
    /// # Errors
    /// Only for a defect of the engine or of the operating system: a worker that died, or accounting
    /// that do not balance.
    pub fn result(&self) -> Result<Measurement, RunError> {
        while !self.control.wait(Duration::from_secs(3_600)) {}
        self.threads.join()?;
        if let Some(failure) = self.control.failure() {
            return Err(failure.into());
        }
        let end_ns = self.ended_ns().unwrap_or_default();
        summary::measurement(
            Kept::alone(&self.recorders),
            &self.cpus,
            self.asked,
            self.times(end_ns),
            self.control.was_interrupted(),
        )
    }

    /// The logged requests of a run that has ended: 48 bytes each, little-endian. u64: begun (since
    /// the start), time to connect, time to the first byte, time in all (ns), bytes of the body; then
    /// u16 status, u8 number of the failure plus 1 (0: none), u8 whether the peer keeps the
    /// connection, 4 bytes of padding. In the order in which they ended, worker by worker.
    #[must_use]
    pub fn request_log(&self) -> Vec<u8> {
        let of = |recorder: &Arc<Recorder>| recorder.notes().log.as_ref().map(|log| log.packed());
        self.recorders.iter().filter_map(of).flatten().collect()
    }

    /// The heads of logged answers, each with what of the body was read together with it.
    #[must_use]
    pub fn logged_answers(&self) -> Vec<Vec<u8>> {
        let of =
            |recorder: &Arc<Recorder>| recorder.notes().log.as_ref().map(|log| log.answers.clone());
        self.recorders.iter().filter_map(of).flatten().collect()
    }

    /// What the first session of TLS agreed on, as soon as there is one.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        let of = |recorder: &Arc<Recorder>| recorder.notes().session.clone();
        self.recorders.iter().find_map(of)
    }

    /// What a run that has ended read and wrote below TLS, from its start on: handshakes and records'
    /// own bytes with it. None where no TLS over TCP was spoken.
    #[must_use]
    pub fn tls_bytes(&self) -> Option<(u64, u64)> {
        let of = |recorder: &Arc<Recorder>| recorder.notes().tls_bytes;
        let all: Vec<_> = self.recorders.iter().filter_map(of).collect();
        let sum = |of: fn(&(u64, u64)) -> u64| all.iter().map(of).sum();
        (!all.is_empty()).then(|| (sum(|(read, _)| *read), sum(|(_, written)| *written)))
    }

    /// The end of the measured phase, once all workers have ended.
    fn ended_ns(&self) -> Option<u64> {
        let has_ended = self.control.wait(Duration::ZERO);
        let ends = self
            .recorders
            .iter()
            .map(|recorder| recorder.ended_ns.get());
        has_ended.then(|| ends.max().unwrap_or_default())
    }

    fn times(&self, end_ns: u64) -> Times {
        Times {
            started_at_unix_ns: self.clock.started_at_unix_ns(),
            window_ns: self.window_ns,
            measure_from_ns: self.control.measure_from_ns().min(end_ns),
            end_ns,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.control.stop(0);
        // A defect found now has nobody to be told to; `result` tells it.
        let _ = self.threads.join();
    }
}

#[cfg(test)]
mod tests {
    use assay_http2::frame::MOST;
    use assay_null_server::answer::Answer;
    use assay_null_server::listen::listen;
    use assay_null_server::responder::{NullServer, Settings};

    use super::*;

    const CONNECTIONS: u64 = 2;
    /// How many numbers each connection has left when it begins.
    const LEFT: u64 = 5;
    const REQUESTS: u64 = 100;

    /// A load whose connections come to the end of their streams' numbers again and again.
    fn exhausting(url: &str, load: &str) -> Measurement {
        let json = format!(
            r#"{{"url": "{url}", "http": "2", "streams": 3, "load": {load},
                "stop": {{"kind": "requests", "count": {REQUESTS}}}, "timeout_ns": 20000000000,
                "requests": [{{"method": "POST", "body": "x"}}]}}"#
        );
        let plan = LoadPlan::from_json(json.as_bytes()).unwrap();
        let targets = plan.targets().unwrap();
        let connect = launch::plain(&plan, &targets).unwrap();
        let mut arms = launch::arms::<Plain>(&plan, &targets, &connect, Vec::new()).unwrap();
        for (arm, _) in &mut arms {
            arm.begin_streams_at(MOST - 2 * (LEFT as u32 - 1));
        }
        Run::launch(&plan, arms).unwrap().result().unwrap()
    }

    #[test]
    fn another_connection_follows_where_the_numbers_of_streams_end() {
        let settings = Settings {
            answer: Answer {
                body: b"hello".to_vec(),
                ..Answer::default()
            },
            ..Settings::default()
        };
        let server = NullServer::start(listen("127.0.0.1", 0).unwrap(), &settings).unwrap();
        let url = format!("http://{}", server.address());
        let closed = format!(r#"{{"kind": "closed", "connections": {CONNECTIONS}}}"#);
        let open = format!(
            r#"{{"kind": "open", "max_connections": {CONNECTIONS}, "pacer": "sleep",
                "stages": [{{"duration_ns": 100000000, "from_per_s": 1000, "to_per_s": 1000}}]}}"#
        );
        for load in [closed, open] {
            let measured = exhausting(&url, &load);
            let accounting = measured.requests;
            assert!(measured.outcomes.is_empty(), "{:?}", measured.outcomes);
            assert_eq!(
                (
                    accounting.started,
                    accounting.completed,
                    accounting.failed,
                    accounting.in_flight
                ),
                (REQUESTS, REQUESTS, 0, 0)
            );
            assert_eq!(measured.service_time.count, REQUESTS);
            assert_eq!(measured.body_bytes, REQUESTS * 5);
            // None carries more than it has numbers, and all but the last of each place carry as many.
            let all = measured.connections.opened + measured.connections.reopened;
            let least = REQUESTS / LEFT;
            assert!((least..least + CONNECTIONS).contains(&all), "{all}");
        }
    }
}
