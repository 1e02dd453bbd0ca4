"""Blocks: real servers that are alive at once and are interleaved, and what goes wrong in the midst of
them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import made_studies
import psutil
import pytest

from assay import store
from assay.core.errors import EXIT_INTERRUPTED
from assay.model.block import Block
from assay.model.interleaving import InterleavedSnapshot
from assay.model.run import Run
from assay.model.trial import Phase
from assay.plan.next import Slot
from assay.runner import Silent
from assay.runner.block import used_ns

RUNNER = [sys.executable, str(Path(made_studies.__file__))]


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A harness of its own that tells what happens."""
    with subprocess.Popen([*RUNNER, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], beginning: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    raise AssertionError(f"it never told {beginning!r}")


class Alive(Silent):
    """How many servers live while slices are taken, and what goes on."""

    def __init__(self) -> None:
        self.most = 0
        self.finished: list[Block] = []
        self.phases: set[Phase] = set()

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        supervisors = [supervisor for guard in psutil.Process().children() for supervisor in guard.children()]
        self.most = max(self.most, sum(bool(supervisor.children()) for supervisor in supervisors))

    def phase(self, slot: Slot, phase: Phase) -> None:
        self.phases.add(phase)

    def block_finished(self, block: Block) -> None:
        self.finished.append(block)


def check_arms(block: Block) -> None:
    """Arms of one block: as many rounds for each, in the balanced order, with CPU time for each slice."""
    rounds = [set(one.arm.rounds) for one in block.trials if one.arm and one.measurement]
    assert len({frozenset(each) for each in rounds}) == 1
    assert len(rounds[0]) % 2 == 0
    for place, one in enumerate(block.trials):
        assert one.arm and one.measurement and one.server and one.host
        assert one.measurement.measured_ns == len(rounds[0]) * block.lengths.slice_ns
        assert one.server.cpu_ns
        assert one.server.cpu_ns == used_ns(block.server_slices, place, one.measurement.measured_ns)
        assert one.contract and one.contract.after == 1


def test_the_servers_of_a_block_are_alive_at_once_and_take_slices(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.6)
    seen = Alive()
    run = made_studies.run(tmp_path, seen)
    assert [(one.number, one.block, len(one.trials)) for one in run.blocks] == [(0, 0, 2), (1, 1, 2)]
    assert run.trials == tuple(one for block in run.blocks for one in block.trials)
    assert seen.finished == list(run.blocks)
    assert seen.most == 2
    assert seen.phases == {"start", "contract", "warm-up", "measure", "contract again", "stop"}
    for block in run.blocks:
        check_arms(block)
        assert block.lengths.slice_ns >= 50_000_000
    assert "25 service times of greeting/slow" in run.blocks[0].lengths.why
    assert store.load(store.find(tmp_path / "results", "latest")) == run
    assert run.judgement is not None and run.judgement.comparisons[0].ratio is not None
    # Where other programs preempted all rounds of a block, one is left.
    ratio = run.judgement.comparisons[0].ratio
    assert "neighbouring slices" in ratio.method or ratio.n == 1
    assert descendants() == []


def test_the_servers_of_a_block_end_while_it_is_stored_and_judged(tmp_path: Path) -> None:
    class SeesThemEnd(Silent):
        def block_finished(self, block: Block) -> None:
            """In the thread that goes on: nobody waits for them before this is over."""
            pids = [one.server.pid for one in block.trials if one.server]
            assert len(pids) == 2
            left = [each for each in psutil.process_iter() if each.pid in pids]
            assert psutil.wait_procs(left, timeout=60)[1] == []

    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.6)
    assert len(made_studies.run(tmp_path, SeesThemEnd()).blocks) == 2
    assert descendants() == []


def test_what_a_service_used_is_told_of_the_server_whose_slice_it_was(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "asks upstream"], blocks=2, interleaved=True, measure_s=0.6)
    made_studies.add_upstream(tmp_path)
    run = made_studies.run(tmp_path)
    assert len(run.blocks) == 2
    for block in run.blocks:
        made_studies.check_upstream(block)
    assert store.load(store.find(tmp_path / "results", "latest")) == run
    assert descendants() == []


def test_a_server_that_dies_ends_its_arm_and_the_others_go_on(tmp_path: Path) -> None:
    made_studies.write(
        tmp_path, ["right", "dies", "exits", "slow"], blocks=1, interleaved=True, ready_timeout_s=1
    )
    (block,) = made_studies.run(tmp_path).blocks
    found = {one.case.removeprefix("greeting/"): one for one in block.trials}
    assert found["exits"].failure is not None and found["exits"].failure.stage == "start"
    died = found["dies"]
    assert died.failure is not None and "exit code 3" in died.failure.reason
    assert died.measurement is None and died.arm is not None and died.arm.slices
    for name in ("right", "slow"):
        assert found[name].measurement is not None and found[name].failure is None
    assert {times.arm for times in block.server_slices} == {
        place for place, one in enumerate(block.trials) if one.measurement
    }
    assert descendants() == []


def test_a_server_that_hangs_takes_no_slice_but_its_own(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "hangs"], blocks=1, interleaved=True, measure_s=0.4, warm_up_s=0.4)
    (block,) = made_studies.run(tmp_path).blocks
    right, hangs = sorted(block.trials, key=lambda one: one.case, reverse=True)
    assert right.arm and hangs.arm and right.measurement
    lengths = {one.length_ns for one in right.arm.slices if one.phase == "measured"}
    assert lengths == {block.lengths.slice_ns}
    assert all(one.completed > 0 for one in right.arm.slices if one.phase == "measured")
    assert sum(one.completed for one in hangs.arm.slices if one.phase == "measured") == 0


def test_ctrl_c_keeps_whole_rounds_and_the_run_goes_on_after_them(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=60)
    with running(tmp_path) as process:
        while "measured" not in read_until(process, "slices"):
            pass
        for _ in range(3):  # half a second each: more than four rounds
            read_until(process, "slices")
        process.send_signal(signal.SIGINT)
        assert read_until(process, "block") == "block 0 cut\n"
        assert process.wait() == EXIT_INTERRUPTED
    run = store.load(store.find(tmp_path / "results", "latest"))
    (block,) = run.blocks
    assert block.cut
    assert [len(one.arm.rounds) for one in block.trials if one.arm] == [
        max(len(one.arm.rounds) for one in block.trials if one.arm)
    ] * 2
    assert all(one.measurement for one in block.trials)
    assert run.judgement is not None and not run.judgement.complete


@pytest.mark.beside
def test_nothing_is_left_of_a_harness_that_was_killed_and_its_run_goes_on(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=2, interleaved=True, measure_s=0.3)
    with running(tmp_path) as process:
        read_until(process, "block 0")
        read_until(process, "slices")
        below = psutil.Process(process.pid).children(recursive=True)
        assert len(below) >= 6  # a guard, a supervisor and a server for each arm
        process.kill()
        process.wait()
    gone, alive = psutil.wait_procs(below, timeout=60)
    assert alive == [] and gone
    before = store.load(store.find(tmp_path / "results", "latest"))
    assert len(before.blocks) == 1
    run = made_studies.go_on(tmp_path)
    assert run.blocks[0] == before.blocks[0]
    assert [one.block for one in run.blocks] == [0, 1]
    assert run.judgement is not None and run.judgement.complete


@pytest.mark.beside
def test_servers_that_do_not_fit_follow_one_another_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=1, interleaved=True, measure_s=0.1)
    free = psutil.virtual_memory()._replace(available=300 << 20)
    monkeypatch.setattr("psutil.virtual_memory", lambda: free)
    told: list[str] = []

    class Told(Silent):
        def note(self, text: str) -> None:
            told.append(text)

    run: Run = made_studies.run(tmp_path, Told())
    assert run.blocks == () and len(run.trials) == 2
    assert run.header.design.sequential == (
        "all servers at once would take 0.5 GB of memory, 0.3 GB are free"
    )
    assert f"one after the other: {run.header.design.sequential}" in told
