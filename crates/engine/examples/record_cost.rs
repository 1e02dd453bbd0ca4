//! What it costs to record a time: `record_cost COUNT` prints nanoseconds a time.
//!
//! The times are spread as those of a load are, so that the histogram's slots are not all in the
//! first cache; what the loop around it costs is measured alone and taken off.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use assay_engine::record::Histogram;

const TIMES: usize = 4_096;

fn main() -> Result<(), Box<dyn Error>> {
    let count: u64 = std::env::args()
        .nth(1)
        .ok_or("usage: record_cost COUNT")?
        .parse()?;
    let mut random = fastrand::Rng::with_seed(1);
    // 20 µs to 20 ms, each power of two alike.
    let times: Vec<u64> = (0..TIMES)
        .map(|_| (20_000.0 * 1000_f64.powf(random.f64())) as u64)
        .collect();
    let histogram = Histogram::new();
    let each_ns = |work: &dyn Fn(u64)| {
        let began = Instant::now();
        let mut left = count;
        while left > 0 {
            let turn = left.min(TIMES as u64);
            for time_ns in &times[..turn as usize] {
                work(*time_ns);
            }
            left -= turn;
        }
        began.elapsed().as_nanos() as f64 / count as f64
    };
    let empty_ns = each_ns(&|time_ns| {
        black_box(time_ns);
    });
    let whole_ns = each_ns(&|time_ns| histogram.record(black_box(time_ns)));
    println!("{:.2}", whole_ns - empty_ns);
    Ok(())
}
