//! [`InterleavedRun`]: one execution of an interleaved plan, whose arms are interleaved.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::agree;
use crate::change::{Change, Ended};
use crate::clock::Clock;
use crate::control::{Control, NEVER};
use crate::course::{Course, Known, SliceTimes};
use crate::error::RunError;
use crate::launch::{self, Connect, DESCRIPTORS_PER_WORKER, Threads};
use crate::machine;
use crate::plan::{InterleavedPlan, LoadPlan};
use crate::record::interleaved::{self, slices};
use crate::record::live::LiveSlices;
use crate::record::measurement::Phase;
use crate::record::recorder::Recorder;
use crate::record::summary::{self, Kept, Times};
use crate::record::{
    ArmMeasurement, ArmSnapshot, InterleavedMeasurement, InterleavedSnapshot, Slice,
};
use crate::target::{Scheme, Target};
use crate::transport::{Plain, TlsStream, Transport};
use crate::worker::{Arm, Worker};

/// A load of several arms that are interleaved. Dropping it stops it.
///
/// Every control takes effect with the next round, or one that is named, but for [`Self::stop`].
#[derive(Debug)]
pub struct InterleavedRun {
    control: Arc<Control>,
    course: Arc<Course>,
    clock: Clock,
    arms: Vec<Accounting>,
    cpus: Vec<Option<u32>>,
    threads: Threads,
}

/// The recorders of one arm, those of its slices first, and how many connections it is to have.
#[derive(Debug)]
struct Accounting {
    recorders: Vec<Arc<Recorder>>,
    asked: u64,
    /// What live views have taken so far.
    live: Mutex<LiveSlices>,
}

impl Accounting {
    fn kept(&self) -> Kept<'_> {
        Kept {
            recorders: self.own(),
            whole: &self.recorders,
        }
    }

    fn own(&self) -> &[Arc<Recorder>] {
        &self.recorders[..self.recorders.len() / 2]
    }

    /// Those that were written while it rested.
    fn aside(&self) -> &[Arc<Recorder>] {
        &self.recorders[self.recorders.len() / 2..]
    }
}

/// What an arm is for each worker, before the workers are.
struct Prepared<T: Transport> {
    arms: Vec<Arm<T>>,
    accounting: Accounting,
}

impl InterleavedRun {
    /// Validates the plan, resolves its hosts, raises the descriptor limit where needed, and starts
    /// one thread per worker.
    ///
    /// # Errors
    /// Where the plan is wrong or the machine lacks something; then nothing was sent.
    pub fn start(plan: &InterleavedPlan) -> Result<Self, RunError> {
        plan.validate()?;
        let arms = plan.arms_here();
        machine::check_cpus(&arms[0].cpus)?;
        let asked: u64 = arms.iter().map(launch::asked).sum();
        let workers = u64::from(arms[0].shard_here().workers);
        machine::allow_descriptors(asked + workers * DESCRIPTORS_PER_WORKER)?;
        let course = Course::new(plan);
        match Target::parse(&arms[0].url)?.scheme {
            Scheme::Http => Self::launch::<Plain>(&arms, course, launch::plain),
            Scheme::Https => Self::launch::<TlsStream>(&arms, course, launch::tls),
        }
    }

    fn launch<T: Transport + Send + 'static>(
        plans: &[LoadPlan],
        course: Course,
        connect: impl Fn(&LoadPlan, &[Target]) -> Result<Connect<T>, RunError>,
    ) -> Result<Self, RunError> {
        let first = &plans[0];
        let part = first.shard_here();
        let control = Arc::new(Control::new(part.workers, NEVER, None));
        let course = Arc::new(course);
        let mut accounting = Vec::new();
        let mut by_worker: Vec<Vec<Arm<T>>> = Vec::new();
        by_worker.resize_with(part.workers as usize, Vec::new);
        for (number, arm) in (0..).zip(plans) {
            let arm = &*agree::settled(arm)?;
            let targets = arm.targets()?;
            let connect = connect(arm, &targets)?;
            let prepared = prepare(number, arm, &targets, &connect)?;
            accounting.push(prepared.accounting);
            for (arms, arm) in by_worker.iter_mut().zip(prepared.arms) {
                arms.push(arm);
            }
        }
        let mut workers = Vec::new();
        for arms in by_worker {
            let worker = Worker::of_arms(arms, &course, Arc::clone(&control));
            workers.push(worker.map_err(RunError::system("creating a selector"))?);
        }
        let cpus = launch::cpus(first);
        let start = || Clock::start_from(part.starts_at_unix_ns);
        let (clock, threads) = launch::spawn(workers, &cpus, &control, start)?;
        Ok(Self {
            control,
            course,
            clock,
            arms: accounting,
            cpus,
            threads,
        })
    }

    /// Changes the slices from a round on, or from the first one that is not settled yet where that is
    /// later; gives the round from which the change holds.
    ///
    /// # Errors
    /// Where a plan of such slices would be refused.
    pub fn change(&self, change: Change, from_round: u64) -> Result<u64, RunError> {
        Ok(self.course.change(change, from_round)?)
    }

    /// Ends the run so many nanoseconds after its start or, where that is over, at once; its result is
    /// complete and says that it was interrupted. Without effect once the run has ended.
    pub fn stop(&self, at_ns: u64) {
        self.control.stop(self.clock.now_ns().max(at_ns));
    }

    /// Waits for the end of the run, for at most so long; whether it has ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.control.wait(timeout)
    }

    /// The start of the run by the system's monotonic clock; all points of time count from it.
    #[must_use]
    pub fn started_at_monotonic_ns(&self) -> u64 {
        self.clock.started_at_monotonic_ns()
    }

    /// The slices that are settled, from one on: all that were, and the rest of the round under way.
    #[must_use]
    pub fn slices(&self, first: u64) -> Vec<SliceTimes> {
        self.course.slices(first)
    }

    /// Waits until a slice begins, for at most so long. None where that time passed, or the
    /// run ended before.
    #[must_use]
    pub fn wait_begin(&self, number: u64, timeout: Duration) -> Option<SliceTimes> {
        self.wait_for(number, |times| times.start_ns, timeout)
    }

    /// Waits until a slice is over, for at most so long. None where that time passed, or the
    /// run ended before.
    #[must_use]
    pub fn wait_end(&self, number: u64, timeout: Duration) -> Option<SliceTimes> {
        self.wait_for(number, |times| times.end_ns, timeout)
    }

    fn wait_for(
        &self,
        number: u64,
        point: fn(&SliceTimes) -> u64,
        timeout: Duration,
    ) -> Option<SliceTimes> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(NEVER);
        let give_up_ns = self.clock.now_ns().saturating_add(timeout_ns);
        loop {
            let now_ns = self.clock.now_ns();
            let ended_ns = self.ended_ns();
            let look_again_ns = match self.course.slice(number, ended_ns.unwrap_or(now_ns)) {
                Known::Over => return None,
                Known::From(from_ns) => from_ns,
                Known::Slice(times) if point(&times) <= ended_ns.unwrap_or(now_ns) => {
                    return Some(times);
                }
                Known::Slice(times) => point(&times),
            };
            if ended_ns.is_some() || now_ns >= give_up_ns {
                return None;
            }
            let wait_ns = look_again_ns.min(give_up_ns) - now_ns;
            self.control.wait(Duration::from_nanos(wait_ns));
        }
    }

    /// The live view.
    #[must_use]
    pub fn snapshot(&self) -> InterleavedSnapshot {
        let ended_ns = self.ended_ns();
        let now_ns = ended_ns.unwrap_or_else(|| self.clock.now_ns());
        let arm = |(number, accounting): (usize, &Accounting)| {
            let (ended, ended_here) = (self.course.ended(number), self.course.ended_here(number));
            arm_snapshot(accounting, &self.course, now_ns, ended, ended_here)
        };
        InterleavedSnapshot {
            elapsed_ns: now_ns,
            slice: match ended_ns {
                None => self.course.at(now_ns),
                Some(_) => None,
            },
            arms: self.arms.iter().enumerate().map(arm).collect(),
        }
    }

    /// Waits for the end of the run and adds up what the workers wrote down.
    ///
    /// # Errors
    /// Only for a defect of the engine or of the operating system: a worker that died, or accounting
    /// that do not balance.
    pub fn result(&self) -> Result<InterleavedMeasurement, RunError> {
        while !self.control.wait(Duration::from_secs(3_600)) {}
        self.threads.join()?;
        let end_ns = self.ended_ns().unwrap_or_default();
        let times = self.course.slices(0);
        let arm = |(number, accounting): (usize, &Accounting)| {
            let slices = slices(accounting.own(), &times, end_ns);
            let ended = self.course.ended(number);
            self.arm_measurement(accounting, slices, ended, end_ns)
        };
        let arms: Result<Vec<_>, RunError> = self.arms.iter().enumerate().map(arm).collect();
        Ok(InterleavedMeasurement {
            started_at_unix_ns: self.clock.started_at_unix_ns(),
            started_at_monotonic_ns: self.clock.started_at_monotonic_ns(),
            started_late_ns: self.clock.started_late_ns(),
            length_ns: end_ns,
            interrupted: self.control.was_interrupted(),
            arms: arms?,
        })
    }

    fn arm_measurement(
        &self,
        accounting: &Accounting,
        slices: Vec<Slice>,
        ended: Option<Ended>,
        end_ns: u64,
    ) -> Result<ArmMeasurement, RunError> {
        let interrupted = self.control.was_interrupted() || ended.is_some();
        let times = self.times(&slices, end_ns);
        let mut measurement = summary::measurement(
            accounting.kept(),
            &self.cpus,
            accounting.asked,
            times,
            interrupted,
        )?;
        measurement.measured_ns = length_ns(&slices, Phase::Measured);
        measurement.windows = interleaved::windows(&slices);
        for (figures, recorder) in measurement.workers.iter_mut().zip(accounting.own()) {
            figures.completed_by_window = completed_by_slice(recorder, &slices);
        }
        let late = |recorder: &Arc<Recorder>| recorder.totals.completed.get();
        Ok(ArmMeasurement {
            measurement,
            late: accounting.aside().iter().map(late).sum(),
            ended,
            slices,
        })
    }

    fn times(&self, slices: &[Slice], end_ns: u64) -> Times {
        let first = slices.iter().find(|slice| slice.phase == Phase::Measured);
        Times {
            started_at_unix_ns: self.clock.started_at_unix_ns(),
            ..times(first.map(|slice| slice.start_ns), end_ns)
        }
    }

    /// The end of the run, once all workers have ended.
    fn ended_ns(&self) -> Option<u64> {
        let recorders = self
            .arms
            .iter()
            .flat_map(|accounting| &accounting.recorders);
        let has_ended = self.control.wait(Duration::ZERO);
        has_ended.then(|| {
            let ends = recorders.map(|recorder| recorder.ended_ns.get());
            ends.max().unwrap_or_default()
        })
    }
}

impl Drop for InterleavedRun {
    fn drop(&mut self) {
        self.control.stop(0);
        // A defect found now has nobody to be told to; `result` tells it.
        let _ = self.threads.join();
    }
}

fn prepare<T: Transport>(
    number: u32,
    plan: &LoadPlan,
    targets: &[Target],
    connect: &Connect<T>,
) -> Result<Prepared<T>, RunError> {
    let (mut arms, mut recorders, mut aside) = (Vec::new(), Vec::new(), Vec::new());
    for (mut arm, recorder) in launch::arms(plan, targets, connect, Vec::new())? {
        let other = Arc::new(launch::recorder::<T>(&arm.program, false));
        arm.take_slices(number, Arc::clone(&other));
        arms.push(arm);
        recorders.push(recorder);
        aside.push(other);
    }
    recorders.append(&mut aside);
    let asked = launch::asked(plan);
    Ok(Prepared {
        arms,
        accounting: Accounting {
            live: Mutex::new(LiveSlices::new(recorders.len() / 2)),
            recorders,
            asked,
        },
    })
}

fn arm_snapshot(
    accounting: &Accounting,
    course: &Course,
    now_ns: u64,
    ended: Option<Ended>,
    ended_here: Option<Ended>,
) -> ArmSnapshot {
    let mut live = accounting
        .live
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    live.take_new(accounting.own(), |number| course.settled(number));
    let times = times(live.measured_from_ns(), now_ns);
    let mut snapshot = summary::snapshot(accounting.kept(), times);
    let (slices, elapsed_ns) = live.of_phase(snapshot.phase, now_ns);
    snapshot.windows = interleaved::windows(&slices);
    snapshot.elapsed_ns = elapsed_ns;
    ArmSnapshot {
        snapshot,
        ended,
        ended_here,
        slices,
    }
}

/// Where an arm's measured phase begins and ends: with the first of its measured slices, and now.
fn times(measured_from_ns: Option<u64>, end_ns: u64) -> Times {
    Times {
        started_at_unix_ns: 0,
        window_ns: NEVER,
        measure_from_ns: measured_from_ns.unwrap_or(end_ns),
        end_ns,
    }
}

fn length_ns(slices: &[Slice], phase: Phase) -> u64 {
    let of_phase = slices.iter().filter(|slice| slice.phase == phase);
    of_phase.map(|slice| slice.length_ns).sum()
}

/// A worker's part of the measured slices.
fn completed_by_slice(recorder: &Recorder, slices: &[Slice]) -> Vec<u64> {
    let notes = recorder.notes();
    let parts = slices.iter().zip(&notes.parts);
    parts
        .filter(|(slice, _)| slice.phase == Phase::Measured)
        .map(|(_, part)| part.completed)
        .collect()
}
