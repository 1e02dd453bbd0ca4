"""Network emulation: a real link with a delay in a namespace of its own, and nothing left of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import made_servers
import made_studies
import psutil
import pytest

from assay.core.errors import EnvironmentLacks
from assay.model.design import Choices
from assay.model.measurement import Snapshot
from assay.model.run import Run
from assay.model.trial import Emulation, Trial
from assay.plan.study import load_study, resolve
from assay.runner import Interrupted, Silent, begin, machine_lock
from assay.servers import emulation
from assay.servers.emulation import HERE, PEER, Ways, lacking

FAR = Emulation(round_trip_ns=20_000_000)
_LACKS = lacking()
needs_link = pytest.mark.skipif(_LACKS is not None, reason=str(_LACKS))
pytestmark = pytest.mark.beside

RUNNER = [sys.executable, str(Path(made_studies.__file__))]


def far_study(folder: Path, emulation: str, **settings: float) -> None:
    """A study of one server, near and over an emulated network."""
    made_studies.write(folder, ["right"], blocks=1, **settings)  # type: ignore[arg-type]  # handed on
    path = folder / "studies" / "small.toml"
    text = path.read_text()
    head, load = text.split("[[profiles.fair.loads]]")
    loads = "".join(
        f'[[profiles.fair.loads]]\nname = "{name}"{load}{more}\n'
        for name, more in (("near", ""), ("far", f"emulation = {emulation}"))
    )
    path.write_text(head + loads)


def by_load(run: Run) -> dict[str, Trial]:
    return {trial.case.rpartition("@")[2]: trial for trial in run.trials}


def own_namespace() -> str:
    return str(Path("/proc/self/ns/net").readlink())


def devices() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


def links() -> list[psutil.Process]:
    """The programs of links, whoever's child they are."""
    found = []
    for process in psutil.process_iter():
        try:
            if "assay.servers.link" in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """The machine as it was: namespace, devices, programs. Those of other tests end by themselves."""
    space, before = own_namespace(), {process.pid for process in links()}
    yield
    left = [process for process in links() if process.pid not in before]
    _gone, alive = psutil.wait_procs(left, timeout=30)
    assert not alive
    assert own_namespace() == space
    assert not [name for name in devices() if name.startswith("far")]


def wait_until(condition: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_a_study_over_an_emulated_network_takes_the_round_trip_and_answers_rightly(tmp_path: Path) -> None:
    far_study(tmp_path, "{ round_trip_ms = 20 }")
    trials = by_load(made_studies.run(tmp_path))
    far, near = trials["far"], trials["near"]
    assert far.failure is None and near.failure is None, (far.failure, near.failure)
    assert far.measurement is not None and near.measurement is not None
    assert far.measurement.service_time is not None
    assert far.measurement.service_time.min_ns >= 20_000_000
    assert (
        far.measurement.connect_time is None
        or far.measurement.connect_time.count == 0
        or (far.measurement.connect_time.min_ns >= 20_000_000)
    )
    assert far.measurement.completed > 0 and not far.measurement.outcomes
    assert far.contract is not None and far.contract.during_wrong == 0
    assert far.plan.url.startswith("http://10.77.0.2:") and near.plan.url.startswith("http://127.0.0.1:")
    assert far.link is not None and far.link.emulation == FAR and far.link.congestion
    carried = far.link.carried
    assert carried is not None and carried.packets >= 2 * far.measurement.completed
    assert (carried.lost, carried.overflowed) == (0, 0) and carried.cpu_ns > 0
    assert near.link is not None and near.link.emulation is None


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_a_link_loses_what_it_is_to_lose_and_answers_stay_right(tmp_path: Path) -> None:
    far_study(tmp_path, "{ round_trip_ms = 1, loss = 0.1 }", measure_s=1.0, connections=16)
    far = by_load(made_studies.run(tmp_path))["far"]
    assert far.failure is None and far.measurement is not None and far.measurement.completed > 0
    assert far.contract is not None and far.contract.during_wrong == 0
    assert far.link is not None and far.link.carried is not None
    carried = far.link.carried
    allowed = 6 * (carried.packets * 0.1 * 0.9) ** 0.5 + 1
    assert abs(carried.lost - 0.1 * carried.packets) <= allowed


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_large_datagrams_and_streams_come_through_whole() -> None:
    with Ways(seed=3) as ways, ways.to(Emulation(round_trip_ns=2_000_000)) as way:
        assert way is not None
        with socket.create_server((HERE, 0)) as listener:
            port = listener.getsockname()[1]
            with socket.create_connection((PEER, port), timeout=20) as client:
                server, (seen_from, _) = listener.accept()
                with server:
                    assert seen_from == PEER  # whom the server takes its client for
                    sent = os.urandom(300_000)
                    server.sendall(sent)
                    server.shutdown(socket.SHUT_WR)
                    got = b""
                    while more := client.recv(65_536):
                        got += more
        assert got == sent
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
        ):
            one.bind((HERE, 0))
            other.settimeout(20)
            other.connect((PEER, one.getsockname()[1]))
            other.send(b"x" * 4_000)  # three packets of IP
            datagram, back = one.recvfrom(65_536)
            one.sendto(datagram[:10], back)
            assert (len(datagram), other.recv(100)) == (4_000, b"x" * 10)


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_two_networks_are_two_ways_and_each_is_made_once() -> None:
    near, far = Emulation(round_trip_ns=1_000_000), Emulation(round_trip_ns=40_000_000)
    with Ways() as ways:
        with ways.to(near) as one:
            first = own_namespace()
            with ways.to(far) as other:
                assert other is not one and own_namespace() != first
            assert own_namespace() == first
        with ways.to(near) as again, ways.to(None) as none:
            assert again is one and none is None
            assert {"lo", "far0"} <= devices()
        programs = [one.pid for one in links() if one.parent() == psutil.Process()]
        assert len(programs) == 2
    assert not any(psutil.pid_exists(one) for one in programs)  # waited for, not left to end some time


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_tcp_answers_to_loss_as_it_is_asked_to_and_keeps_nothing_for_the_next_trial() -> None:
    with Ways() as ways:
        with ways.to(Emulation(round_trip_ns=1_000_000, congestion="reno")) as way:
            assert way is not None and way.link(None).congestion == "reno"
            assert (emulation.SETTINGS / "tcp_no_metrics_save").read_text().strip() == "1"
        unknown = ways.to(Emulation(round_trip_ns=1_000_000, congestion="no-such"))
        with pytest.raises(
            EnvironmentLacks, match=r"'no-such' cannot be had in a network .*here there are: "
        ):
            unknown.__enter__()


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_a_link_whose_program_is_killed_fails_its_trial_and_the_next_has_another() -> None:
    with Ways() as ways:
        with ways.to(FAR) as way:
            assert way is not None
            [program] = [one for one in links() if one.parent() == psutil.Process()]
            program.kill()
            program.wait(20)
            with pytest.raises(EnvironmentLacks, match="carries the packets"):
                way.carried()
        with ways.to(FAR) as another:
            assert another is not None and another is not way
            assert another.carried().packets >= 0


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_a_link_whose_program_does_not_answer_is_ended_and_its_answer_is_nobody_else_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(emulation, "_PATIENCE_S", 0.5)
    with Ways() as ways:
        with ways.to(FAR) as way:
            assert way is not None
            [program] = [one for one in links() if one.parent() == psutil.Process()]
            program.suspend()
            with pytest.raises(EnvironmentLacks, match="does not answer"):
                way.carried()
            program.wait(20)
        with ways.to(FAR) as another:
            assert another is not None and another is not way


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_ctrl_c_in_a_load_over_an_emulated_network_leaves_nothing(tmp_path: Path) -> None:
    far_study(tmp_path, "{ round_trip_ms = 20 }", measure_s=30.0)

    class Breaks(Silent):
        def snapshot(self, slot: object, snapshot: Snapshot) -> None:
            if links():
                raise KeyboardInterrupt

    settings = made_servers.settings(tmp_path)
    path = tmp_path / "studies" / "small.toml"
    head, _, far = path.read_text().split("[[profiles.fair.loads]]")
    path.write_text(f"{head}[[profiles.fair.loads]]{far}")
    study = resolve(load_study("small", settings), settings, Choices(seed=1))
    with machine_lock(settings), pytest.raises(Interrupted):
        begin(study, settings, Breaks(), command=["test"])


@needs_link
@pytest.mark.usefixtures("nothing_left")
def test_a_harness_that_is_killed_takes_link_and_server_along(tmp_path: Path) -> None:
    far_study(tmp_path, "{ round_trip_ms = 20 }", measure_s=60.0)
    path = tmp_path / "studies" / "small.toml"
    head, _, far = path.read_text().split("[[profiles.fair.loads]]")
    path.write_text(f"{head}[[profiles.fair.loads]]{far}")
    with subprocess.Popen([*RUNNER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        told = next((line for line in harness.stdout if line.startswith("snapshot")), "")
        assert told, "the load never began"
        below = psutil.Process(harness.pid).children(recursive=True)
        assert any("assay.servers.link" in one.cmdline() for one in below)
        harness.send_signal(signal.SIGKILL)
        _gone, alive = psutil.wait_procs(below, timeout=30)
        assert not alive


def test_where_there_can_be_no_link_the_rest_is_measured_and_the_row_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulation, "DEVICES", tmp_path / "no-device")

    def refused(name: str, *words: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(emulation, "_called", refused)
    far_study(tmp_path, "{ round_trip_ms = 20 }")
    notes: list[str] = []

    class Hears(Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    trials = by_load(made_studies.run(tmp_path, Hears()))
    assert trials["near"].failure is None and trials["near"].measurement is not None
    failure = trials["far"].failure
    assert failure is not None
    assert failure.reason == (
        f"a link with a delay needs a network namespace and {emulation.DEVICES}: operation not permitted; "
        "run as root; in a container allow NET_ADMIN and SYS_ADMIN, and give it that device"
    )
    assert [
        note for note in notes if note.startswith("loads over an emulated network are not measured: a link")
    ]
