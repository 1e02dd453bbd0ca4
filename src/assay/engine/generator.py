"""What offers a load: this process, or several on a cluster. A trial does not know which.

`drive` leads one load from its start to what was measured, for `assay load` and the drop-ins alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import msgspec

from assay.core import signals
from assay.engine import driver

if TYPE_CHECKING:
    from assay.model.account import TimeAccount
    from assay.model.costs import Costs
    from assay.model.interleaving import (
        Change,
        InterleavedMeasurement,
        InterleavedPlan,
        InterleavedSnapshot,
        SliceTimes,
    )
    from assay.model.measurement import Measurement, Snapshot
    from assay.model.plan import LoadPlan
    from assay.model.trial import GeneratorSeen, HostSeen

REFRESH_S = 0.2
"""How often a load that goes on is looked at."""


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


L = TypeVar("L", bound=GoingLoad)


class Watching(Protocol):
    """Watches the machine while a load goes on."""

    def observed(self) -> HostSeen:
        """What the machine did since then."""


class EndedLoad(msgspec.Struct, Generic[L], frozen=True, kw_only=True):
    """A load that has ended: what was asked for, what was measured, and who looked on from where.

    `going` has what the measurement leaves out: single requests, where they are logged. `interrupted`: by
    Ctrl-C. `same_machine`: the server shares this machine.
    """

    plan: LoadPlan
    going: L
    measurement: Measurement
    interrupted: bool
    same_machine: bool
    host: HostSeen | None = None
    account: TimeAccount | None = None
    generators: tuple[GeneratorSeen, ...] = ()
    costs: Costs | None = None


def to_its_end(going: GoingLoad) -> None:
    """Wait until the load has ended."""
    while not going.wait(REFRESH_S):
        pass


def drive(
    plan: LoadPlan,
    start: Callable[[LoadPlan], L],
    *,
    same_machine: bool,
    watch: Callable[[L], object] = to_its_end,
    machine: Callable[[], Watching] | None = None,
    stopped: Callable[[L], None] = to_its_end,
) -> EndedLoad[L]:
    """Offer the load to its end, or until Ctrl-C.

    `watch` looks on until the end, `machine` is asked for once the load goes on, and `stopped` waits for the
    end of one that Ctrl-C stopped. What `start` raises; then nothing was sent.
    """
    going, interrupted = start(plan), False
    watching: Watching | None = None
    try:
        if machine is not None:
            watching = machine()
        watch(going)
    except KeyboardInterrupt:
        interrupted = True
        going.stop()
        stopped(going)
    signals.ending()
    return EndedLoad(
        plan=plan,
        going=going,
        measurement=going.result(),
        interrupted=interrupted,
        same_machine=same_machine,
        host=None if watching is None else watching.observed(),
        account=account_of(going),
        generators=generators_of(going),
    )


class GoingSlices(Protocol):
    """Arms that are interleaved, or took them."""

    least_washout_ns: int
    """The washout below which it is not known that nobody works in another's slice."""

    def change(self, change: Change, from_round: int = 0) -> int:
        """Change the slices from a round on, or the first that can still be changed; which one that is."""

    def stop(self, at_ns: int = 0) -> None:
        """End the slices early."""

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end, for at most so long; whether it has come."""

    def started_at_monotonic_ns(self) -> int:
        """What `time.monotonic_ns()` showed at the start, from which all points count."""

    def wait_begin(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice begins; None where the time passed or the run ended before."""

    def wait_end(self, number: int, timeout_s: float) -> SliceTimes | None:
        """Wait until a slice is over; None where the time passed or the run ended before."""

    def snapshot(self) -> InterleavedSnapshot:
        """Give the live view of all arms."""

    def result(self) -> InterleavedMeasurement:
        """Wait for the end and give the measurement of each arm."""


class Generator(Protocol):
    """Offers one load after the other."""

    def planned(self, plan: LoadPlan, threads: int | None = None) -> LoadPlan:
        """Give the plan with as many workers as it has for them, or as were asked for."""

    def start(self, plan: LoadPlan) -> GoingLoad:
        """Start a load. PlanRefused where the plan is wrong, EnvironmentLacks where it cannot be offered."""

    def start_interleaved(self, plan: InterleavedPlan) -> GoingSlices:
        """Start arms that are interleaved, as `start` does."""


class ThisProcess:
    """The engine in this process."""

    def planned(self, plan: LoadPlan, threads: int | None = None) -> LoadPlan:
        """Give the plan as it is: it was made for this machine."""
        return plan

    def start(self, plan: LoadPlan) -> GoingLoad:
        """Start the load on threads of this process."""
        return driver.start(plan)

    def start_interleaved(self, plan: InterleavedPlan) -> GoingSlices:
        """Start the arms on threads of this process."""
        return driver.start_interleaved(plan)


def generators_of(load: GoingLoad) -> tuple[GeneratorSeen, ...]:
    """What was seen of each of several generators; nothing where this process offered the load alone."""
    seen = getattr(load, "generators", None)
    return seen() if seen is not None else ()


def account_of(load: GoingLoad, own: TimeAccount | None = None) -> TimeAccount | None:
    """The account of a load: `own`, or that of several generators together with it."""
    parts = getattr(load, "accounts", None)
    if parts is None:
        return own
    from assay.model.account import together  # `assay load` starts without it

    return together(own, parts())


def arm_account_of(slices: GoingSlices, arm: int, own: TimeAccount | None) -> TimeAccount | None:
    """The same of an arm."""
    parts = getattr(slices, "accounts", None)
    if parts is None:
        return own
    from assay.model.account import together

    return together(own, parts(arm))


def arm_generators_of(slices: GoingSlices, arm: int) -> tuple[GeneratorSeen, ...]:
    """What was seen of each of several generators in an arm; nothing where this process was the only one."""
    seen = getattr(slices, "generators", None)
    return seen(arm) if seen is not None else ()
