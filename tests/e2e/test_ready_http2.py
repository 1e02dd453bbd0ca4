"""Servers of HTTP/2 alone are found ready, keep a contract and are compared: asked as their load asks."""

from __future__ import annotations

import sys
from pathlib import Path

import made_http2
import made_studies
import pytest
from made_candidates import QUICK, assay

from assay import store
from assay.model.run import Run

pytestmark = pytest.mark.beside

SLOW = "DELAY_S=0.01 "
"""In the environment of a command: several times slower than without."""


def versus(folder: Path, slow: str, fast: str, *words: str) -> tuple[str, Run]:
    """What a comparison of the two tells, and its record."""
    names = ("--name", "slow", "--name", "fast", "--no-control", "--budget", "20s", "--seed", "4")
    ended = assay(folder, "versus", slow, fast, *names, *QUICK, *words)
    assert ended.returncode in (0, 1), ended.stderr  # 1: a busy machine
    return " ".join(ended.stdout.split()), store.load(store.find(folder / "results", "latest"))


@pytest.mark.parametrize("words", [("--http2",), ("--http2", "--streams", "3")])
def test_by_prior_knowledge(tmp_path: Path, words: tuple[str, ...]) -> None:
    fast = made_http2.command(tmp_path)
    told, run = versus(tmp_path, SLOW + fast, fast, *words)
    assert "fast" in told
    assert run.trials and all(trial.failure is None for trial in run.trials)
    for trial in run.trials:
        assert trial.measurement is not None and set(trial.measurement.http_versions) == {"2"}
        assert trial.contract is not None and trial.contract.before == trial.contract.after == 1
        assert trial.server is not None and trial.server.start_ns > 0


def test_behind_tls(tmp_path: Path) -> None:
    pem, key = made_http2.certificate(tmp_path)
    fast = made_http2.command(tmp_path, pem, key)
    at = ("--url", "https://127.0.0.1:{port}/", "--http2")
    _, run = versus(tmp_path, SLOW + fast, fast, *at, "--cacert", pem)
    assert run.trials and all(trial.failure is None for trial in run.trials)
    assert all(trial.plan.url.startswith("https://127.0.0.1:") for trial in run.trials)
    # Whose certificate nobody vouches for is not asked.
    refused = assay(tmp_path, "versus", SLOW + fast, fast, *QUICK, *at, "--ready-timeout", "1s")
    assert refused.returncode == 2
    assert (
        "no right answer to GET / within 1 s: no right HTTP answer: invalid peer certificate"
        in refused.stderr
    )


def test_one_that_speaks_another_http_is_said_to_in_a_line(tmp_path: Path) -> None:
    only_2 = made_http2.command(tmp_path)
    told = assay(tmp_path, "versus", only_2, SLOW + only_2, *QUICK, "--ready-timeout", "1s")
    assert told.returncode == 2
    assert "no right HTTP answer" in told.stderr
    pem, key = made_http2.certificate(tmp_path)
    only_2 = made_http2.command(tmp_path, pem, key)
    at = ("--url", "https://127.0.0.1:{port}/", "-k")
    told = assay(tmp_path, "versus", only_2, SLOW + only_2, *QUICK, *at, "--ready-timeout", "1s")
    assert told.returncode == 2
    assert "no right HTTP answer" in told.stderr


def test_a_search_starts_one_too(tmp_path: Path) -> None:
    command = made_http2.command(tmp_path)
    words = (
        "--slo",
        "p50<1s",
        "--from",
        "20",
        "--to",
        "40",
        "-d",
        "200ms",
        "--warm-up",
        "0",
        "--budget",
        "3s",
    )
    ended = assay(tmp_path, "capacity", "--command", command, *words, "--http2", "--streams", "4")
    assert ended.returncode in (0, 1), ended.stderr
    run = store.load(store.find(tmp_path / "results", "latest"))
    assert run.trials and all(trial.failure is None for trial in run.trials)


MANIFEST = """
format = 1
title = "an HTTP/2 server"
language = "Python"
framework = "none"
[version]
command = ["{python}", "--version"]
[run]
command = ["{python}", "-S", "-E", "{{source}}/server.py"{more}]
scheme = "{scheme}"
stop_timeout_s = 1
"""


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_study_asks_as_its_load_does(tmp_path: Path, scheme: str) -> None:
    made_studies.write(tmp_path, ["right"])
    home = tmp_path / "servers" / "greeting" / "right"
    (home / "server.py").write_text(made_http2.PROGRAM)
    more = "".join(f', "{path}"' for path in made_http2.certificate(tmp_path)) if scheme == "https" else ""
    manifest = MANIFEST.format(python=sys.executable, scheme=scheme, more=more)
    (home / "server.toml").write_text(manifest)
    study = tmp_path / "studies" / "small.toml"
    text = study.read_text()
    assert "connections = " in text
    study.write_text(text.replace("connections = ", 'http = "2"\nstreams = 2\nconnections = '))
    run = made_studies.run(tmp_path)
    assert run.trials and all(trial.failure is None for trial in run.trials)
    for trial in run.trials:
        assert trial.plan.url.startswith(f"{scheme}://")
        assert trial.measurement is not None and set(trial.measurement.http_versions) == {"2"}
        assert trial.contract is not None and trial.contract.before == 1
