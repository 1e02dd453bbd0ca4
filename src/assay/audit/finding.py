"""What an audit says: what its rules remark of a line, and what each conclusion is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from assay.audit.conclusions import Conclusion, conclusions
from assay.audit.document import Reported
from assay.audit.evidence import Evidence
from assay.audit.interval import Interval
from assay.audit.names import OURS, aliases, distinct, key_of, places
from assay.model.finding import Severity


def number(value: float) -> str:
    """At most four digits that mean something, thousands set apart."""
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def numbered(value: float, noun: str) -> str:
    """A number with its noun: "1 connection", "1,234 connections"."""
    return f"{number(value)} {noun}{'' if value == 1 else 's'}"


def between(interval: Interval) -> str:
    """The number as it was printed; both bounds where rounding left much open."""
    if interval.low > 0 and interval.high / interval.low > 1.02:
        return f"{number(interval.low)} to {number(interval.high)}"
    return number(interval.middle)


def percent(share: float) -> str:
    """A share: 0.12 %, 3.4 %, 22 %."""
    return f"{share * 100:.2g} %" if share < 0.1 else f"{share * 100:.0f} %"


def time(seconds: float) -> str:
    """A time in the unit that suits it."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def ratio(interval: Interval) -> str:
    """How many times: 1.34."""
    return f"{interval.middle:.3g}"


Takes = Literal["nothing", "everything", "times", "percentiles", "comparison"]
"""What a finding stands against: all figures of a result, its times, its percentiles, a comparison."""


@dataclass(frozen=True, slots=True)
class AuditHit:
    """A rule's answer at one place: where, the words there, and the arithmetic as a sentence.

    `about` are the lines of the results that it stands against; none are all of the text's.
    """

    line: int
    quote: str
    arithmetic: str
    severity: Severity = "warning"
    about: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """A check on what a text shows: words for its reader, and one pure function.

    `takes` names the figures that an error or warning stands against. Codes that
    `assay.verdict` has for our own runs mean the same here.
    """

    code: str
    title: str
    takes: Takes
    meaning: str
    remedy: str
    source: str
    check: Callable[[Evidence], Iterator[AuditHit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One finding of an audit. `also` are further lines on which the same rule found the same."""

    code: str
    title: str
    severity: Severity
    line: int
    quote: str
    arithmetic: str
    meaning: str
    remedy: str
    source: str
    takes: Takes
    about: tuple[int, ...] = ()
    also: tuple[int, ...] = ()


Verdict = Literal["stands", "direction", "untold", "contradicted"]
"""Stands; at least in this direction; cannot be told; contradicted by its own figures."""


@dataclass(frozen=True, slots=True)
class Weight:
    """A conclusion with its verdict, the arithmetic behind it, and the results that it rests on."""

    conclusion: Conclusion
    verdict: Verdict
    why: str
    rests_on: tuple[Reported, ...] = ()
    ratio: float = 0.0


def weighed(seen: Evidence) -> list[Weight]:
    """Every conclusion about things that the text has results of, by figures alone (flaws come later)."""
    names = aliases(list(dict.fromkeys(one.label for one in seen.results))[:80])
    found = conclusions(seen.document, names, _own(seen, names))
    return [
        _topmost(seen, one) if one.top and (one.better or one.worse) else _weigh(seen, one)
        for one in found
        if one.better or one.worse or (_ranks(one) and next(seen.compared(), None) is not None)
    ]


def _ranks(one: Conclusion) -> bool:
    """Whether a sentence that names nothing we know still ranks servers: "we got 40 % more requests"."""
    if one.hedged or one.metric == "other":
        return False
    plain = _PLAIN.search(one.sentence) is not None and _CHANGE.search(one.sentence) is None
    return plain and (bool(one.readings) or "winner" in one.quote.lower())


_PLAIN = re.compile(
    r"faster|slower|quicker|\breq|throughput|\brps\b|latenc|response time|winner|performance", re.I
)
_CHANGE = re.compile(r"\bCPU\b|\bmemory\b|\brequests? (?:fail|drop)|\berrors?\b", re.I)


def _own(seen: Evidence, names: dict[str, str]) -> str:
    """The label of what the document is about: the only one that its first heading names."""
    title = next((section.title for section in seen.sections), "")
    named = {label for name, label in names.items() if places(name, title)}
    return next(iter(named)) if len(named) == 1 else OURS if OURS in names.values() else ""


_LEVEL = 0.01
"""A lead below this is none: who calls the other one the fastest is not contradicted."""


def _topmost(seen: Evidence, one: Conclusion) -> Weight:
    """ "The fastest": it holds if some table, by some figure, has it before all others."""
    name = key_of(one.better or one.worse)
    sides: dict[tuple[int, str], list[tuple[Reported, Reported]]] = {}
    for a, b in seen.compared():
        if key_of(a.label) != key_of(b.label) and name in (key_of(a.label), key_of(b.label)):
            own, other = (a, b) if key_of(a.label) == name else (b, a)
            sides.setdefault((a.table, a.group), []).append((own, other) if one.better else (other, own))
    least: list[tuple[Interval, Reported, Reported]] = []
    for pairs in sides.values():
        for at in range(max((len(_ratios(a, b, one)) for a, b in pairs), default=0)):
            told = [(each[at], a, b) for a, b in pairs if at < len(each := _ratios(a, b, one))]
            least.append(min(told, key=lambda item: item[0].high))
    rests_on = tuple(
        {result.line: result for pairs in sides.values() for pair in pairs for result in pair}.values()
    )
    if not least or one.metric == "other":
        return Weight(one, "untold", "the text has no figures that this could rest on", rests_on)
    ratio_, a, b = max(least, key=lambda item: item[0].high)
    if ratio_.high >= 1.0:
        return Weight(one, "stands", _reason(ratio_, a, b), (a, b), ratio_.middle)
    if one.hedged or ratio_.high > 1 - _LEVEL:
        left = "the sentence is no plain statement" if one.hedged else "the two are level"
        return Weight(one, "untold", f"{_reason(ratio_, a, b)}, and {left}", (a, b))
    return Weight(
        one, "contradicted", f"{_reason(ratio_, a, b)}: another one is ahead", rests_on, ratio_.middle
    )


def _weigh(seen: Evidence, one: Conclusion) -> Weight:
    pairs = _pairs(seen, one)
    found = [(ratio_, a, b) for a, b in pairs for ratio_ in _ratios(a, b, one)]
    rests_on = tuple({result.line: result for a, b in pairs for result in (a, b)}.values())
    if not one.better and not one.worse:
        return Weight(one, "untold", "it names nothing that the text has results of")
    if not found or one.metric == "other" or not (one.better and one.worse):
        return Weight(one, "untold", "the text has no figures of both that this could rest on", rests_on)
    held = [each for each in found if _holds(one, each[0])]
    # Throughput speaks where it agrees: it is what a closed loop can tell.
    ratio_, a, b = held[0] if held else max(found, key=lambda each: each[0].middle)
    told = _reason(ratio_, a, b)
    if held:
        return Weight(one, "stands", told, rests_on, ratio_.middle)
    if one.hedged:
        return Weight(one, "untold", f"{told}, and the sentence is no plain statement", rests_on)
    return Weight(one, "contradicted", _against(one, ratio_, told), rests_on, ratio_.middle)


def _pairs(seen: Evidence, one: Conclusion) -> list[tuple[Reported, Reported]]:
    """Results of the better and of the worse that stand side by side."""
    better, worse = key_of(one.better), key_of(one.worse)
    if better == worse or not distinct(one.better, one.worse):
        return []
    found = []
    for a, b in seen.compared():
        names = (key_of(a.label), key_of(b.label))
        if names == (better, worse):
            found.append((a, b))
        elif names == (worse, better):
            found.append((b, a))
    return found


def _ratios(better: Reported, worse: Reported, one: Conclusion) -> list[Interval]:
    """How many times better, by each figure that both have and that the sentence may mean."""
    found: list[Interval] = []
    if one.metric in ("rate", "any") and "rate" in better.figures and "rate" in worse.figures:
        found.append(better.figures["rate"].value / worse.figures["rate"].value)
    if one.metric in ("times", "any"):
        for name in ("mean", "time", "max"):
            if name in better.figures and name in worse.figures:
                found.append(worse.figures[name].value / better.figures[name].value)
        for percentile in better.percentiles.keys() & worse.percentiles.keys():
            found.append(worse.percentiles[percentile].value / better.percentiles[percentile].value)
    return [each for each in found if each.low > 0 and each.high < float("inf")]


def _holds(one: Conclusion, ratio_: Interval) -> bool:
    if not one.readings:
        return ratio_.high >= 1.0
    if one.bound in ("least", "most"):  # "up to 3x" is no less true where it is more
        return any(ratio_.high >= reading.agrees.low for reading in one.readings)
    return any(reading.agrees.meets(ratio_) for reading in one.readings)


def _reason(ratio_: Interval, a: Reported, b: Reported) -> str:
    one, other = a.figures.get("rate"), b.figures.get("rate")
    if one is not None and other is not None and ratio_ == one.value / other.value:
        rates = (
            f"{number(one.value.middle)}/s for {a.label!r} ÷ {number(other.value.middle)}/s for {b.label!r}"
        )
        return f"{rates} = {ratio(ratio_)}"
    return (
        f"by its times {a.label!r} is {ratio(ratio_)} times as fast as {b.label!r} (lines {a.line}, {b.line})"
    )


def _against(one: Conclusion, best: Interval, told: str) -> str:
    if not one.readings or best.high < 1:
        return f"{told}: the other order"
    return f"{told}, not {' or '.join(f'{reading.claimed:.3g}' for reading in one.readings)}"
