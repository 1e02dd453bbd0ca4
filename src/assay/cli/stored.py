"""A stored run as the verbs take it: read, and what is wrong with its file told."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core import console
from assay.core.errors import AssayError, InputError

if TYPE_CHECKING:
    from assay.model.run import Run
    from assay.report.model.profiles import ProfilePair


def read(path: Path) -> Run:
    """The run of that file or folder; each line of it that cannot be read is told.

    InputError where there is none that can be read.
    """
    from assay import store

    stored = store.read(path)
    for text in stored.notes:
        console.note(f"assay: {text}")
    return stored.run


def pair_in_series(run: Run, results: Path) -> ProfilePair | None:
    """The run with that of the other profile in its series, if there is one.

    Where that, or the series, cannot be read, it is told, and the run stands alone.
    """
    from assay import store
    from assay.report.model.profiles import pair_of

    try:
        return pair_of(run, store.other_profile(results, run.header))
    except InputError as problem:
        console.note(f"assay: shown without the other profile: {problem.message}")
        return None


class Afterwards:
    """What went wrong with files while figures were still to be shown: those first, then the error."""

    def __init__(self) -> None:
        """Nothing went wrong yet."""
        self._problem: AssayError | None = None

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Keep what goes wrong within the block; the first counts."""
        try:
            yield
        except AssayError as problem:
            self._problem = self._problem or problem

    def tell(self) -> None:
        """Raise what was kept, if anything was."""
        if self._problem is not None:
            raise self._problem
