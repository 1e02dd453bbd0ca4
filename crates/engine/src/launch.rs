//! Launching: plans made into arms, arms into workers, workers into threads.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use crate::clock::Clock;
use crate::context::ArmContext;
use crate::control::Control;
use crate::error::RunError;
use crate::machine;
use crate::plan::{Http, HttpVersion, LoadPlan};
use crate::program::Program;
use crate::protocol::Heads;
use crate::protocol::template::Variables;
use crate::record::Log;
use crate::record::by_request::ByRequest;
use crate::record::recorder::Recorder;
use crate::supply::Supply;
use crate::target::{self, Endpoint, Scheme, Target};
use crate::transport::{
    Plain, PlainConnector, Route, TlsConnector, TlsStream, Transport, quic_config, tls_config,
    tls_server_name,
};
use crate::worker::{Arm, Assignment, Worker};

type Thread = JoinHandle<io::Result<()>>;

/// Each worker needs a selector, and may need a timer.
pub(crate) const DESCRIPTORS_PER_WORKER: u64 = 4;

/// How a worker's connections are opened: from the number of the first of them on, to an address of its own
/// where it has one.
pub(crate) type Connect<T> = Box<dyn Fn(usize, Option<SocketAddr>) -> <T as Transport>::Connector>;

/// How connections without TLS are opened.
pub(crate) fn plain(plan: &LoadPlan, targets: &[Target]) -> Result<Connect<Plain>, RunError> {
    let plain = plain_connector(plan, targets)?;
    Ok(Box::new(move |first_slot, address| PlainConnector {
        first_slot,
        routes: match address {
            Some(address) => [Route {
                endpoints: vec![Endpoint::Tcp(address)],
                tunnel: plain.routes[0].tunnel.clone(),
            }]
            .into(),
            None => plain.routes.clone(),
        },
        ..plain.clone()
    }))
}

/// How connections with TLS are opened.
pub(crate) fn tls(plan: &LoadPlan, targets: &[Target]) -> Result<Connect<TlsStream>, RunError> {
    let below = plain(plan, targets)?;
    let config = tls_config(&plan.tls, plan.http)?;
    let names = (targets.iter()).map(|target| tls_server_name(&plan.tls, target));
    let server_names: Arc<[_]> = names.collect::<Result<Vec<_>, _>>()?.into();
    let quic = match plan.http {
        Http::Three => Some(quic_config(&config)?),
        Http::One | Http::Two | Http::Auto => None,
    };
    Ok(Box::new(move |first_slot, address| TlsConnector {
        plain: below(first_slot, address),
        config: Arc::clone(&config),
        server_names: Arc::clone(&server_names),
        quic: quic.clone(),
        carried: Arc::default(),
    }))
}

/// An arm, and the recorder that it writes.
pub(crate) type Written<T> = (Arm<T>, Arc<Recorder>);

/// A plan's arm in each worker.
pub(crate) fn arms<T: Transport>(
    plan: &LoadPlan,
    targets: &[Target],
    connect: &Connect<T>,
    supplies: Vec<Supply>,
) -> Result<Vec<Written<T>>, RunError> {
    let shared = Arc::new(Program::new(plan, targets, None)?);
    let mut supplies = supplies.into_iter();
    let before =
        (0..plan.shard_here().first_worker).map(|number| plan.connections_of(number) as usize);
    let mut first_slot = before.sum();
    let hosts = plan.dealt();
    let arm = |mut assignment: Assignment| {
        let own = hosts.get(first_slot..first_slot + assignment.connections);
        assignment.hosts = own.map_or_else(Vec::new, <[u32]>::to_vec);
        let supply = supplies.next();
        let address = supply.as_ref().and_then(|supply| supply.address);
        let program = match &supply {
            Some(supply) => Arc::new(Program::new(plan, targets, Some(supply))?),
            None => Arc::clone(&shared),
        };
        let recorder = Arc::new(recorder::<T>(&program, program.is_open_loop));
        let seed = plan.seed ^ u64::from(assignment.number);
        let log = Log::new(
            plan.request_log,
            plan.count_of(plan.shard_here()).unwrap_or_default(),
            plan.shard_here().workers,
        );
        let variables = Variables::new(assignment.number, plan.threads, seed);
        let connector = connect(first_slot, address);
        first_slot += assignment.connections;
        let context = ArmContext::new(Arc::clone(&recorder), heads(plan), variables, supply, log);
        Ok((Arm::new(assignment, program, connector, context), recorder))
    };
    assignments(plan).map(arm).collect()
}

/// A recorder for what a program brings about.
pub(crate) fn recorder<T: Transport>(program: &Program, is_open_loop: bool) -> Recorder {
    let mut recorder = Recorder::new(is_open_loop, T::SHAKES_HANDS);
    recorder.by_request =
        (program.names.as_deref()).map(|names| Box::new(ByRequest::new(names, is_open_loop)));
    match program.http {
        Http::Two => recorder.of_streams(),
        Http::Three => recorder.of_http3(),
        Http::One | Http::Auto => recorder,
    }
}

/// The core of each worker.
pub(crate) fn cpus(plan: &LoadPlan) -> Vec<Option<u32>> {
    let cpu_of = |number: usize| match plan.cpus.len() {
        0 => None,
        n => Some(plan.cpus[number % n]),
    };
    (0..plan.shard_here().workers as usize)
        .map(cpu_of)
        .collect()
}

/// How connections are opened below any TLS: to the server itself, or to the plan's proxy.
fn plain_connector(plan: &LoadPlan, targets: &[Target]) -> Result<PlainConnector, RunError> {
    let proxy = plan.proxy.as_deref().map(Target::parse).transpose()?;
    let accepts = match plan.http {
        Http::Three => target::accepts_udp,
        Http::One | Http::Two | Http::Auto => target::accepts_tcp,
    };
    let given = |number: usize| match number {
        0 => plan.addresses.as_slice(),
        _ => plan.hosts[number - 1].address.as_slice(),
    };
    let route = |(number, target): (usize, &Target)| {
        let endpoints = match &proxy {
            Some(proxy) => target::endpoints(&[], plan.address_family, proxy, target::accepts_tcp)?,
            None => target::endpoints(given(number), plan.address_family, target, accepts)?,
        };
        let is_tunnel = proxy.is_some() && target.scheme == Scheme::Https;
        Ok(Route {
            endpoints,
            tunnel: is_tunnel.then(|| tunnel(plan, &target.with_port()).into()),
        })
    };
    let routes: Result<Vec<Route>, RunError> = targets.iter().enumerate().map(route).collect();
    Ok(PlainConnector {
        routes: routes?.into(),
        hosts: plan.dealt().into(),
        sources: target::sources(plan)?.into(),
        buffer_bytes: plan.socket_buffer_bytes,
        first_slot: 0,
    })
}

/// The request for a tunnel to a host and port.
fn tunnel(plan: &LoadPlan, to: &str) -> Vec<u8> {
    let credentials = plan.tunnel_credentials();
    let credentials =
        credentials.map_or_else(String::new, |own| format!("Proxy-Authorization: {own}\r\n"));
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{credentials}\r\n").into_bytes()
}

fn heads(plan: &LoadPlan) -> Heads {
    match plan.http_version {
        HttpVersion::Http10 => Heads::of_http10(),
        HttpVersion::Http11 => Heads::new(),
    }
}

/// What the workers that run here are dealt.
fn assignments(plan: &LoadPlan) -> impl Iterator<Item = Assignment> {
    workers_here(plan).map(move |number| Assignment {
        arm: 0,
        number,
        workers: plan.threads,
        connections: plan.connections_of(number) as usize,
        hosts: Vec::new(),
        load: plan.load.clone(),
        stop: plan.stop,
        seed: plan.seed,
    })
}

/// The numbers of the plan's workers that run here.
fn workers_here(plan: &LoadPlan) -> Range<u32> {
    let part = plan.shard_here();
    part.first_worker..part.first_worker + part.workers
}

/// The connections that are asked for from here.
pub(crate) fn asked(plan: &LoadPlan) -> u64 {
    let of = |number| u64::from(plan.connections_of(number));
    workers_here(plan).map(of).sum()
}

/// The threads of a run, until they are joined.
#[derive(Debug)]
pub(crate) struct Threads(Mutex<Vec<Thread>>);

impl Threads {
    /// Waits for all of them.
    ///
    /// # Errors
    /// Where one could not go on.
    pub(crate) fn join(&self) -> Result<(), RunError> {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
}

/// Tells the control when its thread ends, in whatever way.
struct EndNotice(Arc<Control>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        self.0.worker_ended();
    }
}

/// Starts a thread per worker. The clock starts when all of them stand ready, so that none
/// begins before the others; `start` waits for an agreed instant. A thread that is never told the time ends at once.
pub(crate) fn spawn<T: Transport + Send + 'static>(
    workers: Vec<Worker<T>>,
    cpus: &[Option<u32>],
    control: &Arc<Control>,
    start: impl FnOnce() -> Clock,
) -> Result<(Clock, Threads), RunError> {
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
    let clock = start();
    for start in starts {
        // A worker that is gone is found when its thread is joined.
        let _ = start.send(clock);
    }
    Ok((clock, Threads(Mutex::new(threads))))
}
