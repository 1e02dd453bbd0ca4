"""`assay load` as a person runs it: real processes, real sockets on loopback, a real terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from fcntl import ioctl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from assay.model.measurement import Measurement
from assay.model.plan import LoadPlan

ASSAY = [sys.executable, "-m", "assay.cli.main"]
PATIENCE_S = 120.0
"""For a machine that is busy with other things; nothing here is expected to take so long."""

NUMBER = r"\d[\d,.]*"
"""Of a rate, which is a bound or lies between two where the machine is busy with other things."""


class Handler(BaseHTTPRequestHandler):
    """Answers what the path names: /404, /echo (the body), else a short text."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    seen: list[tuple[str, str, str, str]] = []

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        seen = (self.command, self.path, self.headers.get("x-mark", ""), body.decode())
        self.seen.append(seen)
        text = body or b"hello"
        self.send_response(404 if self.path == "/404" else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    Handler.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def assay(*words: str, cwd: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | environment
    command = [*ASSAY, *words]
    return subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=settings,
        stdin=subprocess.DEVNULL,
    )


class Terminal:
    """A process on a terminal of 80 columns and 24 rows."""

    def __init__(self, *words: str, **environment: str) -> None:
        pid, self.fd = pty.fork()
        if pid == 0:  # the child
            os.environ.update({"TERM": "xterm-256color"} | environment)
            os.environ.pop("CI", None)
            os.execv(ASSAY[0], [*ASSAY, *words])
        self.pid = pid
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.text = ""

    def read_until(self, pattern: str) -> None:
        """Wait until the terminal has shown `pattern`."""
        deadline = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.text) and self._read(deadline):
            pass
        assert re.search(pattern, self.text), self.text

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self.fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"no end in sight: {self.text}")
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the process has closed its side
            return False
        self.text += data.decode()
        return bool(data)


def test_a_load_in_a_pipe_ends_in_a_plain_summary(url: str) -> None:
    ended = assay("load", url, "-c", "2", "-d", "500ms")
    assert ended.returncode == 0, ended
    assert "closed loop, 2 connections" in ended.stdout
    assert re.match(rf"(about |≥ |≤ )?{NUMBER}( – {NUMBER})? requests/s", ended.stdout)
    assert re.search(r" 0 of [\d,]+ failed", ended.stdout)
    assert "service time" in ended.stdout
    assert len(ended.stdout.splitlines()) <= 14
    assert "\x1b" not in ended.stdout + ended.stderr
    assert max(map(len, ended.stdout.splitlines())) <= 80


@pytest.mark.beside
def test_json_holds_the_plan_the_measurement_and_the_verdict(url: str) -> None:
    ended = assay("load", f"{url}/a?b=c", "-c", "2", "-n", "200", "--json")
    told = json.loads(ended.stdout)
    assert told["completed"] == 200
    assert told["clean"] is False
    assert {"S7"} <= {finding["code"] for finding in told["findings"]}
    plan = msgspec.convert(told["plan"], LoadPlan)
    assert plan.requests[0].target.startswith("/a?b=hidden-")
    measured = msgspec.convert(told["measurement"], Measurement)
    assert (
        measured.requests.started
        == measured.requests.completed + measured.requests.failed + measured.requests.in_flight
    )
    assert told["throughput_per_s"] > 0
    assert told["service_time_ns"]["p99"] is None  # 459 requests would be needed


def test_a_load_that_is_kept_is_a_run_like_any_other(url: str, tmp_path: Path) -> None:
    results = ("--results", str(tmp_path / "runs"))
    words = ("load", f"{url}/x?token=hush", "-c", "2", "-n", "300", "-q", "--user", "ada:hush")
    page = tmp_path / "page.html"
    kept = assay(*words, "--save", "--name", "greeter", *results, "--html", str(page))
    assert kept.returncode == 0, kept
    assert "0 of 300 failed" in kept.stdout  # files silence nothing
    assert "greeter serves " in page.read_text()
    [record] = (tmp_path / "runs").glob("load-*/run.jsonl")
    for written in (record, record.with_name("report.md"), page):
        assert "hush" not in written.read_text()
    shown = assay("report", "latest", "--verbose", *results)
    assert (shown.returncode, "greeter serves " in shown.stdout) == (0, True)
    assert "greeter" in assay("compare", "latest", "latest", "--verbose", *results).stdout
    assert record.parent.name in assay("history", *results).stdout
    again = assay("run", "--resume", "latest", *results)
    assert again.returncode == 2 and again.stderr.count("\n") == 1
    alone = assay(*words, "--name", "greeter", "--csv", "-", cwd=str(tmp_path))
    assert alone.stdout.startswith("run_id,") and not (tmp_path / "results").exists()


@pytest.mark.beside
def test_what_is_asked_for_is_what_arrives(url: str, tmp_path: Path) -> None:
    body = tmp_path / "body.txt"
    body.write_text("from a file")
    assay(
        "load", f"{url}/x", "-c", "1", "-n", "1", "-m", "PUT", "--body-file", str(body), "-H", "X-Mark: yes"
    )
    assert ("PUT", "/x", "yes", "from a file") in Handler.seen


def test_wrong_answers_are_failures_and_the_figures_invalid(url: str) -> None:
    ended = assay("load", f"{url}/404", "-c", "1", "-n", "50")
    assert ended.returncode == 1
    assert ended.stdout.startswith("no valid rate; 50 of 50 failed") and "status 404 (W2)" in ended.stdout
    assert "unexpected status" in ended.stdout
    whole = assay("load", f"{url}/404", "-c", "1", "-n", "50", "--verbose").stdout
    assert "no valid rate; " in whole and "W2 error" in whole
    assert assay("load", f"{url}/404", "-c", "1", "-n", "50", "--expect-status", "404").returncode == 0


@pytest.mark.beside
def test_a_refused_connection_is_said_and_invalid() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ended = assay("load", f"127.0.0.1:{unused.getsockname()[1]}", "-c", "1", "-n", "1")
    assert ended.returncode == 1
    assert "refused" in ended.stdout.lower()
    assert "Traceback" not in ended.stderr


@pytest.mark.beside
@pytest.mark.parametrize("rate", [[], ["--rate", "100"]])
def test_a_load_that_reaches_nothing_ends_at_once_and_says_so(rate: list[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        brief = assay("load", url, "-d", "1h", *rate)
        ended = assay("load", url, "-d", "1h", "--verbose", *rate)
    assert (brief.returncode, ended.returncode) == (1, 1)
    for words in ("ended at once: nothing was reached", "→ start the server, or correct the address"):
        assert words in " ".join(brief.stdout.split())
    said = " ".join(ended.stdout.split())
    assert "ended at once: nothing was reached" in said
    assert said.startswith(f"{url} no valid rate; ")
    assert "nothing was reached: no connection was ever opened (connect refused: " in said
    assert "do start the server, or correct the address and the port" in said
    assert said.count("its throughput is no result and has no place; its times are not shown") == 1
    assert "p50" not in said
    assert re.findall(r"[A-Z]\d+ error ", said) == ["G8 error "]
    assert "ulimit" not in said and "too fast" not in said


class Simple(Handler):
    """As `python3 -m http.server` speaks: HTTP/1.0, and a connection for each answer."""

    protocol_version = "HTTP/1.0"


@pytest.mark.beside
def test_a_server_that_closes_each_connection_is_followed() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Simple)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        told = json.loads(assay("load", url, "-d", "1s", "-q", "--json").stdout)
        given = assay("load", url, "-c", "4", "-n", "50", "-q", "--json", "--http1.0", "--no-keep-alive")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    found = {finding["code"]: finding for finding in told["findings"]}
    assert found["W5"]["severity"] == "warning" and "it was followed" in found["W5"]["evidence"]
    assert told["throughput_per_s"] > 0
    assert all(found[code]["severity"] == "warning" for code in ("G8", "M1") if code in found)
    assert "W5" not in {finding["code"] for finding in json.loads(given.stdout)["findings"]}


@pytest.mark.beside
def test_a_server_that_says_nothing_is_not_served_at_0_a_second() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        where = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        ended = assay("load", where, "--rate", "20", "-d", "500ms")
    assert ended.returncode == 1
    assert ended.stdout.startswith("no valid rate; no request ended within the measured time")


@pytest.mark.beside
def test_a_rate_that_nobody_can_send_is_refused_in_a_line() -> None:
    ended = assay("load", "http://127.0.0.1:9/", "--rate", "4294967295")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") <= 2 and "100000000 requests per second" in ended.stderr


@pytest.mark.beside
def test_ctrl_c_ends_a_load_that_is_behind_its_rate_by_far(url: str) -> None:
    terminal = Terminal("load", url, "-c", "2", "-d", "1h", "--rate", "100M")
    terminal.read_until(r"p50 \d")
    os.write(terminal.fd, b"\x03")
    assert terminal.end() == 130


@pytest.mark.beside
def test_a_strangers_machine_is_not_loaded_without_yes() -> None:
    ended = assay("load", "http://203.0.113.7/", "-d", "1s")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "neither loopback nor private" in ended.stderr
    assert "--yes" in ended.stderr


@pytest.mark.beside
def test_on_a_terminal_it_asks_first_and_no_is_the_default() -> None:
    terminal = Terminal("load", "http://203.0.113.7/", "-d", "1s")
    terminal.read_until(r"\[y/N\]")
    os.write(terminal.fd, b"\n")
    assert terminal.end() == 2
    assert "nothing was sent" in terminal.text


@pytest.mark.beside
def test_ctrl_c_reports_what_was_measured(url: str) -> None:
    terminal = Terminal("load", url, "-c", "2", "-d", "100s")
    terminal.read_until(r"p50 \d")
    os.write(terminal.fd, b"\x03")
    assert terminal.end() == 130
    assert "interrupted" in terminal.text and "requests/s" in terminal.text
    assert "Traceback" not in terminal.text


@pytest.mark.beside
def test_ctrl_c_in_a_pipe_still_gives_whole_json(url: str) -> None:
    command = [*ASSAY, "load", url, "-c", "2", "-d", "100s", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "measuring" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_S)
    told = json.loads(out)
    assert process.returncode == 130
    assert told["measurement"]["interrupted"] is True
    assert told["completed"] > 0


def test_the_live_view_hides_the_cursor_and_gives_it_back(url: str) -> None:
    terminal = Terminal("load", url, "-c", "2", "-d", "3s")
    assert terminal.end() == 0
    assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h") == 1
    assert "client CPU" in terminal.text
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.text)
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= 80


@pytest.mark.beside
def test_no_color_is_respected_on_a_terminal(url: str) -> None:
    terminal = Terminal("load", url, "-c", "2", "-d", "300ms", NO_COLOR="1")
    terminal.end()
    assert not re.search(r"\x1b\[[0-9;]*3[0-9][;m]", terminal.text)


@pytest.mark.beside
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["load", "http://no-such-host.invalid/"], "cannot resolve 'no-such-host.invalid'"),
        (["load", "ftp://127.0.0.1/"], "is not an http URL"),
        (["load", "127.0.0.1:9", "--body-file", "/nonexistent"], "no such file or directory"),
        (["load", "127.0.0.1:9", "-c", "1", "-t", "2"], "--threads: must be at least 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words: list[str], said: str) -> None:
    ended = assay(*words)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1
