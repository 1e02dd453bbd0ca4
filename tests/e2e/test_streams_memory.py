"""What HTTP/2 and HTTP/3 take of the engine's memory: connections at rest, and millions of requests. Long."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import memory_held
import psutil
import pytest

pytestmark = pytest.mark.skipif(os.environ.get("ASSAY_LONG") != "1", reason="long: ten million requests")

# Below the 10,000 descriptors that a system usually gives; a handshake of QUIC is a millisecond's work.
IDLE_CONNECTIONS = {"2": 9_000, "3": 2_500}
MOST_BYTES_A_CONNECTION = 20_000
FEW, MANY = 1_000_000, 10_000_000
# A page here and there: an eighteenth of a byte a request.
MOST_GROWTH_BYTES = 500_000


def load(http: str, plan: Mapping[str, object], *counts: int) -> tuple[list[int], int]:
    """Run `plan` against a null server; the bytes held when so many were answered, and the answers."""
    words = [sys.executable, "-m", "assay.servers.null_server", "--port", "0", "--body", "hello"]
    words.append("--http2-only" if http == "2" else "--http3")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            listening = re.search(r"//[^ ]*/", server.stdout.readline())
            if http == "3":
                listening = re.search(r"//[^ ]*/", server.stdout.readline())
            assert listening is not None
            scheme = "http" if http == "2" else "https"
            spoken = {"url": f"{scheme}:{listening[0]}", "http": http, "tls": {"insecure": True}}
            words = memory_held.command({**spoken, "timeout_ns": 60_000_000_000, **plan}, counts)
            told = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
        finally:
            server.kill()
    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout)
    assert said["failed"] == 0, said
    return said["held"], said["completed"]


@pytest.mark.parametrize(("http", "connections"), IDLE_CONNECTIONS.items())
def test_a_connection_that_rests_takes_little(http: str, connections: int) -> None:
    limit, _ = psutil.Process().rlimit(psutil.RLIMIT_NOFILE)
    if limit < connections + 500:
        pytest.skip(f"only {limit} descriptors")
    few = 500
    (at_few,), _ = load(http, memory_held.resting(few), few)
    (at_many,), _ = load(http, memory_held.resting(connections), connections)
    each = (at_many - at_few) / (connections - few)
    print(f"{each:.0f} bytes a connection")
    assert each <= MOST_BYTES_A_CONNECTION


@pytest.mark.parametrize("http", ["2", "3"])
@pytest.mark.parametrize("request_of", [{}, {"target": "/{counter}", "templated": True}])
def test_memory_is_flat_over_ten_million_requests(http: str, request_of: dict[str, object]) -> None:
    plan = {**memory_held.busy(MANY + FEW), "requests": [request_of]}
    (early, late), completed = load(http, plan, FEW, MANY)
    assert completed >= MANY
    print(f"{early / 1e6:.2f} MB, then {late / 1e6:.2f} MB")
    assert late - early <= MOST_GROWTH_BYTES
