"""HTTP/3 as a person asks for it, of the null server: loads, comparisons, searches, studies, `assay
h2load`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import made_studies
import pytest
from loading import Load
from made_candidates import QUICK, assay

from assay import store

pytestmark = pytest.mark.beside

NULL = (sys.executable, "-m", "assay.servers.null_server", "--http3", "--body", "hello\n")
COMMAND = shlex.join(NULL)
"""As a candidate: its port is in its environment."""
AT = ("--url", "https://127.0.0.1:{port}/", "--http3", "--insecure")


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Load:
    return Load(capsys)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with subprocess.Popen([*NULL, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        server.stdout.readline()  # HTTP/1.1 and HTTP/2
        yield server.stdout.readline().split()[2]
        server.terminate()


def test_every_answer_counts_once_over_http3(load: Load, url: str) -> None:
    words = (url, "--http3", "--insecure", "--streams", "10", "--expect-body", "hello\n")
    measured = load.clean(*words, count=500, connections=2)["measurement"]
    assert measured["http_versions"] == {"3": 500}
    assert measured["connections"]["opened"] == 2
    assert measured["http3"]["udp_sent"] > 0 and measured["http3"]["udp_received"] > 0
    assert measured["http2"] is None


def test_the_report_tells_of_datagrams(url: str, tmp_path: Path) -> None:
    told = assay(
        tmp_path, "load", url, "--http3", "-k", "-n", "200", "-c", "2", "--streams", "5", "-q", "--verbose"
    )
    words = " ".join(told.stdout.split())
    assert "closed loop, 2 connections of HTTP/3 with 5 streams each" in words
    assert " datagrams sent, " in words


def test_a_certificate_that_nobody_vouches_for_is_refused(load: Load, url: str) -> None:
    outcomes = load.outcomes(url, "--http3")
    assert set(outcomes) == {"peer/tls_error"}


def test_where_nobody_speaks_it_the_load_ends_in_a_line(tmp_path: Path) -> None:
    words = ("--http3", "-n", "10", "-c", "1", "-q", "--timeout", "2s")
    told = assay(tmp_path, "load", "https://127.0.0.1:9/", *words)
    assert told.returncode == 1
    assert "ended at once: nothing was reached" in " ".join(told.stdout.split())
    refused = assay(tmp_path, "load", "http://127.0.0.1:9/", *words)
    assert refused.returncode == 2
    assert "must be https: HTTP/3 is never without TLS" in refused.stderr


def test_candidates_are_started_asked_and_compared_over_http3(tmp_path: Path) -> None:
    slow = f"{COMMAND} --cost-ns 2000000"
    names = ("--name", "slow", "--name", "fast", "--no-control", "--budget", "20s", "--seed", "4")
    ended = assay(tmp_path, "versus", slow, COMMAND, *names, *QUICK, *AT, "--streams", "3")
    assert ended.returncode in (0, 1), ended.stderr
    run = store.load(store.find(tmp_path / "results", "latest"))
    assert run.trials and all(trial.failure is None for trial in run.trials)
    for trial in run.trials:
        assert trial.measurement is not None and set(trial.measurement.http_versions) == {"3"}
        assert trial.contract is not None and trial.contract.before == trial.contract.after == 1


def test_they_take_slices_over_http3(tmp_path: Path) -> None:
    words = ("--slice", "50ms", "-d", "200ms", "--warm-up", "0", "-c", "2", "-t", "1", "--budget", "3s")
    ended = assay(tmp_path, "versus", COMMAND, f"{COMMAND} --cost-ns 1", *words, *AT, "--no-control")
    assert ended.returncode in (0, 1), ended.stderr
    run = store.load(store.find(tmp_path / "results", "latest"))
    arms = [trial for trial in run.trials if trial.arm is not None]
    assert arms and all(trial.failure is None for trial in run.trials)
    assert all(one.measurement and set(one.measurement.http_versions) == {"3"} for one in arms)


def test_a_search_asks_over_http3(tmp_path: Path) -> None:
    words = ("--slo", "p50<1s", "--from", "20", "--to", "40", "--budget", "3s", "--http3", "-k")
    short = ("-d", "200ms", "--warm-up", "0", "https://127.0.0.1:{port}/")
    ended = assay(tmp_path, "capacity", "--command", COMMAND, *words, *short)
    assert ended.returncode in (0, 1), ended.stderr
    run = store.load(store.find(tmp_path / "results", "latest"))
    assert run.trials and all(trial.failure is None for trial in run.trials)


MANIFEST = """
format = 1
title = "null server"
language = "Rust"
framework = "none"
[version]
command = ["{python}", "--version"]
[run]
command = ["{python}", "-m", "assay.servers.null_server", "--http3", "--body", "hello\\n"]
stop_timeout_s = 1
"""


def test_a_study_has_loads_of_http3(tmp_path: Path) -> None:
    made_studies.write(tmp_path, ["right"])
    home = tmp_path / "servers" / "greeting" / "right"
    (home / "server.toml").write_text(MANIFEST.format(python=sys.executable))
    study = tmp_path / "studies" / "small.toml"
    study.write_text(study.read_text().replace("connections = ", 'http = "3"\nstreams = 2\nconnections = '))
    run = made_studies.run(tmp_path)
    assert run.trials and all(trial.failure is None for trial in run.trials)
    for trial in run.trials:
        assert trial.plan.url.startswith("https://")
        assert trial.measurement is not None and set(trial.measurement.http_versions) == {"3"}
        assert trial.contract is not None and trial.contract.before == 1


@pytest.mark.parametrize("offer", ["--alpn-list=h3", "--npn-list=h3"])
def test_h2load_s_flags_ask_over_http3(tmp_path: Path, url: str, offer: str) -> None:
    told = assay(tmp_path, "h2load", offer, "-n", "120", "-c", "3", "-m", "10", url)
    assert told.returncode == 0, told.stderr
    assert "Application protocol: h3" in told.stdout
    assert "requests: 120 total, 120 started, 120 done, 120 succeeded, 0 failed" in told.stdout
