"""The ranking of a run: ranks by what is shown, and what keeps a case from having a place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.estimate import Compared, Estimate, Ranked
from assay.model.finding import Finding
from assay.stats import ranks, shown_faster, throughput
from assay.verdict.effects import bounded, invalid, known, void_by, words_of
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.pairs import Between, against, compared, least_blocks, pair_of
from assay.verdict.words import counted, listed

Pairs = Mapping[tuple[str, str], Between]


class Order(NamedTuple):
    """Every case in its place, and the candidates pair by pair."""

    ranking: tuple[Ranked, ...]
    comparisons: tuple[Compared, ...]


def rank(run: RunSeen, findings: Sequence[Finding]) -> Order:
    """Group by group (workload and load), best first."""
    orders = [_Group(run, group, tuple(findings)) for group in run.groups.values()]
    return Order(
        tuple(row for order in orders for row in order.rows()),
        tuple(pair for order in orders for pair in order.comparisons()),
    )


class _Group:
    """The cases of one workload and load, and what can be said of their order."""

    def __init__(self, run: RunSeen, group: tuple[CaseSeen, ...], findings: tuple[Finding, ...]) -> None:
        self._run, self._group, self._findings = run, group, findings
        self._left_out = dict(self._without_a_figure())
        candidates = [seen for seen in group if seen.case.id not in self._left_out]
        candidates.sort(key=_rate, reverse=True)
        self._pairs: Pairs = {
            (a.case.id, b.case.id): pair_of(run, findings, a, b)
            for a, b in itertools.combinations(candidates, 2)
        }
        self._left_out |= dict(self._without_a_candidate(candidates))
        placed = [seen.case.id for seen in candidates if seen.case.id not in self._left_out]
        decisive = {names: one.pair for names, one in self._pairs.items() if one.pair and self._enough(one)}
        self._shown = shown_faster(decisive)
        self._places = ranks(placed, self._shown)

    def rows(self) -> list[Ranked]:
        """Candidates first, placed before others, then by throughput."""
        best = self._best()
        candidate = {seen.case.id: seen.candidate for seen in self._group}
        return sorted(
            (self._row(seen, best) for seen in self._group),
            key=lambda row: (
                not candidate[row.case],
                row.rank is None,
                row.rank or 0,
                -row.throughput.value if row.throughput else 0.0,
            ),
        )

    def comparisons(self) -> Iterator[Compared]:
        """Each pair, the one that was measured faster first."""
        for (a, b), found in self._pairs.items():
            yield compared(a, b, found, shown=(a, b) in self._shown)

    def _row(self, seen: CaseSeen, best: CaseSeen | None) -> Ranked:
        case, measured = seen.case.id, throughput(seen.trials)
        relative = self._relative(seen, best)
        return Ranked(
            case=case,
            rank=self._places.get(case),
            throughput=measured,
            relative_to_best=relative,
            reason="; ".join(part for part in (self._left_out.get(case, ""), _failures(seen)) if part),
            invalid=invalid(self._findings, case),
            known=known(measured, bounded(self._findings, case)) if seen.closed else None,
        )

    def _enough(self, found: Between) -> bool:
        return found.pair is not None and found.pair.ratio.n >= least_blocks(self._run)

    def _without_a_figure(self) -> Iterator[tuple[str, str]]:
        """The cases that have nothing to be ranked by, each with its reason."""
        for seen in self._group:
            case = seen.case.id
            void, found = void_by(self._findings, case), bounded(self._findings, case)
            if not seen.candidate:
                yield case, f"{seen.case.role}, not a candidate"
            elif not seen.measured:
                yield case, "no trial was measured"
            elif not seen.closed:
                yield case, "open loop: its throughput is the rate that was offered"
            elif void:
                yield case, f"void: {', '.join(void)}"
            elif found.nothing_known and not self._known_beside_another(case):
                yield case, f"limits in both directions leave nothing known: {words_of(found.limits)}"

    def _known_beside_another(self, case: str) -> bool:
        """Whether one of its limits met another case alike, so that something is left of their ratio."""
        others = [seen.case.id for seen in self._group if seen.candidate and seen.case.id != case]
        return any(not against(self._findings, case, other).nothing_known for other in others)

    def _without_a_candidate(self, candidates: Sequence[CaseSeen]) -> Iterator[tuple[str, str]]:
        """The cases that cannot be compared with any other, each with its reason."""
        least = least_blocks(self._run)
        for seen in candidates:
            found = {
                (set(names) - {seen.case.id}).pop(): one
                for names, one in self._pairs.items()
                if seen.case.id in names
            }
            if any(self._enough(one) for one in found.values()):
                continue
            forbidden = sorted(self._name(other) for other, one in found.items() if one.void)
            if not found:
                yield seen.case.id, "nothing left to compare it with"
            elif forbidden:
                codes = dict.fromkeys(code for one in found.values() for code in one.void)
                whom = f"not be compared with {listed(forbidden, 'or')}"
                if len(forbidden) == len(found) > 1:
                    whom = "be compared with none of the others"
                yield seen.case.id, f"may {whom}: {', '.join(codes)}"
            else:
                blocks = max(one.pair.ratio.n if one.pair else 0 for one in found.values())
                shared = f"{counted(blocks, 'block')} shared with another"
                yield seen.case.id, f"{shared}; an order needs {least}"

    def _name(self, case: str) -> str:
        """Without the workload and load, which the whole group shares."""
        found = next(seen.case for seen in self._group if seen.case.id == case)
        return found.label or found.server_name

    def _best(self) -> CaseSeen | None:
        """The fastest candidate whose throughput was found, not offered, and is a result."""
        rated = [
            seen
            for seen in self._group
            if seen.candidate and seen.closed and seen.measured and not invalid(self._findings, seen.case.id)
        ]
        return max(rated, key=_rate, default=None)

    def _relative(self, seen: CaseSeen, best: CaseSeen | None) -> Estimate | None:
        if best is None or invalid(self._findings, seen.case.id):
            return None
        if seen is best:
            return self._run.ratio(seen, best)
        return pair_of(self._run, self._findings, seen, best).bounded


def _rate(seen: CaseSeen) -> float:
    found = throughput(seen.trials)
    return found.value if found else 0.0


def _failures(seen: CaseSeen) -> str:
    failures = [trial.failure for trial in seen.trials if trial.failure is not None]
    if not failures:
        return ""
    tried = counted(len(seen.trials), "trial")
    return f"{len(failures)} of {tried} failed ({failures[0].stage}: {failures[0].reason})"
