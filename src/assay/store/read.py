"""Reading run files, whole, cut off or damaged."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.errors import InputError, reason_of
from assay.quantities import counted
from assay.store.lines import DamagedLine, Line, NewerLine, UnknownDesign, unseal
from assay.values.run import FORMAT, Header, Judgement, Run, SittingDone, TrialDone

FILE = "run.jsonl"


@dataclass(frozen=True)
class Stored:
    """A run as read. `notes` say in a line each what was not readable; `whole_bytes` is the length
    of the file without a torn last line."""

    path: Path
    run: Run
    notes: tuple[str, ...]
    whole_bytes: int


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
    run = _run(file, header, lines[1:])
    notes = [f"{file}: {text}" for text in run.damage]
    if whole < len(content):
        notes.append(f"{file}: the last line is torn and was left out")
    return Stored(file, run, tuple(notes), whole)


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
        raise InputError(f"cannot read the run {file}: {reason_of(error)}") from error


def _header(file: Path, line: bytes) -> Header:
    try:
        header = _unsealed(file, line)
    except DamagedLine as damage:
        raise InputError(f"{file}:1: no header of a run record: {damage}") from damage
    if not isinstance(header, Header):
        raise InputError(f"{file}:1: no header of a run record: the line is another")
    return header


def _run(file: Path, header: Header, lines: Sequence[bytes]) -> Run:
    """The run of the lines after the header."""
    cases = {case.id for case in header.cases}
    run = Run(header=header, trials=(), judgement=None)
    judgement: Judgement | None = None
    damage: list[str] = []
    for number, line in enumerate(lines, start=2):
        try:
            match _unsealed(file, line):
                case TrialDone(trial=trial):
                    _check_known(cases, {trial.case})
                    run, judgement = run.after(trial), None  # it was made without this trial
                case SittingDone(sitting=sitting):
                    _check_known(cases, {trial.case for trial in sitting.trials})
                    run, judgement = run.after(sitting), None
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


def _check_known(cases: set[str], named: set[str]) -> None:
    unknown = sorted(named - cases)
    if unknown:
        raise DamagedLine(f"it names a case {unknown[0]!r} that the run does not have")


def _unsealed(file: Path, line: bytes) -> Line:
    try:
        return unseal(line)
    except NewerLine as newer:
        problem = f"{file}: this record is of format {newer.written}; this Assay reads up to {FORMAT}"
        raise InputError(problem, "update Assay") from newer
    except UnknownDesign as unknown:
        problem = f"{file}: this record is of a kind of run that this Assay does not know: {unknown.kind!r}"
        raise InputError(problem, "update Assay") from unknown
