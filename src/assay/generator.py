"""What offers a load: this process, or several on a cluster. A trial does not know which."""

from __future__ import annotations

from typing import Protocol

from assay import engine
from assay.values.measurement import Measurement, Snapshot
from assay.values.plan import LoadPlan
from assay.values.trial import GeneratorSeen


class GoingLoad(Protocol):
    """A load that is going on, or has ended."""

    def snapshot(self) -> Snapshot:
        """Give the totals of the current phase, for a live view."""

    def begin_measuring(self, at_ns: int = 0) -> None:
        """End the warm-up; the load goes on without a gap."""

    def stop(self, at_ns: int = 0) -> None:
        """End the load early."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most so long; whether it has come."""

    def result(self) -> Measurement:
        """Wait for the end and give the measurement of the whole load."""


class Generator(Protocol):
    """Offers one load after the other."""

    def planned(self, plan: LoadPlan) -> LoadPlan:
        """Give the plan with as many workers as it has for them."""

    def start(self, plan: LoadPlan) -> GoingLoad:
        """Start a load. PlanRefused where the plan is wrong, EnvironmentLacks where it cannot be offered."""


class ThisProcess:
    """The engine in this process."""

    def planned(self, plan: LoadPlan) -> LoadPlan:
        """Give the plan as it is: it was made for this machine."""
        return plan

    def start(self, plan: LoadPlan) -> GoingLoad:
        """Start the load on threads of this process."""
        return engine.start(plan)


def generators_of(load: GoingLoad) -> tuple[GeneratorSeen, ...]:
    """What was seen of each of several generators; nothing where this process offered the load alone."""
    seen = getattr(load, "generators", None)
    return seen() if seen is not None else ()
