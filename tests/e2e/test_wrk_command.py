"""`assay wrk` as a person runs it: through a link, with findings, interrupted, at a fixed rate."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from wire import Wire, recording
from wrk_pair import ASSAY, PATIENCE_S

pytestmark = pytest.mark.beside


def run(
    *words: str, quiet: bool = False, program: tuple[str, ...] = ASSAY
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "ASSAY_QUIET": "1" if quiet else "0"}
    return subprocess.run(
        [*program, *words], capture_output=True, text=True, timeout=PATIENCE_S, env=env, check=False
    )


def wait_for(wire: Wire) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not wire.requests:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_link_named_wrk_is_wrk(tmp_path: Path) -> None:
    link = tmp_path / "wrk"
    link.write_text(f"#!{sys.executable}\nimport sys\nfrom assay.cli.main import main\nsys.exit(main())\n")
    link.chmod(0o755)
    with recording() as wire:
        done = run("-t1", "-c1", "-d1", wire.url(), program=(str(link),))
    assert done.returncode == 0
    assert done.stdout.startswith(f"Running 1s test @ {wire.url()}\n  1 threads and 1 connections\n")


def test_a_published_command_line_learns_what_is_wrong_with_it() -> None:
    words = ("--latency", "-t", "1000", "-c", "1000", "--timeout", "5s", "-H", "Accept-Encoding: gzip", "-d1")
    with recording() as wire:
        told = run(*words, wire.url())
        silent = run(*words, wire.url(), quiet=True)
    assert (told.returncode, silent.returncode) == (0, 0)
    assert "  1000 threads and 1000 connections\n" in told.stdout
    assert wire.requests[0].endswith(b"\r\nAccept-Encoding: gzip\r\n\r\n")
    lines = told.stderr.splitlines()
    assert all(re.match(r"assay wrk: (error|warning|note) [A-Z]\d+: .+; .+", line) for line in lines)
    assert any("1,000 client threads" in line for line in lines)
    assert silent.stderr == ""


def test_ctrl_c_ends_early_with_the_report() -> None:
    with recording() as wire:
        running = subprocess.Popen(
            [*ASSAY, "-t1", "-c1", "-d100", wire.url()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for(wire)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0
    assert re.search(r"  [1-9]\d* requests in [\d.]+(us|ms|s), ", out)
    assert "Transfer/sec:" in out


def test_a_fixed_rate_is_an_open_loop_with_a_spectrum() -> None:
    with recording() as wire:
        done = run("-t2", "-c4", "-d1", "-R", "200", "--u_latency", wire.url(), quiet=True)
    assert done.returncode == 0, done.stderr
    total = re.search(r"  (\d+) requests in", done.stdout)
    assert total
    # 200 are intended; those on their way when the second ends are not counted.
    assert 0 < int(total[1]) <= 200
    for title in (
        "Recorded Latency",
        "Uncorrected Latency (measured without taking delayed starts into account)",
    ):
        block = done.stdout.split(f"  Latency Distribution (HdrHistogram - {title})\n")[1]
        assert [line[:9] for line in block.splitlines()[:3]] == [" 50.000% ", " 75.000% ", " 90.000% "]
        assert (
            "  Detailed Percentile spectrum:\n       Value   Percentile   TotalCount 1/(1-Percentile)\n\n"
            in block
        )
        last = re.search(r"\n *[\d.]+ +1\.000000 +(\d+) +inf\n#\[Mean    = ", block)
        assert last
        assert last[1] == total[1]


def test_a_script_pipelines_at_a_fixed_rate(tmp_path: Path) -> None:
    script = tmp_path / "five.lua"
    script.write_text("function request() return wrk.format():rep(5) end")
    with recording() as wire:
        done = run("-t1", "-c2", "-d1", "-R", "100", "-L", "-s", str(script), wire.url(), quiet=True)
    assert done.returncode == 0, done.stderr
    total = re.search(r"  (\d+) requests in", done.stdout)
    assert total
    # Batches of five, 20 a second.
    assert 0 < int(total[1]) <= 100
    assert int(total[1]) % 5 == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("-c", "5000000000"), "-c: must be between 1 and 1000000"),
        (("-c", "5000000000", "-R", "5"), "-c: must be between 1 and 1000000"),
        (("-d", "25h"), "-d: warm-up and measured phase together must be at most 24 hours"),
        (("-d", "99999999999999h"), "-d: warm-up and measured phase together must be at most 24 hours"),
        (("-T", "2h"), "-T: must be between 1 microsecond and one hour"),
        (("-T", "99999999999999h"), "-T: must be between 1 microsecond and one hour"),
        (("-s", "SCRIPT"), "-s: must be between 1 and 1024"),
    ],
)
def test_what_the_engine_refuses_is_one_line_about_the_flag(
    tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    script = tmp_path / "many.lua"
    script.write_text("function request() return wrk.format():rep(1025) end")
    with recording() as wire:
        done = run(*(str(script) if word == "SCRIPT" else word for word in words), wire.url())
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"wrk: {line}\n")
    assert wire.requests == []


def test_help_lists_the_verb() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "--help"], capture_output=True, text=True, check=True
    )
    assert re.search(r"Speak another tool's language:.* wrk\b", done.stdout)


LOOPS = 'io.stderr:write("looping\\n") while true do end'


@pytest.mark.parametrize(
    "script",
    [
        LOOPS,
        f"function setup(thread) {LOOPS} end",
        f"function init(words) {LOOPS} end",
        f"function request() {LOOPS} end",
        f"function response() {LOOPS} end",
        f"function done(summary) {LOOPS} end",
    ],
    ids=["load", "setup", "init", "request", "response", "done"],
)
def test_a_script_that_loops_ends_at_ctrl_c(script: str, tmp_path: Path) -> None:
    file = tmp_path / "loops.lua"
    file.write_text(script)
    with recording() as wire:
        words = [*ASSAY, "-t1", "-c1", "-d1", "-s", str(file), wire.url()]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == "looping\n"
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT
    assert "Traceback" not in said


@pytest.mark.parametrize("around", ["{}", "function setup(thread) {} end", "function init(words) {} end"])
def test_a_script_does_not_connect_to_machines_of_others_unasked(around: str, tmp_path: Path) -> None:
    file = tmp_path / "far.lua"
    file.write_text(around.replace("{}", 'wrk.connect(wrk.lookup("192.0.2.1", "80")[1])'))  # RFC 5737
    with recording() as wire:
        done = run("-t1", "-c1", "-d1", "-s", str(file), wire.url())
    assert done.returncode == 1 and wire.requests == []
    assert "wrk.connect leads to 192.0.2.1, neither loopback nor private; ASSAY_YES=1" in done.stderr
