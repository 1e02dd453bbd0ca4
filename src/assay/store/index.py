"""The index of runs: one file beside the run files, made from them and never the other way.

The files are the truth. The index holds what a list shows, so that ten thousand runs list at
once; a file that is new or has changed since (size and time) is read again, one that is gone is
dropped, and an index that is damaged or of another version is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.errors import AssayError
from assay.core.settings import version
from assay.model.estimate import Known, Ranked
from assay.model.run import Run
from assay.model.trial import Case
from assay.store.read import FILE, read

NAME = "index.json"
VERSION = 8
"""Raised whenever what is kept changes: an index of another version is made anew."""
_NAME_OF_VERSION_2 = "index.sqlite"


class ListedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as listed. `problem` says why a file could not be read; its other fields are then empty.
    So many lines of it are `damaged`: it then has no figures until it is judged anew.
    `answer` is the run's answer in a line, as its report says it. `server` is the name of the fastest case
    that may be ranked, and of those that share its place; `throughput_per_s` is its figure, or its capacity,
    and `known` what findings left of it. `over_previous` is that figure over the same in the run before: of
    the same study, profile, case, load and machine."""

    folder: str
    run_id: str = ""
    created_unix_ns: int = 0
    study: str = ""
    profile: str = ""
    quick: bool = False
    blocks: int = 0
    machine_id: str = ""
    hostname: str = ""
    git_commit: str | None = None
    assay_version: str = ""
    trials: int = 0
    complete: bool = False
    clean: bool = False
    errors: int = 0
    warnings: int = 0
    damaged: int = 0
    answer: str = ""
    server: str = ""
    throughput_per_s: float | None = None
    known: Known | None = None
    over_previous: float | None = None
    problem: str | None = None


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The throughput of one case in one run, in answers a second; `known` is what findings left of it."""

    run_id: str
    created_unix_ns: int
    machine_id: str
    hostname: str
    git_commit: str | None
    case_id: str
    value: float
    low: float | None
    high: float | None
    known: Known | None = None


@dataclass(frozen=True)
class Filter:
    """Which runs: empty fields mean all. Times in ns since 1970; `server` is part of a case's id."""

    study: str = ""
    server: str = ""
    commit: str = ""
    machine: str = ""
    since_unix_ns: int = 0
    until_unix_ns: int = 2**63 - 1


class _IndexEntry(msgspec.Struct, frozen=True, array_like=True):
    """A run and the state of its file in which it was read; figures of runs that are `like` compare."""

    state: tuple[int, int]
    run: ListedRun
    cases: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    like: str = ""

    def fits(self, chosen: Filter) -> bool:
        """Whether it is one of the chosen, but for its cases."""
        run = self.run
        return (
            run.problem is None
            and chosen.study in ("", run.study)
            and (run.git_commit or "").startswith(chosen.commit)
            and (chosen.machine == run.hostname or run.machine_id.startswith(chosen.machine))
            and chosen.since_unix_ns <= run.created_unix_ns <= chosen.until_unix_ns
        )


class _IndexFile(msgspec.Struct):
    """The file of the index: entries by the names of their folders. `told_by` is the Assay whose answers they
    hold: another may word them differently."""

    version: int = VERSION
    told_by: str = ""
    entries: dict[str, _IndexEntry] = {}


class Index:
    """The index of one results folder, brought up to date when it is opened."""

    def __init__(self, results: Path, told: Callable[[Run], str]) -> None:
        """Open and update; where the folder cannot be written nothing is kept.

        `told` gives the answer of a run in a line. It is asked once for each state of a run's file.
        """
        told_by = version()
        known = _kept(results, told_by)
        self._entries = {
            name: old
            if (old := known.get(name)) and old.state == state
            else _read(results / name, state, told)
            for name, state in _files(results)
        }
        if self._entries != known:
            _keep(results, _IndexFile(told_by=told_by, entries=self._entries))

    def runs(self, chosen: Filter) -> list[ListedRun]:
        """The runs, newest first; those that could not be read come last."""
        previous = self._over_previous()
        listed = [
            replace(entry.run, over_previous=previous.get(entry.run.folder))
            for entry in self._entries.values()
            if entry.run.problem is not None
            or (entry.fits(chosen) and any(chosen.server in case for case in entry.cases))
        ]
        return sorted(listed, key=lambda run: (run.problem is not None, -run.created_unix_ns, run.folder))

    def _over_previous(self) -> dict[str, float]:
        """By folder the figure of each run over that of the one before it; bounds have no ratio."""
        found: dict[str, float] = {}
        last: dict[str, float | None] = {}
        for entry in sorted(
            self._entries.values(), key=lambda one: (one.run.created_unix_ns, one.run.folder)
        ):
            run, bounded = entry.run, entry.run.known is not None and bool(entry.run.known.limits)
            value = None if bounded else run.throughput_per_s
            before = last.get(entry.like)
            if value and before:
                found[run.folder] = value / before
            if entry.like:
                last[entry.like] = value
        return found

    def trend(self, case: str, chosen: Filter) -> list[Point]:
        """The throughput of a case over the runs, oldest first; invalid figures are left out."""
        fitting = (entry for entry in self._entries.values() if entry.fits(chosen))
        points = (point for entry in fitting for point in entry.points if point.case_id == case)
        return sorted(points, key=lambda point: (point.created_unix_ns, point.run_id))

    def cases(self, chosen: Filter) -> list[str]:
        """Every case of the chosen runs."""
        fitting = (entry for entry in self._entries.values() if entry.fits(chosen))
        return sorted({case for entry in fitting for case in entry.cases if chosen.server in case})


def rebuild(results: Path) -> None:
    """Throw the index away; the next opening makes it anew from the files."""
    (results / NAME).unlink(missing_ok=True)


def _kept(results: Path, told_by: str) -> dict[str, _IndexEntry]:
    with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
        # Others may write into a folder that is shared: a link is not followed, a pipe not waited for.
        descriptor = os.open(results / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            kept = msgspec.json.decode(file.read() or b"", type=_IndexFile)
        if (kept.version, kept.told_by) == (VERSION, told_by):
            return kept.entries
    return {}


def _keep(results: Path, stored: _IndexFile) -> None:
    """Whole or not at all, whoever else does so at the same time."""
    beside = results / f"{NAME}.{secrets.token_hex(8)}"
    with contextlib.suppress(OSError):  # read-only, or no room left: it is made again the next time
        try:
            with beside.open("xb") as file:  # follows no link that lies there already
                file.write(msgspec.json.encode(stored))
            beside.replace(results / NAME)
        finally:
            beside.unlink(missing_ok=True)
        for suffix in ("", "-wal", "-shm", "-journal"):
            (results / f"{_NAME_OF_VERSION_2}{suffix}").unlink(missing_ok=True)


def _files(results: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name of each run folder, with size and time of its file."""
    if not results.is_dir():
        return
    with os.scandir(results) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # no run, or gone in the meantime
                stamp = os.stat(os.path.join(entry.path, FILE))  # noqa: PTH118, PTH116 - ten thousand of them
                yield entry.name, (stamp.st_size, stamp.st_mtime_ns)


def _read(folder: Path, state: tuple[int, int], told: Callable[[Run], str]) -> _IndexEntry:
    try:
        run = read(folder).run
        answer = told(run)
    except AssayError as problem:
        return _IndexEntry(state, ListedRun(folder=folder.name, problem=problem.message))
    header, judgement = run.header, run.judgement
    severities = [finding.severity for finding in judgement.findings] if judgement else []
    fastest = _fastest(run)
    best = fastest[0] if fastest else None
    listed = ListedRun(
        folder=folder.name,
        run_id=header.run_id,
        created_unix_ns=header.created_unix_ns,
        study=header.study_name,
        profile=header.profile,
        quick=header.quick,
        blocks=header.blocks or 0,
        machine_id=header.environment.machine_id,
        hostname=header.environment.hostname,
        git_commit=header.environment.git_commit,
        assay_version=header.environment.assay_version,
        trials=len(run.trials),
        complete=judgement is not None and judgement.complete,
        clean=judgement is not None and judgement.clean,
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        damaged=len(run.damage),
        answer=answer,
        server=", ".join(case.label or case.server_name for case, _ in fastest),
        throughput_per_s=best[1].throughput.value if best and best[1].throughput else None,
        known=best[1].known if best else None,
    )
    cases = tuple(case.id for case in header.cases)
    return _IndexEntry(state, listed, cases, tuple(_points(run)), _like(run, best[0]) if best else "")


def _fastest(run: Run) -> list[tuple[Case, Ranked]]:
    """The first candidate of the ranking that has a figure, and those beside it that share its place."""
    cases = {case.id: case for case in run.header.cases if case.role == "candidate"}
    placed = [
        (cases[one.case], one)
        for one in (run.judgement.ranking if run.judgement else ())
        if one.case in cases and one.throughput is not None and not one.invalid
    ]
    if not placed:
        return []
    first, rank = placed[0][0], placed[0][1].rank
    return placed[:1] + [
        (case, one)
        for case, one in placed[1:]
        if rank is not None
        and one.rank == rank
        and (case.workload, case.load) == (first.workload, first.load)
    ]


def _like(run: Run, case: Case) -> str:
    """What two runs have in common whose figures of this case compare. The rates of a search are its own."""
    header = run.header
    plans = [trial.plan for trial in run.trials if trial.case == case.id]
    loads = {msgspec.json.encode((plan.load, plan.requests, plan.http, plan.streams)) for plan in plans}
    machine = header.environment.machine_id
    said = (header.study_name, header.profile, header.quick, machine, case.id)
    load = loads.pop() if len(loads) == 1 else b""
    return hashlib.sha256(msgspec.json.encode(said) + load).hexdigest()[:16]


def _points(run: Run) -> Iterator[Point]:
    header = run.header
    for place in run.judgement.ranking if run.judgement else ():
        if place.throughput is not None and not place.invalid:
            yield Point(
                run_id=header.run_id,
                created_unix_ns=header.created_unix_ns,
                machine_id=header.environment.machine_id,
                hostname=header.environment.hostname,
                git_commit=header.environment.git_commit,
                case_id=place.case,
                value=place.throughput.value,
                low=place.throughput.low,
                high=place.throughput.high,
                known=place.known,
            )
