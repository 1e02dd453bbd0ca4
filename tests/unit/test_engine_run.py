"""A run through the binding, against a real server on loopback."""

from __future__ import annotations

import base64
import statistics
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from assay.core.errors import EnvironmentLacks
from assay.engine import driver
from assay.model.plan import (
    BodyEquals,
    Closed,
    Expect,
    LoadPlan,
    Open,
    Request,
    Stage,
    StopAfter,
    StopAtCount,
)

HOUR_NS = 3_600_000_000_000


class Hello(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        version = b"HTTP/1.0" if self.path == "/old" else b"HTTP/1.1"
        kept = b"Connection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"
        self.wfile.write(version + b" 200 OK\r\n" + kept)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_answers_are_counted_by_their_version(url: str) -> None:
    plan = LoadPlan(
        url=url,
        requests=(Request(target="/"), Request(target="/old")),
        load=Closed(connections=1),
        stop=StopAtCount(count=100),
    )
    running = driver.start(plan)
    assert running.wait(60)
    assert running.result().http_versions == {"1.1": 50, "1.0": 50}


def test_a_counted_run_is_exact(url: str) -> None:
    right = Expect(status=(200,), body=BodyEquals(text="hello"))
    plan = LoadPlan(
        url=url,
        requests=(Request(expect=right),),
        load=Closed(connections=3),
        stop=StopAtCount(count=200),
        threads=2,
    )
    run = driver.start(plan)
    assert run.wait(60)
    seen = run.result()
    assert (seen.requests.started, seen.requests.completed, seen.requests.failed) == (200, 200, 0)
    assert (seen.completed, seen.checked, seen.statuses) == (200, 200, {"200": 200})
    assert seen.outcomes == ()
    assert seen.connections.opened == seen.connections.answered == 3
    assert len(seen.workers) == 2
    assert seen.engine_version == driver.version()


def hdr_values(data: str) -> list[int]:
    """All values of HdrHistogram's V2 compressed encoding with 3 digits, by its description alone: counts as
    zigzag LEB128, of which negative ones stand for so many empty slots."""
    packed = base64.b64decode(data)
    cookie, length = struct.unpack_from(">II", packed)
    inner = zlib.decompress(packed[8:])
    inner_cookie, payload, _, digits, lowest = struct.unpack_from(">IIIIQ", inner)
    assert (cookie, length, inner_cookie) == (0x1C849304 + 0x10, len(packed) - 8, 0x1C849303 + 0x10)
    assert (payload, digits, lowest) == (len(inner) - 40, 3, 1)
    values: list[int] = []
    slot = number = shift = 0
    for byte in inner[40:]:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte & 0x80:
            continue
        count = number >> 1 ^ -(number & 1)
        bucket = max(0, slot // 1024 - 1)
        values += [(slot - bucket * 1024) << bucket] * max(0, count)
        slot += 1 if count >= 0 else -count
        number = shift = 0
    return values


def test_the_histogram_is_one_that_hdrhistogram_reads(url: str) -> None:
    plan = LoadPlan(url=url, load=Closed(connections=1), stop=StopAtCount(count=50))
    seen = driver.start(plan).result().service_time
    values = hdr_values(seen.data)
    assert len(values) == seen.count == 50
    assert seen.unit_ns == 1
    assert values[0] == pytest.approx(seen.min_ns, rel=0.001)
    assert values[-1] == pytest.approx(seen.max_ns, rel=0.001)
    assert statistics.mean(values) == pytest.approx(seen.mean_ns, rel=0.001)


def test_an_open_loop_has_both_clocks(url: str) -> None:
    stage = Stage(duration_ns=300_000_000, from_per_s=200, to_per_s=200)
    plan = LoadPlan(
        url=url,
        load=Open(stages=(stage,), max_connections=8, pacer="sleep"),
        stop=StopAfter(ns=300_000_000),
    )
    seen = driver.start(plan).result()
    assert seen.started + seen.missed_starts == 60
    assert seen.response_time is not None
    assert seen.send_lag is not None
    assert seen.response_time.count == seen.service_time.count == seen.completed
    assert seen.response_time.mean_ns >= seen.service_time.mean_ns


def test_a_run_is_watched_warmed_up_and_stopped(url: str) -> None:
    plan = LoadPlan(
        url=url,
        load=Closed(connections=2),
        stop=StopAfter(ns=HOUR_NS),
        warmup_max_ns=HOUR_NS,
        window_ns=10_000_000,
    )
    run = driver.start(plan)
    while not run.snapshot().windows:
        assert not run.wait(0.01)
    assert run.snapshot().phase == "warmup"
    run.begin_measuring()
    while run.snapshot().phase != "measured" or run.snapshot().completed == 0:
        assert not run.wait(0.01)
    run.stop()
    seen = run.result()
    assert seen.interrupted
    assert seen.warmup_ns > 0
    assert seen.completed > 0
    assert {window.phase for window in seen.windows} == {"warmup", "measured"}


def test_waiting_lets_other_threads_work(url: str) -> None:
    plan = LoadPlan(url=url, load=Closed(connections=1), stop=StopAfter(ns=HOUR_NS))
    run = driver.start(plan)
    waiter = threading.Thread(target=run.wait, args=(60,))
    waiter.start()
    while run.snapshot().completed == 0:
        time.sleep(0.001)
    run.stop()
    waiter.join(60)
    assert not waiter.is_alive()


def test_a_name_without_an_address_is_a_lack_of_the_environment() -> None:
    plan = LoadPlan(url="http://no-such-host.invalid", load=Closed(connections=1), stop=StopAtCount(count=1))
    with pytest.raises(EnvironmentLacks, match="^cannot resolve no-such-host.invalid: "):
        driver.start(plan)
