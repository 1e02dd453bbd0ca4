//! [`Run`]: one execution of a plan, from its start to its measurement.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::clock::Clock;
use crate::control::Control;
use crate::desk::Desk;
use crate::error::{PlanError, RunError};
use crate::machine;
use crate::plan::{HttpVersion, LoadPlan, Stop};
use crate::program::Program;
use crate::protocol::Heads;
use crate::protocol::template::Variables;
use crate::record::ledger::Ledger;
use crate::record::measurement::{Measurement, Snapshot};
use crate::record::summary::{self, Times};
use crate::record::{Log, Session};
use crate::supply::Supply;
use crate::target::{self, Endpoint, Scheme, Target};
use crate::transport::{
    Plain, PlainConnector, TlsConnector, TlsStream, Transport, tls_config, tls_server_name,
};
use crate::worker::{Assignment, Lane, Worker};

type Thread = JoinHandle<io::Result<()>>;

/// Each worker needs a selector, and may need a timer.
const DESCRIPTORS_PER_WORKER: u64 = 4;

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
    ledgers: Vec<Arc<Ledger>>,
    cpus: Vec<Option<u32>>,
    window_ns: u64,
    asked: u64,
    threads: Mutex<Vec<Thread>>,
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
        if !supplies.is_empty() && supplies.len() != plan.threads as usize {
            return Err(PlanError::new("threads", "must be as many as there are supplies").into());
        }
        machine::check_cpus(&plan.cpus)?;
        let asked = u64::from(plan.load.connections());
        machine::allow_descriptors(asked + u64::from(plan.threads) * DESCRIPTORS_PER_WORKER)?;
        let target = Target::parse(&plan.url)?;
        let plain = plain_connector(plan, &target)?;
        let at = |first_slot, address: Option<SocketAddr>| PlainConnector {
            first_slot,
            endpoints: match address {
                Some(address) => [Endpoint::Tcp(address)].into(),
                None => plain.endpoints.clone(),
            },
            ..plain.clone()
        };
        match target.scheme {
            Scheme::Http => Self::launch::<Plain>(plan, &target, supplies, at),
            Scheme::Https => {
                let config = tls_config(&plan.tls)?;
                let server_name = tls_server_name(&plan.tls, &target)?;
                let connector = |first_slot, address| TlsConnector {
                    plain: at(first_slot, address),
                    config: Arc::clone(&config),
                    server_name: server_name.clone(),
                };
                Self::launch::<TlsStream>(plan, &target, supplies, connector)
            }
        }
    }

    fn launch<T: Transport + Send + 'static>(
        plan: &LoadPlan,
        target: &Target,
        supplies: Vec<Supply>,
        connector: impl Fn(usize, Option<SocketAddr>) -> T::Connector,
    ) -> Result<Self, RunError> {
        let shared = Arc::new(Program::new(plan, target, None)?);
        let mut supplies = supplies.into_iter();
        let count = match plan.stop {
            Stop::After { .. } => None,
            Stop::AtCount { count, .. } => Some(count),
        };
        let control = Arc::new(Control::new(plan.threads, plan.warmup_max_ns, count));
        let mut ledgers = Vec::new();
        let mut workers = Vec::new();
        let mut first_slot = 0;
        for assignment in assignments(plan) {
            let supply = supplies.next();
            let address = supply.as_ref().and_then(|supply| supply.address);
            let program = match &supply {
                Some(supply) => Arc::new(Program::new(plan, target, Some(supply))?),
                None => Arc::clone(&shared),
            };
            let ledger = Arc::new(Ledger::new(program.is_open_loop, T::SHAKES_HANDS));
            ledgers.push(Arc::clone(&ledger));
            let connections = assignment.connections;
            let seed = plan.seed ^ u64::from(assignment.number);
            let log = Log::new(plan.request_log, count.unwrap_or_default());
            let variables = Variables::new(assignment.number, plan.threads, seed);
            let lane = Lane::<T>::new(
                assignment,
                program,
                connector(first_slot, address),
                Desk::new(ledger, heads(plan), variables, supply, log),
            );
            let worker = Worker::new(lane, Arc::clone(&control));
            workers.push(worker.map_err(RunError::system("creating a selector"))?);
            first_slot += connections;
        }
        let cpu_of = |number: usize| match plan.cpus.len() {
            0 => None,
            n => Some(plan.cpus[number % n]),
        };
        let cpus: Vec<_> = (0..workers.len()).map(cpu_of).collect();
        let (clock, threads) = spawn(workers, &cpus, &control)?;
        Ok(Self {
            control,
            clock,
            ledgers,
            cpus,
            window_ns: plan.window_ns,
            asked: u64::from(plan.load.connections()),
            threads: Mutex::new(threads),
        })
    }

    /// The live view.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let end_ns = self.ended_ns().unwrap_or_else(|| self.clock.now_ns());
        summary::snapshot(&self.ledgers, self.times(end_ns))
    }

    /// Ends the warm-up; the load goes on without a gap. Without effect once it has ended.
    pub fn begin_measuring(&self) {
        self.control.begin_measuring(self.clock.now_ns());
    }

    /// Ends the run early; its result is complete and says that it was interrupted. Without
    /// effect once the run has ended.
    pub fn stop(&self) {
        self.control.stop(self.clock.now_ns());
    }

    /// Waits for the end of the run, for at most so long; whether it has ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.control.wait(timeout)
    }

    /// Waits for the end of the run and adds up what the workers wrote down.
    ///
    /// # Errors
    /// Only for a defect of the engine or of the operating system: a worker that died, or books
    /// that do not balance.
    pub fn result(&self) -> Result<Measurement, RunError> {
        while !self.control.wait(Duration::from_secs(3_600)) {}
        self.join()?;
        if let Some(failure) = self.control.failure() {
            return Err(failure.into());
        }
        let end_ns = self.ended_ns().unwrap_or_default();
        summary::measurement(
            &self.ledgers,
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
        let of = |ledger: &Arc<Ledger>| ledger.notes().log.as_ref().map(|log| log.packed());
        self.ledgers.iter().filter_map(of).flatten().collect()
    }

    /// The heads of logged answers, each with what of the body was read together with it.
    #[must_use]
    pub fn logged_answers(&self) -> Vec<Vec<u8>> {
        let of = |ledger: &Arc<Ledger>| ledger.notes().log.as_ref().map(|log| log.answers.clone());
        self.ledgers.iter().filter_map(of).flatten().collect()
    }

    /// What the first logged session of TLS agreed on.
    #[must_use]
    pub fn session(&self) -> Option<Session> {
        let of = |ledger: &Arc<Ledger>| ledger.notes().log.as_ref()?.session.clone();
        self.ledgers.iter().find_map(of)
    }

    fn join(&self) -> Result<(), RunError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            match thread.join() {
                Ok(Ok(())) => {}
                Ok(Err(source)) => return Err(RunError::system("waiting for answers")(source)),
                Err(panic) => {
                    let text = panic
                        .downcast_ref::<String>()
                        .map(String::as_str)
                        .or_else(|| panic.downcast_ref::<&str>().copied());
                    return Err(RunError::WorkerDied(text.unwrap_or("a panic").into()));
                }
            }
        }
        Ok(())
    }

    /// The end of the measured phase, once all workers have ended.
    fn ended_ns(&self) -> Option<u64> {
        let has_ended = self.control.wait(Duration::ZERO);
        let ends = self.ledgers.iter().map(|ledger| ledger.ended_ns.get());
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
        let _ = self.join();
    }
}

/// How connections are opened below any TLS: to the server itself, or to the plan's proxy.
fn plain_connector(plan: &LoadPlan, target: &Target) -> Result<PlainConnector, RunError> {
    let proxy = plan.proxy.as_deref().map(Target::parse).transpose()?;
    let endpoints = match &proxy {
        Some(proxy) => target::endpoints(&[], plan.address_family, proxy)?,
        None => target::endpoints(&plan.addresses, plan.address_family, target)?,
    };
    let tunnel = (proxy.is_some() && target.scheme == Scheme::Https).then(|| {
        let to = target.with_port();
        format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n")
            .into_bytes()
            .into()
    });
    Ok(PlainConnector {
        endpoints: endpoints.into(),
        sources: target::sources(plan)?.into(),
        buffer_bytes: plan.socket_buffer_bytes,
        tunnel,
        first_slot: 0,
    })
}

fn heads(plan: &LoadPlan) -> Heads {
    match plan.http_version {
        HttpVersion::Http10 => Heads::of_http10(),
        HttpVersion::Http11 => Heads::new(),
    }
}

/// Deals the connections out to the workers; the first ones take the remainder.
fn assignments(plan: &LoadPlan) -> impl Iterator<Item = Assignment> {
    let connections = plan.load.connections();
    (0..plan.threads).map(move |number| {
        let remainder = u32::from(number < connections % plan.threads);
        Assignment {
            number,
            workers: plan.threads,
            connections: (connections / plan.threads + remainder) as usize,
            load: plan.load.clone(),
            stop: plan.stop,
            seed: plan.seed,
        }
    })
}

/// Tells the control when its thread ends, in whatever way.
struct EndNotice(Arc<Control>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        self.0.worker_ended();
    }
}

/// Starts a thread per worker. The clock starts when all of them stand ready, so that none
/// begins before the others. A thread that is never told the time ends at once.
fn spawn<T: Transport + Send + 'static>(
    workers: Vec<Worker<T>>,
    cpus: &[Option<u32>],
    control: &Arc<Control>,
) -> Result<(Clock, Vec<Thread>), RunError> {
    let (ready, all_ready) = mpsc::channel();
    let mut threads = Vec::with_capacity(workers.len());
    let mut starts = Vec::with_capacity(workers.len());
    for (number, (worker, cpu)) in workers.into_iter().zip(cpus.iter().copied()).enumerate() {
        let ready = ready.clone();
        let notice = EndNotice(Arc::clone(control));
        let (start, started) = mpsc::channel::<Clock>();
        let body = move || {
            let _notice = notice;
            let is_pinned = cpu.map_or(Ok(()), machine::pin_thread);
            let is_heard = ready.send(is_pinned).is_ok();
            match started.recv() {
                Ok(clock) if is_heard => worker.run(clock),
                _ => Ok(()),
            }
        };
        let thread = thread::Builder::new()
            .name(format!("assay-worker-{number}"))
            .spawn(body)
            .map_err(RunError::system("starting a thread"))?;
        threads.push(thread);
        starts.push(start);
    }
    for is_pinned in all_ready.iter().take(threads.len()) {
        is_pinned.map_err(RunError::system("pinning a thread to its core"))?;
    }
    let clock = Clock::start();
    for start in starts {
        // A worker that is gone is found when its thread is joined.
        let _ = start.send(clock);
    }
    Ok((clock, threads))
}
