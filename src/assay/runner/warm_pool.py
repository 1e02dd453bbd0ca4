"""Servers that stand on after their block, for the loads that follow from it.

An open loop at a share of what a server can do, or a trial of a search, wants a warm server, and a JVM takes
longer to get warm than any such trial lasts. Those of the block are warm, and are those whose throughput
the share is of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Self

from assay.core.errors import EnvironmentLacks, ServerFailed
from assay.model.trial import WarmUpSeen
from assay.servers.external import ExternalServer
from assay.servers.server import RunningServer

Running = RunningServer | ExternalServer


class Warm(NamedTuple):
    """A server that has been under load, and how its warm-up ended."""

    running: Running
    warm_up: WarmUpSeen | None


@dataclass
class WarmPool:
    """The servers that stand, by the closed loop's case that each has served. Left, it stops them all."""

    note: Callable[[str], None]
    _warm: dict[str, Warm] = field(default_factory=dict)

    def keep(self, case: str, running: Running, warm_up: WarmUpSeen | None) -> None:
        """Take a server over: it is stopped from here."""
        self._warm[case] = Warm(running, warm_up)

    def take(self, case: str) -> Warm | None:
        """Give that server away, if it stands; one that ended while nobody asked it anything is told.

        EnvironmentLacks where its machine does not say: it is to be ended before another starts there.
        """
        warm = self._warm.pop(case, None)
        if warm is None:
            return None
        try:
            if warm.running.died() is None:
                return warm
        except EnvironmentLacks:
            self._stop(case, warm)
            raise
        self.note(f"{case}: its server ended while it rested, and is started again")
        self._stop(case, warm)
        return None

    def only(self, cases: Collection[str]) -> None:
        """Stop all but those."""
        for case in [case for case in self._warm if case not in cases]:
            self._stop(case, self._warm.pop(case))

    def _stop(self, case: str, warm: Warm) -> None:
        try:
            warm.running.stop()
        except ServerFailed as problem:
            self.note(f"{case}: {problem.reason}")

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop them all."""
        self.only(())
