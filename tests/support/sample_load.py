"""Loads made by hand of real structures: a plan, its times and what was measured of it."""

from __future__ import annotations

import functools
import math
import random
from typing import Any

from assay import _engine
from assay.model.measurement import (
    Connections,
    Histogram,
    Measurement,
    Outcome,
    RequestAccounting,
    Window,
    Worker,
)
from assay.model.plan import Closed, LoadPlan, Open, Request, Stage, StopAfter

SECOND_NS = 1_000_000_000
CREATED_NS = 1_763_712_000 * SECOND_NS

PLAN = LoadPlan(
    url="http://127.0.0.1:8080/franklin-says",
    requests=(Request(target="/franklin-says"),),
    load=Closed(connections=64),
    stop=StopAfter(ns=10 * SECOND_NS),
)
OPEN_PLAN = LoadPlan(
    url="http://127.0.0.1:8080/",
    load=Open(
        stages=(Stage(duration_ns=10 * SECOND_NS, from_per_s=5000, to_per_s=5000),), max_connections=64
    ),
    stop=StopAfter(ns=10 * SECOND_NS),
)


@functools.cache
def histogram(
    median_ns: float, spread: float = 0.4, samples: int = 5000, seed: int = 1, count: int | None = None
) -> Histogram:
    """Log-normal times around a median; `count` times in all, each sample standing for its share of them."""
    draw = random.Random(seed)
    values = [max(1000.0, median_ns * math.exp(draw.gauss(0, spread))) for _ in range(samples)]
    each, rest = divmod(count or samples, samples)
    counts = [(round(value / 1000), each + (place < rest)) for place, value in enumerate(values)]
    return Histogram(
        count=count or samples,
        min_ns=int(min(values)),
        max_ns=int(max(values)),
        mean_ns=sum(values) / samples,
        stdev_ns=median_ns * spread,
        unit_ns=1000,
        data=_engine.histogram_of(counts),
    )


def measurement(
    per_s: float, *, failed: int = 0, seed: int = 1, samples: int = 5000, **changes: object
) -> Measurement:
    """Ten seconds at `per_s` right answers a second over 64 connections."""
    completed = round(per_s * 10)
    windows = tuple(
        Window(
            start_ns=index * SECOND_NS // 2,
            length_ns=SECOND_NS // 2,
            phase="warmup" if index < 4 else "measured",
            started=round(per_s / 2),
            completed=round(per_s / 2 * (min(1.0, 0.4 + index * 0.15))),
            failed=0,
            bytes_read=round(per_s / 2) * 180,
        )
        for index in range(24)
    )
    outcomes = (
        (Outcome(origin="network", kind="reset", count=failed, example="connection reset by peer"),)
        if failed
        else ()
    )
    fields: dict[str, Any] = {
        "started_at_unix_ns": CREATED_NS,
        "warmup_ns": 2 * SECOND_NS,
        "measured_ns": 10 * SECOND_NS,
        "interrupted": False,
        "requests": RequestAccounting(
            started=completed + failed + 64, completed=completed, failed=failed, in_flight=64
        ),
        "started": completed + failed,
        "completed": completed,
        "failed": failed,
        "bytes_read": completed * 180,
        "bytes_written": completed * 60,
        "body_bytes": completed * 61,
        "statuses": {"200": completed},
        "encodings": {"identity": completed},
        "checked": completed,
        "outcomes": outcomes,
        "connections": Connections(asked=64, opened=64, answered=64, reopened=0, peak=64),
        "service_time": histogram(64e9 / per_s, seed=seed, samples=samples),
        "response_time": None,
        "send_lag": None,
        "connect_time": histogram(120_000, samples=64),
        "first_byte_time": histogram(60e9 / per_s, seed=seed, samples=samples),
        "missed_starts": 0,
        "windows": windows,
        "workers": (
            Worker(
                cpu=0,
                wall_ns=10 * SECOND_NS,
                cpu_ns=7_200_000_000,
                largest_stall_ns=3_100_000,
                completed=completed,
            ),
        ),
        "engine_version": "0.1.0",
    }
    return Measurement(**(fields | changes))


def whole(per_s: float, *, failed: int = 0, seed: int = 1) -> Measurement:
    """The same with a time for each answer, and times that keep Little's law: nothing contradicts itself."""
    median_ns = 64e9 / per_s / math.exp(_SPREAD**2 / 2)
    times, first = (
        histogram(share * median_ns, _SPREAD, seed=seed, count=round(per_s * 10)) for share in (1.0, 0.94)
    )
    return measurement(per_s, failed=failed, seed=seed, service_time=times, first_byte_time=first)


_SPREAD = 0.4
