//! Several generators' measurements and live views of one load, added up exactly (`adding_up.rs`).
//!
//! A struct of `adding_up!` says behind each field how several of it become one: a field that does not does not compile.

use super::adding_up::{AddUp, NotOneLoad, Whole, least, most, some};
use super::measurement::{Accounting, Measurement, Snapshot};

/// The measurement of the whole load.
///
/// # Errors
///
/// Where a part's accounting does not balance, or the parts' windows cannot be laid over each other.
pub fn merged(parts: &[Measurement]) -> Whole<Measurement> {
    some(parts)?;
    for (number, part) in (1..).zip(parts) {
        let Accounting {
            started,
            completed,
            failed,
            in_flight,
        } = part.requests;
        if started != completed + failed + in_flight {
            let said = format!("the accounting of generator {number} does not balance");
            return Err(NotOneLoad(said));
        }
    }
    have_the_same_windows(parts)?;
    Measurement::add_up(&parts.iter().collect::<Vec<_>>())
}

/// The live view of a load: its totals; of its times the slowest generator's, as quantiles cannot be added.
///
/// # Errors
///
/// Where there is none.
pub fn together(looks: &[Snapshot]) -> Whole<Snapshot> {
    some(looks)?;
    Snapshot::add_up(&looks.iter().collect::<Vec<_>>())
}

fn have_the_same_windows(parts: &[Measurement]) -> Whole<()> {
    let several = parts.iter().filter(|part| part.windows.len() > 1);
    let lengths: Vec<u64> = several.map(|part| part.windows[0].length_ns).collect();
    let warmups: Vec<&u64> = parts.iter().map(|part| &part.warmup_ns).collect();
    let apart_ns = most(&warmups)? - least(&warmups)?;
    let is_one_length = lengths.windows(2).all(|pair| pair[0] == pair[1]);
    if is_one_length && lengths.iter().all(|length_ns| apart_ns <= *length_ns) {
        return Ok(());
    }
    let apart_ms = apart_ns as f64 / 1e6;
    let said = format!("the generators' warm-ups ended {apart_ms:.0} ms apart");
    Err(NotOneLoad(said))
}
