"""M5, S1, S2, S7, D3: what few or short samples, and averages, can show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from assay.audit.document import BY_HAND, Figure, Reported, sentences
from assay.audit.evidence import Evidence
from assay.audit.finding import AuditHit, audit_rule, hit_at, number, percent, time
from assay.audit.headings import bare, heading
from assay.audit.interval import TIME, exactly
from assay.audit.lexicon import compiled
from assay.model.finding import Severity

_TAIL = 90.0
_IN_PROSE = compiled("samples.in_prose")


@audit_rule("M5")
def closed_tail(seen: Evidence) -> Iterator[AuditHit]:
    """At saturation the times are the queue that the client itself makes, and a slow answer holds back the
    very requests that would have shown it."""
    if seen.closed is not True and not (seen.closed is None and seen.told_by_users):
        return
    for grid in seen.grids:
        heads = (*grid.table.head, *(row.cells[0] for row in grid.table.rows if row.cells))
        name = next((text for text in heads if _is_tail(text)), "")
        if (
            not name
            and not any(q >= _TAIL for row in grid.results for q in row.percentiles)
            and not any("max" in row.figures for row in grid.results)
        ):
            continue
        lines = tuple(row.line for row in grid.results)
        yield AuditHit(grid.table.number, name or "p99", "a tail of times from a closed loop", about=lines)
    for one in seen.outputs:
        tail = next(
            (one.percentiles[q] for q in sorted(one.percentiles) if q >= _TAIL), one.figures.get("max")
        )
        if one.tool in BY_HAND and tail is not None:
            yield hit_at(tail, "a tail of times from a closed loop", one.line)
    raw = {line for result in seen.outputs for line in range(result.line, result.last + 1)}
    for block in seen.document.blocks:
        if block.kind == "prose":
            for line, sentence in sentences(block):
                found = _IN_PROSE.search(sentence)
                if found and TIME.search(sentence) and line not in raw and seen.results:
                    yield AuditHit(line, found[0], "a tail of times from a closed loop")


def _is_tail(text: str) -> bool:
    told = heading(text) or bare(text)
    return told is not None and (told.percentile >= _TAIL or told.figure == "max")


def enough_for(percentile: float) -> int:
    """Requests with which the chance that none of them exceeds the percentile is 1 % or less."""
    return math.ceil(math.log(0.01) / math.log(percentile / 100))


_COUNT = re.compile(
    r"(?<![\w.,/])(?P<n>\d{1,3}(?:,\d{3})+|\d{2,7}|\d{1,3}(?=k\s))(?P<k>k)?\s(?:total\s|http\s)?(?:requests?|reqs?)\b"
    r"(?!\s?(?:/|per|a second|s\b))",
    re.IGNORECASE,
)


def _told_counts(seen: Evidence) -> set[float]:
    """How many requests the text says were made, where no command and no duration does."""
    found: set[float] = set()
    for block in seen.document.blocks:
        for line in block.lines if block.kind == "prose" else ():
            if _LENGTH.search(line.text):
                return set()
            found |= {
                float(each["n"].replace(",", "")) * (1e3 if each["k"] else 1)
                for each in _COUNT.finditer(line.text)
            }
    return set() if seen.commands else found


@audit_rule("S1")
def too_few(seen: Evidence) -> Iterator[AuditHit]:
    """With so few requests it is likely that none of the slowest was among them: the figure says how lucky
    the run was."""
    calls = {one.figures["requests"].value.middle for one in seen.commands if "requests" in one.figures}
    told_of = calls or _told_counts(seen)
    for result in seen.results:
        told = result.get("requests")
        count = told.value.high if told is not None else None
        answers = [result.figures[name].value.high for name in ("good", "bad") if name in result.figures]
        if count is not None and len(answers) == 2:
            count = min(count, sum(answers))  # what was sent and never answered has no time
        if count is None and result.tool == "table" and len(told_of) == 1:
            timed = any("duration" in one.figures and "requests" not in one.figures for one in seen.commands)
            count = None if timed else next(iter(told_of))
        rate, length = result.get("rate"), result.get("duration") or result.get("asked_duration")
        if count is None and rate is not None and length is not None:
            count = rate.value.high * length.value.high
        if count is None:
            continue
        lacking = [q for q in sorted(result.percentiles) if _TAIL <= q < 100 and count < enough_for(q)]
        if lacking:
            worst = lacking[-1]
            figure = result.percentiles[worst]
            words = f"p{worst:g} of {number(count)} requests; it takes {number(enough_for(worst))}"
            yield hit_at(figure, words, result.line, severity="note")


@audit_rule("S2")
def unsteady(seen: Evidence) -> Iterator[AuditHit]:
    """What scatters by more than half of its mean has no level that one number could tell: a warm-up, pauses
    or two kinds of answers are in it."""
    for result in seen.outputs:
        mean = result.figures.get("spread_mean") or result.figures.get("mean")
        rate = result.figures.get("thread_rate") or result.figures.get("rate")
        spread = result.figures.get("thread_rate_stdev") or result.figures.get("rate_stdev")
        yield from _wide(result, mean, result.figures.get("stdev"), "note")
        yield from _wide(result, rate, spread, "warning")
    for row in seen.rows:
        mean = row.figures.get("mean") or row.figures.get("time")  # a deviation beside it says that it is one
        yield from _wide(row, mean, row.figures.get("stdev"), "note")
        for name in ("rate", "mean"):
            spread = row.figures.get(f"{name}_spread") or row.figures.get(f"{name}_stdev")
            yield from _wide(row, row.figures.get(name), spread, "warning")


def _wide(
    result: Reported, mean: Figure | None, spread: Figure | None, severity: Severity
) -> Iterator[AuditHit]:
    if mean is None or spread is None or spread.value.low <= 0.5 * mean.value.high:
        return
    share = spread.value.middle / mean.value.middle if mean.value.middle else math.inf
    yield hit_at(spread, f"a deviation of {percent(share)} of the mean", result.line, severity=severity)


_SHORT = 10.0
_ABOUT = 9.5
"""A length that is reckoned from other figures: a tool asked for 10 s stops a little before."""
_CUT = 0.9
"""A run that took less than this share of what was asked for has ended early."""
_WARMING = re.compile(r"warm", re.IGNORECASE)


@audit_rule("S7")
def short(seen: Evidence) -> Iterator[AuditHit]:
    """In a few seconds a compiler, a collector, a cache or the clock of the CPU has not settled: the figure
    is one of the start."""
    told: set[int] = set()
    for result in seen.outputs:
        took = result.figures.get("duration")
        asked = result.figures.get("asked_duration", took)
        if result.command is not None:
            told.add(result.command.line)
        if (
            took is None
            or asked is None
            or (asked.value.middle >= _SHORT - 0.05 and took.value.high >= _CUT * _SHORT)
            or _warming(seen, result.line)
        ):
            continue
        figure = took if took.value.high < _SHORT else asked
        yield hit_at(figure, f"measured for {time(figure.value.middle)}", result.line)
    for call in seen.commands:
        length = call.figures.get("duration")
        if length is None or length.value.high >= _SHORT or call.line in told or _warming(seen, call.line):
            continue
        yield hit_at(call, f"measured for {time(length.value.middle)}")
    for row in seen.rows:
        length = row.figures.get("duration")
        if length is not None and 0 < length.value.high < _SHORT:
            yield hit_at(length, f"measured for {time(length.value.middle)}", row.line)
    yield from brief(seen)
    yield from _in_words(seen)


_LENGTH = compiled("samples.length")


_BLINK = 0.5
"""Seconds below which a text speaks of a request, and not of a run."""


def _in_words(seen: Evidence) -> Iterator[AuditHit]:
    """What the text says of its runs' length, outside listings."""
    listings = {one.number for block in seen.document.blocks if block.kind == "code" for one in block.lines}
    raw = {at for result in seen.outputs for at in range(result.line, result.last + 1)}
    measured = any(result.get("duration") is not None for result in seen.outputs)
    for line, text in seen.document.text_at.items() if seen.results else ():
        found = _LENGTH.search(text)
        if (
            not found
            or (found["three"] and measured)
            or line in listings
            or line in raw
            or _WARMING.search(text[max(found.start() - 25, 0) : found.end() + 12])
        ):
            continue
        length = float(found["one"] or found["two"] or found["three"])
        if _BLINK < length < _SHORT:
            yield AuditHit(line, found[0], f"measured for {time(length)}")


def brief(seen: Evidence) -> Iterator[AuditHit]:
    """S7 of results without a duration: their requests at their rate take so long."""
    counts = _told_counts(seen)
    for result in seen.results:
        rate, requests = result.figures.get("rate"), result.get("requests")
        if requests is None and result.tool == "table" and len(counts) == 1 and rate is not None:
            requests = Figure(exactly(next(iter(counts))), rate.line, rate.quote)
        timed = result.get("duration") or result.get("asked_duration")
        if rate is None or requests is None or timed is not None or rate.value.low <= 0:
            continue
        length = requests.value / rate.value
        if length.high < _ABOUT and not _warming(seen, result.line):
            words = (
                f"{number(requests.value.middle)} requests at {number(rate.value.middle)}/s take "
                f"{time(length.middle)}"
            )
            yield hit_at(rate, words, result.line)


def _warming(seen: Evidence, line: int) -> bool:
    texts = seen.document.text_at
    return any(_WARMING.search(texts.get(at, "")) for at in range(line - 2, line + 1))


_AVERAGED = re.compile(
    r"\b(?:average|averaged|avg\.?|mean)\s(?:of\s)?(?:the\s)?(?:all\s)?(?:p9\d|p99\.\d+"
    r"|9\d(?:\.\d+)?th|percentiles?|median|p50)(?:\s(?:latenc|percentile|times?|values?|across|over|of)|\b)",
    re.IGNORECASE,
)


@audit_rule("D3")
def averaged(seen: Evidence) -> Iterator[AuditHit]:
    """The mean of two p99s is the p99 of nothing: a percentile belongs to one set of requests."""
    if not seen.results:
        return
    for line, text, is_code in seen.document.texts:
        found = None if is_code else _AVERAGED.search(text)
        if found:
            yield AuditHit(line, found[0], "percentiles of several runs or servers have no mean")
