"""`assay load URL` and the process that answers it: found by its listening socket, or said to be unknown."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from assay.model.account import TimeAccount
from assay.model.measurement import Measurement
from assay.model.plan import Closed, Host, LoadPlan, StopAtCount
from assay.servers.listening import listener, listener_at, listener_of
from assay.servers.sampler import TreeClock
from assay.verdict import judge_load

SERVER = """
import os, socket, sys, threading
listener = socket.socket({family})
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind(({host!r}, int(sys.argv[1])))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
def serve(peer):
    got = b""
    while more := peer.recv(65536):
        got += more
        while b"\\r\\n\\r\\n" in got:
            got = got.partition(b"\\r\\n\\r\\n")[2]
            peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
for _ in range({forks}):
    if os.fork() == 0:
        break
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


@contextmanager
def serving(
    host: str = "127.0.0.1",
    family: str = "socket.AF_INET",
    forks: int = 0,
    port: int = 0,
    user: int | None = None,
) -> Iterator[tuple[int, int]]:
    """A server of so many processes, and its port and first process."""
    program = SERVER.format(host=host, family=family, forks=forks)
    command = [sys.executable, "-c", program, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline()), server.pid
        finally:
            os.killpg(server.pid, 9)


def load(port: int, *flags: str, command: tuple[str, ...] = ()) -> dict[str, Any]:
    """The account of a short load."""
    account: dict[str, Any] = whole(port, *flags, command=command)["account"]
    return account


def whole(port: int, *flags: str, command: tuple[str, ...] = ()) -> dict[str, Any]:
    """All that a short load says."""
    words = [*command, str(Path(sys.executable).with_name("assay")), "load", f"http://127.0.0.1:{port}/"]
    done = subprocess.run(
        [*words, "-c", "4", "-q", "--json", *flags], capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("kept", [(), ("--save",)], ids=["told", "kept"])
def test_the_bottleneck_follows_from_the_account(kept: tuple[str, ...], tmp_path: Path) -> None:
    saved = (*kept, "--results", str(tmp_path)) if kept else ()
    with serving() as (port, _):
        document = whole(port, "-d", "1s", *saved)
    [said] = [one["evidence"] for one in document["findings"] if one["code"] == "B1"]
    findings = judge_load(
        msgspec.convert(document["plan"], LoadPlan),
        msgspec.convert(document["measurement"], Measurement),
        cores=os.cpu_count() or 1,
        same_machine=True,
        account=msgspec.convert(document["account"], TimeAccount),
    )
    assert said == next(one.evidence for one in findings if one.code == "B1")


def test_the_servers_of_several_hosts_are_found() -> None:
    with serving() as (port, first), serving(host="127.0.0.2") as (other, second):
        plan = LoadPlan(
            url=f"http://127.0.0.1:{port}", load=Closed(connections=2), stop=StopAtCount(count=2),
            hosts=(Host(url="http://b.localhost", address=f"127.0.0.2:{other}"),),
        )  # fmt: skip
        found = listener_of(plan)
        assert found is not None and found.pids == tuple(sorted((first, second)))
        gone = listener_of(replace(plan, hosts=(Host(url="http://127.0.0.3:9"),)))
        assert gone is not None and "no process is seen to listen" in gone.hidden


def test_the_server_is_found_by_its_socket_however_it_listens() -> None:
    with serving() as (port, pid):
        assert listener("127.0.0.1", port).pids == (pid,)
        assert listener("127.0.0.1", port).cpus == os.sched_getaffinity(pid)
        with serving(port=port) as (_, second):  # SO_REUSEPORT: another socket, and both get connections
            assert listener("127.0.0.1", port).pids == tuple(sorted((pid, second)))
    with serving(host="0.0.0.0", forks=2) as (port, pid):
        pids = listener("127.0.0.1", port).pids
        assert len(pids) == 3 and pid in pids
    with serving(host="::1", family="socket.AF_INET6") as (port, pid):
        assert listener("::1", port).pids == (pid,)
        assert listener("127.0.0.1", port).pids == ()
    with serving(host="::", family="socket.AF_INET6") as (port, pid):
        assert listener("127.0.0.1", port).pids == (pid,)


def test_a_server_that_cannot_be_seen_is_said_in_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        found = listener("127.0.0.1", port)  # this process cannot be told from itself
        assert (found.pids, found.user) == ((), os.getuid())
        assert "hidden" in found.hidden
    nobody = listener("127.0.0.1", port)
    assert nobody.pids == () and "no process is seen to listen" in nobody.hidden


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="needs another user")
def test_another_user_s_server_is_unknown_and_no_other_program_is_blamed_for_it() -> None:
    uid = "65534"
    with serving() as (port, _):
        account = load(
            port, "-d", "1s",
            command=("setpriv", f"--reuid={uid}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"),
        )  # fmt: skip
    [line] = account["unseen"]
    assert "its processes are hidden" in line
    [core] = account["cores"]
    assert core["server_user_ns"] is None and core["generator_user_ns"] is not None
    assert core["unknown_ns"] > 0
    assert account["server"] is None and account["idle_cpu_share"] is None


def test_a_load_accounts_for_its_server_and_for_who_runs_beside_it(tmp_path: Path) -> None:
    neighbour = shutil.copy("/bin/sh", tmp_path / "neighbour")
    with (
        serving(forks=1) as (port, _),
        subprocess.Popen([str(neighbour), "-c", "while :; do :; done"]) as beside,
    ):
        try:
            account = load(port, "-d", "2s", "--warm-up", "0.5s")
        finally:
            beside.kill()
    assert account["unseen"] == []
    [core] = account["cores"]
    assert core["role"] == "shared" and core["cpus"] == sorted(os.sched_getaffinity(0))
    assert "neighbour" in [one["name"] for one in core["programs"]]
    parts = [ns for key, ns in core.items() if key.endswith("_ns") and key != "time_ns"]
    assert all(ns is not None for ns in parts)
    assert sum(parts) + sum(one["ns"] for one in core["programs"]) == pytest.approx(core["time_ns"], rel=0.01)
    assert core["server_user_ns"] + core["server_kernel_ns"] > 0
    assert account["server"]["threads"] >= 2 and account["server"]["waited_ns"] is not None
    assert account["generator"]["waited_ns"] > 0 and account["generator"]["ran_ns"] > 0
    assert account["idle_cpu_share"] is not None and account["idle_cpu_share"] < 0.5


def test_a_server_that_somebody_else_runs_has_a_clock() -> None:
    with serving() as (port, pid):
        assert listener_at("127.0.0.1", port) == listener("127.0.0.1", port)
        assert listener_at("192.0.2.1", port) is None
        clock = TreeClock(pid, counted=True)
        before = clock.read_ns()
        load(port, "-d", "0.3s")
        after = clock.read_ns()
    assert before is not None and after is not None and after > before
    assert clock.pids == {pid}
