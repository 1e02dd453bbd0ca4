//! The loop: packets in, packets out when they are due, and counters for whoever asks.

use crate::line::{Line, Settings};
use crate::packet::turn_back;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// As long as an IP packet can be.
const MOST_BYTES: usize = 65_535;
/// So many packets are read before others are sent.
const BATCH: usize = 64;
/// For so long nothing is waited for where nothing is under way; anything that comes ends it.
const LONG: Duration = Duration::from_secs(3600);

/// Carries packets from the device back to it until the other side of `control` is gone.
///
/// For each byte that comes by `control` the counters since the last one are told there, a line of JSON.
pub fn carry(device: impl AsFd, control: impl AsFd, settings: &Settings) -> io::Result<()> {
    ioctl_fionbio(&device, true)?;
    let mut line = Line::new(settings);
    let mut buffer = vec![0; MOST_BYTES];
    let mut told_cpu = cpu_time();
    loop {
        let now = Instant::now();
        let patience = line
            .next_due()
            .map(|due| due.saturating_duration_since(now));
        let (has_packets, is_asked) = wait(&device, &control, patience.unwrap_or(LONG))?;
        // What came before a question is in its answer.
        if has_packets || is_asked {
            take_in(&device, &mut line, &mut buffer)?;
        }
        let now = Instant::now();
        while line.send_due(now, |packet| is_sent(&device, packet)) {}
        if is_asked {
            match read(&control, &mut buffer[..1]) {
                Ok(0) | Err(Errno::CONNRESET) => return Ok(()),
                Ok(_) => {
                    let cpu = cpu_time();
                    tell(&control, &mut line, cpu.saturating_sub(told_cpu))?;
                    told_cpu = cpu;
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Waits for packets or a question; which of them is there.
fn wait(device: &impl AsFd, control: &impl AsFd, patience: Duration) -> io::Result<(bool, bool)> {
    let mut watched = [
        PollFd::new(device, PollFlags::IN),
        PollFd::new(control, PollFlags::IN),
    ];
    let timeout = Timespec::try_from(patience).unwrap_or_default();
    match poll(&mut watched, Some(&timeout)) {
        Ok(_) => {
            let [device, control] = &watched;
            Ok((!device.revents().is_empty(), !control.revents().is_empty()))
        }
        Err(Errno::INTR) => Ok((false, false)),
        Err(error) => Err(error.into()),
    }
}

/// Reads what is there, up to a batch.
fn take_in(device: &impl AsFd, line: &mut Line, buffer: &mut [u8]) -> io::Result<()> {
    for _ in 0..BATCH {
        match read(device, &mut *buffer) {
            Ok(length) => {
                let packet = &mut buffer[..length];
                if turn_back(packet) {
                    line.accept(packet, Instant::now());
                }
            }
            Err(Errno::AGAIN) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A packet that the device does not take is lost, as on any link.
fn is_sent(device: &impl AsFd, packet: &[u8]) -> bool {
    write(device, packet).is_ok()
}

fn tell(control: &impl AsFd, line: &mut Line, cpu: Duration) -> io::Result<()> {
    let seen = line.take_counters();
    let said = format!(
        "{{\"packets\":{},\"lost\":{},\"overflowed\":{},\"late\":{},\"latest_ns\":{},\"cpu_ns\":{}}}\n",
        seen.packets,
        seen.lost,
        seen.overflowed,
        seen.late,
        seen.latest.as_nanos(),
        cpu.as_nanos(),
    );
    let mut left = said.as_bytes();
    while !left.is_empty() {
        match write(control, left) {
            Ok(length) => left = &left[length..],
            Err(Errno::INTR) => {}
            // Nobody reads it any more: the next reading says so.
            Err(Errno::PIPE | Errno::CONNRESET) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What this process has used of any core.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
