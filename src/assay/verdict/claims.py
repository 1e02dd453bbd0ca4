"""Published claims against what was measured: supported, contradicted or inconclusive.

With f the noise floor and [low, high] the 95 % interval of the paired ratio a/b:

    claim             supported                     contradicted
    a more than b     low > 1 and value > 1 + f     high < 1 + f
    a less than b     the same of b/a               the same of b/a
    a equals b        1/(1+m) < low, high < 1+m     low > 1+m or high < 1/(1+m)      (m: margin)

Everything else is inconclusive. Where the load generator set the pace of the server that is said to
be faster (G1, G5), that server does at least what was measured: the ratio is a lower bound, which
can support the claim and never contradict it. A claim of several comparisons is supported if all are, and
contradicted if one is. How far the measured ratio lies from the published one is said apart:
machines differ, and a direction can hold where a factor does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from assay.stats import by_block, paired_ratio
from assay.values.claim import Claim, Comparison
from assay.values.estimate import ClaimVerdict, Estimate, Verdict
from assay.values.finding import Finding
from assay.verdict.effects import comparison_withheld, concerning, understated_by, withheld
from assay.verdict.seen import CaseSeen, RunSeen

LEAST_BLOCKS = 3
"""Common blocks that a claim needs: with two, the noise is guessed from a single difference."""


class _Found(NamedTuple):
    verdict: Verdict
    reason: str
    measured: Estimate | None = None


def judge_claim(claim: Claim, run: RunSeen, findings: Sequence[Finding], floor: float) -> ClaimVerdict:
    """The verdict on one claim; `floor` is the run's noise floor."""
    parts = tuple(_part(claim, pair, run, findings, floor) for pair in claim.comparisons)
    if len(parts) == 1:
        return msgspec.structs.replace(parts[0], statement=claim.statement)
    verdicts = [part.verdict for part in parts]
    return ClaimVerdict(
        claim=claim.id,
        statement=claim.statement,
        verdict=_together(verdicts),
        published_ratio=None,
        measured=None,
        reason=_counted(verdicts) or "this profile measures nothing that the claim compares",
        parts=parts,
    )


def _part(
    claim: Claim, pair: Comparison, run: RunSeen, findings: Sequence[Finding], floor: float
) -> ClaimVerdict:
    found = _judge_comparison(pair, run, findings, floor)
    return ClaimVerdict(
        claim=claim.id,
        statement=_statement(pair, run),
        verdict=found.verdict,
        published_ratio=pair.published_ratio,
        measured=found.measured,
        reason=found.reason,
    )


def _statement(pair: Comparison, run: RunSeen) -> str:
    """Which two cases a comparison sets against each other, and by what where it is not throughput."""
    names = f"{_name(run, pair.a)} / {_name(run, pair.b)}"
    return names if pair.metric == "throughput" else f"{pair.metric.replace('_', ' ')}, {names}"


def _counted(verdicts: Sequence[Verdict]) -> str:
    """How many of the comparisons met which verdict; empty for no comparison."""
    if not verdicts:
        return ""
    counts = ", ".join(f"{verdict} in {n}" for verdict, n in Counter(verdicts).most_common())
    return f"{counts} of {len(verdicts)} comparisons"


def _name(run: RunSeen, case: str) -> str:
    seen = run.find(case)
    return seen.name if seen else case


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    if "contradicted" in verdicts:
        return "contradicted"
    return "supported" if verdicts and set(verdicts) == {"supported"} else "inconclusive"


def _judge_comparison(pair: Comparison, run: RunSeen, findings: Sequence[Finding], floor: float) -> _Found:
    a, b = run.find(pair.a), run.find(pair.b)
    if a is None or b is None:
        return _Found("inconclusive", f"{pair.a if a is None else pair.b} is not part of this run")
    limits = _limits_of_the_faster(pair, findings)
    obstacle = _obstacle(pair, run, findings, bounded=bool(limits))
    if obstacle:
        return _Found("inconclusive", obstacle)
    unmeasured = next((seen for seen in (a, b) if not seen.measured), None)
    if unmeasured is not None:
        return _Found("inconclusive", _why_unmeasured(unmeasured))
    ratio = _ratio(pair, a, b)
    if ratio is None or ratio.low is None or ratio.high is None or ratio.n < LEAST_BLOCKS:
        return _Found("inconclusive", _lacking(pair, ratio), ratio)
    verdict = _verdict(pair, ratio.value, ratio.low, ratio.high, floor)
    if limits:
        return _bounded(pair, _name(run, _faster(pair) or ""), verdict, ratio, limits)
    reason = _reason(pair, verdict, ratio.low, ratio.high, floor)
    flags = dict.fromkeys(
        f.code for case in (pair.a, pair.b) for f in concerning(findings, case) if f.severity == "flagged"
    )
    return _Found(verdict, reason + (f" (flagged: {', '.join(flags)})" if flags else ""), ratio)


def _ratio(pair: Comparison, a: CaseSeen, b: CaseSeen) -> Estimate | None:
    """Of the figures of common blocks; of two searches the ratio that the ends of their intervals allow."""
    if pair.metric != "capacity":
        return paired_ratio(by_block(a.trials, pair.metric), by_block(b.trials, pair.metric))
    above, below = a.capacity, b.capacity
    if above is None or below is None:
        return None
    return Estimate(
        value=above.value / below.value,
        low=above.low / below.high if above.low and below.high else None,
        high=above.high / below.low if above.high and below.low else None,
        n=min(above.n, below.n),
        unit="ratio",
        method="ends of two intervals: at least 95 %",
    )


def _why_unmeasured(seen: CaseSeen) -> str:
    failure = next((trial.failure for trial in seen.trials if trial.failure is not None), None)
    return f"{seen.name} was not measured{f': {failure.reason}' if failure else ''}"


def _lacking(pair: Comparison, ratio: Estimate | None) -> str:
    if pair.metric == "capacity":
        return "the capacity of one of the two is not known from both sides"
    return f"{ratio.n if ratio else 0} blocks hold both cases; {LEAST_BLOCKS} are needed"


def _faster(pair: Comparison) -> str | None:
    """The case that is said to serve more."""
    if pair.metric != "throughput" or pair.relation == "equal":
        return None
    return pair.a if pair.relation == "more" else pair.b


def _limits_of_the_faster(pair: Comparison, findings: Sequence[Finding]) -> tuple[str, ...]:
    faster = _faster(pair)
    return understated_by(findings, faster) if faster else ()


def _bounded(
    pair: Comparison, faster: str, verdict: Verdict, ratio: Estimate, limits: Sequence[str]
) -> _Found:
    """What a ratio tells whose greater side is known from below only."""
    told: Verdict = "supported" if verdict == "supported" else "inconclusive"
    low, high = (ratio.low, None) if pair.relation == "more" else (None, ratio.high)
    edge = f"at least {low:.3g}" if low is not None else f"at most {high:.3g}"
    reason = f"{edge}: the generator set the pace of {faster} ({', '.join(limits)}), which may do more"
    return _Found(told, reason, msgspec.structs.replace(ratio, low=low, high=high))


def _obstacle(pair: Comparison, run: RunSeen, findings: Sequence[Finding], *, bounded: bool) -> str:
    """Why the figures of this pair are no results, or nothing.

    `bounded`: the case that is said to be faster is known from below, which is enough.
    A start time is measured apart from the load: what is wrong with the load does not touch it.
    """
    if pair.metric == "start_time":
        return ""
    timed = pair.metric == "capacity" or pair.metric.startswith(("service_time", "response_time"))
    for case in (pair.a, pair.b):
        if bounded and case == _faster(pair):
            continue
        if withheld(findings, case, "times" if timed else "everything"):
            takers = ("everything", "times") if timed else ("everything",)
            codes = dict.fromkeys(f.code for f in concerning(findings, case) if f.withholds in takers)
            return f"the figures of {_name(run, case)} are withheld: {', '.join(codes)}"
    if pair.metric != "peak_memory" and comparison_withheld(findings, pair.a, pair.b):
        return "the comparison of the two is withheld"
    return ""


def _verdict(pair: Comparison, value: float, low: float, high: float, floor: float) -> Verdict:
    if pair.relation == "equal":
        most = 1 + pair.margin
        if low > 1 / most and high < most:
            return "supported"
        return "contradicted" if low > most or high < 1 / most else "inconclusive"
    if pair.relation == "less":
        value, low, high = 1 / value, 1 / high, 1 / low
    if low > 1 and value > 1 + floor:
        return "supported"
    return "contradicted" if high < 1 + floor else "inconclusive"


def _reason(pair: Comparison, verdict: Verdict, low: float, high: float, floor: float) -> str:
    interval = f"{low:.3g} to {high:.3g}"
    if pair.relation == "equal":
        within = f"a factor of {1 + pair.margin:.3g}"
        said = {
            "supported": f"the interval {interval} lies within {within} of 1",
            "contradicted": f"the interval {interval} lies beyond {within} of 1",
            "inconclusive": f"the interval {interval} reaches across {within} of 1",
        }[verdict]
    else:
        said = {
            "supported": f"the interval {interval} has the claimed direction",
            "contradicted": f"the interval {interval} excludes the claimed direction",
            "inconclusive": f"the interval {interval} leaves the direction open (noise floor {floor:.1%})",
        }[verdict]
    if pair.published_ratio is None:
        return said
    inside = low <= pair.published_ratio <= high
    place = "lies inside it" if inside else "lies outside it"
    return f"{said}; the published {pair.published_ratio:.3g} {place}"
