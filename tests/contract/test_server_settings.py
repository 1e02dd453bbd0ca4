"""Every server in each of its settings, started once for all that is asked of it: its contract, the line
that it was published with, and what the setting is there for.

The fair profile's contract is in `test_servers.py`, which looks closer.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from serving import ALL, LONG, Serving, load_plan, same_setting, serving, variants

from assay.engine import driver
from assay.model.measurement import Measurement
from assay.model.plan import Closed, StopAtCount
from assay.servers import probe
from assay.servers.server import HOST

pytestmark = [pytest.mark.contract, pytest.mark.timeout(900)]

SERVERS = {server.id: server for server in ALL}
PATIENCE_S = 120

LINES = {
    "quotes/go": "wrk -t12 -c400 -d2s {url}/franklin-says",
    "hello/vertx": "wrk -t5 -c500 -d2s {url}/",
    "hello/spring-webflux-armeria": "wrk -t10 -c500 -d2s {url}/controller",
    "delay/armeria": "wrk -t10 -c500 -d2s {url}/test",
    "petclinic/nginx-lua": "wrk --latency -t 1000 -c 1000 --timeout 5s -d 2s -H Accept-Encoding:~gzip {url}/",
    "workflow/quarkus": "ab -p {body} -T application/json -n 1000 -c 200 {url}/execute/internal/workflow",
    "heroes/go-pgx": "bombardier -m GET {address}/heroes/1 -c 2500 -n 25000",
}
"""The published studies' command lines by server, word for word but for the time, and for the number of
requests: a fifth of it is sent unless ASSAY_LONG=1. A `~` is a blank inside a word."""

DONE = {
    "wrk": r"(\d+) requests in",
    "ab": r"Complete requests:\s+(\d+)",
    "bombardier": r"2xx - (\d+)",
}

ENDED = {"ab": DONE["ab"], "bombardier": r"(?:[1-5]xx|others) - (\d+)"}
"""What came of the requests, whatever it was."""


@dataclass(frozen=True)
class Setting:
    """A server's id and one of its variants."""

    server: str
    variant: str

    def __str__(self) -> str:
        return f"{self.server}-{self.variant}"


OTHERS = [Setting(server.id, name) for server in ALL for name in variants(server) if name != "fair"]
PUBLISHED = [Setting(name, same_setting(SERVERS[name], "published")) for name in LINES]
WAITING, REFUSING = Setting("workflow/quarkus", "fair"), Setting("workflow/quarkus", "crowded")
PLAIN = Setting("petclinic/spring", "published")


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The server in the setting; tests of one setting follow each other, and so it is started once."""
    setting: Setting = request.param
    with serving(SERVERS[setting.server], setting.variant, tmp_path_factory.mktemp("setting")) as made:
        yield made


@pytest.mark.parametrize("served", OTHERS, indirect=True, ids=str)
def test_it_keeps_its_contract_in_each_of_its_settings(served: Serving) -> None:
    _, problems = probe.test(served.contract, served.routes, HOST, served.running.port)
    assert problems == ()


@pytest.mark.parametrize("served", PUBLISHED, indirect=True, ids=str)
def test_a_published_line_runs(served: Serving) -> None:
    address = f"{HOST}:{served.running.port}"
    fill = {
        "address": address,
        "url": f"http://{address}",
        "body": served.server.contract_folder / "benchmark.json",
    }
    words = [word.replace("~", " ").format(**fill) for word in LINES[served.server.id].split()]
    if "-n" in words and not LONG:
        place = words.index("-n") + 1
        words[place] = str(int(words[place]) // 5)
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counted = re.search(DONE[words[0]], done.stdout)
    assert counted is not None, done.stdout
    assert int(counted[1]) > 0
    if "-n" in words:  # on a busy machine some of the crowd run into the tool's time-out: ended, and told
        ended = sum(int(number) for number in re.findall(ENDED[words[0]], done.stdout))
        assert ended == int(words[words.index("-n") + 1]), done.stdout


CROWD = 1_000 if LONG else 300
"""Requests of two hundred clients: the first wave, and another of those that had their answer."""


def crowd(served: Serving) -> Measurement:
    """More clients than an executor has places, which are forty; the contract has every answer looked at."""
    requests = (served.contract.request(served.routes[0]),)
    return driver.start(
        load_plan(served, requests, Closed(connections=200), StopAtCount(count=CROWD))
    ).result()


@pytest.mark.parametrize("served", [WAITING], indirect=True, ids=str)
def test_a_crowd_waits_at_the_door(served: Serving) -> None:
    measured = crowd(served)
    assert measured.outcomes == ()
    assert measured.checked == CROWD


@pytest.mark.parametrize("served", [REFUSING], indirect=True, ids=str)
def test_with_more_workers_than_places_a_crowd_is_turned_away(served: Serving) -> None:
    [refused] = crowd(served).outcomes
    assert refused.kind == "unexpected_body"
    assert refused.count > 100


@pytest.mark.parametrize("served", [PLAIN], indirect=True, ids=str)
def test_spring_compresses_nothing_as_published(served: Serving, tmp_path: Path) -> None:
    with serving(SERVERS["petclinic/nginx-lua"], "fair", tmp_path) as other:
        assert front_page(served, {"accept-encoding": "gzip"}) == front_page(other, {})


def front_page(clinic: Serving, headers: dict[str, str]) -> bytes:
    """As it is sent, which is uncompressed."""
    [route] = (route for route in clinic.routes if route.name == "welcome-plain")
    connection = clinic.connect()
    answer = clinic.ask(connection, route, headers=headers)
    assert answer.getheader("content-encoding") is None
    page = answer.read()
    connection.close()
    return page
