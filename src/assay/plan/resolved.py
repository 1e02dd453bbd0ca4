"""What a run comes to before it begins: cases and plans, with nothing left to decide."""

from __future__ import annotations

from dataclasses import dataclass

from assay.model.block import Interleaving
from assay.model.design import AnyDesign, Candidate, StudyDesign, WarmUp
from assay.model.plan import Closed, LoadPlan, StopAfter
from assay.model.trial import Case
from assay.plan.next.lengths import PILOT_ROUNDS
from assay.plan.next.schedule import closed_loop_of, is_interleavable
from assay.plan.next.study import WATCHED
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit, likely_bytes
from assay.servers.manifest import ServerSpec
from assay.servers.server import ExternalAddress
from assay.servers.services.own import ServiceSpec

_TRIAL_OVERHEAD_S = 0.5
"""Starting, testing and stopping a server: 0.1 s for a compiled one, 1 s for a small JVM."""

_UNTIL_MEASURED = 2
"""Slices: a change holds from the next round on, and one round is settled by then."""

REQUESTS_GUESS_PER_S = 1000.0
"""For the estimate of a counted load of which nothing was published."""


@dataclass(frozen=True, kw_only=True)
class ResolvedCase:
    """A case with all that a trial of it needs. `plan.url` and `plan.cpus` are filled in by the trial;
    the first of `routes` is the readiness probe."""

    case: Case
    server: ServerSpec
    contract: Contract
    routes: tuple[Route, ...]
    plan: LoadPlan
    warm_up: WarmUp
    guess_per_s: float = REQUESTS_GUESS_PER_S
    """Answers a second, for the estimate of a counted load: as published, where that was."""
    ready: Prepared | ExternalAddress | None = None
    """The server, where nothing has to be checked or built for it."""
    candidate: Candidate | None = None
    """What the command line said of the server, where it did."""
    threads: int | None = None
    """The client's threads that the study names for the load, on all machines that offer it together."""

    def expected_s(self) -> tuple[float, float]:
        """The least and the most that a trial is likely to take."""
        if isinstance(self.plan.stop, StopAfter):
            measured_s = self.plan.stop.ns / 1e9
        elif isinstance(self.plan.load, Closed):
            measured_s = self.plan.stop.count / self.guess_per_s
        else:
            measured_s = sum(stage.duration_ns for stage in self.plan.load.stages) / 1e9
        fixed = measured_s + _TRIAL_OVERHEAD_S
        return fixed + self.warm_up.min_ns / 1e9, fixed + self.warm_up.max_ns / 1e9


def _slices_s(interleave: Interleaving, case: ResolvedCase, trials: int) -> float:
    """What slices add to a trial: washout, the slices in which all learn that they measure, and of the
    first trial a pilot."""
    assert isinstance(case.plan.stop, StopAfter)  # it is interleaved
    slice_ns = interleave.given_slice_ns or interleave.usual_slice_ns
    slices = case.plan.stop.ns / slice_ns + _UNTIL_MEASURED
    piloted = not interleave.alike and interleave.given_slice_ns is None
    pilot_ns = 3 * PILOT_ROUNDS * slice_ns / max(1, trials) if piloted else 0.0
    return (slices * interleave.washout_ns + _UNTIL_MEASURED * slice_ns + pilot_ns) / 1e9


def _likely_bytes(case: ResolvedCase) -> int:
    """What its server is likely to take of the memory: nothing new, where it stands already."""
    return 0 if case.candidate is not None and case.candidate.url else likely_bytes(case.server)


@dataclass(frozen=True, kw_only=True)
class ResolvedRun:
    """A run, complete. `design` is what its header keeps of it."""

    name: str
    design: AnyDesign
    cases: tuple[ResolvedCase, ...]
    services: tuple[ServiceSpec, ...]
    split: CoreSplit
    notes: tuple[str, ...] = ()
    """What a reader should know before it starts, in a line each: what `--quick` costs, say."""

    @property
    def interleaved(self) -> tuple[tuple[ResolvedCase, ...], ...]:
        """The cases whose loads could be interleaved, those together that would be so with each
        other: they alone are alive at once."""
        groups: dict[tuple[str, str], list[ResolvedCase]] = {}
        for case in self.cases:
            if is_interleavable(case.case, case.plan) and not case.case.dependent:
                groups.setdefault((case.case.workload, case.case.load), []).append(case)
        return tuple(map(tuple, groups.values()))

    @property
    def memory_at_once(self) -> int:
        """What the servers that are interleaved with each other are likely to take together, at most."""
        return max((sum(map(_likely_bytes, group)) for group in self.interleaved), default=0)

    @property
    def servers(self) -> tuple[ServerSpec, ...]:
        """Each server (and variant) once."""
        found = {(case.server.id, case.server.variant): case.server for case in self.cases}
        return tuple(found.values())

    def expected_s(self) -> tuple[float, float]:
        """The least and the most that the measuring is likely to take; builds are not part of it."""
        each = [(case.case, *self.expected_trial_s(case)) for case in self.cases]
        most = self.blocks + (self.design.more_blocks if isinstance(self.design, StudyDesign) else 0)
        return (
            sum(case.trials(self.blocks) * low for case, low, _ in each),
            sum(case.trials(most) * high for case, _, high in each),
        )

    def expected_trial_s(self, case: ResolvedCase) -> tuple[float, float]:
        """The least and the most that a trial of the case is likely to take, in the mean over all of them.

        The warm-ups of the first are watched; the others go by these, which were steady only where their last
        change lay within the first third, for one and a half times as long (`assay.plan.next.warming`). What
        follows closed loops has the least of a warm-up by itself; before that it is warmed by its closed
        loop, each time until that is steady, unless it finds the server of an interleaved block, which is
        warm.
        """
        (least_s, most_s), trials = case.expected_s(), case.case.trials(self.blocks)
        if case.case.dependent:
            own_s = case.warm_up.min_ns / 1e9
            warm = self._sits(closed_loop_of(case.case, (one.case for one in self.cases)))
            return (least_s, least_s) if warm else (least_s + own_s, most_s + own_s)
        interleave = self.design.interleave
        if interleave is not None and self._sits(case.case.id):
            slices_s = _slices_s(interleave, case, trials)
            least_s, most_s = least_s + slices_s, most_s + slices_s
        later_s = max(least_s, most_s - case.warm_up.max_ns / 2e9)
        watched = min(trials, WATCHED) / trials if trials else 1.0
        return least_s, watched * most_s + (1 - watched) * later_s

    def _sits(self, case: str) -> bool:
        """Whether that case is interleaved with others."""
        groups = ({one.case.id for one in group} for group in self.interleaved)
        return self.design.interleave is not None and any(
            case in group and len(group) > 1 for group in groups
        )

    @property
    def trials(self) -> int:
        """How many trials it has; 0 where it ends by its own figures."""
        return sum(case.case.trials(self.blocks) for case in self.cases)

    @property
    def blocks(self) -> int:
        """How many blocks it has at least; 0 where it ends by its own figures."""
        return self.design.blocks if isinstance(self.design, StudyDesign) else 0
