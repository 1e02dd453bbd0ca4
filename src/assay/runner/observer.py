"""Who watches a run: the command line's live view, or nobody."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from assay.core.errors import EXIT_INTERRUPTED, AssayError
from assay.core.units import counted
from assay.model.block import Block
from assay.model.interleaving import InterleavedSnapshot
from assay.model.measurement import Snapshot
from assay.model.run import Run
from assay.model.trial import Phase, Trial
from assay.plan.next import Slot, next_trial
from assay.verdict.size import trials_of


class Observer(Protocol):
    """Told what happens, always from the thread that runs it; nothing it does changes the run.

    By themselves its methods do nothing: a subclass has those that it needs.
    """

    def run_started(self, run: Run, expected_s: Mapping[str, tuple[float, float]]) -> None:
        """The run begins, or goes on after the trials that it has. A trial of each case is likely to take
        `expected_s`, at least and at most."""
        return

    def server_preparing(self, server: str, step: str) -> None:
        """A server (id and variant) is being made ready: "checking", "building", "waiting for …"."""
        return

    def server_prepared(self, server: str, version: str, built_s: float | None) -> None:
        """A server is ready; `built_s` is None where nothing had to be built."""
        return

    def server_failed(self, server: str, reason: str) -> None:
        """A server cannot be had; its trials become rows with the reason."""
        return

    def trial_started(self, slot: Slot) -> None:
        """A trial begins."""
        return

    def phase(self, slot: Slot, phase: Phase) -> None:
        """The trial enters a phase."""
        return

    def snapshot(self, slot: Slot, snapshot: Snapshot) -> None:
        """The load as it stands, a few times a second."""
        return

    def trial_finished(self, trial: Trial) -> None:
        """The trial is stored."""
        return

    def block_started(self, slots: Sequence[Slot]) -> None:
        """An interleaved block begins, in which these are interleaved; phases are told of each."""
        return

    def slices(self, slots: Sequence[Slot], snapshot: InterleavedSnapshot) -> None:
        """The slices as they stand, about twice a second. `slots` are those of the arms, in their order."""
        return

    def block_finished(self, block: Block) -> None:
        """The block is stored."""
        return

    def note(self, text: str) -> None:
        """Something a reader should know, in one line."""
        return


class Silent(Observer):
    """An observer that shows nothing; a base for those that show a part."""


class CutShort(AssayError):
    """The run ended before its time: what is finished is stored and in `run`; nothing is left running."""

    def __init__(self, run: Run, message: str, remedy: str) -> None:
        """`run` holds the finished trials."""
        super().__init__(message, remedy)
        self.run = run


def how_to_go_on(run: Run) -> str:
    """What to do with a run that ended before its time, as its end says."""
    if next_trial(run) is None:
        return f"show it with: assay report {run.header.run_id}{_folder(run)}"
    if run.header.nodes:
        return "a run on a cluster cannot be gone on with: make a new one"
    return f"go on with: assay run --resume {run.header.run_id}{_folder(run)}"


def _folder(run: Run) -> str:
    """The flag that names the folder of runs, where the run was given one."""
    words = run.header.command
    given = [after for word, after in pairwise(words) if word == "--results"]
    given += [word.removeprefix("--results=") for word in words if word.startswith("--results=")]
    return f" --results {shlex.quote(given[-1])}" if given else ""


class Interrupted(CutShort):
    """Ctrl-C."""

    exit_code = EXIT_INTERRUPTED

    def __init__(self, run: Run) -> None:
        """`run` holds the finished trials."""
        done, planned = len(run.trials), trials_of(run)
        super().__init__(
            run,
            f"interrupted after {counted(done, 'trial')}"
            if planned is None
            else f"interrupted after {done} of {counted(planned, 'trial')}",
            f"what was measured is kept; {how_to_go_on(run)}",
        )
