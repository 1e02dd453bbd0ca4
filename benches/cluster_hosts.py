"""What a cluster adds to a load: three hosts of network namespaces, two generators, one quiet server.

They share one kernel, so their clocks are one and the skew between two starts can be read off; and its cores,
so that what the generators are late by is the machine's as well as the cluster's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cluster_rounds import ALIKE, HERE, MEASURED_NS, ONE, RATE, TWO
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import ROOT, Cores, Unavailable, need, need_assay

from assay import store
from assay.stats.estimates import student_t_quantile

sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "e2e")]

import made_studies  # noqa: E402 - these lie with the tests, which run Assay on the same hosts
import three_hosts  # noqa: E402

ROUNDS = 12
TRIALS = 7
SURE = 0.95
_COST_NS = 500_000
_PORT = 8095
_ROUNDS_S = 180.0
_MERGED = {"closed": ("per_s", "service_p50"), "open": ("response_p50", "response_p99")}
"""What is compared of two generators and one, by load."""

Told = Mapping[str, float]
Rounds = Mapping[tuple[str, str], Sequence[Told]]
"""Each load from each place, round by round."""


def run(effort: Effort) -> Outcome:
    """The loads in turn on a cluster, then a study there and on one machine."""
    rounds = effort.tries or (ROUNDS if effort.share >= 1 else max(6, ROUNDS // 2))
    figures: list[Figure] = []
    missing: list[str] = []
    try:
        problem = three_hosts.why_not()
        if importlib.util.find_spec("ray") is None:
            problem = "Ray is not installed; pip install 'assay-http[ray]'"
        if problem:
            raise Unavailable(problem)
        with three_hosts.ray_cluster() as cluster:
            figures = [*_of_rounds(_rounds(cluster, rounds)), *_of_trials(cluster)]
    except (Unavailable, RuntimeError, subprocess.SubprocessError) as problem_met:
        missing.append(str(problem_met))
    how = (
        f"{rounds} rounds of {MEASURED_NS / 1e9:g} s: {RATE:g}/s open, and a closed loop, on a server that "
        f"takes {_COST_NS / 1e6:g} ms of CPU time a request, on a core of its own; from this process, one "
        "generator, two"
    )
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


def _rounds(cluster: three_hosts.Cluster, rounds: int) -> Rounds:
    head, python, cores = cluster.hosts[0], str(three_hosts.BIN / "python"), Cores.apart()
    with _serving(cluster.hosts[2], cores.server) as url:
        words = [str(Path(__file__).with_name("cluster_rounds.py")), cluster.address, url]
        done = head.run(python, *words, str(rounds), str(cores.client), timeout_s=_ROUNDS_S)
    if done.returncode != 0:
        raise Unavailable(f"the loads failed: {done.stderr.strip()[-300:]}")
    found: dict[tuple[str, str], list[Told]] = {}
    for one in map(json.loads, done.stdout.splitlines()):
        found.setdefault((one["load"], one["way"]), []).append(one)
    return found


@contextlib.contextmanager
def _serving(host: three_hosts.Host, core: int) -> Iterator[str]:
    """A server on that host and core that takes its time for each request; its URL."""
    words = [str(three_hosts.BIN / "python"), "-m", "assay.servers.null_server", "--host", host.address]
    more = ["--port", str(_PORT), "--cost-ns", str(_COST_NS)]
    server = host.popen(need("taskset", "util-linux"), "-c", str(core), *words, *more)
    try:
        assert server.stdout is not None
        server.stdout.readline()  # it says where it listens once it does
        yield f"http://{host.address}:{_PORT}/"
    finally:
        server.kill()
        server.communicate()


def _of_rounds(told: Rounds) -> Iterator[Figure]:
    together = [one for (_, way), each in told.items() if way == TWO for one in each]
    yield Figure("start skew between two generators", _spread(together, "skew_ms"), "ms", 2.0)
    yield Figure("what their clocks may be off, together", _spread(together, "unsure_ms"), "ms")
    shares = [one["skew_ms"] / one["unsure_ms"] for one in together]
    yield Figure("start skew / what was reported", Spread.of(shares), "×", 1.0)
    outside = 0
    compared = [(load, name) for load, names in _MERGED.items() for name in names]
    for load, name in compared:
        ratio = _ratio(told[load, TWO], told[load, ONE], name, 1 - (1 - SURE) / len(compared))
        outside += not ratio.low <= 1.0 <= ratio.high
        yield Figure(f"{load} loop, {name}: two generators merged / one", ratio, "×")
    yield Figure("of these intervals (95 % together) without 1", Spread.of([outside]), "", 0)
    for name in ("lag_p50", "lag_p99"):
        for way in (HERE, ALIKE, ONE, TWO):
            yield Figure(f"send lag, {name[4:]}: {way}", _spread(told["open", way], name), "ms")
        for way, other in ((ONE, HERE), (TWO, ALIKE)):
            ratio = _ratio(told["open", way], told["open", other], name, SURE)
            yield Figure(f"send lag, {name[4:]}: {way} / {other}", ratio, "×")
        least = Spread.of([ratio.low])
        yield Figure(f"send lag, {name[4:]}: the least of that interval", least, "×", 1.0)


def _spread(told: Sequence[Told], name: str) -> Spread:
    return Spread.of([one[name] for one in told])


def _ratio(many: Sequence[Told], one: Sequence[Told], name: str, sure: float) -> Spread:
    """The mean ratio of paired rounds with its interval (Student's t of the logarithms)."""
    logs = [math.log(a[name] / b[name]) for a, b in zip(many, one, strict=True)]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
    reach = student_t_quantile(len(logs) - 1, 0.5 + sure / 2) * error
    return Spread(*map(math.exp, (mean, mean - reach, mean + reach)))


def _of_trials(cluster: three_hosts.Cluster) -> Iterator[Figure]:
    """How long a trial is, from its start to the next one's: on the cluster, and on the server's host."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as made:
        folder = Path(made)
        made_studies.write(folder, ["right"], blocks=TRIALS, measure_s=1.0)
        there = _lengths(cluster.hosts[0], folder, "cluster", ["--ray", cluster.address])
        here = _lengths(cluster.hosts[2], folder, "here", [])
    yield Figure("a trial of 1 s on one machine", Spread.of(here), "s")
    yield Figure("the same trial on the cluster", Spread.of(there), "s")
    longer = statistics.median(there) - statistics.median(here)
    yield Figure("what the cluster adds to a trial", Spread.of([longer]), "s", 2.0)


def _lengths(host: three_hosts.Host, folder: Path, name: str, more: Sequence[str]) -> list[float]:
    env = {
        "ASSAY_STUDIES": str(folder / "studies"),
        "ASSAY_SERVERS": str(folder / "servers"),
        "ASSAY_RESULTS": str(folder / name),
        "ASSAY_TRUST": "1",  # the study and its server are the bench's own
    }
    words = [*(f"{key}={value}" for key, value in env.items()), need_assay(), "run", "small", "--no-control"]
    done = host.run("env", *words, *more, timeout_s=120)
    trials = [trial for path in (folder / name).glob("*/run.jsonl") for trial in store.load(path).trials]
    failed = [trial.failure.reason for trial in trials if trial.failure]
    if failed or len(trials) != TRIALS:
        raise Unavailable(f"the study failed: {failed[0] if failed else done.stderr.strip()[-300:]}")
    began = [trial.started_at_unix_ns for trial in trials]
    return [(after - before) / 1e9 for before, after in zip(began, began[1:], strict=False)]


BENCHMARK = Benchmark("cluster-hosts", "What a cluster adds to a load", run, long=True, family="cluster")
BENCHMARKS = (BENCHMARK,)
