"""`--why` with real servers: what an answer costs, the sentence about it, and machines that tell less."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from made_candidates import ASSAY, PATIENCE_S, assay, command, environment
from test_cli_versus import port, standing, stored
from test_cli_versus_interleaved import QUICK

from assay.model.costs import Costs
from assay.model.run import Run
from assay.model.trial import Trial
from assay.servers.counters import Counters, processes_at
from assay.servers.perf_events import CountedEvents, EventRefused, system_calls, threads_of
from assay.stats import costs as why

BURN_US = 400
CALLS = 30
SEQUENTIAL = ("-d", "600ms", "--warm-up", "0", "-c", "2", "-t", "1", "--sequential", "--no-control")


def may_count_calls() -> bool:
    try:
        CountedEvents({"calls": system_calls()}, threads_of([os.getpid()])).close()
    except EventRefused:
        return False
    return True


def costly(trials: tuple[Trial, ...], case: str) -> why.ByBlock:
    return {trial.block: trial.costs for trial in trials if trial.case == case and trial.costs}


def usual_us(costs: why.ByBlock) -> float:
    """The CPU time of an answer in the middle block."""
    return statistics.median(one.counters["cpu_ns"] / one.answers for one in costs.values()) / 1000


def compared(folder: Path, *flags: str, how: tuple[str, ...] = QUICK, budget: str = "6s") -> Run:
    """A plain server against one with these flags, asked why."""
    words = (command(folder), command(folder, *flags), "--name", "plain", "--name", "costly", "--unlike")
    ended = assay(folder, "versus", *words, *how, "--why", "--budget", budget)
    assert ended.returncode in (0, 1), ended.stderr
    (folder / "shown").write_text(" ".join(ended.stdout.split()))
    return stored(folder)


def test_cpu_time_and_system_calls_are_counted_and_said(tmp_path: Path) -> None:
    run = compared(tmp_path, "--burn-us", str(BURN_US), "--calls", str(CALLS))
    assert msgspec.json.decode(msgspec.json.encode(run.trials[0]), type=Trial) == run.trials[0]
    plain, costly_one = costly(run.trials, "plain"), costly(run.trials, "costly")
    more = why.difference(plain, costly_one, why.BY_NAME["cpu_ns"])
    assert more is not None and more.value / 1000 > 0.9 * BURN_US
    # A block that another program disturbs may lie far off, which a mean shows.
    assert usual_us(costly_one) - usual_us(plain) < 3 * BURN_US
    shown = (tmp_path / "shown").read_text()
    assert "costly spends " in shown and " more CPU a request [" in shown
    if may_count_calls():
        calls = why.difference(plain, costly_one, why.BY_NAME["system_calls"])
        assert calls is not None and calls.value > CALLS
        assert "system calls for an answer, plain " in shown
        assert "clock_gettime" in why.calls_by_name(costly_one)
    whole = assay(tmp_path, "report", "latest", "--verbose").stdout
    assert "What a request costs" in whole and "in the kernel" in whole
    assay(tmp_path, "report", "latest", "--html", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "What a request costs" in page and "<script" not in page
    if any(why.stacks(of) for of in (plain, costly_one)):
        assert "Flame graph: costly" in page


def test_cpu_time_of_answers_adds_up_to_that_of_the_trial(tmp_path: Path) -> None:
    """The trial's is of living threads to the nanosecond and of ended ones in ticks of 10 ms."""
    run = compared(tmp_path, "--burn-us", "2000", how=("-d", "1s", *SEQUENTIAL[2:]), budget="9s")
    for trial in (one for one in run.trials if one.case == "costly"):
        assert trial.costs and trial.server and trial.measurement and trial.server.cpu_ns
        used = trial.costs.counters["cpu_ns"] / trial.costs.answers * trial.measurement.completed
        assert used == pytest.approx(trial.server.cpu_ns, rel=0.02, abs=2e7)
        divided = trial.costs.counters["user_ns"] + trial.costs.counters["kernel_ns"]
        assert divided == pytest.approx(trial.costs.counters["cpu_ns"], rel=0.02, abs=40e6)


@pytest.mark.beside
def test_children_of_a_server_that_forks_for_each_request_are_counted(tmp_path: Path) -> None:
    run = compared(tmp_path, "--fork", "--burn-us", "2000", how=SEQUENTIAL, budget="5s")
    forking = costly(run.trials, "costly")
    assert forking
    for costs in forking.values():
        assert costs.counters["cpu_ns"] / costs.answers > 1_500_000
        assert "voluntary_switches" in costs.lower_bounds
    assert "≥ " in assay(tmp_path, "report", "latest", "--verbose").stdout


@pytest.mark.beside
def test_a_server_that_ends_in_mid_trial_has_no_costs_and_the_other_has(tmp_path: Path) -> None:
    run = compared(tmp_path, "--die-after", "60")
    failed = [trial for trial in run.trials if trial.failure]
    assert failed and all(trial.costs is None for trial in failed)
    assert costly(run.trials, "plain")


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[str]:
    """The URL of a server that stands, and ends with the block."""
    with standing(folder, *flags) as server:
        yield f"http://127.0.0.1:{port(server)}/"
        server.terminate()


def asked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What Assay says beside servers that stand."""
    return subprocess.run(
        [*ASSAY, *words], cwd=folder, env=environment(folder), capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def test_one_load_says_what_an_answer_costs_a_server_that_stands(tmp_path: Path) -> None:
    with served(tmp_path, "--burn-us", "500") as url:
        words = ("load", url, "-c", "2", "-d", "200ms", "-q", "--why")
        shown = " ".join(asked(tmp_path, *words, "--verbose").stdout.split())
        document = json.loads(asked(tmp_path, *words, "--json").stdout)
    assert "the server spends " in shown and " of CPU a request" in shown
    assert "for one answer" in shown and "waited in run queues" in shown
    costs = msgspec.convert(document["costs"], Costs)
    assert 450_000 < costs.counters["cpu_ns"] / costs.answers < 2_000_000


def test_servers_that_stand_are_found_by_their_sockets(tmp_path: Path) -> None:
    with served(tmp_path, "--burn-us", "500") as slow, served(tmp_path) as fast:
        words = ("versus", slow, fast, "--name", "slow", "--name", "fast", *QUICK, "--budget", "6s", "--why")
        assert asked(tmp_path, *words).returncode in (0, 1)
    trials = stored(tmp_path).trials
    more = why.difference(costly(trials, "fast"), costly(trials, "slow"), why.BY_NAME["cpu_ns"])
    assert more is not None and more.value > 400_000


@pytest.mark.beside
def test_without_the_flag_nothing_is_counted(tmp_path: Path) -> None:
    words = (command(tmp_path), command(tmp_path), "--name", "a", "--name", "b")
    assay(tmp_path, "versus", *words, *QUICK, "--budget", "6s")
    run = stored(tmp_path)
    assert not run.header.design.why
    assert all(trial.costs is None for trial in run.trials)


@pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: more than a minute of loads")
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_a_server_in_a_pid_namespace_of_its_own_is_seen_from_outside(tmp_path: Path) -> None:
    words = [
        command(tmp_path),
        f"unshare --pid --fork --mount-proc --kill-child {command(tmp_path, '--calls', '40')}",
    ]
    ended = assay(tmp_path, "versus", *words, "--name", "plain", "--name", "inside", *SEQUENTIAL, "--why",
                  "--budget", "8s")  # fmt: skip
    assert ended.returncode in (0, 1), ended.stderr
    inside = costly(stored(tmp_path).trials, "inside")
    assert inside and all(costs.counters["cpu_ns"] > 0 for costs in inside.values())


@pytest.mark.beside
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_without_permission_a_line_says_what_is_missing_and_the_rest_works(tmp_path: Path) -> None:
    """Root without a single capability: the kernel refuses it events, as with perf_event_paranoid at 4."""
    words = (command(tmp_path), command(tmp_path, "--burn-us", "300"), "--name", "plain", "--name", "costly")
    ended = subprocess.run(
        ["setpriv", "--bounding-set", "-all", *ASSAY, "versus", *words, *SEQUENTIAL, "--why",
         "--budget", "5s"],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert ended.returncode in (0, 1), ended.stderr
    for costs in (trial.costs for trial in stored(tmp_path).trials):
        assert costs and costs.counters["cpu_ns"] > 0 and costs.inspection
        said = " ".join(costs.inspection.missing)
        assert "no system calls: not allowed (perf_event_paranoid is " in said or "tracefs" in said
        assert not costs.inspection.calls
    assert "no system calls: " in assay(tmp_path, "report", "latest", "--verbose").stdout


@pytest.mark.beside
def test_counters_that_a_kernel_does_not_have_are_missed_in_a_sentence_each(tmp_path: Path) -> None:
    """Files of this process below another folder, without schedstat and io: a kernel that has neither."""
    pid = os.getpid()
    for task in Path(f"/proc/{pid}/task").iterdir():
        (tmp_path / str(pid) / "task" / task.name).mkdir(parents=True)
        (tmp_path / str(pid) / "task" / task.name / "status").symlink_to(task / "status")
    (tmp_path / str(pid) / "stat").symlink_to(f"/proc/{pid}/stat")
    (tmp_path / "self").symlink_to(f"/proc/{pid}")
    counters = Counters(lambda: [pid], proc=tmp_path)
    counters.begins()
    counters.ends()
    counted = counters.counted()
    assert "cpu_ns" in counted.counters and "voluntary_switches" in counted.counters
    assert not {"waited_ns", "read_calls"} & counted.counters.keys()
    said = " ".join(counted.missing)
    assert "CONFIG_SCHED_INFO" in said and "/proc/PID/io is its user's and root's" in said


@pytest.mark.beside
def test_a_system_without_proc_is_said_to_have_no_counters(tmp_path: Path) -> None:
    counters = Counters(lambda: [os.getpid()], proc=tmp_path)
    counters.begins()
    counters.ends()
    assert counters.counted().missing == ("no counters of the kernel: there is no /proc (Linux alone)",)
    assert processes_at(1, tmp_path) == frozenset()
