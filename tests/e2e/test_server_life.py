"""Real small servers that misbehave: each is told in one line, and none is left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from made_servers import made
from msgspec.structs import replace

from assay.core.errors import ServerFailed
from assay.runner.bench import WarmPool
from assay.servers import supervised
from assay.servers.server import RunningServer, free_port, start

pytestmark = pytest.mark.beside

CPUS = tuple(sorted(os.sched_getaffinity(0)))[:1]


def wait_until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


@contextmanager
def started(folder: Path, mode: str = "right", more: str = "") -> Iterator[RunningServer]:
    prepared, contract = made(folder, mode, more)
    running = start(prepared, contract, contract.file.routes[0], cpus=CPUS, log=folder / "log")
    try:
        yield running
    finally:
        running.stop()


def failure(folder: Path, mode: str, ready_timeout_s: float = 20) -> ServerFailed:
    prepared, contract = made(folder, mode, ready_timeout_s=ready_timeout_s)
    with pytest.raises(ServerFailed) as caught:
        start(prepared, contract, contract.file.routes[0], cpus=CPUS, log=folder / "log")
    return caught.value


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_a_right_server_is_ready_pinned_sampled_and_gone(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        assert listens(running.port)
        assert 0 < running.start_ns < 60e9
        assert psutil.Process(running.kept.pid).cpu_affinity() == list(CPUS)
        running.sampler.sample()
        assert running.sampler.peak_rss_bytes > 1_000_000
        assert running.sampler.threads >= 1
        assert running.died() is None
        tree = running.kept.tree()
        assert running.kept.pid in [process.pid for process in tree]
    assert not any(process.is_running() for process in tree)
    assert not listens(running.port)


def test_servers_of_a_block_are_ended_together(tmp_path: Path) -> None:
    prepared, contract = made(tmp_path, "ends with another", f'"{tmp_path}"')
    patient = replace(prepared, spec=replace(prepared.spec, stop_timeout_s=60))
    pool, logs = WarmPool(pytest.fail), [tmp_path / "one", tmp_path / "other"]
    for log in logs:
        running = start(patient, contract, contract.file.routes[0], cpus=CPUS, log=log)
        pool.keep(log.name, running, None)
    pool.only(())
    assert all("met another at its end" in log.read_text() for log in logs)


def test_the_cpu_time_of_a_server_at_work_is_counted(tmp_path: Path) -> None:
    with started(tmp_path) as running:

        def has_worked() -> bool:
            with urlopen(f"http://127.0.0.1:{running.port}/", timeout=20) as answer:
                answer.read()
            return running.sampler.cpu_ns() > 0

        wait_until(has_worked)


def test_a_server_that_exits_is_told_with_its_code_and_log(tmp_path: Path) -> None:
    failed = failure(tmp_path, "exits")
    assert failed.stage == "start"
    assert failed.message == "the server ended with exit code 7 before its first right answer"
    assert failed.log_tail == "mode: exits\nconfiguration missing"


def test_a_server_that_never_listens_is_told_after_its_time(tmp_path: Path) -> None:
    failed = failure(tmp_path, "never listens", ready_timeout_s=0.5)
    assert failed.stage == "start"
    assert "did not listen on 127.0.0.1:" in failed.message
    assert "within 0.5 s" in failed.message


def test_a_server_that_listens_late_is_waited_for(tmp_path: Path) -> None:
    with started(tmp_path, "listens late") as running:
        assert running.start_ns >= 1e9


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong status", "status 500 instead of 200"),
        ("wrong body", "body 'nonsense\\n' instead of 'hello\\n'"),
        ("garbled", "no right HTTP answer"),
        ("half", "no right HTTP answer"),
    ],
)
def test_a_server_that_answers_wrongly_is_told_what_is_wrong(tmp_path: Path, mode: str, said: str) -> None:
    failed = failure(tmp_path, mode, ready_timeout_s=1)
    assert failed.stage == "contract"
    assert "no right answer to GET /hello within 1 s" in failed.message
    assert said in failed.message


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("wrong body", "the same wrong answer to GET /hello for 5 s: body"),
        ("not found", "the same wrong answer to GET /hello for 5 s: status 404"),
        ("listens elsewhere", "the server listens on 127.0.0.1:"),
        ("listens elsewhere", "it has to take the port that it is given ({port} or $PORT)"),
    ],
)
def test_what_does_not_change_is_not_waited_for(tmp_path: Path, mode: str, said: str) -> None:
    assert said in failure(tmp_path, mode, ready_timeout_s=29).message


@pytest.mark.parametrize(("mode", "stage"), [("wrong status", "contract"), ("busy elsewhere", "start")])
def test_what_may_still_get_ready_has_all_of_its_time(tmp_path: Path, mode: str, stage: str) -> None:
    failed = failure(tmp_path, mode, ready_timeout_s=6.5)
    assert failed.stage == stage
    assert "within 6.5 s" in failed.message


def test_a_port_of_its_own_that_is_taken_is_named(tmp_path: Path) -> None:
    prepared, contract = made(tmp_path, "wants a port", more=f'"{tmp_path / "port"}"')
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        (tmp_path / "port").write_text(str(busy))
        with pytest.raises(
            ServerFailed, match=f"port {busy} is taken, and it has to take the port"
        ) as caught:
            start(prepared, contract, contract.file.routes[0], cpus=CPUS, log=tmp_path / "log")
    assert f"address already in use :::{busy}" in caught.value.reason


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    failed = failure(tmp_path, "silent", ready_timeout_s=1)
    assert failed.stage == "contract"
    assert "no answer within 1 s" in failed.message


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    prepared, contract = made(tmp_path)
    (prepared.places.source / "server.py").unlink()
    with pytest.raises(ServerFailed, match="before its first right answer") as caught:
        start(prepared, contract, contract.file.routes[0], cpus=CPUS, log=tmp_path / "log")
    assert "No such file" in caught.value.log_tail


def test_a_busy_port_is_tried_once_more_with_another(tmp_path: Path) -> None:
    prepared, contract = made(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        ports = iter([busy, free_port()])
        running = start(
            prepared,
            contract,
            contract.file.routes[0],
            cpus=CPUS,
            log=tmp_path / "log",
            pick_port=lambda: next(ports),
        )
        try:
            assert running.port != busy
        finally:
            running.stop()


def test_a_port_that_stays_busy_is_told(tmp_path: Path) -> None:
    prepared, contract = made(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        with pytest.raises(ServerFailed, match=f"port {busy} is taken by another program"):
            start(
                prepared,
                contract,
                contract.file.routes[0],
                cpus=CPUS,
                log=tmp_path / "log",
                pick_port=lambda: busy,
            )


def test_a_bound_port_that_does_not_listen_yet_is_tried_once_more(tmp_path: Path) -> None:
    """Nobody answers there, so that only the server itself finds out."""
    prepared, contract = made(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        ports = iter([other.getsockname()[1], free_port()])
        running = start(
            prepared,
            contract,
            contract.file.routes[0],
            cpus=CPUS,
            log=tmp_path / "log",
            pick_port=lambda: next(ports),
        )
        running.stop()
    assert "Address already in use" in (tmp_path / "log").read_text()


def test_a_detached_child_that_ignores_sigterm_is_ended_too(tmp_path: Path) -> None:
    told = tmp_path / "child"
    with started(tmp_path, "leaves a child", more=f'"{told}"') as running:
        wait_until(lambda: told.exists() and told.read_text() != "")
        child = psutil.Process(int(told.read_text()))
        assert child.is_running()
        assert child.pid in [process.pid for process in running.kept.tree()]
    assert not child.is_running()


def test_a_server_that_ignores_sigterm_is_killed_after_its_grace(tmp_path: Path) -> None:
    with started(tmp_path, "ignores SIGTERM") as running:
        server = psutil.Process(running.kept.pid)
    assert not server.is_running()
    assert not listens(running.port)


def test_the_death_of_a_server_is_noticed(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        os.kill(running.kept.pid, signal.SIGKILL)
        wait_until(lambda: running.died() is not None)
        failed = running.died()
        assert failed is not None
        assert failed.message == "the server was ended by SIGKILL under load"


HARNESS = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from made_servers import made
from assay.servers.server import start
folder = Path(sys.argv[1])
prepared, contract = made(folder, "leaves a child", more=f'"{folder}/child"')
running = start(prepared, contract, contract.file.routes[0], cpus=(), log=folder / "log")
print(running.port, running.kept.supervisor_pid, *[p.pid for p in running.kept.tree()], flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_harness(tmp_path: Path, how: signal.Signals) -> None:
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(tmp_path), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert harness.stdout is not None
    try:
        port, *pids = (int(word) for word in harness.stdout.readline().split())
        processes = [psutil.Process(pid) for pid in pids]
        assert len(processes) >= 3  # supervisor, server and the detached child
        for _ in range(6):  # an interrupt that meets a finaliser is lost: one presses again
            harness.send_signal(how)
            with suppress(subprocess.TimeoutExpired):
                harness.wait(10)
                break
        assert harness.poll() is not None
    finally:
        harness.kill()
        harness.communicate()
    wait_until(lambda: not any(process.is_running() for process in processes))
    assert not listens(port)


def test_the_program_dies_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    with started(tmp_path) as running:
        server = psutil.Process(running.kept.pid)
        os.kill(running.kept.supervisor_pid, signal.SIGKILL)
        wait_until(lambda: not server.is_running())
        assert running.died() is not None


def test_the_children_of_the_program_die_too_once_their_supervisor_was_killed(tmp_path: Path) -> None:
    with started(tmp_path, "has a child", more=f'"{tmp_path}/child"') as running:
        child = psutil.Process(int((tmp_path / "child").read_text()))
        os.kill(running.kept.supervisor_pid, signal.SIGKILL)
        wait_until(lambda: not child.is_running())
        assert running.died() is not None


def test_what_a_server_leaves_in_its_temporary_folder_goes_with_it(tmp_path: Path) -> None:
    """As `go run` does, whose folder `go-build…` stays where it is ended."""
    with started(tmp_path) as running:
        told = Path(f"/proc/{running.kept.pid}/environ").read_bytes().split(b"\0")
        [temporary] = [Path(os.fsdecode(one[7:])) for one in told if one.startswith(b"TMPDIR=")]
        (temporary / "go-build1").mkdir()
    assert temporary.is_relative_to(supervised.mark())
    assert not temporary.exists()
