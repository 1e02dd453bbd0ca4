"""`assay capacity` as a person runs it: real servers with a capacity that is known in kind, tiny budgets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from made_candidates import ASSAY, PATIENCE_S, assay, command, environment, records

from assay import store
from assay.model.plan import Open
from assay.model.run import Run
from assay.verdict.search import answer_of

QUICK = ("-d", "300ms", "--warm-up", "0", "-t", "1", "--resolution", "60%")
"""Percentiles of few requests: p50 needs a hundred."""


@pytest.mark.beside
def test_an_objective_that_never_holds_even_at_the_lowest_rate(tmp_path: Path) -> None:
    words = ("--command", command(tmp_path, "--delay-s", "0.03"), "--name", "late")
    rates = ("--from", "150", "--to", "400", "--budget", "3m")
    ended = assay(tmp_path, "capacity", *words, "--slo", "p50<1ms", *rates, *QUICK)
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.startswith("p50<1ms does not hold even at 150/s, the lowest")
    lines = records(tmp_path)
    assert lines[-1]["record"] == "judgement"
    found = answer_of(stored(tmp_path))
    assert found.state == "below the range" and found.capacity is not None
    assert (found.capacity.low, found.capacity.high) == (None, 150.0)
    assert "[ 1]" in ended.stderr and re.search(r"missed \(p50 ([3-9]\d|\d{3})", ended.stderr)
    assert "150/s  ✗" in ended.stdout
    assert assay(tmp_path, "report", "latest").stdout == ended.stdout
    whole = assay(tmp_path, "report", "latest", "--verbose").stdout
    assert re.search(r"missed     p50 ([3-9]\d|\d{3})", whole)  # each trial is a row


def test_an_objective_that_always_holds_is_a_bound_from_below(tmp_path: Path) -> None:
    words = ("--command", command(tmp_path), "--name", "easy", "--json", "--csv", "trials.csv")
    rates = ("--from", "60", "--to", "180", "--budget", "3m")
    ended = assay(tmp_path, "capacity", *words, "--slo", "mean<10s, errors<50%", *rates, *QUICK)
    run = stored(tmp_path)
    assert f'"run_id": "{run.header.run_id}"' in ended.stdout
    found = answer_of(run)
    assert found.state == "above the range" and found.capacity is not None
    assert (found.capacity.low, found.capacity.high) == (180.0, None)
    assert all(isinstance(trial.plan.load, Open) for trial in run.trials)
    assert all(trial.measurement is not None and trial.measurement.response_time for trial in run.trials)
    assert len((tmp_path / "trials.csv").read_text().splitlines()) == 1 + len(run.trials)
    assert run.judgement is not None
    [place] = run.judgement.ranking
    assert place.throughput == found.capacity


@pytest.mark.beside
def test_a_server_that_dies_is_a_finding_and_the_search_goes_on_below(tmp_path: Path) -> None:
    words = ("--command", command(tmp_path, "--die-after", "150"), "--name", "mortal")
    rates = ("--from", "60", "--to", "2000", "--budget", "25s")
    ended = assay(tmp_path, "capacity", *words, "--slo", "p50<10s", *rates, *QUICK)
    told = " ".join(ended.stdout.split())
    assert "the server did not survive" in told
    assert "the server ended with exit code 3 under load" in told
    run = stored(tmp_path)
    found = answer_of(run)
    assert found.deaths
    first = next(number for number, step in enumerate(found.steps) if step.died)
    assert any(step.rate_per_s < found.steps[first].rate_per_s for step in found.steps[first + 1 :])
    assert run.judgement is not None and not run.judgement.clean


@pytest.mark.beside
def test_a_url_is_searched_from_what_a_closed_loop_gets(tmp_path: Path) -> None:
    line = command(tmp_path, "--port", "0", "--delay-s", "0.02")
    with subprocess.Popen(line.split(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split()[-1]
        ended = subprocess.run(
            [*ASSAY, "capacity", f"127.0.0.1:{port}/", "--slo", "p50<5s", *QUICK, "--budget", "2s"],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert server.poll() is None
        server.terminate()
    assert "Traceback" not in ended.stderr
    assert "a first look" in ended.stderr and "searching from" in ended.stderr
    run = stored(tmp_path)
    assert run.trials and all(trial.server is None for trial in run.trials)
    first = run.trials[0].plan.load
    assert isinstance(first, Open)
    # Sixty-four connections with 20 ms each get about 3,000/s, and far less where the machine is busy.
    assert 20 < first.stages[0].to_per_s < 4000


@pytest.mark.beside
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("http://127.0.0.1:9/",), "--slo"),
        (("http://127.0.0.1:9/", "--slo", "p99<50"), "'p99<50' is not an objective such as p99<50ms"),
        (("http://127.0.0.1:9/", "--slo", "p100<50ms"), "'p100' is not a percentile"),
        (("http://127.0.0.1:9/", "--slo", "errors<5ms"), "is not an objective"),
        (("http://127.0.0.1:9/", "--slo", "p99<5ms,p99<6ms"), "each figure once"),
        (("--slo", "p99<50ms"), "no server was named"),
        (("http://127.0.0.1:9/", "--slo", "p99<50ms"), "nobody listens on 127.0.0.1:9"),
        (
            ("http://127.0.0.1:9/", "--slo", "p99<5ms", "--from", "9", "--to", "8"),
            "--from 9 is not below --to 8",
        ),
        (("http://192.0.2.1/", "--slo", "p99<50ms"), "neither loopback nor private"),
        (("--command", "sleep 60", "--slo", "p99<5ms", "--ready-timeout", "1s"), "did not listen on"),
        (("--command", "exit 3", "--slo", "p99<5ms"), "ended with exit code 3 before"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    ended = assay(tmp_path, "capacity", *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("assay: ") and said in last
    assert not (tmp_path / "results").exists()


@pytest.mark.beside
def test_a_percentile_that_needs_more_requests_than_the_rate_gives(tmp_path: Path) -> None:
    words = ("--command", command(tmp_path), "--slo", "p99.99<5ms", "--from", "10", "--to", "20")
    ended = assay(tmp_path, "capacity", *words, *QUICK)
    assert ended.returncode == 2
    assert "p99.99<5ms needs 46050 requests a trial" in ended.stderr.splitlines()[-1]


def stored(folder: Path) -> Run:
    return store.load(store.find(folder / "results", "latest"))
