"""What a sentence says of figures, searched for among all figures of the text.

A number with ×, %, "twice" and the like: which two figures have that ratio? A superlative or "faster" beside
a figure: which figures are its peers? Words of the sentence choose among candidates; where they leave too
many, some ratio is met by chance, and nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.audit.candidates import (
    FEW,
    NEAR,
    Pair,
    agrees,
    beside,
    best,
    decided,
    divided,
    fits,
    larger,
    own_figure,
    pairs_of,
    peers_of,
)
from assay.audit.claims import CitedSentence, Weight, is_hedged
from assay.audit.document import TextRow
from assay.audit.evidence import Evidence
from assay.audit.figures import NEEDED, PlacedFigure, stems
from assay.audit.interval import exactly
from assay.audit.lexicon import compiled
from assay.audit.ratios import Ratio, ratios

_LONGEST = 320
"""Characters of a sentence: what is longer is a listing that nobody marked as one."""
_LISTING = re.compile(r"[├└│]|\b(?:slowest|fastest|best|worst)\s?:\s|:\s{2,}\d", re.IGNORECASE)


def is_listing(sentence: str) -> bool:
    """Whether it is lines of an output that nobody marked as a listing."""
    return _LISTING.search(sentence) is not None


def searched(seen: Evidence, said: CitedSentence) -> Weight | None:
    """The verdict on a sentence by the figures of the text; None where it is no conclusion about figures."""
    if len(said.text) > _LONGEST:
        return None
    told = next(ratios(said.text, []), None)
    if told is not None:
        return _factor(seen, said, told) if said.metric != "other" else None
    for pattern, judge in ((_SCALES, _scaling), (_EXTREME, _extreme), (_ORDERED, _ordered)):
        found = pattern.search(said.text)
        if found is not None and (made := judge(seen, said, found)) is not None:
            return made
    return None


_TO = re.compile(r"\bfrom\b|\bvon\b|\bс\b|→|->|\bvs\.?\b|\bversus\b|\bto\b", re.IGNORECASE)


def _factor(seen: Evidence, said: CitedSentence, told: Ratio) -> Weight | None:
    """A factor: of two figures of the sentence, of one of them and another, or of any two of the text."""
    quote = said.text[told.start : told.end]
    own = [one for one in said.figures(told) if one.kind != "share" and fits(one, said.metric)]
    same = [one for one in own if one.kind == own[0].kind]
    if len(same) > 1:
        pair = (same[0], same[1])
        if agrees(told, larger(pair)):
            return decided(seen, said, quote, "stands", divided(pair), pair, told.readings)
        if len(same) == 2 and _TO.search(said.text) and not is_hedged(said.text):
            claimed = " or ".join(f"{each.claimed:.3g}" for each in told.readings)
            why = f"{divided(pair)}, not {claimed}"
            return decided(seen, said, quote, "contradicted", why, pair, told.readings)
        return None
    if is_hedged(said.text):
        return None
    pairs = beside(seen, said, own[0]) if own else []
    hits = [pair for pair in pairs if agrees(told, larger(pair))]
    if not hits and (not pairs or NEEDED.search(said.text)):
        pairs = best(said, list(pairs_of(seen, said)))
        hits = [pair for pair in pairs if agrees(told, larger(pair))]
    if hits and (len(hits) == len(pairs) or (len(pairs) <= FEW and told.bound != "least")):
        pair = min(hits, key=lambda each: abs(larger(each).middle - told.readings[0].claimed))
        return decided(seen, said, quote, "stands", divided(pair), pair, told.readings)
    plain = said.metric in ("rate", "times") and not own
    return decided(seen, said, quote, "untold", _SEVERAL, None, told.readings) if plain else None


_SEVERAL = "it does not say of which figures; none, or several, come into question"


_EXTREME = compiled("searching.extreme")
_WHOLE = stems(
    "bunch series test tests set all benchmark measured run runs results endpoints routes comparison"
)
_NOT_PLAIN = compiled("searching.not_plain")


def _extreme(seen: Evidence, said: CitedSentence, found: re.Match[str]) -> Weight | None:
    """The best, or the worst, of all: its figure stands beside it, and its peers in the text."""
    own = own_figure(seen, said)
    if own is None or (own.kind == "share" and not own.name) or _NOT_PLAIN.search(said.text):
        return None
    if is_hedged(said.text[max(found.start() - 60, 0) : found.end()]):
        return None
    peers = _of_scope(peers_of(seen, own), stems(found["scope"] or "") - _WHOLE, said)
    top = found["most"] is not None or (found["good"] is not None) != own.lower_is_better
    others = [one for one in peers if not one.value.widened(NEAR).meets(own.value)]
    if not others or len(others) == len(peers):
        return None
    ahead = [one for one in others if (one.value.middle > own.value.middle) == top]
    next_one = (max if top else min)(others, key=lambda one: one.value.middle)
    if ahead:
        return decided(seen, said, found[0], "untold", "it does not say among which figures this holds")
    return decided(seen, said, found[0], "stands", divided((own, next_one)), (own, next_one))


def _of_scope(peers: list[PlacedFigure], scope: frozenset[str], said: CitedSentence) -> list[PlacedFigure]:
    """The peers that a superlative is said of: named by its words, or else of its section."""
    if not scope:
        return peers
    named = [one for one in peers if scope & one.stems]
    if len(named) > 1:
        return named
    return [one for one in peers if one.path == said.path]


_ORDERED = compiled("searching.ordered")


_IN_COMPARISON = re.compile(r"comparison|vergleich|comparación", re.IGNORECASE)
_AGAINST = re.compile(rf"\bvs\b|\bagainst\b|frente a|gegen|против|{NEEDED.pattern}", re.IGNORECASE)


def _ordered(seen: Evidence, said: CitedSentence, found: re.Match[str]) -> Weight | None:
    """Better or worse than what the words behind name, or than the last figure of its kind before."""
    if is_hedged(said.text):
        return None
    own = said.figures()
    same = [one for one in own if one.kind == own[0].kind]
    if len(same) > 1 and (found["less"] or found["more"]) and _AGAINST.search(said.text):
        first, *others = same
        less = [one.value.middle > first.value.middle for one in others]
        if all(told == (found["less"] is not None) for told in less) and all(
            any(one.value.meets(each.value) and one.line != each.line for one in seen.figures)
            for each in same
        ):
            return decided(seen, said, found[0], "stands", divided((first, others[0])), (first, others[0]))
        return None
    mine = own_figure(seen, said)
    if mine is None or (mine.kind == "share" and not mine.name):
        return None
    if own and own[0].line == said.line(found.start()) and said.text.find(own[0].quote) > found.start():
        return None  # "below 20 ms" is a bound, and not what is compared
    peers = _named_behind(seen, said, mine, found.end())
    if not peers and _IN_COMPARISON.search(said.text[: found.start()]):
        above = [one for one in seen.figures if one.kind == mine.kind and one.line < mine.line]
        peers = [one for one in above if not one.column and not one.table][-1:]
    lower = found["less"] is not None or (
        (found["good"] is not None) == mine.lower_is_better and not found["more"]
    )
    if not peers or any((one.value.middle > mine.value.middle) != lower for one in peers):
        return None
    nearest = min(peers, key=lambda one: larger((mine, one)).middle)
    return decided(seen, said, found[0], "stands", divided((mine, nearest)), (mine, nearest))


def _named_behind(seen: Evidence, said: CitedSentence, mine: PlacedFigure, end: int) -> list[PlacedFigure]:
    """The figures like this one that the words behind a comparative name."""
    words = stems(said.text[end : end + 60])
    lines = {number for _, number in said.lines}
    alike = [
        one
        for one in seen.figures
        if (one.kind, one.name) == (mine.kind, mine.name)
        and one.line not in lines
        and not one.needed
        and not one.value.widened(NEAR).meets(mine.value)
    ]
    shared = [len(words & stems(" ".join((one.row, one.column, *one.path[-1:])))) for one in alike]
    most = max(shared, default=0)
    return [one for one, count in zip(alike, shared, strict=True) if count == most > 0]


_SCALES = compiled("searching.scales")
_UNITS = compiled("searching.units")
_EVEN = 0.2
"""How far throughput may lie from proportional and still be called so."""


def _scaling(seen: Evidence, said: CitedSentence, found: re.Match[str]) -> Weight | None:
    """Throughput in proportion to instances, threads or users: by the rates of at least three such counts."""
    series: dict[str, dict[float, PlacedFigure]] = {}
    for one in seen.figures:
        units = _UNITS.search(f"{one.row} {one.column}") if one.kind == "rate" and not one.needed else None
        if units:
            count = 1.0 if units["n"].isalpha() else float(units["n"])
            series.setdefault(units["of"].lower().rstrip("s"), {}).setdefault(count, one)
    for told in series.values():
        counts = sorted(count for count in told if count > 0)
        if len(counts) < 3 or is_hedged(said.text):
            continue
        first, last = told[counts[0]], told[counts[-1]]
        each = [told[count].value.middle / first.value.middle / (count / counts[0]) for count in counts]
        why = f"{divided((last, first))}, for {counts[-1] / counts[0]:.3g} times as many"
        if all(abs(one - 1) <= _EVEN for one in each):
            return decided(seen, said, found[0], "stands", why, (last, first))
    why = "the text has no throughput by number that this could rest on"
    return decided(seen, said, found[0], "untold", why)


_RATIO_CELL = re.compile(
    r"^[^\w+-]{0,4}[~≈+-]?\s?(?P<n>\d{1,6}(?:[.,]\d{1,3})?)\s?(?:x|×|倍|-?fold|times)(?:\s\D{0,30})?$",
    re.IGNORECASE,
)


def in_cells(seen: Evidence) -> Iterator[Weight]:
    """Ratios that a table tells of two other cells of their row: "637 ms | 20.4 ms | 31x faster"."""
    by_line: dict[int, list[PlacedFigure]] = {}
    for one in seen.figures:
        if one.table:
            by_line.setdefault(one.line, []).append(one)
    for table in seen.document.tables:
        for row in table.rows[:300]:
            for cell in row.cells[1:]:
                told = by_line.get(row.number, [])
                if _RATIO_CELL.match(cell) and (weight := _cell(seen, told, row, cell)) is not None:
                    yield weight


def _cell(seen: Evidence, told: list[PlacedFigure], row: TextRow, cell: str) -> Weight | None:
    said = CitedSentence(cell, ((0, row.number),))
    alike = len(told) == 2 and told[0].kind == told[1].kind
    pair = (told[0], told[1]) if alike else _plain(row)
    ratio_ = next(ratios(f"it is {cell.strip(' +~≈')} more", [0]), None)
    if pair is None or ratio_ is None or pair[0].value.low <= 0 or pair[1].value.low <= 0:
        return None
    if agrees(ratio_, larger(pair)):
        return decided(seen, said, cell, "stands", divided(pair), pair, ratio_.readings)
    claimed = " or ".join(f"{each.claimed:.3g}" for each in ratio_.readings)
    return decided(seen, said, cell, "contradicted", f"{divided(pair)}, not {claimed}", pair, ratio_.readings)


def _plain(row: TextRow) -> Pair | None:
    """Two cells that are bare counts."""
    bare = [each for each in row.cells if re.fullmatch(r"\d[\d,. ]{0,12}", each.strip())]
    values = [float(each.replace(",", "").replace(" ", "")) for each in bare if each.count(".") < 2]
    if len(values) != 2 or not all(values):
        return None
    one, other = (
        PlacedFigure("rate", "count", exactly(value), row.number, each, "")
        for value, each in zip(values, bare, strict=True)
    )
    return one, other
