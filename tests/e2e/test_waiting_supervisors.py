"""Supervisors that are started before there is a program for them: used, passed over, and never left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from test_server_life import started, wait_until

from assay.servers import supervised
from assay.servers.cores import kept_on

pytestmark = pytest.mark.beside

ONE_CORE = sorted(os.sched_getaffinity(0))[:1]


@pytest.fixture(autouse=True)
def none_is_left() -> Iterator[None]:
    yield
    supervised.stop_all()
    assert waiting() == []


def waiting() -> list[psutil.Process]:
    """Those that nothing is below."""
    return [each for each in psutil.Process().children() if not each.children()]


def test_a_program_gets_one_that_waits_and_it_leaves_the_core_on_which_it_started(tmp_path: Path) -> None:
    with kept_on(ONE_CORE):
        supervised.make_ready(2)
    first, second = waiting()
    assert [each.cpu_affinity() for each in (first, second)] == [ONE_CORE] * 2
    with started(tmp_path) as running:
        [left] = waiting()
        [guard] = {first, second} - {left}
        assert os.getsid(running.kept.pid) == guard.pid
        assert guard.cpu_affinity() == sorted(os.sched_getaffinity(0))
        supervised.make_ready(1)
        assert waiting() == [left]


def test_one_that_was_killed_while_it_waited_is_passed_over(tmp_path: Path) -> None:
    supervised.make_ready(2)
    killed = waiting()[0]
    killed.kill()
    wait_until(lambda: killed.status() == psutil.STATUS_ZOMBIE)
    with started(tmp_path) as running:
        assert os.getsid(running.kept.pid) != killed.pid


def test_one_of_another_network_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supervised.make_ready(1)
    [left] = waiting()
    monkeypatch.setattr(supervised, "_network", lambda: -1)
    with started(tmp_path) as running:
        assert waiting() == [left] and os.getsid(running.kept.pid) != left.pid


HARNESS = """
import time
from assay.servers import supervised
supervised.make_ready(2)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_none_outlives_the_harness(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", HARNESS], stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None and harness.stdout.readline() == "ready\n"
        made = psutil.Process(harness.pid).children()
        assert len(made) == 2
        harness.send_signal(how)
    wait_until(lambda: not any(each.is_running() for each in made))
