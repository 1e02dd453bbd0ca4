"""What findings do to what is known: which figures are void, which are bounds, and what widens ratios."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from assay.core.units import TELLING
from assay.model.estimate import Estimate, Known, Limit
from assay.model.finding import Finding
from assay.stats import MINIMUM_EFFECT
from assay.stats.sequential import LEAST_BLOCKS
from assay.stats.sides import EXACT, Slack

Figures = Literal["throughput", "times"]


class Bounded(NamedTuple):
    """How far the truth may lie from what was measured, and why."""

    slack: Slack
    limits: tuple[Limit, ...]

    def ends(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """An interval, as far as its ends are still known."""
        down, up = self.slack.down, self.slack.up
        return (
            max(low, 0.0) * down if low is not None and down else None,
            high * up if high is not None and math.isfinite(up) else None,
        )

    @property
    def nothing_known(self) -> bool:
        """Whether limits in both directions leave nothing of the figure."""
        return self.slack.down == 0 and math.isinf(self.slack.up)


UNLIMITED = Bounded(EXACT, ())
"""Of a figure about which nothing was found."""


def concerning(findings: Iterable[Finding], case: str) -> tuple[Finding, ...]:
    """The findings about this case, alone or with all others; not those about a pair."""
    return tuple(
        finding
        for finding in findings
        if finding.subject.other_case is None and finding.subject.case in (None, case)
    )


def between(findings: Iterable[Finding], a: str, b: str) -> tuple[Finding, ...]:
    """The findings about the comparison of these two cases, or about every comparison of the run."""
    pair = {a, b}
    return tuple(
        finding
        for finding in findings
        if {finding.subject.case, finding.subject.other_case} == pair
        or (finding.subject.case is None and finding.on_comparison is not None)
    )


def void_by(findings: Iterable[Finding], case: str, figures: Figures = "throughput") -> tuple[str, ...]:
    """Codes of the findings that make these figures of the case no results; a throughput that is void takes
    its times with it."""
    return tuple(
        dict.fromkeys(
            finding.code
            for finding in concerning(findings, case)
            if finding.on_throughput == "void" or (figures == "times" and finding.on_times == "void")
        )
    )


def invalid(findings: Iterable[Finding], case: str, figures: Figures = "throughput") -> bool:
    """Whether these figures of the case are no results."""
    return bool(void_by(findings, case, figures))


def bounded(
    findings: Iterable[Finding], case: str, figures: Figures = "throughput", *, but: Collection[str] = ()
) -> Bounded:
    """What is left to know of these figures of the case, leaving out what rules of the codes `but` found."""
    slack, limits, most = EXACT, [], []
    for finding in concerning(findings, case):
        if finding.code in but:
            continue
        timed = figures == "times"
        effect = finding.on_times if timed else finding.on_throughput
        if effect == "at least":
            most.append(math.inf if timed else finding.at_most_times or math.inf)
        elif effect == "at most":
            least = 0.0 if timed else finding.figures.get("at_least_times", 0.0)
            slack = slack.joined(Slack(least, 1.0))
        elif effect != "unknown":
            continue
        limits.append(Limit(code=finding.code, words=finding.because))
    if most:
        # Each bound from above holds by itself, so the smallest does. One that gives none (a server that was
        # still getting faster) may have changed what the others rest on.
        slack = slack.joined(Slack(1.0, math.inf if math.inf in most else min(most)))
    return Bounded(slack, tuple(dict.fromkeys(limits)))


def known(measured: Estimate | None, left: Bounded) -> Known | None:
    """What is known of a figure: its interval, opened by its limits.

    With too few trials for an interval to trust, a limit stands at the figure itself. An upper end beyond a
    factor of two from the figure, next to a lower one, tells nothing and is open.
    """
    if measured is None:
        return None
    low, high = measured.low, measured.high
    if measured.n < LEAST_BLOCKS or low is None or high is None:
        low, high = (measured.value, measured.value) if left.limits else (None, None)
    low, high = left.ends(low, high)
    if left.limits and low is not None and high is not None and high > TELLING * measured.value:
        high = None
    return Known(low=low, high=high, limits=left.limits)


def bias(findings: Iterable[Finding], *pair: str) -> float:
    """The share by which the run found a server to differ from itself, and what was found to move the ratio
    of this pair of cases: a difference within it is none.

    What a slice leaves to the next one (T6) moves the rate of either. Where one of the two gains and the
    other loses by it, both move their ratio the same way, and add up.
    """
    found = [finding for finding in _wider(findings, *pair) if "wider" in finding.figures]
    each = [finding.figures["wider"] for finding in found]
    # Those that say which way a case moves the ratio of the first over the other.
    moves = [
        one.figures["wider"] * (1 if (one.figures["shift"] > 1) == (one.subject.case in pair[:1]) else -1)
        for one in found
        if "shift" in one.figures
    ]
    return max([0.0, *each, abs(math.fsum(moves))])


def moved(findings: Iterable[Finding], a: str, b: str) -> Slack | None:
    """Where slices of one of the two begin colder than the other's, so that their first fifths are left out
    of the ratio a/b: as much as that moved it, what is cold for longer may move it once more. None else."""
    by = {
        finding.subject.case == a: 1 + finding.figures["moved"]
        for finding in _wider(findings, a, b)
        if "moved" in finding.figures
    }
    return Slack(1 / by.get(False, 1.0), by.get(True, 1.0)) if by else None


def one_sided(findings: Sequence[Finding], a: str, b: str) -> Slack:
    """How far off a/b may be one way or the other: by what cold begins of slices moved it, by the ratio of
    their bytes where one of the two sends more headers, and by what one took of the other's slices: the other
    had so much less of its time, and the one had so much more than its own."""
    cold, heavy = moved(findings, a, b) or EXACT, heavier(findings, a, b)
    slack = Slack(cold.down * heavy.down, cold.up * heavy.up)
    for finding in _wider(findings, a, b):
        left = (1 - min(0.99, finding.figures.get("taken", 0.0))) ** 2
        own = finding.subject.case == a
        slack = Slack(slack.down * (1.0 if own else left), slack.up / (left if own else 1.0))
    return slack


def heavier(findings: Iterable[Finding], a: str, b: str) -> Slack:
    """How far off a/b may be where one of the two sends more headers around the same bodies: with as few as
    the other it may serve more, by no more than the ratio of their bytes."""
    slack = EXACT
    for finding in _wider(findings, a, b):
        if "times" in finding.figures:
            times, more = finding.figures["times"], finding.figures["bytes"] > finding.figures["other_bytes"]
            ours = more == (finding.subject.case == a)
            slack = slack.joined(Slack(1.0, times) if ours else Slack(1 / times, 1.0))
    return slack


def widest(findings: Sequence[Finding], a: str, b: str) -> float:
    """The share by which the interval of the ratio of two cases is wider at either end, at most."""
    extra = one_sided(findings, a, b)
    return (1 + bias(findings, a, b)) * max(extra.up, 1 / extra.down) - 1


def widening(findings: Iterable[Finding], *pair: str) -> tuple[Limit, ...]:
    """What enlarges the interval of every ratio, or of this pair's, each with its reason."""
    found = (Limit(code=finding.code, words=finding.because) for finding in _wider(findings, *pair))
    return tuple(dict.fromkeys(found))


def _wider(findings: Iterable[Finding], *pair: str) -> Iterator[Finding]:
    for finding in findings:
        about = {finding.subject.case, finding.subject.other_case}
        if finding.on_comparison == "wider" and (finding.subject.case is None or about == set(pair)):
            yield finding


def minimum_effect(findings: Iterable[Finding], *pair: str) -> float:
    """The effect below which nothing is claimed of any pair, or of this one: 1 %, or the bias that is taken
    off every ratio before the rest is held to 1 %."""
    return max(MINIMUM_EFFECT, bias(findings, *pair))


def words_of(limits: Sequence[Limit]) -> str:
    """The limits as a reader reads them: "its generator was full (G1), the machine was busy (H2)"."""
    return ", ".join(f"{limit.words} ({limit.code})" if limit.words else limit.code for limit in limits)
