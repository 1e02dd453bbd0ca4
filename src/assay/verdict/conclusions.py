"""What a run concludes: its ranking, and its published claims.

Published claims against what was measured: supported, contradicted or inconclusive.

With f the minimum effect of 1 % and [low, high] what is known of the ratio a/b, an end that is open being
none:

    claim             supported                        contradicted
    a more than b     low > 1 and least > 1 + f        high < 1 + f
    a less than b     the same of b/a                  the same of b/a
    a equals b        1/(1+m) < low, high < 1+m        low > 1+m or high < 1/(1+m)      (m: margin)

`least` is the measured ratio, moved by what limits it, and by what the run finds a server to differ from
itself; so are both ends. Everything else is inconclusive. So a ratio that is
known from one side only can decide a claim in one direction and not in the other. A claim of several
comparisons is supported if all are, and contradicted if one is. How far the measured ratio lies from the
published one is said apart: machines differ, and a direction can hold where a factor does not.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.core.units import counted, end, listed, share, times
from assay.model.estimate import ClaimVerdict, Compared, Estimate, Ranked, Verdict
from assay.model.finding import Claim, Comparison, Finding
from assay.stats import MINIMUM_EFFECT, ranks, shown_faster, throughput
from assay.stats.estimates import could_be_published
from assay.stats.pairing import PairedRatio
from assay.stats.sequential import LEAST_BLOCKS
from assay.verdict.effects import bounded, concerning, invalid, known, void_by, words_of
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.pairs import Between, against, compared, pair_of, squeezing


class _Measured(NamedTuple):
    verdict: Verdict
    reason: str
    measured: Estimate | None = None


def judge_claim(claim: Claim, run: RunSeen, findings: Sequence[Finding]) -> ClaimVerdict:
    """The verdict on one claim."""
    parts = tuple(_part(claim, pair, run, findings) for pair in claim.comparisons)
    if len(parts) == 1:
        return msgspec.structs.replace(parts[0], statement=claim.statement)
    verdicts = [part.verdict for part in parts]
    together: Verdict = "supported" if verdicts and set(verdicts) == {"supported"} else "inconclusive"
    if "contradicted" in verdicts:
        together = "contradicted"
    return ClaimVerdict(
        claim=claim.id,
        statement=claim.statement,
        verdict=together,
        published_ratio=None,
        measured=None,
        reason=_counted(verdicts) or "this profile measures nothing that the claim compares",
        parts=parts,
    )


def _part(claim: Claim, pair: Comparison, run: RunSeen, findings: Sequence[Finding]) -> ClaimVerdict:
    judged = _judge_comparison(pair, run, findings)
    return ClaimVerdict(
        claim=claim.id,
        statement=_statement(pair, run),
        verdict=judged.verdict,
        published_ratio=pair.published_ratio,
        measured=judged.measured,
        reason=judged.reason,
    )


def _statement(pair: Comparison, run: RunSeen) -> str:
    """Which two cases a comparison sets against each other, and by what where it is not throughput."""
    names = " / ".join(seen.name if (seen := run.find(case)) else case for case in (pair.a, pair.b))
    metric = pair.metric.replace("_", " ").replace("cpu", "CPU time an answer")
    return names if pair.metric == "throughput" else f"{metric}, {names}"


def _counted(verdicts: Sequence[Verdict]) -> str:
    """How many of the comparisons met which verdict; empty for no comparison."""
    if not verdicts:
        return ""
    counts = ", ".join(f"{verdict} in {n}" for verdict, n in Counter(verdicts).most_common())
    return f"{counts} of {counted(len(verdicts), 'comparison')}"


def _judge_comparison(pair: Comparison, run: RunSeen, findings: Sequence[Finding]) -> _Measured:
    a, b = run.find(pair.a), run.find(pair.b)
    if a is None or b is None:
        return _Measured("inconclusive", f"{pair.a if a is None else pair.b} is not part of this run")
    unmeasured = next((seen for seen in (a, b) if not seen.measured), None)
    if unmeasured is not None:
        failure = next((trial.failure for trial in unmeasured.trials if trial.failure is not None), None)
        why = f": {failure.reason}" if failure else ""
        return _Measured("inconclusive", f"{unmeasured.name} was not measured{why}")
    between = pair_of(run, findings, a, b, pair.metric)
    if between.void:
        return _Measured("inconclusive", f"the figures of the two are no results: {', '.join(between.void)}")
    known, ratio = between.pair, between.bounded
    if known is None or known.ratio.n < LEAST_BLOCKS or (known.ratio.low, known.ratio.high) == (None, None):
        return _Measured("inconclusive", _lacking(pair, known.ratio if known else None), ratio)
    if known.low is None and known.high is None:
        opened = f"limits on both sides leave the ratio open: {words_of(between.limits)}"
        return _Measured("inconclusive", opened, ratio)
    verdict = _verdict(pair, known)
    reason = _reason(pair, verdict, known)
    if between.limits:
        reason += f"; what limits it: {words_of(between.limits)}"
    limiting = {limit.code for limit in between.limits}
    flags = dict.fromkeys(
        f.code
        for case in (pair.a, pair.b)
        for f in concerning(findings, case)
        if f.severity == "warning" and f.code not in limiting
    )
    return _Measured(verdict, reason + (f" (warning: {', '.join(flags)})" if flags else ""), ratio)


def _lacking(pair: Comparison, ratio: Estimate | None) -> str:
    if pair.metric == "capacity":
        return "the capacities of the two are not known from the sides that would bound their ratio"
    blocks = ratio.n if ratio else 0
    hold = "holds" if blocks == 1 else "hold"
    return f"{counted(blocks, 'block')} {hold} both cases; {LEAST_BLOCKS} are needed"


def _verdict(pair: Comparison, known: PairedRatio) -> Verdict:
    low = 0.0 if known.low is None else known.low
    high = math.inf if known.high is None else known.high
    if pair.relation == "equal":
        most = 1 + pair.margin
        if low > 1 / most and high < most:
            return "supported"
        return "contradicted" if low > most or high < 1 / most else "inconclusive"
    if pair.relation == "less":
        claimed, against = high < 1 and known.below(MINIMUM_EFFECT), low * (1 + MINIMUM_EFFECT) > 1
    else:
        claimed, against = low > 1 and known.above(MINIMUM_EFFECT), high < 1 + MINIMUM_EFFECT
    return "supported" if claimed else "contradicted" if against else "inconclusive"


def _reason(pair: Comparison, verdict: Verdict, known: PairedRatio) -> str:
    what = _known(known.low, known.high)
    if pair.relation == "equal":
        within = f"a factor of {times(1 + pair.margin)}"
        said = {
            "supported": f"{what} lies within {within} of 1",
            "contradicted": f"{what} lies beyond {within} of 1",
            "inconclusive": f"{what} reaches across {within} of 1",
        }[verdict]
    else:
        said = {
            "supported": f"{what} has the claimed direction",
            "contradicted": f"{what} excludes the claimed direction",
            "inconclusive": f"{what} leaves the direction open (minimum effect {share(MINIMUM_EFFECT)})",
        }[verdict]
    if pair.published_ratio is None:
        return said
    fits = could_be_published(pair.published_ratio, known.ratio.value, known.low, known.high)
    place = "fits it" if fits else "does not fit it"
    return f"{said}; the published {times(pair.published_ratio)} (one run each, 3 %) {place}"


def _known(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"the interval {end(low)} to {end(high)}"
    if low is not None:
        return f"the bound of at least {end(low)}"
    return f"the bound of at most {end(high or math.inf)}"


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
        candidates.sort(key=self._level, reverse=True)
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
        # The fastest candidate whose throughput was found, not offered, and is a result.
        found = [seen for seen in self._group if seen.candidate and seen.closed and seen.measured]
        best = max(
            (seen for seen in found if not invalid(self._findings, seen.case.id)),
            key=self._level,
            default=None,
        )
        level = {seen.case.id: self._level(seen) for seen in self._group}
        candidate = {seen.case.id: seen.candidate for seen in self._group}
        return sorted(
            (self._row(seen, best) for seen in self._group),
            key=lambda row: (
                not candidate[row.case],
                row.rank is None,
                row.rank or 0,
                -level[row.case],
            ),
        )

    def comparisons(self) -> Iterator[Compared]:
        """Each pair, the one that was measured faster first."""
        for (a, b), found in self._pairs.items():
            yield compared(a, b, found, shown=(a, b) in self._shown)

    def _row(self, seen: CaseSeen, best: CaseSeen | None) -> Ranked:
        case, measured = seen.case.id, throughput(seen.trials)
        relative, void = None, invalid(self._findings, case)
        if seen is best:
            relative = self._run.ratio(seen, best)
        elif best is not None and not void:
            relative = pair_of(self._run, self._findings, seen, best).bounded
        return Ranked(
            case=case,
            rank=self._places.get(case),
            throughput=measured,
            relative_to_best=relative,
            reason="; ".join(part for part in (self._left_out.get(case, ""), _failures(seen)) if part),
            invalid=void,
            known=known(measured, bounded(self._findings, case)) if seen.closed else None,
        )

    def _level(self, seen: CaseSeen) -> float:
        """How much it serves, also where others were in blocks that it was not in."""
        if self._run.leaving and seen.case.id in self._run.levels:
            return math.exp(self._run.levels[seen.case.id])
        found = throughput(seen.trials)
        return found.value if found else 0.0

    def _enough(self, found: Between) -> bool:
        return found.pair is not None and found.pair.ratio.n >= LEAST_BLOCKS

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
        met = ((one, squeezing(self._findings, case, one)) for one in others)
        return any(not against(self._findings, case, one, but=codes).nothing_known for one, codes in met)

    def _without_a_candidate(self, candidates: Sequence[CaseSeen]) -> Iterator[tuple[str, str]]:
        """The cases that cannot be compared with any other, each with its reason: their names are without
        the workload and load, which the whole group shares."""
        named = {seen.case.id: seen.case.label or seen.case.server_name for seen in self._group}
        for seen in candidates:
            found = {
                (set(names) - {seen.case.id}).pop(): one
                for names, one in self._pairs.items()
                if seen.case.id in names
            }
            if any(self._enough(one) for one in found.values()):
                continue
            forbidden = sorted(named[other] for other, one in found.items() if one.void)
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
                yield seen.case.id, f"{shared}; an order needs {LEAST_BLOCKS}"


def _failures(seen: CaseSeen) -> str:
    failures = [trial.failure for trial in seen.trials if trial.failure is not None]
    if not failures:
        return ""
    tried = counted(len(seen.trials), "trial")
    return f"{len(failures)} of {tried} failed ({failures[0].stage}: {failures[0].reason})"
