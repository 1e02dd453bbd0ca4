"""Which figures a sentence may speak of: its own, their peers, and pairs that stand beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from assay.audit.claims import CitedSentence, Metric, Verdict, Weight, figure_in
from assay.audit.document import Reported
from assay.audit.evidence import Evidence
from assay.audit.figures import NEEDED, PlacedFigure
from assay.audit.finding import number, percent, ratio, time
from assay.audit.headings import Kind
from assay.audit.interval import Interval
from assay.audit.names import turns
from assay.audit.quantities import quantities
from assay.audit.ratios import FactorReading, Ratio

FEW = 6
"""Pairs of figures among which a ratio that one of them has is hardly there by chance."""
NEAR = 0.03
"""A figure in a sentence is one of a table if they are this close: "40 ms" of 40.8."""
Pair = tuple[PlacedFigure, PlacedFigure]
"""The better and the worse figure, as a sentence has them."""


def decided(
    seen: Evidence,
    said: CitedSentence,
    quote: str,
    verdict: Verdict,
    why: str,
    pair: Pair | None = None,
    readings: tuple[FactorReading, ...] = (),
) -> Weight:
    """The conclusion that a sentence is, with its verdict and the figures that it rests on."""
    better, worse = (pair[0].label, pair[1].label) if pair else ("", "")
    timed = pair is not None and pair[0].kind == "time"
    made = said.concluded(quote, better, worse, readings, metric="times" if timed else None)
    return Weight(made, verdict, why, _results(seen, pair or ()), larger(pair).middle if pair else 0.0)


def _results(seen: Evidence, sides: Sequence[PlacedFigure]) -> tuple[Reported, ...]:
    """The results that figures belong to; where they belong to none, the flaws of the first one count."""
    found = [one for one in seen.results if any(one.line <= side.line <= one.last for side in sides)]
    return tuple(found) or seen.results[:1]


def larger(pair: Pair) -> Interval:
    """The larger one of two figures by the smaller."""
    small, large = sorted((pair[0].value, pair[1].value), key=lambda each: each.middle)
    return large / small


def _shown(kind: Kind, value: Interval) -> str:
    """A figure with its unit."""
    words = {"rate": f"{number(value.middle)}/s", "time": time(value.middle), "share": percent(value.middle)}
    return words.get(kind, f"{number(value.middle)} B")


def divided(pair: Pair) -> str:
    """The arithmetic behind a ratio."""
    small, large = sorted(pair, key=lambda each: each.value.middle)
    top, bottom = (f"{_shown(each.kind, each.value)} (line {each.line})" for each in (large, small))
    return f"{top} ÷ {bottom} = {ratio(larger(pair))}"


def agrees(told: Ratio, times: Interval) -> bool:
    """Whether a ratio is one that the words may mean; "more than 3x" is no less true where it is more."""
    if told.bound == "least":
        return any(times.high >= reading.agrees.low for reading in told.readings)
    return any(reading.agrees.meets(times) for reading in told.readings)


def fits(one: PlacedFigure, metric: Metric) -> bool:
    """Whether a figure is of what a sentence is about."""
    return metric == "any" or one.kind == ("rate" if metric == "rate" else "time")


def beside(seen: Evidence, said: CitedSentence, own: PlacedFigure) -> list[Pair]:
    """A figure of a sentence with those that it may be compared with: the requirement, or its peers."""
    needs = NEEDED.search(said.text) is not None
    lines = {number for _, number in said.lines}
    if needs:
        peers = [one for one in seen.figures if one.needed and one.kind == own.kind]
    else:
        peers = peers_of(seen, own_figure(seen, said) or own)
    apart = {one.value: one for one in peers if not one.value.widened(NEAR).meets(own.value)}
    return [(own, one) for one in apart.values() if needs or one.line not in lines]


def pairs_of(seen: Evidence, said: CitedSentence) -> Iterator[Pair]:
    """Figures of one kind that stand beside each other: in a row, in a column, or under like names."""
    figures = [one for one in seen.figures if one.kind in ("rate", "time") and fits(one, said.metric)]
    if NEEDED.search(said.text):
        wanted = [one for one in seen.figures if one.needed and one.kind in ("rate", "time")]
        met = [(a, b) for b in wanted for a in seen.figures if not a.needed and a.kind == b.kind]
        yield from [(a, b) for a, b in met if a.line == b.line] or met
        return
    by_place: dict[tuple[object, ...], list[PlacedFigure]] = {}
    lines = {result.line for result in seen.results}
    compared = {frozenset((a.line, b.line)) for a, b in seen.compared}
    for one in figures:
        of = (one.kind, one.name, one.table)
        places = [(*of, one.line, one.row), (*of, one.column)] if one.table else [(*of, one.column, "")]
        for place in places if not one.needed else ():
            by_place.setdefault(place, []).append(one)
    for beside in by_place.values():
        if len(beside) <= 40:
            for a, b in combinations(beside, 2):
                of_results = a.line != b.line and a.line in lines and b.line in lines
                if not a.value.meets(b.value) and not (of_results and {a.line, b.line} not in compared):
                    yield a, b


def best(said: CitedSentence, pairs: list[Pair]) -> list[Pair]:
    """The pairs that have most words in common with the sentence, those of its section before others."""
    if len(pairs) > 4000:
        return []
    turned = [(a, b) for a, b in pairs if a.line == b.line and turns(a.column, b.column)]
    pairs = turned or pairs
    words = [said.stems & (a.stems | b.stems) for a, b in pairs]
    everywhere = frozenset.intersection(*words) if words else frozenset()
    scores = [
        2 * len(own - everywhere) + (a.path == b.path == said.path)
        for own, (a, b) in zip(words, pairs, strict=True)
    ]
    most = max(scores, default=0)
    places = {key for pair in pairs for key in (pair[0].row, pair[0].column)}
    if most < 2 and len(places) > 2 and not (NEEDED.search(said.text) and len(pairs) <= FEW):
        return []
    return [pair for score, pair in zip(scores, pairs, strict=True) if score == most]


def own_figure(seen: Evidence, said: CitedSentence) -> PlacedFigure | None:
    """The figure that a sentence, or the one before it, is about, named as the tables name it."""
    own = next(iter(said.figures()), None)
    if own is None and (first := next(quantities(said.before), None)) is not None:
        own = figure_in(first, said.before, said.line(0))
    if own is None or own.kind == "size":
        return None
    lines = {number for _, number in said.lines}
    alike = [
        one
        for one in seen.figures
        if one.kind == own.kind and not one.needed and one.value.widened(NEAR).meets(own.value)
    ]
    alike.sort(key=lambda one: abs(one.value.middle - own.value.middle))
    alike = [one for one in alike if one.table or one.line in lines or one.column]
    # Of a table before one of the sentence itself, and that before one of a line "name: value".
    return min(alike, key=lambda one: (not one.table, one.line not in lines), default=None)


def peers_of(seen: Evidence, own: PlacedFigure) -> list[PlacedFigure]:
    """The figures of the same kind and name: of its column, or in running text of the same beginning."""
    alike = [
        one
        for one in seen.figures
        if (one.kind, one.name, one.table) == (own.kind, own.name, own.table) and not one.needed
    ]
    if own.table:
        return [one for one in alike if one.column == own.column]
    named = [one for one in alike if (one.row, one.column) == (own.row, own.column)]
    return named if len(named) > 2 else [one for one in alike if one.column == own.column]
