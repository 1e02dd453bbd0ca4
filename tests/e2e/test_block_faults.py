"""Blocks in which one server is no candidate at all: the others are measured, and what it cost it is told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import made_studies
import psutil
import pytest

from assay.model.finding import Finding
from assay.model.interleaving import InterleavedSnapshot
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.next import Slot
from assay.runner import Silent


def trials_of(run: Run) -> dict[str, Trial]:
    """By the server's name, of the only block."""
    (block,) = run.blocks
    return {one.case.removeprefix("greeting/"): one for one in block.trials}


def about(run: Run, case: str) -> dict[str, Finding]:
    assert run.judgement is not None
    return {one.code: one for one in run.judgement.findings if one.subject.case == f"greeting/{case}"}


class KillsSupervisor(Silent):
    """Kills what watches over the first server, in the midst of what is measured."""

    def __init__(self) -> None:
        self.killed: list[str] = []

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        if self.killed or snapshot.arms[0].snapshot.phase != "measured":
            return
        guards = psutil.Process().children()
        supervisors = [one for guard in guards for one in guard.children() if one.children()]
        supervisor = next(one for one in supervisors if "right" in " ".join(one.children()[0].cmdline()))
        supervisor.kill()
        self.killed.append("right")


@pytest.mark.beside
def test_a_supervisor_that_is_killed_costs_its_own_server_that_block(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=1, interleaved=True, measure_s=2.0)
    run = made_studies.run(tmp_path, kills := KillsSupervisor())
    found = trials_of(run)
    assert kills.killed == ["right"]
    assert found["right"].measurement is None and found["right"].failure is not None
    assert "under load" in found["right"].failure.reason
    assert found["slow"].measurement is not None and found["slow"].failure is None
    missed = about(run, "right")["T4"]
    assert missed.on_throughput == "at most" and "in 1 block of 1 after " in missed.evidence
    assert psutil.Process().children(recursive=True) == []


@pytest.mark.beside
def test_a_server_that_never_gets_warm_is_measured_after_its_bound(tmp_path: Path) -> None:
    made_studies.write(
        tmp_path,
        ["right", "never warms"],
        blocks=1,
        interleaved=True,
        measure_s=0.6,
        warm_up_s=0.3,
        warm_up_max_s=2.0,
    )
    found = trials_of(made_studies.run(tmp_path))
    cold = found["never-warms"]
    assert cold.measurement is not None and cold.warm_up is not None
    assert not cold.warm_up.steady and cold.warm_up.reason
    assert cold.warm_up.took_ns is not None and cold.warm_up.took_ns >= cold.warm_up.bound_ns == 2_000_000_000
    right = found["right"]
    assert right.measurement is not None and right.measurement.completed > 0


def test_a_server_ten_thousand_times_slower_ends_no_block(tmp_path: Path) -> None:
    """Each of its answers takes as long as several slices, so nearly all come in the other's time."""
    made_studies.write(
        tmp_path, ["right", "crawls"], blocks=1, interleaved=True, measure_s=0.4, warm_up_s=0.4
    )
    run = made_studies.run(tmp_path)
    found = trials_of(run)
    right, crawls = found["right"], found["crawls"]
    assert right.measurement is not None and crawls.measurement is not None
    assert right.measurement.completed > 100 * crawls.measurement.completed
    assert right.arm is not None and crawls.arm is not None
    assert right.arm.rounds.keys() == crawls.arm.rounds.keys()
    assert all(rate > 0 for rate in right.arm.rounds.values())


@pytest.mark.beside
def test_a_warm_up_holds_some_service_times_of_a_slow_server_in_each_slice(tmp_path: Path) -> None:
    """Answers of 50 ms: none to a connection in the first slices, one in a slice as the study gives it."""
    made_studies.write(
        tmp_path,
        ["right", "takes long"],
        blocks=1,
        interleaved=True,
        measure_s=2.0,
        warm_up_s=0.3,
        warm_up_max_s=8.0,
    )
    found = trials_of(made_studies.run(tmp_path))
    arm = found["takes-long"].arm
    assert arm is not None
    warming = [one.length_ns for one in arm.slices if one.phase == "warmup"]
    assert warming[:3] == [10_000_000] * 3
    assert max(warming) >= 200_000_000
