"""Series files, `results/<series_id>/series.json`: which runs belong together, and what is still to come."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from assay.core.errors import InputError
from assay.model.run import Header
from assay.model.series import FORMAT, Series
from assay.store.read import FILE as RUN_FILE
from assay.store.write import cannot_write

FILE = "series.json"


def write_series(results: Path, series: Series) -> Path:
    """Write the series, whole or not at all, and synced. EnvironmentLacks where that cannot be done."""
    path = results / series.series_id / FILE
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
    path = results / word / FILE
    if not _is_name(word) or not path.is_file():
        return None
    try:
        series = msgspec.json.decode(path.read_bytes(), type=Series)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: no series of runs: {error}", "make a new one with `assay run`") from error
    if series.format > FORMAT:
        problem = f"{path}: this series is of format {series.format}; this Assay reads up to {FORMAT}"
        raise InputError(problem, "update Assay")
    return series


def other_profile(results: Path, header: Header) -> Path | None:
    """The file of the run of the same study under the other profile in the same series, if there is one."""
    series = find_series(results, header.series)
    for part in series.parts if series else ():
        same = part.study == _name_in(series, header) and part.profile != header.profile
        if same and _is_name(part.run) and (results / part.run / RUN_FILE).is_file():
            return results / part.run / RUN_FILE
    return None


def _is_name(word: str) -> bool:
    """A record may come from anywhere: what it names must not lead out of the results folder."""
    return word not in ("", "..") and Path(word).name == word


def _name_in(series: Series | None, header: Header) -> str | None:
    """What the series calls the study of this run: a name, or the path that was given."""
    parts = series.parts if series else ()
    return next((part.study for part in parts if part.run == header.run_id), None)
