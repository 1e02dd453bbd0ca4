"""H2 in blocks: servers that worked while they rested are no other program."""

from __future__ import annotations

import pytest
from made_runs import case, interleaved, run
from msgspec.structs import replace

from assay.model.block import Block, ServerSlice
from assay.model.trial import Trial
from assay.verdict import judge

ROUNDS = 10
BLOCKS = 4


def rested(block: Block, share: float) -> Block:
    """The block with `b` and `c` at work in the slices of `a` for that share of a core together."""
    used = {0: (10**8, round(share / 4 * 1e8), round(3 * share / 4 * 1e8))}
    own = {arm: tuple(10**8 * (other == arm) for other in range(3)) for arm in (1, 2)}
    slices = tuple(
        ServerSlice(number=round_number * 3 + arm, arm=arm, length_ns=10**8, cpu_ns=(used | own)[arm])
        for round_number in range(ROUNDS)
        for arm in range(3)
    )
    return replace(block, server_slices=slices)


def busy(trial: Trial, others: float) -> Trial:
    """The trial with so many cores busy beside its client and its server."""
    assert trial.host is not None and trial.server is not None and trial.measurement is not None
    used = [one.cpu_ns / one.wall_ns for one in trial.measurement.workers]
    assert trial.server.cpu_ns is not None
    ours = sum(used) + trial.server.cpu_ns / trial.measurement.measured_ns
    host = replace(trial.host, busy_cores=ours + others, own_cpu_ns=None, server_cpus_idle_share=None)
    return replace(trial, host=host)


@pytest.mark.parametrize(
    ("resting", "told"),
    [
        (0.0, "other programs kept 0.6 cores busy"),
        (0.6, "servers of its block that rested kept 0.6 cores busy"),
        (0.4, "servers of its block that rested kept 0.4 cores busy, other programs 0.2"),
    ],
)
def test_what_resting_servers_used_is_not_blamed_on_other_programs(resting: float, told: str) -> None:
    made = run([case("a"), case("b"), case("c")], (), BLOCKS)
    rates = {"a": [10_000.0] * ROUNDS, "b": [20_000.0] * ROUNDS, "c": [15_000.0] * ROUNDS}
    for number in range(BLOCKS):
        block = rested(interleaved(rates, number, number), resting)
        trials = tuple(busy(one, 0.6) if one.case == "a" else one for one in block.trials)
        made = made.after(replace(block, trials=trials))
    [finding] = [one for one in judge(made, 0).findings if one.code == "H2"]
    assert finding.subject.case == "a" and finding.evidence.partition(" (in ")[0] == told
