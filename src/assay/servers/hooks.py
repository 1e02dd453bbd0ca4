"""Commands around the servers: `--setup` once a candidate, `--prepare` before each start, `--cleanup` at the
end.

What a command leaves running (a database in the background) lives as long as what it was for, and is
ended with it: no process outlives the run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from assay.core import vault
from assay.core.errors import InputError, last_words
from assay.model.design import Candidate, Commands
from assay.servers.supervised import Kept, StartOrder, exit_in_words

LONGEST_S = 600.0


@dataclass
class Hooks:
    """Runs the commands of a comparison. Leaving the `with` block runs each cleanup that is due."""

    commands: Commands
    logs: Path
    folder: Path
    _set_up: dict[str, Candidate] = field(default_factory=dict)
    _kept: list[Kept] = field(default_factory=list)
    _prepared: Kept | None = None

    def __enter__(self) -> Hooks:
        """Nothing has run yet."""
        return self

    def before_first(self, candidates: Sequence[Candidate]) -> None:
        """Set each candidate up. InputError where a command fails."""
        for candidate in candidates:
            self._set_up[candidate.name] = candidate
            kept = self._run("--setup", self.commands.setup, candidate)
            if kept is not None:
                self._kept.append(kept)

    def before_start(self, candidate: Candidate) -> None:
        """Prepare one start of the candidate. InputError where the command fails."""
        self._end_prepared()
        self._prepared = self._run("--prepare", self.commands.prepare, candidate)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clean up after every candidate that was set up; the first failure is told, none stops the
        others."""
        self._end_prepared()
        failed: InputError | None = None
        for candidate in self._set_up.values():
            try:
                done = self._run("--cleanup", self.commands.cleanup, candidate)
                if done is not None:
                    done.stop()
            except InputError as problem:
                failed = failed or problem
        for kept in self._kept:
            kept.stop()
        if failed is not None and error is None:
            raise failed

    def _end_prepared(self) -> None:
        if self._prepared is not None:
            self._prepared.stop()
            self._prepared = None

    def _run(self, flag: str, command: str, candidate: Candidate) -> Kept | None:
        if not command:
            return None
        order = StartOrder(
            command=("/bin/sh", "-c", vault.revealed(candidate.fill(command))),
            env=dict(os.environ),
            cwd=self.folder,
            log=self.logs / f"{flag.lstrip('-')}.log",
        )
        kept = Kept(order)
        try:
            code = kept.wait(LONGEST_S)
        except BaseException:
            kept.stop()
            raise
        if code == 0:
            return kept
        said = last_words(kept.log_tail())
        kept.stop()
        ended = f"did not end within {LONGEST_S:g} s" if code is None else exit_in_words(code)
        raise InputError(f"{flag} for {candidate.name} {ended}{said and f': {said}'}", "mend that command")
