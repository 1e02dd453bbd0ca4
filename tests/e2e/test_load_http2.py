"""`assay load --http2` against nginx, and against a server that has only HTTP/1.1."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loading import Load
from wire import recording

pytestmark = pytest.mark.beside


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """nginx with HTTP/2 on a port without TLS, of which it allows four streams on a connection."""
    program = shutil.which("nginx") or pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("nginx")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind}; " for kind in kinds)
    serves = f"listen 127.0.0.1:{port} http2; http2_max_concurrent_streams 4; keepalive_requests 100000;"
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; events {{}} http {{ access_log off; {paths}"
        f'server {{ {serves} location / {{ return 200 "hello"; }} }} }}'
    )
    words = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until it listens; the test's own limit of time ends this where it never does."""
    while process.poll() is None:
        with socket.socket() as asking:
            asking.settimeout(0.05)
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError("nginx does not start")


def test_every_answer_of_nginx_counts_once_and_waits_for_its_streams(load: Load, port: int) -> None:
    words = ("--http2", "--streams", "10", "--expect-body", "hello")
    document = load.clean(f"http://127.0.0.1:{port}/", *words, count=2000, connections=2)
    measured = document["measurement"]
    assert measured["http_versions"] == {"2": 2000}
    assert measured["connections"]["opened"] == 2
    assert measured["http2"]["streams_allowed"] == 4
    assert measured["http2"]["stream_waits"] > 0


def test_answers_that_come_before_the_end_of_a_body_count(load: Load, port: int, tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(b"x" * 100_000)
    words = ("--http2", "--streams", "3", "--body-file", str(tmp_path / "body"), "--expect-status", "any")
    measured = load.clean(f"http://127.0.0.1:{port}/", *words, count=30)["measurement"]
    # nginx opens the window for a part of each, and answers.
    assert measured["bytes_written"] > 30 * 10_000


def test_a_server_of_http1_alone_is_said_to_be_that(load: Load) -> None:
    with recording() as wire:
        document = load(wire.url(), "--http2", "--streams", "3", count=1000)
    (outcome,) = document["measurement"]["outcomes"]
    assert (outcome["origin"], outcome["kind"]) == ("peer", "wrong_protocol")
    assert outcome["count"] < 100
    assert "W5" in {finding["code"] for finding in document["findings"]}
