"""Who counts and inspects a server for `--why`, here or on another machine, and which processes are its."""

from __future__ import annotations

from typing import Protocol

from assay.engine import target_policy
from assay.model.costs import CountedCosts, Inspection
from assay.servers.counters import Counters, Pids, listening_at
from assay.servers.inspection import Step
from assay.servers.sampler import TreeClock, with_descendants
from assay.servers.server import ExternalServer, RunningServer


class CostCounter(Protocol):
    """Who counts what a server does."""

    def begins(self) -> None:
        """Count from here."""

    def ends(self) -> None:
        """Add what came since then, and count on."""

    def refresh(self) -> None:
        """Find the processes that there are now."""

    def is_due(self) -> bool:
        """Whether it is time for a reading."""

    def counted(self) -> CountedCosts:
        """All of it so far."""


class Inspects(Protocol):
    """Who inspects a server, step by step."""

    def begins(self, step: Step, period: int = 1) -> None:
        """Follow it from here; of its system calls every `period`-th."""

    def ends(self) -> Inspection:
        """What was seen since then."""

    def close(self) -> None:
        """Follow it no more."""


def counters_of(running: RunningServer | ExternalServer, clock: TreeClock | None = None) -> Counters:
    """The counters of a server; where a clock knows its processes they are not looked for twice."""
    top = running.kept.supervisor_pid if isinstance(running, RunningServer) else 0
    pids: Pids = processes_of(running) if clock is None else lambda: clock.pids
    here = top or target_policy.is_this_machine((running.host,))
    return Counters(pids, top, running.port if here else 0)


def processes_of(running: RunningServer | ExternalServer) -> Pids:
    """Who works for a server: what is below its supervisor, or what listens at its port of this machine."""
    if isinstance(running, RunningServer):
        top = running.kept.supervisor_pid
        return lambda: with_descendants((top,)) - {top}
    return listening_at(running.port) if target_policy.is_this_machine((running.host,)) else lambda: ()
