"""Two cases of a run against each other, with everything that was found about them and their comparison."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Sequence
from functools import partial

import msgspec
from msgspec import structs
from msgspec.structs import replace

from assay.model.estimate import Compared, Estimate, Known, Limit
from assay.model.finding import Finding, Metric
from assay.stats import by_block
from assay.stats.pairing import PairedRatio, both, pair
from assay.stats.sides import ABOVE, BELOW, EXACT, Side, Slack
from assay.verdict.effects import (
    UNLIMITED,
    Bounded,
    Figures,
    between,
    bias,
    bounded,
    concerning,
    heavier,
    moved,
    one_sided,
    void_by,
)
from assay.verdict.facts import CaseSeen, RunSeen


class Between(msgspec.Struct, frozen=True):
    """a over b: the pair, None where `void` rules forbid it or no block holds both; and what limits it."""

    pair: PairedRatio | None
    void: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()

    @property
    def known(self) -> Known | None:
        """What is left of the ratio."""
        if self.pair is None:
            return None
        return Known(low=self.pair.low, high=self.pair.high, limits=self.limits)

    @property
    def bounded(self) -> Estimate | None:
        """The ratio with the ends that are known."""
        if self.pair is None:
            return None
        return structs.replace(self.pair.ratio, low=self.pair.low, high=self.pair.high)


def pair_of(
    run: RunSeen,
    findings: Sequence[Finding],
    a: CaseSeen,
    b: CaseSeen,
    metric: Metric = "throughput",
    *,
    one_sided_ends: bool = False,
) -> Between:
    """a over b in `metric`. `one_sided_ends`: each end may err as often as both together do else."""
    void = _void(findings, a.case.id, b.case.id, metric)
    if void:
        return Between(None, void)
    if metric != "throughput":
        return _apart_from_throughput(findings, a, b, metric)
    names = a.case.id, b.case.id
    extra, limits = _one_way(findings, *names)
    beyond = one_sided(findings, *names)
    closing, pull = squeezing(findings, *names), _pull(a, b)
    found = partial(
        pair,
        manner=run.manner,
        alpha=2 * run.alpha if one_sided_ends else run.alpha,
        looks=run.budget_shares(a, b),
        bias=bias_of(findings, metric, *names),
        extra=Slack(extra.down * beyond.down, extra.up * beyond.up),
        pooled=run.pools.get(a.group) if a.candidate and b.candidate else None,
    )
    left = against(findings, *names), against(findings, *reversed(names))
    made = found(*sides(findings, a, b))
    if closing and pull is not None and made is not None:
        nearer = found(*sides(findings, a, b, but=closing), squeezed=pull)
        made = both(made, nearer) if nearer is not None else made
    limits = (*limits, *left[0].limits, *left[1].limits)
    return Between(made, (), tuple(dict.fromkeys(limits)))


def _pull(a: CaseSeen, b: CaseSeen) -> float | None:
    """The ratio a/b that the client's CPU time alone would make: that of b's cost an answer over that of a's.

    With D what an answer costs the server and c the client, one that takes c of its time serves 1 / (D + c):
    the ratio lies between that of D and that of c, so the truth lies beyond it, seen from there.
    """
    costs = [by_block(seen.trials, "client_cpu").values() for seen in (a, b)]
    if not all(costs):
        return None
    ours, theirs = map(statistics.fmean, costs)
    return theirs / ours if ours and theirs else None


def sides(
    findings: Sequence[Finding], a: CaseSeen, b: CaseSeen, but: Collection[str] = frozenset()
) -> tuple[Side, Side]:
    """The two as they are compared, each with its slack, `but` for some rules: by whole slices, or without
    their first fifths, as all unlike programs are and builds of one where one of the two begins colder. A
    case and its A/A control are one server, unless the control is no result."""
    later = moved(findings, a.case.id, b.case.id) is not None

    def side(seen: CaseSeen, other: CaseSeen) -> Side:
        own = seen.side(against(findings, seen.case.id, other.case.id, but=but).slack, later=later)
        again = seen.control
        if again is None or not again.answered or void_by(findings, again.case.id):
            return own
        left = against(findings, again.case.id, other.case.id, but=but)
        return own.with_control(again.side(left.slack, later=later))

    return side(a, b), side(b, a)


def _apart_from_throughput(findings: Sequence[Finding], a: CaseSeen, b: CaseSeen, metric: Metric) -> Between:
    """Times have bounds of their own; what slices did to the two moves them as it does throughput. Start
    times are measured apart from the load, and no bound of throughput says anything of memory."""
    sides: list[Side] = []
    limits: list[Limit] = []
    for seen in (a, b):
        left = bounded(findings, seen.case.id, "times") if _timed(metric) else UNLIMITED
        side = Side({}, EXACT, seen.capacity) if metric == "capacity" else Side(by_block(seen.trials, metric))
        sides.append(replace(side, slack=left.slack))
        limits += left.limits
    names = a.case.id, b.case.id
    made = pair(
        *sides, bias=bias_of(findings, metric, *names), extra=_of_whole_slices(findings, metric, *names)
    )
    return Between(made, (), tuple(dict.fromkeys(limits)))


def _of_whole_slices(findings: Sequence[Finding], metric: Metric, a: str, b: str) -> Slack:
    """How far off the ratio a/b may be where slices of one of the two begin colder, or where it sends more
    headers: of first fifths answers alone are known, so that nothing else can be taken without them.

    In a closed loop times go against throughput. So what the first fifth did to that is in the times of the
    colder one, and what is cold for longer may be in them once more.
    """
    if metric in _APART_FROM_THE_LOAD:
        return EXACT
    if metric == "capacity":
        return heavier(findings, a, b)
    cold, heavy = moved(findings, b, a) or EXACT, heavier(findings, b, a)
    return Slack(cold.down**2 * heavy.down, cold.up**2 * heavy.up)


def against(
    findings: Sequence[Finding], case: str, other: str, *, but: Collection[str] = frozenset()
) -> Bounded:
    """What is left to know of the case where it is compared with another, `but` for some rules: what met both
    alike says nothing of their ratio."""
    met = {finding.code for finding in findings if finding.on_comparison == "none"}
    return bounded(findings, case, but=met | set(but))


def bias_of(findings: Sequence[Finding], metric: Metric, *pair: str) -> float:
    """By how much ratios of this metric are wider: the load's bias says nothing of start times or memory."""
    return 0.0 if metric in _APART_FROM_THE_LOAD else bias(findings, *pair)


_APART_FROM_THE_LOAD: tuple[Metric, ...] = ("start_time", "peak_memory")


def compared(a: str, b: str, relation: Between, *, shown: bool) -> Compared:
    """The pair as it is kept in the record."""
    ratio = relation.pair.ratio if relation.pair else None
    return Compared(a=a, b=b, ratio=ratio, known=relation.known, shown=shown, void=relation.void)


def _timed(metric: Metric) -> bool:
    return metric.startswith(("service_time", "response_time"))


def _void(findings: Sequence[Finding], a: str, b: str, metric: Metric) -> tuple[str, ...]:
    """The rules that leave nothing of this comparison."""
    if metric == "start_time":
        return ()
    figures: Figures = "times" if metric == "capacity" or _timed(metric) else "throughput"
    alone = [code for case in (a, b) for code in void_by(findings, case, figures)]
    # That one direction of two throughputs holds says nothing of two times.
    forbidding = ("void",) if metric == "throughput" else ("void", "one way")
    if metric != "peak_memory":
        alone += [one.code for one in between(findings, a, b) if one.on_comparison in forbidding]
    return tuple(dict.fromkeys(alone))


def _one_way(findings: Sequence[Finding], a: str, b: str) -> tuple[Slack, tuple[Limit, ...]]:
    """The slack of the ratio a/b where one of the two did more for each answer, or was held back, and why."""
    slack, limits = EXACT, []
    for finding in between(findings, a, b):
        if finding.on_comparison == "one way":
            # Who sends more bytes would be faster still at equal work; else who is named first: the other
            # took its time.
            first = finding.figures.get("bytes", math.inf) > finding.figures.get("other_bytes", 0.0)
            slack = slack.joined(ABOVE if first == (finding.subject.case == a) else BELOW)
            limits.append(Limit(code=finding.code, words=finding.because))
    return slack, tuple(limits)


def squeezing(findings: Sequence[Finding], a: str, b: str) -> frozenset[str]:
    """The rules that found of both cases what adds the client's time to each of their answers."""
    met = [
        {finding.code for finding in concerning(findings, case) if finding.on_comparison == "at least"}
        for case in (a, b)
    ]
    return frozenset(met[0] & met[1])
