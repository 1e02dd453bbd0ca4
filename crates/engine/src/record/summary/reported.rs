//! What recorders hold, taken apart by name: a figure that is new does not compile until it is said here that the
//! measurement has it (`super::measurement`) or why it has not.

use crate::record::open_times::OpenTimes;
use crate::record::recorder::{Recorder, Totals};

const _: fn(&Recorder, &OpenTimes, &Totals) = |recorder, times, totals| {
    let Recorder {
        totals: _,
        warmup: _, // of the whole run's accounting
        statuses: _,
        encodings: _,
        in_http10: _,
        failures: _,
        service_time: _,
        times: _, // each, by its name in measurement.rs
        handshake_time: _,
        open_loop: _,
        by_request: _, // by by_request.rs, which takes it apart
        streams: _,    // by http2.rs and http3.rs, which take it apart
        http3: _,
        opened: _,
        answered: _,
        reopened: _,
        open_peak: _,
        cpu_ns: _,
        wall_ns: _,
        delayed_ns: _,
        largest_stall_ns: _,
        left_in_flight: _,
        last_answer_ns: _, // by under_way.rs
        series: _,         // by series.rs
        notes: _,
        // In live views alone, or to end the run.
        is_measuring: _,
        open_now: _,
        ended_ns: _,
    } = recorder;
    let OpenTimes {
        response_time: _,
        send_lag: _,
        busy_peak: _,
        waited: _,
    } = times;
    let Totals {
        started: _,
        completed: _,
        failed: _,
        bytes_read: _,
        bytes_written: _,
        body_bytes: _,
        checked: _,
        ended_by_close: _,
        missed_starts: _,
        resent: _,
        stray_bytes: _,
        strayed: _,
    } = totals;
};
