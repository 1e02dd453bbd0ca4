"""The index of runs: SQLite beside the run files, made from them and never the other way.

The files are the truth. The index holds what a list shows, so that ten thousand runs list at
once; a file that is new or has changed since (size and time) is read again, one that is gone is
dropped, and a damaged index is made anew.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.errors import AssayError
from assay.store.read import FILE, read
from assay.values.run import Run

NAME = "index.sqlite"
VERSION = 2
"""Raised whenever the tables change: an index of another version is made anew."""

_TABLES = """
create table run (
    folder text primary key, size integer not null, changed_ns integer not null,
    run_id text, created_unix_ns integer, study text, profile text, quick integer, blocks integer,
    machine_id text, hostname text, git_commit text, assay_version text,
    trials integer, complete integer, hallmark integer, withheld integer, flagged integer,
    damaged integer, problem text
);
create table figure (
    folder text not null references run(folder) on delete cascade,
    case_id text not null, role text not null, tier integer, withheld integer not null,
    value real, low real, high real, primary key (folder, case_id)
);
create index figure_case on figure(case_id);
"""


class ListedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run as listed. `problem` says why a file could not be read; its other fields are then empty.
    So many lines of it are `damaged`: it then has no figures until it is judged anew."""

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
    hallmark: bool = False
    withheld: int = 0
    flagged: int = 0
    damaged: int = 0
    problem: str | None = None


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The throughput of one case in one run, in answers a second."""

    run_id: str
    created_unix_ns: int
    machine_id: str
    hostname: str
    git_commit: str | None
    case_id: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Filter:
    """Which runs: empty fields mean all. Times in ns since 1970; `server` is part of a case's id."""

    study: str = ""
    server: str = ""
    commit: str = ""
    machine: str = ""
    since_unix_ns: int = 0
    until_unix_ns: int = 2**63 - 1


class Index:
    """The index of one results folder, brought up to date when it is opened."""

    def __init__(self, results: Path) -> None:
        """Open and update; in memory where the folder cannot be written."""
        self._results = results
        self._db = _open(results)
        try:
            self._update()
        except sqlite3.OperationalError:  # read-only, locked by another for long, or no room left
            self._db.close()
            self._db = _create(":memory:")
            self._update()

    def close(self) -> None:
        """Close the index."""
        self._db.close()

    def runs(self, chosen: Filter) -> list[ListedRun]:
        """The runs, newest first; those that could not be read come last."""
        rows = self._db.execute(
            f"""select {", ".join(ListedRun.__struct_fields__)} from run
                where problem is not null or ({_CHOSEN}
                  and (:server = '' or exists (select 1 from figure
                       where figure.folder = run.folder and instr(case_id, :server) > 0)))
                order by problem is not null, created_unix_ns desc, folder""",
            _bound(chosen),
        )
        return [_as(ListedRun, row) for row in rows]

    def trend(self, case: str, chosen: Filter) -> list[Point]:
        """The throughput of a case over the runs, oldest first; withheld figures are left out."""
        rows = self._db.execute(
            f"""select {", ".join(Point.__struct_fields__)} from figure join run using (folder)
                where case_id = :case and value is not null and not figure.withheld and {_CHOSEN}
                order by created_unix_ns, folder""",
            _bound(chosen) | {"case": case},
        )
        return [_as(Point, row) for row in rows]

    def cases(self, chosen: Filter) -> list[str]:
        """Every case of the chosen runs that has a figure."""
        rows = self._db.execute(
            f"""select distinct case_id from figure join run using (folder)
                where value is not null and (:server = '' or instr(case_id, :server) > 0) and {_CHOSEN}
                order by case_id""",
            _bound(chosen),
        )
        return [row["case_id"] for row in rows]

    def _update(self) -> None:
        """Read what is new or changed, drop what is gone; one transaction."""
        known = {
            row[0]: (row[1], row[2]) for row in self._db.execute("select folder, size, changed_ns from run")
        }
        seen = dict(_files(self._results))
        with self._db:
            self._db.executemany(
                "delete from run where folder = ?", [(name,) for name in known.keys() - seen.keys()]
            )
            for name, stamp in seen.items():
                if known.get(name) != stamp:
                    self._db.execute("delete from run where folder = ?", (name,))
                    _insert(self._db, self._results / name, stamp)


_T = TypeVar("_T", ListedRun, Point)
_OPTIONAL = frozenset({"git_commit", "low", "high", "problem"})
_CHOSEN = """(
    (:study = '' or study = :study)
    and (:commit = '' or substr(git_commit, 1, length(:commit)) = :commit)
    and (:machine = '' or hostname = :machine or substr(machine_id, 1, length(:machine)) = :machine)
    and created_unix_ns between :since and :until)"""


def rebuild(results: Path) -> None:
    """Throw the index away; the next opening makes it anew from the files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        (results / f"{NAME}{suffix}").unlink(missing_ok=True)


def _open(results: Path) -> sqlite3.Connection:
    path = results / NAME
    if not results.is_dir():
        return _create(":memory:")
    try:
        db = sqlite3.connect(path, timeout=10)
        db.row_factory = sqlite3.Row
        db.execute("pragma foreign_keys = on")
        version = db.execute("pragma user_version").fetchone()[0]
        if version == VERSION:
            return db
        db.close()
        if version != 0:
            rebuild(results)
        return _create(str(path))
    except sqlite3.OperationalError:  # cannot be opened or written here
        return _create(":memory:")
    except sqlite3.DatabaseError:  # no database, or a damaged one
        with contextlib.suppress(OSError):
            rebuild(results)
            return _create(str(path))
        return _create(":memory:")


def _create(where: str) -> sqlite3.Connection:
    """The tables, unless another process has just made them."""
    db = sqlite3.connect(where, timeout=10)
    db.row_factory = sqlite3.Row
    db.execute("pragma foreign_keys = on")
    db.execute("begin immediate")
    if db.execute("pragma user_version").fetchone()[0] != VERSION:
        for statement in _TABLES.split(";"):
            db.execute(statement)
        db.execute(f"pragma user_version = {VERSION}")
    db.commit()
    return db


def _files(results: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name of each run folder, with size and time of its file."""
    if not results.is_dir():
        return
    with os.scandir(results) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # no run, or gone in the meantime
                stamp = os.stat(os.path.join(entry.path, FILE))  # noqa: PTH118, PTH116 - ten thousand of them
                yield entry.name, (stamp.st_size, stamp.st_mtime_ns)


def _insert(db: sqlite3.Connection, folder: Path, stamp: tuple[int, int]) -> None:
    try:
        run = read(folder).run
    except AssayError as problem:
        db.execute(
            "insert into run (folder, size, changed_ns, problem) values (?, ?, ?, ?)",
            (folder.name, *stamp, problem.message),
        )
        return
    header, judgement = run.header, run.judgement
    findings = judgement.findings if judgement else ()
    db.execute(
        "insert into run values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null)",
        (
            folder.name, *stamp, header.run_id, header.created_unix_ns, header.study_name, header.profile,
            header.quick, header.blocks or 0, header.environment.machine_id, header.environment.hostname,
            header.environment.git_commit, header.environment.assay_version, len(run.trials),
            judgement is not None and judgement.complete, judgement is not None and judgement.hallmark,
            sum(finding.severity == "withheld" for finding in findings),
            sum(finding.severity == "flagged" for finding in findings), len(run.damage),
        ),
    )  # fmt: skip
    db.executemany("insert into figure values (?, ?, ?, ?, ?, ?, ?, ?)", _figures(folder.name, run))


def _figures(folder: str, run: Run) -> Iterator[tuple[object, ...]]:
    places = {place.case: place for place in run.judgement.ranking} if run.judgement else {}
    for case in run.header.cases:
        place = places.get(case.id)
        rate = place.throughput if place else None
        yield (
            folder, case.id, case.role, place.tier if place else None, bool(place and place.withheld),
            rate.value if rate else None, rate.low if rate else None, rate.high if rate else None,
        )  # fmt: skip


def _bound(chosen: Filter) -> dict[str, object]:
    return {
        "study": chosen.study,
        "server": chosen.server,
        "commit": chosen.commit,
        "machine": chosen.machine,
        "since": chosen.since_unix_ns,
        "until": chosen.until_unix_ns,
    }


def _as(kind: type[_T], row: sqlite3.Row) -> _T:
    """A row as its struct. SQLite has no booleans: they come as integers."""
    known = {name: row[name] for name in row.keys() if row[name] is not None}  # noqa: SIM118 - iterates values else
    defaults = {name: None for name in kind.__struct_fields__ if name in _OPTIONAL}
    return msgspec.convert(defaults | known, kind, strict=False)
