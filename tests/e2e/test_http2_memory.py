"""What HTTP/2 takes of the engine's memory: connections that rest, and millions of requests. Long."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import psutil
import pytest

pytestmark = pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: ten million requests")

IDLE_CONNECTIONS = 9_000  # below the 10,000 descriptors that a system usually gives
MOST_BYTES_A_CONNECTION = 20_000
FEW, MANY = 1_000_000, 10_000_000
# The windows of a longer run, and a page here and there: an eighteenth of a byte a request.
MOST_GROWTH_BYTES = 500_000

# Its own process, so that nothing but the engine grows. Says what it holds at the end.
LOAD = """
import json, sys, psutil
from assay import engine
from assay.values.plan import LoadPlan
import msgspec

def held():
    return psutil.Process().memory_info().rss

before = held()
run = engine.start(msgspec.json.decode(sys.argv[1], type=LoadPlan))
wanted = [int(count) for count in sys.argv[2:]]
seen = []
for count in wanted:
    while run.snapshot().completed < count:
        if run.wait(0.05):
            break
    seen.append(held() - before)
run.stop()
result = run.result()
print(json.dumps({"held": seen, "completed": result.completed, "failed": result.failed}))
"""


def load(plan: Mapping[str, object], *counts: int) -> tuple[list[int], int]:
    """Run `plan` against a null server; the bytes held when so many were answered, and the answers."""
    words = [sys.executable, "-m", "assay.null_server", "--port", "0", "--http2-only", "--body", "hello"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            listening = re.search(r"http://[^ ]*", server.stdout.readline())
            assert listening is not None
            whole = json.dumps({"url": listening[0], "http": "2", **plan})
            words = [sys.executable, "-c", LOAD, whole, *map(str, counts)]
            told = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
        finally:
            server.kill()
    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout)
    assert said["failed"] == 0, said
    return said["held"], said["completed"]


def idle(connections: int) -> int:
    """Bytes held with connections of which each has had one answer and rests."""
    closed = {"kind": "closed", "connections": connections, "think_time_ns": 3_600_000_000_000}
    plan = {"load": closed, "stop": {"kind": "duration", "ns": 3_600_000_000_000}}
    held, _ = load(plan, connections)
    return held[0]


def test_a_connection_that_rests_takes_little() -> None:
    limit, _ = psutil.Process().rlimit(psutil.RLIMIT_NOFILE)
    if limit < IDLE_CONNECTIONS + 500:
        pytest.skip(f"only {limit} descriptors")
    few = 500
    each = (idle(IDLE_CONNECTIONS) - idle(few)) / (IDLE_CONNECTIONS - few)
    print(f"{each:.0f} bytes a connection")
    assert each <= MOST_BYTES_A_CONNECTION


@pytest.mark.parametrize("request_of", [{}, {"target": "/{counter}", "templated": True}])
def test_memory_is_flat_over_ten_million_requests(request_of: dict[str, object]) -> None:
    plan = {
        "load": {"kind": "closed", "connections": 16},
        "streams": 20,
        "stop": {"kind": "requests", "count": MANY + FEW},
        "requests": [request_of],
    }
    (early, late), completed = load(plan, FEW, MANY)
    assert completed >= MANY
    print(f"{early / 1e6:.2f} MB, then {late / 1e6:.2f} MB")
    assert late - early <= MOST_GROWTH_BYTES
