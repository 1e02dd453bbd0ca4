"""Whole small studies: real servers that misbehave, real loads, a harness that dies."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import made_servers
import made_studies
import msgspec
import psutil
import pytest

from assay import runner as trial
from assay import store
from assay.core.errors import EnvironmentLacks, InputError
from assay.model.run import Run
from assay.model.trial import Failure, Phase, Trial
from assay.plan.next import Slot
from assay.plan.next.study import slots_of
from assay.runner import CutShort, Interrupted, Silent
from assay.store.lines import LinePlace, seal
from assay.verdict import see_run

pytestmark = pytest.mark.beside

RUNNER = [sys.executable, str(Path(made_studies.__file__))]


def trials_of(run: Run, name: str) -> list[Trial]:
    return [trial for trial in run.trials if trial.case == f"greeting/{name}"]


def failure_of(run: Run, name: str) -> Failure:
    (first, *_) = trials_of(run, name)
    assert first.failure is not None
    return first.failure


def descendants(of: int | None = None) -> list[psutil.Process]:
    return psutil.Process(of).children(recursive=True)


def wait_until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


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


def test_a_study_goes_on_past_the_servers_that_fail(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "exits", "wrong body"], blocks=3, ready_timeout_s=1)
    run = made_studies.run(tmp_path)
    assert {(trial.case, trial.block) for trial in run.trials} == {
        (f"greeting/{name}", block) for name in ("right", "exits", "wrong-body") for block in range(3)
    }
    assert failure_of(run, "exits").stage == "start"
    assert "configuration missing" in failure_of(run, "exits").log_tail
    assert failure_of(run, "wrong-body").stage == "contract"
    logs = list((tmp_path / "results" / run.header.run_id / "logs").glob("greeting-exits-*.log"))
    assert len(logs) == 2  # given up after two blocks
    assert trials_of(run, "exits")[2].failure == trials_of(run, "exits")[1].failure
    assert store.load(store.find(tmp_path / "results", "latest")) == run
    assert descendants() == []


def test_the_control_is_the_first_server_once_more_on_its_own(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=3, control_blocks=3)
    run = made_studies.run(tmp_path)
    again = [trial for trial in run.trials if trial.case == "greeting/right+again"]
    assert [trial.block for trial in again] == [0, 1, 2]
    assert all(trial.measurement is not None for trial in again)
    pids = {trial.server.pid for trial in (*again, *trials_of(run, "right")) if trial.server}
    assert len(pids) == 6  # a process of its own each time
    assert again[0].plan.load == trials_of(run, "right")[0].plan.load
    (control,) = see_run(run).controls.values()
    assert control.n == 3 and control.low is not None


class Phases(Silent):
    """Notes each phase, and what runs when a trial begins."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.left: list[psutil.Process] = []

    def trial_started(self, slot: Slot) -> None:
        self.left += descendants()

    def phase(self, slot: Slot, phase: Phase) -> None:
        self.phases.append(phase)


def test_a_server_is_gone_before_the_next_one_starts(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "leaves a child"], blocks=1)
    seen = Phases()
    made_studies.run(tmp_path, seen)
    assert seen.left == []
    assert tuple(seen.phases) == PHASES * 2


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("dies", "the server ended with exit code 3 under load; it said: a fatal mistake"),
        ("killed", "the server was ended by SIGKILL under load"),
    ],
)
def test_a_server_that_dies_under_load_is_a_row_with_the_reason(
    tmp_path: Path, mode: str, reason: str
) -> None:
    made_studies.write(tmp_path, [mode], blocks=1, measure_s=20)
    seen = Phases()
    failed = failure_of(made_studies.run(tmp_path, seen), mode)
    assert "contract again" not in seen.phases  # noticed while the load ran, not after it
    assert (failed.stage, failed.reason) == ("load", reason)
    assert mode == "killed" or failed.log_tail.endswith("a fatal mistake")


def test_wrong_answers_under_load_are_counted(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["wrong under load"], blocks=1, warm_up_s=0)
    (seen,) = made_studies.run(tmp_path).trials
    assert seen.contract is not None
    assert seen.contract.during_wrong == 99
    assert seen.contract.after_wrong == 0


def test_wrong_answers_after_the_load_are_counted(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["wrong after"], blocks=1)
    (seen,) = made_studies.run(tmp_path).trials
    assert seen.contract is not None
    assert (seen.contract.before_wrong, seen.contract.after_wrong) in ((0, 0), (0, 1))
    assert seen.contract.during_wrong > 0


def manifest(folder: Path, name: str) -> Path:
    return folder / "servers" / "greeting" / name / "server.toml"


def test_a_missing_tool_is_a_row_with_what_to_do(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "exits"], blocks=2)
    path = manifest(tmp_path, "exits")
    needs = '[[requires]]\ncommand = "no-such-tool"\ndebian = "no-such-package"\n'
    path.write_text(path.read_text().replace("[version]", needs + "[version]"))
    run = made_studies.run(tmp_path)
    failed = failure_of(run, "exits")
    assert failed.stage == "requires"
    assert failed.reason == "no-such-tool not found: install it with: apt-get install no-such-package"
    assert len(trials_of(run, "exits")) == 2
    assert all(trial.measurement for trial in trials_of(run, "right"))


def test_a_build_that_fails_is_a_row_with_the_end_of_its_log(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1)
    path = manifest(tmp_path, "right")
    build = '[build]\ncommand = ["sh", "-c", "echo a mistake in line 3; exit 4"]\n'
    path.write_text(path.read_text().replace("[version]", build + "[version]"))
    failed = failure_of(made_studies.run(tmp_path), "right")
    assert failed.stage == "build"
    assert failed.reason.startswith("the build ended with exit code 4; its log is ")
    assert failed.log_tail == "a mistake in line 3"


def test_a_load_that_the_machine_cannot_offer_is_a_row(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    made_studies.write(tmp_path, ["right"], blocks=1, connections=min(hard + 1, 1_000_000))
    failed = failure_of(made_studies.run(tmp_path), "right")
    assert failed.stage == "load"
    assert "descriptors" in failed.reason or "files" in failed.reason


class InterruptAt(Silent):
    """Ctrl-C at the begin of a phase of one trial."""

    def __init__(self, number: int, phase: Phase) -> None:
        self.number, self.at = number, phase

    def phase(self, slot: Slot, phase: Phase) -> None:
        if (slot.number, phase) == (self.number, self.at):
            raise KeyboardInterrupt


PHASES: tuple[Phase, ...] = ("start", "contract", "warm-up", "measure", "contract again", "stop")


@pytest.mark.parametrize("phase", PHASES)
def test_a_run_that_was_interrupted_is_gone_on_with_exactly(tmp_path: Path, phase: Phase) -> None:
    made_studies.write(tmp_path, ["right", "plain"], blocks=2)
    with pytest.raises(Interrupted) as caught:
        made_studies.run(tmp_path, InterruptAt(2, phase))
    assert [trial.number for trial in caught.value.run.trials] == [0, 1]
    assert f"assay run --resume {caught.value.run.header.run_id}" in str(caught.value)
    assert caught.value.exit_code == 130
    assert descendants() == []
    run = made_studies.go_on(tmp_path)
    assert [trial.number for trial in run.trials] == [0, 1, 2, 3]
    order = [(slot.case, slot.block) for slot in slots(tmp_path)]
    assert [(trial.case, trial.block) for trial in run.trials] == order
    assert all(trial.measurement for trial in run.trials)
    assert made_studies.go_on(tmp_path).trials == run.trials  # nothing is left to do


def test_blocks_that_the_first_ones_ask_for_are_run_and_gone_on_with(tmp_path: Path) -> None:
    """No real servers are known to within a hundredth of a percent after three blocks."""
    made_studies.write(tmp_path, ["right", "plain"], blocks=3, more_blocks=1, measure_s=1)
    with pytest.raises(Interrupted) as caught:
        made_studies.run(tmp_path, InterruptAt(7, "measure"))
    assert "interrupted after 7 of 8 trials" in str(caught.value)
    run = made_studies.go_on(tmp_path)
    assert [trial.block for trial in run.trials] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert all(trial.measurement for trial in run.trials)
    assert run.judgement is not None and run.judgement.complete
    assert made_studies.go_on(tmp_path).trials == run.trials


def slots(folder: Path) -> tuple[Slot, ...]:
    return slots_of(store.load(store.find(folder / "results", "latest")).header)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_the_harness_loses_no_finished_trial_and_leaves_no_process(
    tmp_path: Path, how: signal.Signals
) -> None:
    made_studies.write(tmp_path, ["right", "leaves a child"], blocks=2, measure_s=1)
    with running(tmp_path) as harness:
        read_until(harness, "snapshot 2 measured")
        left = descendants(harness.pid)
        assert left
        harness.send_signal(how)
        harness.wait(60)
    wait_until(lambda: not any(process.is_running() for process in left))
    stored = store.load(store.find(tmp_path / "results", "latest"))
    assert [trial.number for trial in stored.trials] == [0, 1]
    assert [trial.number for trial in made_studies.go_on(tmp_path).trials] == [0, 1, 2, 3]


@pytest.mark.parametrize("at", ["phase 0 start", "snapshot 0 warmup", "snapshot 0 measured"])
def test_ctrl_c_ends_a_run_at_once_and_leaves_no_process(tmp_path: Path, at: str) -> None:
    made_studies.write(tmp_path, ["leaves a child"], blocks=1, measure_s=60, warm_up_s=1)
    with running(tmp_path) as harness:
        read_until(harness, at)
        harness.send_signal(signal.SIGINT)
        told = read_until(harness, "error")
        left = descendants(harness.pid)
        assert harness.wait(60) == 130
    assert "interrupted after 0 of 1 trial" in told
    wait_until(lambda: not any(process.is_running() for process in left))
    wait_until(
        lambda: not any(str(tmp_path) in " ".join(process.info["cmdline"] or []) for process in everyone())
    )


def test_ctrl_c_ends_a_build(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1)
    path = manifest(tmp_path, "right")
    build = '[build]\ncommand = ["sh", "-c", "echo $$ > ../pid; sleep 600"]\n'
    path.write_text(path.read_text().replace("[version]", build + "[version]"))
    with running(tmp_path) as harness:
        wait_until(lambda: any(pid.read_text() for pid in (tmp_path / "cache").rglob("pid")))
        left = descendants(harness.pid)
        assert len(left) >= 2
        harness.send_signal(signal.SIGINT)
        assert "interrupted after 0 of 1 trial" in read_until(harness, "error")
        assert harness.wait(60) == 130
    wait_until(lambda: not any(process.is_running() for process in left))


def everyone() -> Iterator[psutil.Process]:
    return psutil.process_iter(["cmdline"])


def test_two_runs_at_once_are_refused_with_the_others_name(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1)
    settings = made_servers.settings(tmp_path)
    with trial.machine_lock(settings):
        done = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == EnvironmentLacks.exit_code
    assert f"another run measures on this machine (process {os.getpid()} of " in done.stdout
    assert not (tmp_path / "results").exists()
    assert made_studies.run(tmp_path).trials[0].measurement


class FullDiskAfter(Silent):
    """No file may grow any more once a trial is stored, as on a full disk."""

    def __init__(self, results: Path, number: int) -> None:
        self.results, self.number = results, number

    def trial_finished(self, trial: Trial) -> None:
        if trial.number == self.number:
            room = store.find(self.results, "latest").stat().st_size + 500
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))


def test_a_full_disk_ends_the_run_with_what_is_stored_intact(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=3)
    try:
        with pytest.raises(CutShort, match="no room left to write .*; make room; go on with") as ending:
            made_studies.run(tmp_path, FullDiskAfter(tmp_path / "results", 1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    stored = store.read(store.find(tmp_path / "results", "latest"))
    assert stored.notes == ()
    assert [trial.number for trial in stored.run.trials] == [0, 1]
    assert ending.value.run.trials == stored.run.trials
    assert descendants() == []
    assert [trial.number for trial in made_studies.go_on(tmp_path).trials] == [0, 1, 2]


def test_a_low_limit_of_open_files_is_raised_and_told(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, connections=200)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]

    def low() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))

    done = subprocess.run(
        [*RUNNER, str(tmp_path)], capture_output=True, text=True, check=False, preexec_fn=low
    )
    assert f"note raised the limit of open files from 100 to {hard}" in done.stdout
    (seen,) = store.load(store.find(tmp_path / "results", "latest")).trials
    assert seen.measurement is not None
    assert seen.measurement.connections.opened == 200


def test_a_run_is_not_gone_on_with_where_it_would_not_be_the_same(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=2)
    with pytest.raises(Interrupted):
        made_studies.run(tmp_path, InterruptAt(1, "start"))
    path = store.find(tmp_path / "results", "latest")
    kept = path.read_bytes()
    study = tmp_path / "studies" / "small.toml"
    study.write_text(study.read_text().replace("connections = 4", "connections = 5"))
    with pytest.raises(InputError, match="study 'small' has changed since run small-"):
        made_studies.go_on(tmp_path)
    study.write_text(study.read_text().replace("connections = 5", "connections = 4"))
    header = store.load(path).header
    elsewhere = msgspec.structs.replace(header.environment, machine_id="another", hostname="other")
    moved = msgspec.structs.replace(header, environment=elsewhere)
    path.write_bytes(seal(moved, LinePlace(moved.run_id, 1)) + kept[kept.index(b"\n") + 1 :])
    with pytest.raises(InputError, match=r"is of another machine \(other\)"):
        made_studies.go_on(tmp_path)
    path.write_bytes(kept)
    assert len(made_studies.go_on(tmp_path).trials) == 2
