"""W8 and those that say nothing beside it: what is under way at the end of a load is somebody's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import QUIET, changed, found, open_measurement, open_plan
from made_runs import SECOND, histogram, measurement
from msgspec.structs import replace

from assay.model.finding import Finding
from assay.model.measurement import Measurement, UnderWay
from assay.model.plan import LoadPlan

LONGEST_MS = measurement().service_time.max_ns / 1e6


def under_way(ages_ms: list[int], quiet_ms: int, edges_ns: int = 0) -> UnderWay:
    ages = histogram([ms * 1_000_000 for ms in ages_ms] or [1_000_000])
    if not ages_ms:
        ages = replace(ages, count=0)
    return UnderWay(ages=ages, quiet_ns=quiet_ms * 1_000_000, edges_ns=edges_ns)


def w8(ages_ms: list[int], quiet_ms: int, **changes: object) -> Finding | None:
    return found(changed(under_way=under_way(ages_ms, quiet_ms), **changes)).get("W8")


def test_a_server_that_answers_nothing_any_more_is_an_error() -> None:
    finding = w8([1_250] * 64, 1_200)
    assert finding is not None and finding.severity == "error"
    assert finding.evidence.startswith(
        "the server answered nothing in the last 1.20 s of 10.0 s (64 requests waiting)"
    )
    assert (finding.on_throughput, finding.on_times) == ("void", "void")


@pytest.mark.parametrize(
    ("ages_ms", "quiet_ms"),
    [
        ([], 5_000),  # nobody waits: connections think, or the rate is low
        ([1] * 64, 5_000),  # who waits has just asked
        ([450] * 64, 450),  # a collector may rest
        ([3] * 64, 1),
    ],
)
def test_usual_ends_are_no_silence(ages_ms: list[int], quiet_ms: int) -> None:
    assert w8(ages_ms, quiet_ms) is None


def test_a_slow_server_is_not_silent() -> None:
    """Its answers take a second; so the load ends with requests of that age."""
    slow = histogram([900_000_000, 1_000_000_000])
    assert w8([1_500] * 64, 1_500, service_time=slow) is None
    wrong = replace(measurement().first_byte_time, max_ns=1_000_000_000)
    assert w8([1_500] * 64, 1_500, first_byte_time=wrong) is None
    assert w8([2_100] * 64, 2_100, service_time=slow) is not None


def test_a_few_that_hang_while_others_are_answered_bound_the_times() -> None:
    finding = w8([1] * 61 + [2_000] * 3, 1)
    assert finding is not None and finding.severity == "warning"
    assert "3 requests had no answer after 500 ms or more (the oldest after 2.00 s)" in finding.evidence
    assert (finding.on_throughput, finding.on_times) == ("none", "at least")


def test_a_pause_of_our_own_is_no_silence_of_the_server() -> None:
    workers = (replace(measurement().workers[0], largest_stall_ns=900_000_000),)
    findings = found(changed(under_way=under_way([1_000] * 64, 1_000), workers=workers))
    assert "W8" not in findings and "H2" in findings


def hung(made: Measurement, seconds: float = 5.0) -> Measurement:
    """The same of a server that hung for the last seconds: it answered what it answered in the rest."""
    ages = under_way([int(seconds * 1e3)] * 64, int(seconds * 1e3), edges_ns=int(64 * seconds * SECOND))
    return replace(made, under_way=ages)


def test_nobody_else_is_blamed_for_what_a_silent_server_left_out() -> None:
    """Half of the answers in all of the time would be a generator that kept connections waiting."""
    half = measurement().completed // 2
    window = measurement().windows[-1]
    windows = (replace(window, start_ns=0, length_ns=10 * SECOND, started=half, completed=half),)
    worker = replace(measurement().workers[0], completed=half, cpu_ns=SECOND // 3)
    times = replace(measurement().service_time, count=half)
    made = changed(
        completed=half, started=half, windows=windows, workers=(worker,), service_time=times,
        requests=replace(measurement().requests, started=half + 64, completed=half, in_flight=64),
    )  # fmt: skip
    host = replace(QUIET, server_cpus_idle_share=0.6)
    before = found(made, host=host)
    assert "what they waited for is not known" in before["M1"].evidence
    findings = found(hung(made), host=host)
    assert findings.keys() >= {"W8"} and not findings.keys() & {"M1", "M7", "G1", "H2"}
    # Also where the generator, before that, did keep connections waiting: these figures are void anyway.
    late = replace(made, under_way=under_way([5_000] * 64, 5_000, edges_ns=64 * 3 * SECOND))
    assert found(late, host=host).keys() & {"W8", "M1"} == {"W8"}


def test_starts_that_a_silent_server_left_out_are_not_the_generator_s() -> None:
    asked: LoadPlan = open_plan()
    made = open_measurement(started=85_000, missed_starts=15_000)
    assert found(made, asked).keys() >= {"G3", "G4"}
    findings = found(hung(made), asked)
    assert "W8" in findings and not findings.keys() & {"G3", "G4"}


@settings(max_examples=40, deadline=None)
@given(
    ages_ms=st.lists(st.integers(1, 60_000), max_size=40),
    quiet_ms=st.integers(0, 60_000),
)
def test_it_speaks_exactly_of_what_waits_for_longer_than_answers_take(
    ages_ms: list[int], quiet_ms: int
) -> None:
    limit_ms = max(500.0, 2 * LONGEST_MS)
    near = any(abs(ms - limit_ms) <= 0.01 * limit_ms for ms in [*ages_ms, quiet_ms])
    finding = w8(ages_ms, quiet_ms)
    severity = finding.severity if finding else None
    waits = [ms for ms in ages_ms if ms > limit_ms]
    expected = None if not waits else "error" if quiet_ms > limit_ms else "warning"
    assert near or severity == expected
