//! What recorders add up to.

use super::*;

fn times(end_ns: u64) -> Times {
    Times {
        started_at_unix_ns: 0,
        window_ns: 100,
        measure_from_ns: end_ns,
        end_ns,
    }
}

#[test]
fn a_live_view_shows_windows_that_all_workers_have_ended() {
    let recorders = [1, 3].map(|windows| {
        let recorder = Recorder::new(false, false);
        recorder.close_windows(windows);
        Arc::new(recorder)
    });
    assert_eq!(
        snapshot(Kept::alone(&recorders), times(350)).windows.len(),
        1
    );
}

#[test]
fn a_live_view_shows_no_window_that_ended_after_it_was_asked_for() {
    let recorder = Recorder::new(false, false);
    recorder.close_windows(3);
    let windows = snapshot(Kept::alone(&[Arc::new(recorder)]), times(250)).windows;
    let lengths: Vec<u64> = windows.iter().map(|window| window.length_ns).collect();
    assert_eq!(lengths, [100, 100]);
}

#[test]
fn the_live_views_cpu_is_that_of_all_workers_by_their_time() {
    let view = |workers: &[(u64, u64)]| {
        let recorder = |(cpu_ns, wall_ns): &(u64, u64)| {
            let recorder = Recorder::new(false, false);
            recorder.cpu_ns.set(*cpu_ns);
            recorder.wall_ns.set(*wall_ns);
            Arc::new(recorder)
        };
        let recorders: Vec<_> = workers.iter().map(recorder).collect();
        snapshot(Kept::alone(&recorders), times(350)).client_cpu
    };
    let cases: [(&[(u64, u64)], f64); 4] = [
        (&[(0, 0)], 0.0),
        (&[(30, 40)], 0.75),
        (&[(100, 100), (20, 100)], 0.6),
        (&[(0, 300), (75, 100)], 0.1875),
    ];
    for (workers, cpu) in cases {
        assert!((view(workers) - cpu).abs() < 1e-9, "{workers:?}");
    }
}

#[test]
fn a_request_that_is_missing_from_the_books_or_in_them_twice_is_an_error() {
    type Figure = fn(&Recorder) -> &Counter;
    const FIGURES: [Figure; 7] = [
        |recorder| &recorder.totals.started,
        |recorder| &recorder.totals.completed,
        |recorder| &recorder.totals.failed,
        |recorder| &recorder.left_in_flight,
        |recorder| &recorder.warmup.started,
        |recorder| &recorder.warmup.completed,
        |recorder| &recorder.warmup.failed,
    ];
    // What was carried out of the warm-up ends in the measured phase.
    let counts = [9, 8, 3, 2, 10, 4, 2];
    let balance = |more: Option<Figure>| {
        let recorders = [(); 2].map(|()| Arc::new(Recorder::new(false, false)));
        for (figure, count) in FIGURES.iter().zip(counts) {
            figure(&recorders[1]).set(count);
        }
        if let Some(figure) = more {
            figure(&recorders[0]).add(1);
        }
        accounting(&recorders)
    };
    let Accounting {
        started,
        completed,
        failed,
        in_flight,
    } = balance(None).unwrap();
    assert_eq!((started, completed, failed, in_flight), (19, 12, 5, 2));
    for (place, figure) in FIGURES.into_iter().enumerate() {
        match balance(Some(figure)) {
            Err(RunError::Unbalanced {
                started,
                completed,
                failed,
                in_flight,
            }) => {
                let more = [started - 19, completed - 12, failed - 5, in_flight - 2];
                let mut wanted = [0; 4];
                wanted[[0, 1, 2, 3, 0, 1, 2][place]] = 1;
                assert_eq!(more, wanted);
            }
            other => panic!("{place}: {other:?}"),
        }
    }
}

#[test]
fn versions_of_answers_in_the_warm_up_are_not_those_of_the_measured_phase() {
    let cases: [((u64, u64), (u64, u64)); 4] = [
        ((5, 0), (0, 3)),
        ((5, 2), (3, 0)),
        ((0, 9), (2, 4)),
        ((7, 7), (0, 0)),
    ];
    for ((old_before, new_before), (old, new)) in cases {
        let recorder = Recorder::new(false, false);
        let answer = |in_http10, in_http11| {
            recorder.in_http10.add(in_http10);
            recorder.statuses[200].add(in_http10 + in_http11);
        };
        answer(old_before, new_before);
        recorder.begin_measuring(0);
        answer(old, new);
        let wanted: BTreeMap<String, u64> = [("1.0", old), ("1.1", new)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(version, count)| (version.to_owned(), count))
            .collect();
        assert_eq!(http_versions(&[Arc::new(recorder)]), wanted);
    }
}

#[test]
fn a_live_view_shows_the_latest_windows_of_a_long_run() {
    const COUNT: u64 = 2 * SNAPSHOT_WINDOWS as u64;
    let recorders = [(); 2].map(|()| Arc::new(Recorder::new(false, false)));
    for number in 0..COUNT {
        for recorder in &recorders {
            recorder.totals.started.add(number);
            recorder.close_windows(1);
        }
    }
    // The last one but two is over.
    let windows = snapshot(Kept::alone(&recorders), times((COUNT - 2) * 100 + 50)).windows;
    let seen = windows.iter().map(|one| (one.start_ns, one.started));
    let first = COUNT - 2 - SNAPSHOT_WINDOWS as u64;
    assert!(seen.eq((first..COUNT - 2).map(|number| (number * 100, 2 * number))));
    assert!(windows.iter().all(|one| one.length_ns == 100));
}
