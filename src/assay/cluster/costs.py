"""What an answer costs a server on a node: the node counts and inspects."""

from __future__ import annotations

import msgspec

from assay.cluster import calls
from assay.cluster.calls import Agent
from assay.model.costs import CountedCosts, Inspection
from assay.servers.inspection import Step


class FarCounts(msgspec.Struct, frozen=True):
    """The node counts what a server does."""

    agent: Agent
    number: int | None

    def begins(self) -> None:
        """Count from here."""
        self._ask("begins")

    def ends(self) -> None:
        """Add what came since then."""
        self._ask("ends")

    def refresh(self) -> None:
        """The node finds the processes itself."""

    def is_due(self) -> bool:
        """A message takes longer than a reading: it is read at both ends alone."""
        return False

    def counted(self) -> CountedCosts:
        """All of it so far."""
        return self._ask("counted")

    def _ask(self, step: str) -> CountedCosts:
        if self.number is None:  # it stands somewhere, and nobody knows whose it is
            return CountedCosts(
                missing=("no counters of the kernel: its processes cannot be seen from here",)
            )
        return msgspec.json.decode(calls.ask(self.agent, "count", self.number, step), type=CountedCosts)


class FarInspector(msgspec.Struct, frozen=True):
    """The node inspects a server."""

    agent: Agent
    number: int | None

    def begins(self, step: Step, period: int = 1) -> None:
        """Follow it from here."""
        if self.number is not None:
            calls.ask(self.agent, "inspect", self.number, step, period)

    def ends(self) -> Inspection:
        """What was seen since then."""
        if self.number is None:
            return Inspection()
        return msgspec.json.decode(calls.ask(self.agent, "inspected", self.number), type=Inspection)

    def close(self) -> None:
        """The node does so itself, when it is asked for what it saw and when the server ends."""
