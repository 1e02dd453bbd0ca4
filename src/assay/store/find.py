"""Finding runs by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.core.errors import InputError
from assay.store.read import FILE, load

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
