"""How often a run gives an answer: kept records judged again, and fresh runs alone and beside a program.

The kept records are those below the folder that ASSAY_RECORDS names (`results` otherwise): of each group
of two or more candidates under a fair profile, whether it has a ranking. A fresh run is `assay run
franklin`; it counts where all of its servers have a place. The other program is busy for half of every
second on any core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import ROOT, Unavailable, need_assay

from assay import store
from assay.errors import AssayError
from assay.values.run import Run
from assay.verdict import judge

TRIES = 20
LONGEST_S = 3600.0
_RANKED = 0.9
_ANSWERED = 0.95
_HALF_BUSY = (
    "import time\nwhile True:\n    end = time.monotonic() + 0.5\n"
    "    while time.monotonic() < end:\n        pass\n    time.sleep(0.5)\n"
)


def run(effort: Effort) -> Outcome:
    """Judge what is kept, then run afresh: `effort.tries` runs alone and as many beside another program."""
    tries = effort.tries or max(1, round(TRIES * effort.share))
    records = Path(os.environ.get("ASSAY_RECORDS", ROOT / "results"))
    how = f"records below {records.name}; {tries} fresh runs alone and {tries} beside another program"
    figures, missing = [], []
    ranked = list(_kept(records))
    if ranked:
        figures.append(_share("groups of fair profiles that are ranked", ranked, _RANKED))
    else:
        missing.append(f"no record of a fair profile below {records.name}; name a folder in ASSAY_RECORDS")
    try:
        figures.append(_share("fresh runs, all servers placed", _fresh(tries), _ANSWERED))
        with another_program():
            figures.append(_share("beside another program, all servers placed", _fresh(tries), _ANSWERED))
    except Unavailable as problem:
        missing.append(str(problem))
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


def _share(name: str, answered: Sequence[bool], limit: float) -> Figure:
    found = sum(answered) / len(answered)
    named = f"{name} ({sum(answered)} of {len(answered)})"
    return Figure(named, Spread(found, found, found), "", limit, at_most=False)


def _kept(records: Path) -> Iterator[bool]:
    """For each group of two or more measured candidates, whether it has a ranking."""
    for path in sorted(records.glob("*/run.jsonl")):
        try:
            kept = store.read(path).run
        except AssayError as problem:
            sys.stderr.write(f"{path}: {problem}\n")
            continue
        if kept.header.profile == "fair":
            yield from _groups(kept)


def _groups(kept: Run) -> Iterator[bool]:
    judged = judge(msgspec.structs.replace(kept, judgement=None), 0)
    places = {row.case: row.tier for row in judged.ranking}
    closed = {row.case for row in judged.ranking if row.known is not None}
    groups: dict[tuple[str, str], list[str]] = {}
    for case in kept.header.cases:
        if case.role == "candidate" and case.id in closed:
            groups.setdefault((case.workload, case.load), []).append(case.id)
    for cases in groups.values():
        if len(cases) > 1:
            yield any(places[case] for case in cases)


def _fresh(tries: int) -> list[bool]:
    """Whether each of so many runs placed all of its servers."""
    answered = []
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [need_assay(), "run", "franklin", "--json"],
                capture_output=True,
                text=True,
                check=False,
                timeout=LONGEST_S,
                env={**os.environ, "ASSAY_RESULTS": folder},
            )
        if done.returncode not in (0, 1):
            said = done.stderr.strip().splitlines() or ["it said nothing"]
            raise Unavailable(f"assay run franklin ended with {done.returncode}: {said[-1]}")
        told = json.loads(done.stdout)
        rivals = {
            case["id"] for case in told["header"]["cases"] if case.get("role", "candidate") == "candidate"
        }
        places = [row.get("tier") for row in told["judgement"]["ranking"] if row["case"] in rivals]
        answered.append(bool(places) and all(place is not None for place in places))
    return answered


@contextmanager
def another_program() -> Iterator[None]:
    """A program that is busy for half of every second, on any core."""
    with subprocess.Popen([sys.executable, "-c", _HALF_BUSY]) as process:
        try:
            yield
        finally:
            process.kill()


BENCHMARK = Benchmark("answers", "How often a run gives its answer", run, long=True)
BENCHMARKS = (BENCHMARK,)
