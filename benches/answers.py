"""How often a run gives an answer: kept records judged again, and fresh runs alone and beside a program.

The kept records are those below the folder that ASSAY_RECORDS names (`results` otherwise): of each group
of two or more candidates under a fair profile, whether it has a ranking. A fresh run is `assay run
franklin`; it counts where all of its servers have a place. The other program is busy for half of the
time, on any core.

Fresh runs take hours. Each that came to its end is kept below `results/answers/alone` or
`results/answers/beside`, and the next start goes on behind those, judging them again; one that was broken
off counts nothing. They are made interleaved, so that whenever the count is broken off (Ctrl-C, SIGTERM) it
has both halves. A new count begins by removing `results/answers`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from model import Benchmark, Effort, Figure, Outcome, Spread
from programs import ROOT, Unavailable, need_assay

from assay import store
from assay.core.errors import AssayError
from assay.model.run import Run
from assay.verdict import judge

TRIES = 20
LONGEST_S = 3600.0
_RANKED = 0.9
_ANSWERED = 0.95
DRIFTS = "S2"
"""The rule that spoke in sixteen of twenty clean runs when it judged each trial by itself."""
_HALF_BUSY = """
import os, random, time
lengths, parent = random.Random(1), os.getppid()
while os.getppid() == parent:
    end = time.monotonic() + lengths.uniform(0.05, 0.95)
    while time.monotonic() < end:
        pass
    time.sleep(lengths.uniform(0.05, 0.95))
"""
"""Busy for half of the time, in pieces like a build's. In pieces of exactly half a second it would keep step
with blocks of whole seconds, which all meet as much of it: one after the other they would look calm. It ends
with the benchmark, also with one that was killed: left behind it would sit beside all that is measured."""


HALVES = {"alone": "fresh runs", "beside": "beside another program"}
"""Where fresh runs are kept, and how their figures are called."""


def run(effort: Effort, command: Sequence[str] = (), kept_in: Path = ROOT / "results" / "answers") -> Outcome:
    """Judge what is kept, then run afresh: `effort.tries` runs alone and as many beside another program.

    `command` makes a run below ASSAY_RESULTS; fresh ones lie below `kept_in`.
    """
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
        with terminated_as_interrupted():
            told = fresh(command or (need_assay(), "run", "franklin"), tries, kept_in)
    except Unavailable as problem:
        missing.append(str(problem))
        told = {name: list(_counted(kept_in / name))[:tries] for name in HALVES}
    for name, runs in told.items():
        figures += _of_fresh(HALVES[name], runs) if runs else []
    return Outcome(BENCHMARK.name, BENCHMARK.title, how, figures=tuple(figures), missing=tuple(missing))


def _of_fresh(name: str, told: Sequence[Verdicts]) -> list[Figure]:
    """How many placed all of their servers; and in how many a server was said not to be at its level."""
    drifts = [DRIFTS in one.warning for one in told]
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
    places = {row.case: row.rank for row in judged.ranking}
    closed = {row.case for row in judged.ranking if row.known is not None}
    groups: dict[tuple[str, str], list[str]] = {}
    for case in kept.header.cases:
        if case.role == "candidate" and case.id in closed:
            groups.setdefault((case.workload, case.load), []).append(case.id)
    for cases in groups.values():
        if len(cases) > 1:
            yield any(places[case] for case in cases)


@dataclass(frozen=True)
class Verdicts:
    """What a fresh run came to: whether all servers have a place, and which rules spoke above a note."""

    placed: bool
    warning: frozenset[str]


def fresh(command: Sequence[str], tries: int, kept_in: Path) -> dict[str, list[Verdicts]]:
    """So many runs of each half, interleaved, behind those that are kept."""
    told = {name: list(_counted(kept_in / name))[:tries] for name in HALVES}
    for name, runs in told.items():
        if runs:
            _say(f"{len(runs)} of {tries} {name} were measured before, {_when(kept_in / name)}")
    if any(told.values()):
        _say(f"a new count begins by removing {kept_in}")
    for number in range(1, tries + 1):
        for name in HALVES:
            if len(told[name]) >= number:
                continue
            with another_program() if name == "beside" else nullcontext():
                found = _outcome(_made_run(command, kept_in / name))
            told[name].append(found)
            how = "all servers placed" if found.placed else "not all servers placed"
            _say(f"run {number} of {tries} {name}: {how}; {' '.join(sorted(found.warning)) or 'no finding'}")
    return told


def _made_run(command: Sequence[str], half: Path) -> Run:
    """Make one run, and keep it once it has come to its end."""
    half.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=half, prefix="begun-") as folder:
        code, said = _ended(command, {**os.environ, "ASSAY_RESULTS": folder})
        made = list(Path(folder).glob("*/run.jsonl"))
        if code not in (0, 1) or len(made) != 1:
            raise Unavailable(f"{' '.join(command[-2:])} ended with {code}: {said}")
        done = made[0].parent.rename(half / made[0].parent.name)
    return store.read(done / "run.jsonl").run


def _ended(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """How the command ended, and the last line that it said. One that is broken off ends its servers itself:
    it is interrupted once (in a session of its own, which Ctrl-C does not reach too), and waited for."""
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, said = process.communicate(timeout=LONGEST_S)
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    return process.returncode, (said.strip().splitlines() or ["it said nothing"])[-1]


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _whole(half: Path) -> list[Path]:
    return sorted(half.glob("*/run.jsonl"))


def _counted(half: Path) -> Iterator[Verdicts]:
    for path in _whole(half):
        try:
            yield _outcome(store.read(path).run)
        except AssayError as problem:
            _say(f"{path}: {problem}")


def _when(half: Path) -> str:
    """By what, and from when to when."""
    headers = [store.read(path).run.header for path in _whole(half)]
    versions = ", ".join(sorted({one.environment.assay_version for one in headers}))
    days = sorted({datetime.fromtimestamp(one.created_unix_ns / 1e9, UTC).date() for one in headers})
    return f"by Assay {versions}, {days[0]}" + (f" to {days[-1]}" if days[1:] else "")


def _outcome(run: Run) -> Verdicts:
    """By the rules of today, whatever the run itself was told."""
    judged = judge(msgspec.structs.replace(run, judgement=None), 0)
    candidates = {case.id for case in run.header.cases if case.role == "candidate"}
    places = [row.rank for row in judged.ranking if row.case in candidates]
    warning = frozenset(one.code for one in judged.findings if one.severity != "note")
    return Verdicts(bool(places) and all(place is not None for place in places), warning)


def _say(words: str) -> None:
    sys.stderr.write(f"  {words}\n")


@contextmanager
def another_program() -> Iterator[None]:
    """A program that is busy for half of the time, on any core."""
    with subprocess.Popen([sys.executable, "-c", _HALF_BUSY], start_new_session=True) as process:
        try:
            yield
        finally:
            process.kill()


BENCHMARK = Benchmark("answers", "How often a run gives its answer", run, long=True)
BENCHMARKS = (BENCHMARK,)
