"""T3: connections that are opened again between slices, and those that a count of requests closes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from test_verdict_slice_rules import about_slices, sat, slices

from assay.model.block import Block
from assay.model.trial import Trial


def test_connections_that_are_opened_again_each_slice_bound_the_throughput() -> None:
    found = about_slices(sat(lambda block: slices(block, "c", lambda one: replace(one, reopened=64))))
    [one] = found.pop("T3")
    assert found == {} and one.subject.case == "c" and one.on_throughput == "at least"
    assert one.evidence == "100 % of its 64 connections were opened again for each slice, on average"
    few = sat(lambda block: slices(block, "c", lambda one: replace(one, reopened=5)))
    assert about_slices(few) == {}


@pytest.mark.parametrize(
    ("each", "share", "count"),
    [(1000, 0.5, 1000), (1050, 0.5, 1000), (100, 0.8, 100), (1000, 1.0, None), (1500, 0.5, None)],
)
def test_closes_that_follow_a_count_are_no_matter_of_pauses(
    each: int, share: float, count: int | None
) -> None:
    def closing(block: Block) -> Block:
        block = slices(block, "c", lambda one: replace(one, reopened=round(64 * share)))
        return replace(block, trials=tuple(map(counted, block.trials)))

    def counted(trial: Trial) -> Trial:
        made = trial.measurement
        if trial.case != "c" or made is None:
            return trial
        reopened, opened = 256, made.connections.opened
        completed = round(each * (reopened + opened / 2))
        requests = replace(made.requests, started=completed, completed=completed, failed=0, in_flight=0)
        connections = replace(made.connections, reopened=reopened)
        return replace(trial, measurement=replace(made, requests=requests, connections=connections))

    [one] = about_slices(sat(closing))["T3"]
    assert ("keepalive_requests" in one.remedy) == (count is not None)
    assert one.on_throughput == ("at least" if count is None else "none")
    if count is not None:
        assert one.evidence.endswith(f"it closes each after about {count:,} requests")


def test_connections_that_were_not_to_be_kept_are_nobody_s_fault() -> None:
    def not_kept(block: Block) -> Block:
        block = slices(block, "c", lambda one: replace(one, reopened=64))
        plans = (replace(trial, plan=replace(trial.plan, keep_alive=False)) for trial in block.trials)
        return replace(block, trials=tuple(plans))

    assert about_slices(sat(not_kept)) == {}
