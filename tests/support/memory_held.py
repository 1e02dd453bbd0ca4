"""What the engine holds of the system's memory once so many requests are answered.

It is asked of a process of its own, so that nothing but the engine grows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

NEVER_NS = 3_600_000_000_000

_LOAD = """
import json, sys
import msgspec, psutil
from assay.engine import driver
from assay.model.plan import LoadPlan

def held():
    return psutil.Process().memory_info().rss

plan = msgspec.json.decode(sys.argv[1], type=LoadPlan)
before = held()
run, seen = driver.start(plan), []
for count in map(int, sys.argv[2:]):
    while run.snapshot().completed < count:
        if run.wait(0.05):
            break
    seen.append(held() - before)
run.stop()
result = run.result()
print(json.dumps({"held": seen, "completed": result.completed, "failed": result.failed}))
"""


def command(plan: Mapping[str, object], counts: Sequence[int]) -> list[str]:
    """What runs `plan`, stops it after the last of `counts`, and prints what was held at each of them."""
    return [sys.executable, "-c", _LOAD, json.dumps(plan), *map(str, counts)]


def resting(connections: int) -> dict[str, object]:
    """Of a plan: so many connections, each of which has one answer and rests."""
    closed = {"kind": "closed", "connections": connections, "think_time_ns": NEVER_NS}
    # A handshake of QUIC is a server's work of a millisecond: all at once they would wait for too long.
    return {"load": closed, "stop": {"kind": "duration", "ns": NEVER_NS}, "connections_per_s": 1000}


def busy(requests: int) -> dict[str, object]:
    """Of a plan: so many requests on a few connections. Its windows are long: each is kept."""
    return {
        "load": {"kind": "closed", "connections": 16},
        "streams": 20,
        "stop": {"kind": "requests", "count": requests},
        "window_ns": 10_000_000_000,
    }
