"""The account of real processes and real loads."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import made_studies
import pytest

from assay.model.account import CoreTime, TimeAccount
from assay.model.run import Run
from assay.servers.census import Census, CensusPair
from assay.servers.sampler import ThreadRuns

FORKER = """
import os, sys
for line in sys.stdin:
    for _ in range(int(line)):
        if (child := os.fork()) == 0:
            while os.times().user + os.times().system < 0.05:
                pass
            os._exit(0)
        os.waitpid(child, 0)
    print("done", flush=True)
"""
"""For each line that it reads so many children, one after the other, of 50 ms each."""

SPINNER = """
import sys, threading, time
def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass
for line in sys.stdin:
    threads = [threading.Thread(target=spin, args=(float(line),)) for _ in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print("done", flush=True)
"""
"""For each line that it reads two threads that take so many seconds of CPU time each, and end."""

TICK_NS = 10_000_000


@contextmanager
def running(program: str, executable: str = sys.executable) -> Iterator[subprocess.Popen[str]]:
    command = [executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def do(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


def test_a_server_that_forks_for_each_request_has_its_children_s_time() -> None:
    with running(FORKER) as forker:
        do(forker, "1")
        early = Census.now({"server": [forker.pid]})
        do(forker, "8")
        used = CensusPair(early, Census.now({"server": [forker.pid]})).tree("server")
    assert used is not None
    assert used.total_ns == used.user_ns + used.kernel_ns
    assert 8 * 50e6 - 8 * TICK_NS <= used.total_ns <= 8 * 80e6


def test_other_programs_have_their_names_and_a_tree_is_none_of_them(tmp_path: Path) -> None:
    named = shutil.copy("/bin/sh", tmp_path / "neighbour")
    loop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; read x"
    with running(SPINNER) as server:
        early = Census.now({"server": [server.pid]})
        do(server, "0.1")
        with running(loop, str(named)) as neighbour:
            assert neighbour.stdout is not None and neighbour.stdout.readline() == "done\n"
            between = CensusPair(early, Census.now({"server": [server.pid]}))
    programs = {one.name: one.ns for one in between.programs()}
    assert programs["neighbour"] >= 2 * TICK_NS
    with running(SPINNER) as alone:  # of the same name, and of no tree
        before = Census.now()
        do(alone, "0.1")
        names = {one.name for one in CensusPair(before, Census.now()).programs()}
    assert Path(sys.executable).resolve().name[:6] in {name[:6] for name in names}
    tree = between.tree("server")
    assert tree is not None and 0.2e9 <= tree.total_ns < 1e9


def test_a_tree_that_ended_is_not_known_rather_than_idle() -> None:
    with running(SPINNER) as server:
        early = Census.now({"server": [server.pid]})
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        between = CensusPair(early, Census.now({"server": [server.pid]}))
    assert between.tree("server") is None
    assert between.tree("nobody") is None


def test_two_hundred_processes_are_counted_with_their_tree() -> None:
    crowd = "import os, sys\nfor _ in range(200):\n if os.fork() == 0:\n  sys.stdin.read(); os._exit(0)\n"
    with running(crowd + "print('done', flush=True)\nsys.stdin.read()") as top:
        assert top.stdout is not None and top.stdout.readline() == "done\n"
        early = Census.now({"server": [top.pid]})
        used = CensusPair(early, Census.now({"server": [top.pid]})).tree("server")
        assert len(early.trees["server"]) == 201
        assert used is not None and used.total_ns >= 0


def test_threads_keep_what_they_did_when_they_end() -> None:
    with running(SPINNER) as server:
        runs = ThreadRuns()
        runs.sample([server.pid])
        assert server.stdin is not None
        server.stdin.write("0.3\n")
        server.stdin.flush()
        while len(list(Path(f"/proc/{server.pid}/task").iterdir())) < 3:
            pass
        runs.sample([server.pid])
        seen = runs.total()
    assert seen is not None and seen.threads == 3
    assert seen.busiest_ns is not None and seen.busiest_ns <= seen.ran_ns
    assert ThreadRuns().total() is None


WORKER = """
import sys, time
for line in sys.stdin:
    until = time.thread_time() + float(line)
    while time.thread_time() < until:
        pass
    print("done", flush=True)
"""


def test_the_last_look_comes_however_soon_it_is_after_the_one_before() -> None:
    with running(WORKER) as server:
        runs = ThreadRuns()
        runs.sample([server.pid])
        for _ in range(3):
            do(server, "0.02")
            runs.sample([server.pid], last=True)
        seen = runs.total()
    assert seen is not None and seen.ran_ns >= 60e6


def check(account: TimeAccount | None, cores: int) -> TimeAccount:
    assert account is not None
    assert account.unseen == ()
    assert sorted(cpu for core in account.cores for cpu in core.cpus) == list(range(cores))
    for core in account.cores:
        check_core(core, account)
    assert account.server is not None and account.server.waited_ns is not None
    assert account.idle_cpu_share is not None and account.idle_cpu_share < 0.5
    requests = account.requests
    assert requests is not None and requests.requests > 0
    assert requests.time_ns == requests.unknown_ns
    return account


def check_core(core: CoreTime, account: TimeAccount) -> None:
    parts = core.parts
    assert core.time_ns == account.wall_ns * len(core.cpus)
    assert sum(ns for ns in parts.values() if ns is not None) == pytest.approx(core.time_ns, rel=0.01)
    assert core.unknown_ns <= 0.01 * core.time_ns
    if core.role != "generator":
        assert core.server_ns is not None and core.server_ns > 0
    if core.role != "server":
        assert core.generator_ns is not None and core.generator_ns > 0


def accounts(run: Run) -> list[TimeAccount]:
    cores = run.header.environment.client_cpus + run.header.environment.server_cpus
    assert all(trial.account is not None for trial in run.trials)
    return [check(trial.account, len(set(cores))) for trial in run.trials]


def check_server(run: Run) -> None:
    """The account and the server's own figure are of one clock."""
    for trial, account in zip(run.trials, accounts(run), strict=True):
        assert trial.server is not None and trial.server.cpu_share is not None
        core = account.of("server")
        assert core is not None
        assert core.share(core.server_ns) == pytest.approx(trial.server.cpu_share, rel=0.1, abs=0.05)


def test_each_core_s_shares_add_up_in_a_trial(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"], blocks=1, measure_s=1)
    check_server(made_studies.run(tmp_path))


def test_and_in_an_arm_s_own_slices(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right", "slow"], blocks=1, measure_s=1, interleaved=True)
    run = made_studies.run(tmp_path)
    check_server(run)
    for trial in run.trials:
        assert trial.account is not None and trial.measurement is not None
        assert 0 < trial.account.wall_ns < 1.5 * trial.measurement.measured_ns  # and of no other arm's slices
