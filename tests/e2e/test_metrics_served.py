"""`assay load --metrics`: what a scraper sees, and that none holds the load up."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from loading import QUIET
from wire import recording

from assay.cli.main import main
from assay.cli.scraped import place
from assay.core.errors import InputError

pytestmark = pytest.mark.beside
parser = pytest.importorskip("prometheus_client.parser")
DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana.json"
WAIT_S = 60.0


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def test_a_place_is_loopback_unless_it_is_said() -> None:
    assert place("9464") == place(":9464") == ("127.0.0.1", 9464)
    assert place("0.0.0.0:1") == ("0.0.0.0", 1)
    assert place("[::1]:9464") == ("::1", 9464)
    for wrong in ("", "host", "1:2:3", "0", "65536", "a:b"):
        with pytest.raises(InputError, match="no HOST:PORT"):
            place(wrong)


def test_a_port_in_use_is_a_line_before_the_load(capsys: pytest.CaptureFixture[str]) -> None:
    with recording() as wire, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        assert main(["load", wire.url(), "-n", "4", "--metrics", where]) == 2
        assert not wire.requests
    told = capsys.readouterr().err
    assert f"--metrics: cannot listen on {where}: address already in use" in told
    assert len(told.splitlines()) == 1


@contextmanager
def loading(folder: Path, port: int, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A load of a mix, whose server is in this process, shown on that port."""
    mix = folder / "mix.jsonl"
    mix.write_text('{"path": "/a"}\n{"path": "/b", "name": "say \\"b\\"", "expect": {"status": 201}}\n')
    with recording() as wire:
        own = ("--requests", str(mix), "-c", "2", "--metrics", str(port), *QUIET, *words)
        command = [sys.executable, "-m", "assay.cli.main", "load", wire.url(), *own]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def asked(url: str) -> str:
    """What is answered there, once something is."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            with urlopen(url, timeout=5) as answer:
                text: str = answer.read().decode()
                if text:
                    return text
        except (URLError, OSError):
            if time.monotonic() > end:
                raise
        threading.Event().wait(0.05)


def test_a_scraper_sees_the_load_and_one_that_hangs_holds_nothing_up(tmp_path: Path) -> None:
    port = free_port()
    with loading(tmp_path, port, "-d", "3s") as process:
        text = asked(f"http://127.0.0.1:{port}/metrics")
        hangs = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        hangs[0].send(b"GET /metr")
        hangs[1].send(b"GET /metrics HTTP/1.1\r\n\r\n")
        told, _ = process.communicate(timeout=WAIT_S)
        for one in hangs:
            one.close()
    found = {family.name: family for family in parser.text_string_to_metric_families(text)}
    names = {one.labels["request"] for one in found["assay_requests_completed"].samples}
    assert names <= {"GET /a", 'say "b"'} and names
    assert {one.labels["phase"] for one in found["assay_requests_started"].samples} == {"measured"}
    seen = json.loads(told)
    assert seen["completed"] > 0 and not seen["measurement"]["interrupted"]


def queries() -> list[tuple[str, str]]:
    """The title and the query of each line of the dashboard, with what Grafana would fill in."""
    told: dict[str, Any] = json.loads(DASHBOARD.read_text())
    filled = {"$__rate_interval": "4s", "$case": ".*"}
    found = []
    for panel in told["panels"]:
        for one in panel["targets"]:
            expr = one["expr"]
            for name, value in filled.items():
                expr = expr.replace(name, value)
            found.append((panel["title"], expr))
    return found


@pytest.mark.skipif(not shutil.which("prometheus"), reason="apt-get install prometheus")
def test_prometheus_scrapes_a_load_and_answers_every_panel(tmp_path: Path) -> None:
    port, own = free_port(), free_port()
    config = tmp_path / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 1s}\n"
        f"scrape_configs: [{{job_name: assay, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    )
    flags = [f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}"]
    command = ["prometheus", *flags, f"--web.listen-address=127.0.0.1:{own}", "--log.level=error"]
    prometheus = subprocess.Popen(command)
    try:
        asked(f"http://127.0.0.1:{own}/-/ready")
        with loading(tmp_path, port, "-d", "5m"):
            for title, query in queries():
                assert value_of(own, query), f"{title}: {query}"
    finally:
        prometheus.terminate()
        prometheus.wait(timeout=WAIT_S)


def value_of(port: int, query: str) -> list[Any]:
    """What Prometheus has for a query, as soon as that is a number."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        told = json.loads(asked(f"http://127.0.0.1:{port}/api/v1/query?query={quote(query)}"))
        found: list[Any] = told["data"]["result"]
        if any(one["value"][1] != "NaN" for one in found):
            return found
        threading.Event().wait(0.2)
    return []
