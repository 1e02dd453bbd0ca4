"""Several generators' measurements as one: what the whole would have shown, from the parts."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import UNIT_NS, histogram, measurement
from msgspec.structs import replace

from assay.engine.merge import NotOneLoad, merged
from assay.model.measurement import (
    Histogram,
    Http3,
    Measurement,
    Outcome,
    RequestAccounting,
    UnderWay,
    Window,
)
from assay.stats.quantiles import quantiles

times = st.lists(st.integers(20, 600_000_000).map(lambda units: units * UNIT_NS), max_size=60)
PS = (0.01, 0.25, 0.5, 0.75, 0.9, 0.99)


def recorded(times_ns: list[int]) -> Histogram:
    """A histogram as the engine leaves it: also of nothing."""
    if not times_ns:
        empty = {"count": 0, "min_ns": 0, "max_ns": 0, "mean_ns": 0.0}
        return replace(histogram([1_000]), **empty)
    return replace(histogram(times_ns), stdev_ns=statistics.pstdev(times_ns))


def added(parts: list[Histogram]) -> Histogram:
    """The times of all parts, as of loads that differ in nothing else."""
    return merged([replace(measurement(), service_time=part) for part in parts]).service_time


@given(st.lists(times, min_size=1, max_size=4))
def test_percentiles_of_the_whole_are_those_of_all_samples(parts: list[list[int]]) -> None:
    every = [time for part in parts for time in part]
    whole, expected = added([recorded(part) for part in parts]), recorded(every)
    assert quantiles(whole, PS) == quantiles(expected, PS)
    assert whole.count == len(every)
    if every:
        assert (whole.min_ns, whole.max_ns) == (expected.min_ns, expected.max_ns)
        assert whole.mean_ns == pytest.approx(expected.mean_ns)
        assert whole.stdev_ns == pytest.approx(expected.stdev_ns, abs=1e-6 * expected.max_ns)


def test_the_deviation_of_the_whole_counts_what_lies_between_the_parts() -> None:
    parts = [recorded([1_000_000] * 3), recorded([3_000_000] * 3)]
    whole = [1_000_000] * 3 + [3_000_000] * 3
    assert added(parts).stdev_ns == pytest.approx(statistics.pstdev(whole))


def made(completed: int, failed: int, in_flight: int, **changes: object) -> Measurement:
    requests = RequestAccounting(
        started=completed + failed + in_flight, completed=completed, failed=failed, in_flight=in_flight
    )
    return replace(measurement(), requests=requests, **changes)


counts = st.integers(0, 1_000_000)


@given(st.lists(st.tuples(counts, counts, counts), min_size=1, max_size=5))
def test_accounting_balance_in_the_whole(parts: list[tuple[int, int, int]]) -> None:
    requests = merged([made(*part) for part in parts]).requests
    assert requests.started == requests.completed + requests.failed + requests.in_flight
    assert requests.completed == sum(part[0] for part in parts)


def test_accounting_that_do_not_balance_are_no_part_of_anything() -> None:
    wrong = replace(measurement(), requests=RequestAccounting(started=2, completed=1, failed=0, in_flight=0))
    with pytest.raises(NotOneLoad, match="generator 2"):
        merged([measurement(), wrong])
    with pytest.raises(NotOneLoad, match="no generator"):
        merged([])


def test_what_http3_has_beside_is_added_up() -> None:
    """Each field: one that is left out of the sum would be the first part's."""
    counts = [name for name, kind in Http3.__annotations__.items() if kind == "int"]
    part = Http3(**{name: 1 + place for place, name in enumerate(counts)}, resets={"A": 1}, lost={"B": 2})
    whole = merged([made(1, 0, 0, http3=part), made(1, 0, 0, http3=part), made(1, 0, 0)]).http3
    expected = {name: 2 * (1 + place) for place, name in enumerate(counts)}
    assert whole == Http3(**expected, resets={"A": 2}, lost={"B": 4})
    assert merged([made(1, 0, 0)]).http3 is None


def test_what_no_generator_had_an_answer_to_is_added_up() -> None:
    """Quiet since the latest answer of any; unknown where one of them does not know."""
    one = UnderWay(ages=recorded([1_000_000, 2_000_000]), quiet_ns=900, edges_ns=3_000_000)
    other = UnderWay(ages=recorded([5_000_000]), quiet_ns=400, edges_ns=-1_000_000)
    parts = [made(1, 0, 2, under_way=one), made(1, 0, 1, under_way=other)]
    whole = merged(parts).under_way
    assert whole is not None and whole.ages.count == 3 and whole.ages.max_ns == 5_000_000
    assert (whole.quiet_ns, whole.edges_ns) == (400, 2_000_000)
    assert merged([*parts, made(1, 0, 0)]).under_way is None


def test_starts_that_waited_add_up_and_most_in_use_is_only_a_bound() -> None:
    parts = [made(1, 0, 0, waited_starts=waited) for waited in (2, 3)]
    assert merged(parts).waited_starts == 5
    assert merged([*parts, made(1, 0, 0)]).waited_starts is None


def test_requests_sent_again_are_added_up() -> None:
    assert merged([made(1, 0, 0, resent=2), made(1, 0, 0), made(1, 0, 0, resent=3)]).resent == 5


def window(start_ns: int, completed: int, phase: str = "measured", length_ns: int = 100) -> Window:
    return Window(
        start_ns=start_ns,
        length_ns=length_ns,
        phase="measured" if phase == "measured" else "warmup",
        started=completed,
        completed=completed,
        failed=0,
        bytes_read=0,
    )


def test_windows_are_laid_over_each_other_by_phase_and_place() -> None:
    """The second generator's warm-up ended a moment later, and its run was longer."""
    one = (window(0, 1, "warmup"), window(100, 10), window(200, 20))
    other = (window(0, 2, "warmup"), window(103, 30), window(203, 40), window(303, 50, length_ns=40))
    whole = merged(
        [
            replace(measurement(), windows=one, warmup_ns=100),
            replace(measurement(), windows=other, warmup_ns=103),
        ]
    )
    assert [(w.start_ns, w.phase, w.completed, w.length_ns) for w in whole.windows] == [
        (0, "warmup", 3, 100),
        (100, "measured", 40, 100),
        (200, "measured", 60, 100),
        (303, "measured", 50, 40),
    ]


def test_warm_ups_that_ended_apart_are_not_one_load() -> None:
    windows = (window(0, 1), window(100, 1))
    parts = [replace(measurement(), windows=windows, warmup_ns=ns) for ns in (0, 5_000_000)]
    with pytest.raises(NotOneLoad, match="5 ms apart"):
        merged(parts)


def test_failures_are_counted_by_kind_and_keep_an_example() -> None:
    reset = Outcome(origin="peer", kind="reset", count=2, example="after 3 bytes")
    slow = Outcome(origin="network", kind="timeout", count=1)
    parts = [replace(measurement(), outcomes=outcomes) for outcomes in ((reset,), (), (slow, reset))]
    assert merged(parts).outcomes == (replace(reset, count=4), slow)


def test_workers_are_all_there_and_counts_are_sums() -> None:
    whole = merged([measurement(), measurement(), measurement()])
    assert len(whole.workers) == 3 * len(measurement().workers)
    assert whole.completed == 3 * measurement().completed
    assert whole.statuses == {status: 3 * count for status, count in measurement().statuses.items()}
    assert whole.connections.asked == 3 * measurement().connections.asked


def test_the_whole_of_one_part_is_that_part() -> None:
    assert merged([measurement()]) == measurement()


def test_times_that_cannot_be_added_are_not_one_load() -> None:
    """Whoever merges knows of no other problem: it would end the command with a traceback."""
    whole = measurement()
    other_unit = replace(whole.service_time, unit_ns=7)
    with pytest.raises(NotOneLoad, match="in several units"):
        merged([whole, replace(whole, service_time=other_unit)])
    damaged = replace(whole.service_time, data="no histogram")
    with pytest.raises(NotOneLoad, match="damaged histogram"):
        merged([whole, replace(whole, service_time=damaged)])
