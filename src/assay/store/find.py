"""Finding runs by name, and series files: which runs belong together, and what is still to come."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from assay.core.errors import InputError
from assay.model.run import SERIES_FORMAT, Header, Series
from assay.store.read import FILE, load
from assay.store.write import cannot_write

_STAMP = re.compile(r"-(\d{8}-\d{6})-[0-9a-f]{4}$")


def list_runs(results: Path) -> tuple[Path, ...]:
    """The run files below `results`, oldest first."""
    files = [path for path in results.glob(f"*/{FILE}") if path.is_file()]
    return tuple(sorted(files, key=_age))


def find(results: Path, word: str, note: Callable[[str], None] = lambda text: None) -> Path:
    """The run file that `word` means: a path, "latest", or the beginning of one run's id.

    The latest is the newest whose header can be read; `note` is told of those that were passed over.
    InputError where there is none, or more than one.
    """
    path = Path(word)
    if (path / FILE).is_file():
        return path / FILE
    if path.is_file():
        return path
    runs = list_runs(results)
    if not runs:
        raise InputError(
            f"there is no run in {results}", "make one with `assay run`, or name its folder with --results"
        )
    if word == "latest":
        return _readable(runs, note)
    begun = [run for run in runs if run.parent.name.startswith(word)]
    exact = [run for run in begun if run.parent.name == word]
    if len(begun) == 1 or exact:
        return (exact or begun)[0]
    if begun:
        names = ", ".join(run.parent.name for run in begun[-3:])
        raise InputError(f"{len(begun)} runs begin with {word!r}", f"say more of the id; the newest: {names}")
    raise InputError(f"there is no run {word!r} in {results}", f"the newest is {runs[-1].parent.name}")


def _readable(runs: Sequence[Path], note: Callable[[str], None]) -> Path:
    """The newest run with a header; of runs that all have none the newest, so that its reader tells why."""
    passed: list[str] = []
    for run in reversed(runs):
        try:
            load(run)
        except InputError as problem:
            passed.append(f"assay: passed over: {problem.message}")
        else:
            for text in passed:
                note(text)
            return run
    return runs[-1]


def _age(file: Path) -> tuple[str, str]:
    stamp = _STAMP.search(file.parent.name)
    return (stamp[1] if stamp else "", file.parent.name)


SERIES_FILE = "series.json"


def write_series(results: Path, series: Series) -> Path:
    """Write the series, whole or not at all, and synced. EnvironmentLacks where that cannot be done."""
    path = results / series.series_id / SERIES_FILE
    beside = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.unlink(missing_ok=True)  # what was left there, or injected: a link is not followed
        with beside.open("xb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(series), indent=2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
    return path


def find_series(results: Path, word: str) -> Series | None:
    """The series of that id; None where there is none. InputError where its file is damaged."""
    path = results / word / SERIES_FILE
    if not _is_name(word) or not path.is_file():
        return None
    try:
        series = msgspec.json.decode(path.read_bytes(), type=Series)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: no series of runs: {error}", "make a new one with `assay run`") from error
    if series.format > SERIES_FORMAT:
        problem = f"{path}: this series is of format {series.format}; this Assay reads up to {SERIES_FORMAT}"
        raise InputError(problem, "update Assay")
    return series


def other_profile(results: Path, header: Header) -> Path | None:
    """The file of the run of the same study under the other profile in the same series, if there is one."""
    series = find_series(results, header.series)
    for part in series.parts if series else ():
        same = part.study == _name_in(series, header) and part.profile != header.profile
        if same and _is_name(part.run) and (results / part.run / FILE).is_file():
            return results / part.run / FILE
    return None


def _is_name(word: str) -> bool:
    """A record may come from anywhere: what it names must not lead out of the results folder."""
    return word not in ("", "..") and Path(word).name == word


def _name_in(series: Series | None, header: Header) -> str | None:
    """What the series calls the study of this run: a name, or the path that was given."""
    parts = series.parts if series else ()
    return next((part.study for part in parts if part.run == header.run_id), None)
