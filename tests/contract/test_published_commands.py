"""The published studies' command lines, word for word but for the time, against the studies' own servers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from serving import ALL, serving

pytestmark = pytest.mark.contract

LINES = {
    "quotes/go": "wrk -t12 -c400 -d2s {url}/franklin-says",
    "hello/vertx": "wrk -t5 -c500 -d2s {url}/",
    "hello/spring-webflux-armeria": "wrk -t10 -c500 -d2s {url}/controller",
    "delay/armeria": "wrk -t10 -c500 -d2s {url}/test",
    "petclinic/nginx-lua": "wrk --latency -t 1000 -c 1000 --timeout 5s -d 2s -H Accept-Encoding:~gzip {url}/",
    "workflow/quarkus": "ab -p {body} -T application/json -n 1000 -c 200 {url}/execute/internal/workflow",
    "heroes/go-pgx": "bombardier -m GET {address}/heroes/1 -c 2500 -n 25000",
}
"""By server; a `~` is a blank inside a word."""

DONE = {
    "wrk": r"(\d+) requests in",
    "ab": r"Complete requests:\s+(\d+)",
    "bombardier": r"2xx - (\d+)",
}

ENDED = {"ab": DONE["ab"], "bombardier": r"(?:[1-5]xx|others) - (\d+)"}
"""What came of the requests, whatever it was."""


@pytest.mark.parametrize("name", LINES)
def test_a_published_line_runs(name: str, tmp_path: Path) -> None:
    (server,) = (one for one in ALL if one.id == name)
    with serving(server, "published", tmp_path) as made:
        address = f"127.0.0.1:{made.running.port}"
        fill = {
            "address": address,
            "url": f"http://{address}",
            "body": server.contract_folder / "benchmark.json",
        }
        words = [word.replace("~", " ").format(**fill) for word in LINES[name].split()]
        done = subprocess.run(
            [sys.executable, "-m", "assay.cli.main", *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    counted = re.search(DONE[words[0]], done.stdout)
    assert counted is not None, done.stdout
    assert int(counted[1]) > 0
    if "-n" in words:  # on a busy machine some of the crowd run into the tool's time-out: ended, and told
        ended = sum(int(number) for number in re.findall(ENDED[words[0]], done.stdout))
        assert ended == int(words[words.index("-n") + 1]), done.stdout
