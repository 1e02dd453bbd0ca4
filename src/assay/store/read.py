"""Reading run files, whole or cut off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.errors import InputError
from assay.values.run import FORMAT, Header, Judgement, Run, TrialDone

FILE = "run.jsonl"


@dataclass(frozen=True)
class Stored:
    """A run as read. `notes` say in a line each what was not readable; `whole_bytes` is the length
    of the file without a torn last line."""

    path: Path
    run: Run
    notes: tuple[str, ...]
    whole_bytes: int


class _Format(msgspec.Struct):
    """The one field that every format has."""

    format: int = 0


def load(path: Path) -> Run:
    """The run of a run folder or file. InputError where there is none that can be read."""
    return read(path).run


def read(path: Path) -> Stored:
    """The run of a run folder or file, with what is wrong with the file.

    A torn last line (the process or machine died while it was written) and a damaged line between
    whole ones are left out and said. InputError where the header is not readable.
    """
    file = path / FILE if path.is_dir() else path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the run {file}: {(error.strerror or str(error)).lower()}") from error
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].split(b"\n")[:-1]
    notes = [f"{file}: the last line is torn and was left out"] if whole < len(content) else []
    if not lines:
        raise InputError(f"{file}: no run record: its first line is not whole")
    header = _header(file, lines[0])
    trials, judgement = [], None
    for number, line in enumerate(lines[1:], start=2):
        try:
            record = msgspec.json.decode(line, type=TrialDone | Judgement)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            notes.append(f"{file}:{number}: a damaged line was left out ({error})")
            continue
        if isinstance(record, TrialDone):
            trials.append(record.trial)
            judgement = None  # it was made without this trial
        else:
            judgement = record
    run = Run(header=header, trials=tuple(trials), judgement=judgement)
    return Stored(file, run, tuple(notes), whole)


def _header(file: Path, line: bytes) -> Header:
    try:
        written = msgspec.json.decode(line, type=_Format).format
        if written > FORMAT:
            problem = f"{file}: this record is of format {written}; this Assay reads up to {FORMAT}"
            raise InputError(problem, "update Assay")
        return msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}:1: no header of a run record: {error}") from error
