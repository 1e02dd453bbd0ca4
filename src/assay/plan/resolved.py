"""What a run comes to before it begins: cases and plans, with nothing left to decide."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from assay.model.design import AnyDesign, Candidate, StudyDesign, WarmUp
from assay.model.plan import LoadPlan
from assay.model.trial import Case
from assay.plan.forecast import REQUESTS_GUESS_PER_S, Cost, Left, Outlook, remaining
from assay.plan.next.schedule import is_interleavable
from assay.plan.next.study import WATCHED
from assay.servers.build import Prepared
from assay.servers.contract import Contract, Route
from assay.servers.cores import CoreSplit, likely_bytes
from assay.servers.manifest import ServerSpec
from assay.servers.server import ExternalAddress
from assay.servers.services.own import ServiceSpec


class ResolvedCase(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def cost(self) -> Cost:
        """What its trials cost beyond their plan. A server that stands already needs no start."""
        stands = self.candidate is not None and bool(self.candidate.url)
        start_s = 0.0 if stands else self.server.start_s
        return Cost(start_s=start_s, guess_per_s=self.guess_per_s, server=self.server.name)


def _likely_bytes(case: ResolvedCase) -> int:
    """What its server is likely to take of the memory: nothing new, where it stands already."""
    return 0 if case.candidate is not None and case.candidate.url else likely_bytes(case.server)


class ResolvedRun(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def costs(self) -> dict[str, Cost]:
        """What the trials of each case cost beyond their plans."""
        return {case.case.id: case.cost for case in self.cases}

    def expected_s(self, left_out: Collection[str] = ()) -> Left:
        """The least and the most that the measuring is likely to take, without those cases; builds are not
        part of it."""
        cases = [case.case for case in self.cases if case.case.id not in left_out]
        more = self.design.more_blocks if isinstance(self.design, StudyDesign) else 0
        outlook = Outlook(
            design=self.design,
            cases=cases,
            costs=self.costs,
            warm_ups=self.design.warm_ups,
            watched=dict.fromkeys((case.id for case in cases), WATCHED),
        )
        units = outlook.units(
            (case.id, block)
            for block in range(self.blocks + more)
            for case in cases
            if case.takes_part(block)
            for _ in range(case.trials_a_block)
        )
        sure = [step for unit in units if unit.block < self.blocks for step in unit.steps]
        maybe = [step for unit in units if unit.block >= self.blocks for step in unit.steps]
        return remaining(sure, maybe, ())

    @property
    def trials(self) -> int:
        """How many trials it has; 0 where it ends by its own figures."""
        return sum(case.case.trials(self.blocks) for case in self.cases)

    @property
    def blocks(self) -> int:
        """How many blocks it has at least; 0 where it ends by its own figures."""
        return self.design.blocks if isinstance(self.design, StudyDesign) else 0
