"""Reading run files, whole, cut off or damaged."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.errors import InputError, cure_of, reason_of
from assay.core.units import counted
from assay.model.design import SearchDesign
from assay.model.run import FORMAT, BlockDone, Header, Judgement, Run, TrialDone
from assay.store.lines import DamagedLine, Line, LinePlace, NewerLine, OlderLine, UnknownDesign, unseal

FILE = "run.jsonl"


class Stored(msgspec.Struct, frozen=True):
    """A run as read. `notes` say in a line each what was not readable; `whole_bytes` is the length
    of the file without a torn last line, `next_line` the number of the line that comes next."""

    path: Path
    run: Run
    notes: tuple[str, ...]
    whole_bytes: int
    next_line: int


class _LineOrder:
    """The places of a record's lines, as they follow each other: none twice, and none of another run."""

    def __init__(self, run_id: str) -> None:
        """Nothing but the header was read of the run of that id."""
        self._run_id = run_id
        self._last = 1
        self._unread = 0

    @property
    def next(self) -> int:
        """The number that the next line has where nothing is missing. A line that cannot be read has one."""
        return self._last + self._unread + 1

    def check(self, place: LinePlace) -> str:
        """Take a line that could be read; which lines are missing before it, if any are.

        DamagedLine where it was read before, or is of another run.
        """
        if place.run_id != self._run_id:
            raise DamagedLine(f"it is of the run {place.run_id}")
        if place.number <= self._last:
            raise DamagedLine(f"it is line {place.number} once more")
        missing = range(self.next, place.number)
        self._last, self._unread = place.number, 0
        if len(missing) > 1:
            return f"lines {missing[0]} to {missing[-1]} are missing"
        return f"line {missing[0]} is missing" if missing else ""

    def unreadable(self) -> None:
        """Pass over a line that cannot be read."""
        self._unread += 1


def load(path: Path) -> Run:
    """The run of a run folder or file. InputError where there is none that can be read."""
    return read(path).run


def read(path: Path) -> Stored:
    """The run of a run folder or file, with what is wrong with the file.

    A torn last line (the process or machine died while it was written) and damaged lines are left out
    and said. A judgement that rests on lines that cannot be read any more does not count. InputError
    where the header is not readable, or a line is of a newer format.
    """
    file = path / FILE if path.is_dir() else path
    content = _content(file)
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].split(b"\n")[:-1]
    if not lines:
        raise InputError(f"{file}: no run record: its first line is not whole")
    header = _header(file, lines[0])
    order = _LineOrder(header.run_id)
    run = _run(file, header, lines[1:], order)
    notes = [f"{file}: {text}" for text in run.damage]
    if whole < len(content):
        notes.append(f"{file}: the last line is torn and was left out")
    return Stored(file, run, tuple(notes), whole, order.next)


def _content(file: Path) -> bytes:
    """The bytes of a regular file: a pipe would be waited for, a device never ends."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise InputError(f"{file}: no run record: it is not a regular file")
        with os.fdopen(descriptor, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise InputError(f"cannot read the run {file}: {reason_of(error)}", cure_of(error)) from error


def _header(file: Path, line: bytes) -> Header:
    try:
        header, place = _unsealed(file, line)
    except OlderLine as older:
        problem = f"{file}: this record is of format {older.written}; this Assay reads format {FORMAT} only"
        raise InputError(problem, "make the run anew") from older
    except DamagedLine as damage:
        raise InputError(f"{file}:1: no header of a run record: {damage}") from damage
    if not isinstance(header, Header):
        raise InputError(f"{file}:1: no header of a run record: the line is another")
    if place != LinePlace(header.run_id, 1):
        raise InputError(f"{file}:1: no header of a run record: it does not say that it is the first line")
    if isinstance(header.design, SearchDesign) and len(header.cases) != 1:
        cases = counted(len(header.cases), "case")
        raise InputError(f"{file}:1: no header of a run record: a search is of one case, and it has {cases}")
    return header


def _run(file: Path, header: Header, lines: Sequence[bytes], order: _LineOrder) -> Run:
    """The run of the lines after the header, in whose `order` they come."""
    cases = {case.id for case in header.cases}
    run = Run(header=header, trials=(), judgement=None)
    judgement: Judgement | None = None
    damage: list[str] = []
    for number, content in enumerate(lines, start=2):
        try:
            line, missing = _in_order(file, content, order)
            damage += [missing] if missing else []
            match line:
                case TrialDone(trial=trial):
                    _check_known(cases, {trial.case})
                    run, judgement = run.after(trial), None  # it was made without this trial
                case BlockDone(block=block):
                    _check_known(cases, {trial.case for trial in block.trials})
                    run, judgement = run.after(block), None
                case Judgement() as made:
                    _check_known(cases, {place.case for place in made.ranking})
                    judgement = made
                    if (made.trials or 0) > len(run.trials) + len(damage):
                        rests = counted(made.trials or 0, "trial")
                        gone = f"it rests on {rests}, of which {len(run.trials)} are left"
                        damage.append(f"line {number} does not count ({gone})")
                case Header():
                    raise DamagedLine("it is a second header")
        except DamagedLine as problem:
            damage.append(f"line {number} is damaged ({problem}) and was left out")
    there = (len(run.trials), len(damage))
    if judgement and (judgement.trials or there[0], judgement.damaged_lines) != there:
        judgement = None
    return msgspec.structs.replace(run, judgement=judgement, damage=tuple(damage))


def _in_order(file: Path, content: bytes, order: _LineOrder) -> tuple[Line, str]:
    """A line in its place, and which lines are missing before it."""
    try:
        line, place = _unsealed(file, content)
    except DamagedLine:
        order.unreadable()
        raise
    return line, order.check(place)


def _check_known(cases: set[str], named: set[str]) -> None:
    unknown = sorted(named - cases)
    if unknown:
        raise DamagedLine(f"it names a case {unknown[0]!r} that the run does not have")


def _unsealed(file: Path, line: bytes) -> tuple[Line, LinePlace]:
    try:
        return unseal(line)
    except NewerLine as newer:
        problem = f"{file}: this record is of format {newer.written}; this Assay reads up to {FORMAT}"
        raise InputError(problem, "update Assay") from newer
    except UnknownDesign as unknown:
        problem = f"{file}: this record is of a kind of run that this Assay does not know: {unknown.kind!r}"
        raise InputError(problem, "update Assay") from unknown
