"""The ranking of a run: tiers of the cases that may be compared, and what keeps the others out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from assay.stats import NOISE_FLOOR, shown_faster, throughput, tiers
from assay.stats.sequential import shown_faster_by_now
from assay.values.estimate import Estimate, Ranked
from assay.values.finding import Finding
from assay.verdict.effects import between, comparison_withheld, unranked_by, withheld
from assay.verdict.seen import CaseSeen, RunSeen


def noise_floor(run: RunSeen) -> float:
    """The effect below which nothing is claimed: 1 %, or the A/A controls' half-width if that is more."""
    halves = [(ratio.high - ratio.low) / 2 for ratio in run.controls.values() if ratio.low and ratio.high]
    return max([NOISE_FLOOR, *halves])


def rank(run: RunSeen, findings: Sequence[Finding], floor: float) -> tuple[Ranked, ...]:
    """Every case in its place, group by group (workload and load), best first."""
    return tuple(
        ranked for group in run.groups.values() for ranked in _rank_group(run, group, tuple(findings), floor)
    )


def _rank_group(
    run: RunSeen, group: tuple[CaseSeen, ...], findings: tuple[Finding, ...], floor: float
) -> Iterator[Ranked]:
    kept_out = dict(_kept_out(group, findings))
    rivals = {
        seen.case.id: seen.throughput_by_block
        for seen in group
        if seen.candidate and seen.case.id not in kept_out
    }
    shown_by = shown_faster if run.header.blocks is not None else shown_faster_by_now
    places = tiers(rivals, floor, shown_by) if len(rivals) > 1 else {}
    best = _best(group, findings)
    rows = []
    for seen in group:
        case = seen.case.id
        reason = kept_out.get(case) or ("" if case in places else "nothing left to compare it with")
        rows.append(
            Ranked(
                case=case,
                tier=places.get(case),
                throughput=throughput(seen.trials),
                relative_to_best=_relative(run, seen, best, findings),
                reason="; ".join(part for part in (reason, _failures(seen)) if part),
                withheld=withheld(findings, case),
            )
        )
    yield from sorted(rows, key=_order(group))


def _order(group: tuple[CaseSeen, ...]) -> _Order:
    return _Order({seen.case.id: seen.candidate for seen in group})


class _Order:
    """Sort key: candidates first, ranked before unranked, then by throughput."""

    def __init__(self, candidate: dict[str, bool]) -> None:
        self._candidate = candidate

    def __call__(self, row: Ranked) -> tuple[bool, bool, int, float]:
        fastest = -row.throughput.value if row.throughput else 0.0
        return (not self._candidate[row.case], row.tier is None, row.tier or 0, fastest)


def _kept_out(group: tuple[CaseSeen, ...], findings: tuple[Finding, ...]) -> Iterator[tuple[str, str]]:
    """The cases that are not ranked, each with its reason."""
    rivals = []
    for seen in group:
        case = seen.case.id
        codes = unranked_by(findings, case)
        if not seen.candidate:
            yield case, f"{seen.case.role}, not a candidate"
        elif not seen.measured:
            yield case, "no trial was measured"
        elif not seen.closed:
            yield case, "open loop: its throughput is the rate that was offered"
        elif codes:
            word = "withheld" if withheld(findings, case) else "flagged"
            yield case, f"{word}: {', '.join(codes)}"
        else:
            rivals.append(case)
    clashes = {
        frozenset(pair)
        for pair in itertools.combinations(rivals, 2)
        if any(finding.severity != "note" for finding in between(findings, *pair))
    }
    names = {seen.case.id: seen.name for seen in group}
    for case in _incomparable(rivals, clashes):
        others = sorted(names[other] for pair in clashes if case in pair for other in pair - {case})
        yield case, f"may not be compared with {', '.join(others)}"


def _incomparable(cases: Sequence[str], clashes: set[frozenset[str]]) -> set[str]:
    """The cases to leave out so that no withheld comparison remains.

    Those in most clashes go first, all of them where several are in equally many: the odd one
    out goes alone, and of two that clash neither is preferred.
    """
    left = set(cases)
    while True:
        counts = {case: sum(case in pair and pair <= left for pair in clashes) for case in left}
        most = max(counts.values(), default=0)
        if not most:
            return set(cases) - left
        left -= {case for case, count in counts.items() if count == most}


def _best(group: tuple[CaseSeen, ...], findings: tuple[Finding, ...]) -> CaseSeen | None:
    """The fastest candidate whose throughput was found, not offered, and is a result."""
    rated = [
        (estimate.value, seen)
        for seen in group
        if seen.candidate
        and seen.closed
        and not withheld(findings, seen.case.id)
        and (estimate := throughput(seen.trials))
    ]
    return max(rated, key=lambda pair: pair[0])[1] if rated else None


def _relative(
    run: RunSeen, seen: CaseSeen, best: CaseSeen | None, findings: tuple[Finding, ...]
) -> Estimate | None:
    if best is None or withheld(findings, seen.case.id):
        return None
    if seen is not best and comparison_withheld(findings, seen.case.id, best.case.id):
        return None
    rivals = sum(other.candidate and bool(other.measured) for other in run.groups[seen.group])
    return run.ratio(seen, best, rivals)


def _failures(seen: CaseSeen) -> str:
    failures = [trial.failure for trial in seen.trials if trial.failure is not None]
    if not failures:
        return ""
    return f"{len(failures)} of {len(seen.trials)} trials failed ({failures[0].stage}: {failures[0].reason})"
