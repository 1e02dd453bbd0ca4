"""Commands around the servers: `--setup` once a rival, `--prepare` before each start, `--cleanup` at the end.

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
from assay.core.error_line import last_words
from assay.core.errors import InputError
from assay.model.design import Commands, Rival
from assay.servers.supervised import Kept, Order, exit_in_words

LONGEST_S = 600.0


@dataclass
class Hooks:
    """Runs the commands of a comparison. Leaving the `with` block runs each cleanup that is due."""

    commands: Commands
    logs: Path
    folder: Path
    _set_up: dict[str, Rival] = field(default_factory=dict)
    _kept: list[Kept] = field(default_factory=list)
    _prepared: Kept | None = None

    def __enter__(self) -> Hooks:
        """Nothing has run yet."""
        return self

    def before_first(self, rivals: Sequence[Rival]) -> None:
        """Set each rival up. InputError where a command fails."""
        for rival in rivals:
            self._set_up[rival.name] = rival
            kept = self._run("--setup", self.commands.setup, rival)
            if kept is not None:
                self._kept.append(kept)

    def before_start(self, rival: Rival) -> None:
        """Prepare one start of the rival. InputError where the command fails."""
        self._end_prepared()
        self._prepared = self._run("--prepare", self.commands.prepare, rival)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clean up after every rival that was set up; the first failure is told, none stops the others."""
        self._end_prepared()
        failed: InputError | None = None
        for rival in self._set_up.values():
            try:
                done = self._run("--cleanup", self.commands.cleanup, rival)
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

    def _run(self, flag: str, command: str, rival: Rival) -> Kept | None:
        if not command:
            return None
        order = Order(
            command=("/bin/sh", "-c", vault.revealed(rival.fill(command))),
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
        raise InputError(f"{flag} for {rival.name} {ended}{said and f': {said}'}", "mend that command")
