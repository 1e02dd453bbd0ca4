"""What a conclusion is worth by the figures of its own text: which two results have the ratio that it tells?

Names choose among the pairs of results that stand side by side; where a sentence names one of them, or
none, the figures are searched for the pair that has the ratio. Nothing stands of which a part was not
understood.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.audit.claims import ELSEWHERE, CitedSentence, Conclusion, Weight, concludes, conclusions
from assay.audit.document import Reported, is_percentile, placed_sentences
from assay.audit.evidence import Evidence
from assay.audit.finding import number, ratio
from assay.audit.interval import Interval
from assay.audit.lexicon import compiled
from assay.audit.names import OURS, aliases, distinct, key_of, places
from assay.audit.searching import in_cells, is_listing, searched

_Sides = tuple[Reported, Reported]
"""The better and the worse result."""


MOST = 300
"""Sentences of one text whose figures are searched for: a text for people has fewer that conclude."""


@lru_cache(maxsize=1)
def weighed(seen: Evidence) -> tuple[Weight, ...]:
    """Every conclusion of a text with results, by figures alone (flaws come later)."""
    names = aliases(list(dict.fromkeys(one.label for one in seen.results))[:80])
    own = _own(seen, names)
    found: list[Weight] = []
    searches = 0
    for block in seen.document.blocks:
        if block.kind == "code":
            continue
        section = seen.sections.at(block.lines[0].number) if block.lines else None
        path = section.path if section is not None else ()
        before = ""
        for lines, sentence in placed_sentences(block):
            if concludes(sentence) and not is_listing(sentence):
                said = CitedSentence(sentence, tuple(lines), before, path, names, own)
                named = [
                    _topmost(seen, one) if one.top and (one.better or one.worse) else _weigh(seen, one)
                    for one in conclusions(said)
                    if _ranks(one)
                ]
                told = None
                if searches < MOST and all(one.verdict == "untold" or _unnamed(one) for one in named):
                    searches += 1
                    told = searched(seen, said)
                found += [told] if told is not None and (told.verdict != "untold" or not named) else named
            before = sentence
    return (*found, *in_cells(seen))


def _unnamed(one: Weight) -> bool:
    """Whether it names one side of a ratio at most: then other words of the sentence may choose."""
    said = one.conclusion
    return bool(said.readings) and not (said.better and said.worse)


def _ranks(one: Conclusion) -> bool:
    """Whether it names something, or ranks servers without: "we got 40 % more requests"."""
    if one.better or one.worse:
        return True
    plain = _PLAIN.search(one.sentence) is not None and _CHANGE.search(one.sentence) is None
    return one.metric != "other" and plain and (bool(one.readings) or "winner" in one.quote.lower())


_PLAIN = compiled("weighing.plain")
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
    sides: dict[tuple[int, str], list[_Sides]] = {}
    for a, b in seen.compared:
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
    why = f"{_reason(ratio_, a, b)}: another one is ahead"
    return Weight(one, "contradicted", why, rests_on, ratio_.middle)


def _weigh(seen: Evidence, one: Conclusion) -> Weight:
    if one.metric == "other":
        return Weight(one, "untold", "it is about something else than throughput or times")
    pairs, sure = _pairs(seen, one)
    found = [(ratio_, a, b) for a, b in pairs for ratio_ in _ratios(a, b, one)]
    rests_on = tuple({result.line: result for a, b in pairs for result in (a, b)}.values()) if sure else ()
    if not found:
        missing = "both" if one.better or one.worse else "anything that it names"
        why = f"the text has no figures of {missing} that this could rest on"
        return Weight(one, "untold", why, rests_on)
    held = [each for each in found if _holds(one, each[0])]
    # Throughput speaks where it agrees: it is what a closed loop can tell.
    ratio_, a, b = held[0] if held else max(found, key=lambda each: each[0].middle)
    told = _reason(ratio_, a, b)
    if one.unread:
        return Weight(one, "untold", f"{told}; what the sentence says of it was not understood", rests_on)
    of = {(key_of(a.label), key_of(b.label)) for _, a, b in held}
    if held and (sure or len(of) == 1):
        return Weight(one, "stands", told, rests_on or (a, b), ratio_.middle)
    if held or not sure:
        return Weight(one, "untold", "it does not say of which two; several come into question")
    if one.hedged:
        return Weight(one, "untold", f"{told}, and the sentence is no plain statement", rests_on)
    return Weight(one, "contradicted", _against(one, ratio_, told), rests_on, ratio_.middle)


_MANY = 30
"""Pairs among which some ratio is met by chance."""


def _pairs(seen: Evidence, one: Conclusion) -> tuple[list[_Sides], bool]:
    """The results, better first, that the sentence may speak of; whether it can be no others."""
    better, worse = key_of(one.better), key_of(one.worse)
    if one.better and one.worse and (better == worse or not distinct(one.better, one.worse)):
        return [], True
    both = [(a, b) for pair in seen.compared for a, b in (pair, pair[::-1])]
    found = [
        (a, b)
        for a, b in both
        if (not one.better or key_of(a.label) == better) and (not one.worse or key_of(b.label) == worse)
    ]
    if one.better and one.worse:
        return found, True
    if not one.readings or one.hedged or len(found) > _MANY or ELSEWHERE.search(one.sentence):
        return [], False
    labels = {key_of(each.label) for pair in both for each in pair}
    # Which of two is the better one is not said where neither is named: that is never contradicted.
    return found, len(labels) == 2 and bool(one.better or one.worse)


def _ratios(better: Reported, worse: Reported, one: Conclusion) -> list[Interval]:
    """How many times better, by each figure that both have and that the sentence may mean."""
    found: list[Interval] = []
    if one.metric in ("rate", "any") and "rate" in better.figures and "rate" in worse.figures:
        found.append(better.figures["rate"].value / worse.figures["rate"].value)
    if one.metric in ("times", "any"):
        times = [name for name in better.figures if name in ("mean", "time", "max") or is_percentile(name)]
        found += [worse.figures[n].value / better.figures[n].value for n in times if n in worse.figures]
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
        rates = [f"{number(rate.value.middle)}/s for {c.label!r}" for rate, c in ((one, a), (other, b))]
        return f"{' ÷ '.join(rates)} = {ratio(ratio_)}"
    lines = f"(lines {a.line}, {b.line})"
    return f"by its times {a.label!r} is {ratio(ratio_)} times as fast as {b.label!r} {lines}"


def _against(one: Conclusion, best: Interval, told: str) -> str:
    if not one.readings or best.high < 1:
        return f"{told}: the other order"
    return f"{told}, not {' or '.join(f'{reading.claimed:.3g}' for reading in one.readings)}"
