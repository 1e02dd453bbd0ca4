"""What an interleaved block says of its arms, and that pairs are made of its slices."""

from __future__ import annotations

import made_runs
import pytest
from msgspec.structs import replace

from assay.model.block import Block, ServerSlice
from assay.model.run import Run
from assay.runner.block import services_used_ns, used_ns
from assay.verdict.pairs import pair_of
from assay.verdict.see_runs import see_run

MS = 1_000_000


def run_of(*blocks: Block) -> Run:
    made = made_runs.run([made_runs.case("a"), made_runs.case("b")], ())
    for block in blocks:
        made = made.after(block)
    return made


def test_rounds_are_the_rates_of_measured_slices() -> None:
    arm = made_runs.interleaved({"a": [1000.0, 1100.0]}).trials[0].arm
    assert arm is not None
    warm = replace(arm.slices[0], phase="warmup", round=7)
    arm = replace(arm, slices=(warm, *arm.slices))
    assert arm.rounds == {0: pytest.approx(1000), 1: pytest.approx(1100)}
    assert arm.load_ns == 300 * MS


def test_who_worked_while_whose_slice_it_was_is_told() -> None:
    slices = (
        ServerSlice(number=0, arm=0, length_ns=100 * MS, cpu_ns=(90 * MS, 2 * MS)),
        ServerSlice(number=1, arm=1, length_ns=100 * MS, cpu_ns=(30 * MS, 90 * MS)),
        ServerSlice(number=2, arm=0, length_ns=100 * MS, cpu_ns=(90 * MS, None)),
        ServerSlice(number=3, arm=1, length_ns=100 * MS, cpu_ns=(10 * MS, 90 * MS)),
    )
    block = made_runs.interleaved({"a": [1000.0], "b": [1000.0]}, server_slices=slices)
    assert [(rest.number, rest.whose, rest.cpu_ns) for rest in block.rested("a")] == [
        (1, "b", 30 * MS),
        (3, "b", 10 * MS),
    ]
    assert [(rest.number, rest.whose, rest.cpu_ns) for rest in block.rested("b")] == [(0, "a", 2 * MS)]


def test_the_cpu_time_of_slices_that_nobody_looked_at_in_time_is_not_nought() -> None:
    slices = [
        ServerSlice(number=2 * round_number, arm=0, length_ns=98 * MS, cpu_ns=(49 * MS, 1 * MS))
        for round_number in range(10)
        if round_number % 2  # every second look came too late
    ]
    assert used_ns(slices, 0, 1000 * MS) == 500 * MS
    assert used_ns(slices, 1, 1000 * MS) is None  # it was never seen at work
    unseen = ServerSlice(number=1, arm=1, length_ns=100 * MS, cpu_ns=(None, None))
    assert used_ns([*slices, unseen], 1, 1000 * MS) is None


def test_a_service_s_cpu_time_is_that_of_the_arm_s_own_slices() -> None:
    slices = [
        ServerSlice(number=0, arm=0, length_ns=98 * MS, cpu_ns=(1, 1), services_cpu_ns={"db": 49 * MS}),
        ServerSlice(
            number=1, arm=1, length_ns=98 * MS, cpu_ns=(1, 1), services_cpu_ns={"db": 0, "cache": MS}
        ),
        ServerSlice(number=2, arm=0, length_ns=98 * MS, cpu_ns=(1, 1)),  # nobody could read it
    ]
    assert services_used_ns(slices, 0, 1000 * MS) == {"db": 500 * MS}
    assert services_used_ns(slices, 1, 98 * MS) == {"db": 0, "cache": MS}
    assert services_used_ns(slices[:1], 1, 98 * MS) == {}


def test_a_pair_is_made_of_neighbouring_slices_not_of_means() -> None:
    # The machine halves in mid-block, after b has lost its first slice: by means a would seem ahead.
    rates = {"a": [1000.0, 1000.0, 500.0], "b": [1000.0, 500.0]}
    blocks = []
    for block in range(3):
        made = made_runs.interleaved(rates, block, block)
        b = made.trials[1]
        assert b.arm is not None
        later = tuple(replace(one, round=one.round + 1) for one in b.arm.slices)
        b = replace(b, arm=replace(b.arm, slices=later))
        blocks.append(replace(made, trials=(made.trials[0], b)))
    seen = see_run(run_of(*blocks))
    assert len(seen.interleaved) == 3
    assert all(case.interleaved for case in seen.cases)
    a, b_seen = seen.cases
    pair = pair_of(seen, (), a, b_seen).pair
    assert pair is not None
    assert pair.ratio.value == pytest.approx(1.0)
    assert "slices" in pair.ratio.method


@pytest.mark.parametrize(("rounds", "contradicts"), [(1, True), (10, False)])
def test_each_slice_has_edges_of_its_own_at_which_requests_are_cut(rounds: int, contradicts: bool) -> None:
    # 64 connections at 64 ms: 850/s are 15 % too few, unless each 100 ms has edges.
    short = made_runs.measurement(850, 1.0)
    times = made_runs.uniform_histogram(850, 64 * MS)
    short = replace(short, service_time=times, first_byte_time=times)
    made = made_runs.interleaved({"a": [850.0] * rounds, "b": [1000.0] * rounds})
    made = replace(made, trials=(replace(made.trials[0], measurement=short), made.trials[1]))
    found = made_runs.findings_of(run_of(made))
    assert ("M1" in found) is contradicts


def edged(mean_ms: float, edges_ms: float | None, failed: int = 0) -> Run:
    """64 connections at 1,000/s in ten slices of 100 ms, with recorded times of that mean, and edges."""
    times = made_runs.uniform_histogram(1000, mean_ms * MS)
    seen = made_runs.measurement(1000, 1.0, failed=failed, service_time=times, first_byte_time=times)
    made = made_runs.interleaved({"a": [1000.0] * 10, "b": [1000.0] * 10})
    trial = made.trials[0]
    assert trial.arm is not None
    each = None if edges_ms is None else round(edges_ms * MS)
    slices = tuple(replace(one, edges_ns=each) for one in trial.arm.slices)
    trial = replace(trial, measurement=seen, arm=replace(trial.arm, slices=slices))
    return run_of(replace(made, trials=(trial, made.trials[1])))


@pytest.mark.parametrize(
    ("mean_ms", "edges_ms", "said"),
    [
        (30, 3400, ""),  # more than half is cut off: 30 + 34 are 64 in flight
        (30, None, "30.0 requests in flight"),  # an older record: at most a mean time for each slice
        (55, 0, "55.0 requests in flight"),  # within a mean time for each slice, and yet nine stood idle
        (55, 300, "55.0 ms, with 3.0 cut off by the ends of slices, is 58.0 requests in flight"),
        (90, -2600, ""),  # some were begun long before their slices
        (90, -400, "with 4.0 begun before their slices taken off, is 86.0 requests in flight"),
    ],
)
def test_what_slices_cut_off_belongs_to_what_was_in_flight(
    mean_ms: float, edges_ms: float | None, said: str
) -> None:
    found = made_runs.findings_of(edged(mean_ms, edges_ms))
    assert ("M1" in found) is bool(said)
    assert not said or said in found["M1"].evidence


def test_of_requests_that_failed_no_edge_is_known() -> None:
    # One that hung through the others' slices would be taken off by more than the slices are long.
    assert "M1" not in made_runs.findings_of(edged(60, -4000, failed=1))
    assert "M1" in made_runs.findings_of(edged(20, -4000, failed=1))
