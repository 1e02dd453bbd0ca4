//! What the engine asks of the operating system beside sockets: cores and descriptors.

use std::fs;
use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{PlanError, RunError};

/// Descriptors kept free for what else happens in the process meanwhile (log files, pipes).
const SPARE_DESCRIPTORS: u64 = 32;
/// A guess for systems that do not list them.
const USUALLY_OPEN: u64 = 64;

/// Makes sure that so many more descriptors can be opened, raising the soft limit if needed.
pub(crate) fn allow_descriptors(more: u64) -> Result<(), RunError> {
    let open = fs::read_dir("/proc/self/fd").map_or(USUALLY_OPEN, |list| list.count() as u64);
    let need = open + more + SPARE_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    // No limit is None.
    if limit.current.is_none_or(|current| current >= need) {
        return Ok(());
    }
    if let Some(have) = limit.maximum.filter(|maximum| *maximum < need) {
        return Err(RunError::Descriptors { need, have });
    }
    let raised = Rlimit {
        current: limit.maximum.or(Some(need)),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised)
        .map_err(|error| RunError::system("raising the descriptor limit")(error.into()))
}

/// Checks that the process may run on these cores.
#[cfg(target_os = "linux")]
pub(crate) fn check_cpus(cpus: &[u32]) -> Result<(), RunError> {
    let allowed = rustix::thread::sched_getaffinity(None)
        .map_err(|error| RunError::system("reading the allowed cores")(error.into()))?;
    for (index, cpu) in cpus.iter().enumerate() {
        let cpu = *cpu as usize;
        if cpu >= rustix::thread::CpuSet::MAX_CPU || !allowed.is_set(cpu) {
            let field = format!("cpus[{index}]");
            let problem = format!("this process may not run on core {cpu}");
            return Err(PlanError::new(field, problem).into());
        }
    }
    Ok(())
}

/// Keeps the calling thread on one core.
#[cfg(target_os = "linux")]
pub(crate) fn pin_thread(cpu: u32) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Elsewhere threads cannot be pinned.
#[cfg(not(target_os = "linux"))]
pub(crate) fn check_cpus(cpus: &[u32]) -> Result<(), RunError> {
    match cpus {
        [] => Ok(()),
        _ => Err(PlanError::new("cpus", "threads can be pinned on Linux only").into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn pin_thread(_cpu: u32) -> io::Result<()> {
    Ok(())
}
