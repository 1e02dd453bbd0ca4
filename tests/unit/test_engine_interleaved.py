"""Arms that are interleaved, through the binding, against real servers on loopback."""

from __future__ import annotations

import socketserver
import threading
import time
from collections.abc import Iterator

import pytest

from assay.engine import driver
from assay.model.interleaving import End, EndArm, GiveSlices, InterleavedPlan, Measure, SetLengths
from assay.model.plan import Closed, LoadPlan, StopAfter

MS = 1_000_000
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


class Hello(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        while line := self.rfile.readline():
            if line == b"\r\n":
                self.wfile.write(HELLO)


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    socketserver.ThreadingTCPServer.daemon_threads = True
    servers = [socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hello) for _ in range(2)]
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    first, second = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    yield first, second
    for server, thread in zip(servers, threads, strict=True):
        server.shutdown()
        thread.join()
        server.server_close()


def interleaved(
    urls: tuple[str, str], measured_ns: int, slice_ns: int = 10 * MS, warmup_max_ns: int = 0
) -> InterleavedPlan:
    arms = tuple(
        LoadPlan(
            url=url,
            load=Closed(connections=2),
            stop=StopAfter(ns=measured_ns),
            warmup_max_ns=warmup_max_ns,
        )
        for url in urls
    )
    return InterleavedPlan(arms=arms, slice_ns=slice_ns, washout_ns=2 * MS, seed=3)


def test_each_arm_has_a_measurement_and_its_slices(urls: tuple[str, str]) -> None:
    measured = driver.start_interleaved(interleaved(urls, 100 * MS, slice_ns=50 * MS)).result()
    assert not measured.interrupted
    assert measured.length_ns == 4 * 52 * MS
    for arm in measured.arms:
        assert [len(arm.slices), len(arm.measurement.windows)] == [2, 2]
        assert arm.measurement.measured_ns == 100 * MS
        assert arm.ended is None
        assert sum(slice.completed for slice in arm.slices) == arm.measurement.completed > 0
        requests = arm.measurement.requests
        assert requests.started == requests.completed + requests.failed + requests.in_flight


def test_the_switches_can_be_watched_and_are_on_pythons_clock(urls: tuple[str, str]) -> None:
    run = driver.start_interleaved(interleaved(urls, 60_000 * MS, slice_ns=30 * MS))
    zero_ns = run.started_at_monotonic_ns()
    for number in range(3):
        begun = run.wait_begin(number, 60.0)
        assert begun is not None
        assert begun.number == number
        assert time.monotonic_ns() >= zero_ns + begun.start_ns
        assert run.wait_end(number, 60.0) == begun
        assert time.monotonic_ns() >= zero_ns + begun.end_ns
    assert run.slices(1)[0].number == 1
    seen = run.snapshot()
    assert seen.slice in run.slices()
    assert [arm.snapshot.phase for arm in seen.arms] == ["measured", "measured"]
    run.stop()
    measured = run.result()
    assert measured.interrupted
    assert run.wait_end(10**9, 60.0) is None
    assert run.snapshot().slice is None
    assert measured.started_at_monotonic_ns == zero_ns


def test_a_run_is_steered_from_outside(urls: tuple[str, str]) -> None:
    run = driver.start_interleaved(interleaved(urls, 60_000 * MS, warmup_max_ns=60_000 * MS))
    run.change(GiveSlices(arms=(1,)))
    run.wait_end(5, 60.0)
    assert {times.arm for times in run.slices(2)} == {1}
    run.change(GiveSlices(arms=(0, 1)))
    run.change(SetLengths(slice_ns=20 * MS, washout_ns=1 * MS))
    run.change(Measure())
    round_number = run.slices()[-1].round + 1
    while (times := run.slices()[-1]).round < round_number + 1:
        run.wait_end(times.number, 60.0)
        run.wait_begin(times.number + 1, 60.0)
    run.change(EndArm(arm=0))
    run.change(End())
    measured = run.result()
    assert not measured.interrupted
    assert [arm.ended for arm in measured.arms] == ["asked", None]
    last = [arm.slices[-1] for arm in measured.arms]
    assert [(slice.phase, slice.length_ns) for slice in last] == [("measured", 20 * MS)] * 2
    with pytest.raises(driver.PlanRefused, match="slice_ns: must be between"):
        run.change(SetLengths(slice_ns=0, washout_ns=0))
