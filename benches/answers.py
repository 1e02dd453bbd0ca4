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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
DRIFTS = "S2"
"""The rule that spoke in sixteen of twenty clean runs when it judged each trial by itself."""
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
        figures += _of_fresh("fresh runs", list(_fresh(tries)))
        with another_program():
            figures += _of_fresh("beside another program", list(_fresh(tries)))
    except Unavailable as problem:
        missing.append(str(problem))
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


def _of_fresh(name: str, told: Sequence[Told]) -> list[Figure]:
    """How many placed all of their servers; and in how many a server was said not to be at its level."""
    drifts = [DRIFTS in one.flagged for one in told]
    return [
        _share(f"{name}, all servers placed", [one.placed for one in told], _ANSWERED),
        _share(f"{name}, {DRIFTS} speaks", drifts, 1 - _ANSWERED, at_most=True),
    ]


def _share(name: str, answered: Sequence[bool], limit: float, *, at_most: bool = False) -> Figure:
    found = sum(answered) / len(answered)
    named = f"{name} ({sum(answered)} of {len(answered)})"
    return Figure(named, Spread(found, found, found), "", limit, at_most=at_most)


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


@dataclass(frozen=True)
class Told:
    """What a fresh run came to: whether all servers have a place, and which rules spoke above a note."""

    placed: bool
    flagged: frozenset[str]


def _fresh(tries: int) -> Iterator[Told]:
    """So many runs, one after the other."""
    for number in range(1, tries + 1):
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
        told = _told(json.loads(done.stdout))
        how = "all servers placed" if told.placed else "not all servers placed"
        sys.stderr.write(
            f"  run {number} of {tries}: {how}; {' '.join(sorted(told.flagged)) or 'no finding'}\n"
        )
        yield told


def _told(run: dict[str, Any]) -> Told:
    cases = run["header"]["cases"]
    rivals = {case["id"] for case in cases if case.get("role", "candidate") == "candidate"}
    places = [row.get("tier") for row in run["judgement"]["ranking"] if row["case"] in rivals]
    found = run["judgement"].get("findings", ())
    flagged = frozenset(one["code"] for one in found if one["severity"] != "note")
    return Told(bool(places) and all(place is not None for place in places), flagged)


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
