"""The pictures that answer: each server's ratio to the best, a search's trials, and ratios side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from assay import verdict
from assay.core import units as fmt
from assay.core.errors import InputError
from assay.model.design import SearchDesign
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report import svg
from assay.report.charts.data import why_bounds
from assay.report.charts.drawings import Axis, Strip, draw, lean
from assay.report.document import Chart, Drawing
from assay.report.model import compared as told
from assay.report.model import order, tables
from assay.report.model.followers import search_steps
from assay.report.model.rows import (
    LoadRows,
    Row,
    failure_words,
    hues,
    name_of_case,
    response_words,
    service_words,
)
from assay.report.picture import as_rows, colour
from assay.report.svg import Scale, near, proportional
from assay.verdict.compare import RunComparison
from assay.verdict.search import SearchAnswer, answer_of

_MANY = 30
"""Rows from which the trials are no longer drawn."""


def answer(run: Run, found: Sequence[LoadRows]) -> Chart | None:
    """The hero of the page; None where servers compete in nothing."""
    if isinstance(run.header.design, SearchDesign):
        return _search(run)
    colours = hues(run.header.cases)
    compared = [section for section in found if len(section.candidates) > 1]
    # What an open loop serves is what was offered: servers compete for nothing there.
    shown = [section for section in compared if all(row.closed_loop for row in section.rows)]
    strips = tuple(
        _strip(row, section.title, colours[row.name], shared=sum(one.rank == 1 for one in section.rows) > 1)
        for section in shown
        for row in section.candidates
    )
    if len(strips) < 2 or not any(strip.drawn for strip in strips):
        return None
    axis = Axis(
        proportional,
        lambda value: fmt.significant(value),
        "the best's throughput over its own: left is faster",
    )
    drawn = lean(strips) if len(strips) > _MANY else strips
    return Chart(
        name="answer",
        title="Each server against the best",
        note=_meaning(strips),
        draw=lambda width: draw(drawn, axis, width),
        heads=("server", "against the best", "what limits it"),
        rows=as_rows((strip.name, strip.label, strip.badge) for strip in strips),
    )


def _meaning(strips: Sequence[Strip]) -> str:
    """What the marks mean, of those that are there."""
    bars = any(strip.value is not None and strip.low != strip.high for strip in strips)
    paired = ", paired by block; bar: its 95 % interval" if bars else ""
    said = f"Mark: the best's throughput over its own{paired}."
    if any(strip.below or strip.above for strip in strips):
        said += " Hatched with an arrow: known from one side only, the truth lies that way."
    if any(strip.hidden for strip in strips):
        said += " Hatched throughout: measured, but no figure can be shown."
    return said


def _strip(row: Row, group: str, place: int | None, *, shared: bool) -> Strip:
    """`shared`: whether others share the first place, so that no one is shown to be the best."""
    if row.alone:
        return Strip(row.name, place, "nothing to compare with", group=group, badge=badge(row))
    ratio = None if row.invalid else row.relative
    if ratio is None:
        reason = row.place.reason if row.place else ""
        said = "invalid" if row.invalid else failure_words(row) or reason or "not compared"
        why = badge(row) or (reason if row.trials and reason != said else "")
        return Strip(row.name, place, said, group=group, badge=why, hidden=row.trials > 0)
    best = ratio.low == ratio.high == 1
    first = "fastest as measured" if shared else "the best"
    faster = row.known is not None and row.known.high is None
    slower = row.known is not None and row.known.low is None
    low, high = (1 / end if end else None for end in (ratio.high, ratio.low))
    return Strip(
        row.name,
        place,
        first if best else f"the best is {order.ahead(row)}",
        value=1 / ratio.value if low and high else None,
        low=low or (None if high else 1 / ratio.value),
        high=high,
        below=faster if best else low is None,
        above=slower if best else high is None,
        group=group,
        badge=badge(row),
    )


def latency(run: Run, found: Sequence[LoadRows]) -> Chart | None:
    """p50 and p99 of each server, to stand beside the answer: at a fixed rate where the run has one."""
    rated = [one for one in found if any(row.response_p50_ns is not None for row in one.candidates)]
    chosen = {one.rows[0].case.workload: one for one in reversed(rated or found) if one.candidates}
    shown = list(reversed(chosen.values()))
    colours = hues(run.header.cases)
    strips = [
        _times(row, one.title, colours[row.name], rated=bool(rated))
        for one in shown
        for row in one.candidates
    ]
    if not any(strip.drawn for strip in strips):
        return None
    clock = "response time at a fixed rate" if rated else "service time of the closed loop"
    axis = Axis(proportional, fmt.time, f"{clock}: left is faster")
    return Chart(
        name="p50-p99",
        title="Latency, p50 to p99",
        note="Mark: p50; end of the bar: p99." + why_bounds(row for one in shown for row in one.candidates),
        draw=lambda width: draw(strips, axis, width),
        heads=("server", "p50 and p99"),
        rows=as_rows((strip.name, strip.label) for strip in strips),
    )


def _times(row: Row, group: str, place: int | None, *, rated: bool) -> Strip:
    words = response_words(row) if rated else service_words(row)
    median, tail = (
        (row.response_p50_ns, row.response_p99_ns) if rated else (row.service_p50_ns, row.service_p99_ns)
    )
    if median is None:
        return Strip(row.name, place, fmt.UNKNOWN, group=group)
    return Strip(
        row.name,
        place,
        " – ".join(words),
        value=median.value,
        high=tail.value if tail else None,
        below=row.times.slack.down < 1,
        above=row.times.slack.up > 1,
        group=group,
    )


def badge(row: Row) -> str:
    """What limits a server's figure, in plain words: "the generator was full: ≥ 121,000/s"."""
    if row.invalid:
        grave = [one for one in row.findings if one.on_throughput == "void"]
        return "; ".join(dict.fromkeys(f"{one.title} ({one.code})" for one in grave))
    if row.known is None or not row.known.limits:
        return ""
    why = "; ".join(dict.fromkeys(f"{limit.words or 'a rule'} ({limit.code})" for limit in row.known.limits))
    told = f": {fmt.known_rate(row.known, row.throughput.value)}" if row.throughput else ""
    return why + told


# --- a search -----------------------------------------------------------------------------


def _search(run: Run) -> Chart | None:
    try:
        found = answer_of(run)
    except InputError:  # an objective that is not readable: the report says so elsewhere
        return None
    if not found.steps:
        return None
    case = run.header.cases[0].id
    name = name_of_case(run, case)
    invalid = verdict.invalid(run.judgement.findings if run.judgement else (), case, "times")
    capacity = None if invalid else found.capacity
    shaded = " Shaded: where the capacity lies, 95 % sure." if capacity else ""
    return Chart(
        name="answer",
        title=f"{fmt.safe(name, 60)}: {found.bounds.objective} at each rate that was tried",
        note=(
            "A row a trial, in order. Filled: the objective held; hollow: it was missed; cross: the trial "
            f"says nothing.{shaded}"
        ),
        draw=lambda width: _steps(found, capacity, width),
        heads=("trial", "rate", "objective", "seen"),
        rows=as_rows([cell.text for cell in line.cells] for line in search_steps(run).lines),
    )


_STEPS_BESIDE = 480.0
"""From this width on the words of a trial stand beside its mark, below it on a phone."""


def _steps(found: SearchAnswer, capacity: Estimate | None, width: float) -> Drawing:
    phone = width < _STEPS_BESIDE
    widest = 12 + max(svg.width_of(step.why, 11) for step in found.steps)
    words = 0.0 if phone else min(0.45 * width, widest)
    rates = [step.rate_per_s for step in found.steps]
    ends = [one for one in (capacity.low, capacity.high, capacity.value) if one] if capacity else []
    x = proportional([*rates, *ends], 40, width - words - 12)
    y = top = 8.0
    parts: list[str] = []
    for place, step in enumerate(found.steps):
        at, lines = x(step.rate_per_s), svg.wrapped(step.why, width - 40 if phone else words, 11)
        parts.append(svg.text(0, y + 16, str(place + 1), "soft small"))
        if step.holds is None:
            parts += (
                svg.line(at - 5, y + 12 - 5 * way, at + 5, y + 12 + 5 * way, "thin s-none") for way in (1, -1)
            )
        else:
            parts.append(svg.mark(0, at, y + 12, f"{'fill' if step.holds else 'open'} {colour(0)}", 6))
        start, first = (40.0, y + 31) if phone else (width - words, y + 16)
        parts += [svg.text(start, first + 13 * row, one, "soft small") for row, one in enumerate(lines)]
        y += 24 + 13 * (len(lines) if phone else max(0, len(lines) - 1))
    ticks = x.ticks(max(2, int((x.end - x.start) / 70)))
    title = x.named("rate that was offered")
    back = (
        *_capacity(capacity, x, top, y),
        *svg.below(x, ticks, fmt.rate, (top, y), x.end),
        svg.text((x.start + x.end) / 2, y + 32, title, "soft small", "middle"),
    )
    return Drawing(width, y + 40, (*back, *parts))


def _capacity(capacity: Estimate | None, x: Scale, top: float, bottom: float) -> Iterator[str]:
    if capacity is None:
        return
    left = x.start if capacity.low is None else x(capacity.low)
    right = x.end if capacity.high is None else x(capacity.high)
    height = bottom - top
    yield svg.element("rect", x=left, y=top, width=max(2.0, right - left), height=height, cls="band s0")
    if capacity.low is not None and capacity.high is not None:
        yield svg.line(x(capacity.value), top, x(capacity.value), bottom, "refline")


def claims(run: Run) -> Chart | None:
    """A strip a claim: the published ratio beside the measured one with its interval."""
    found = run.judgement.claims if run.judgement else ()
    known = [one for claim in found for one in (claim, *claim.parts) if one.published_ratio]
    if not any(one.measured for one in known):
        return None
    strips = []
    for claim in known:
        measured = claim.measured
        strips.append(
            Strip(
                fmt.safe(f"({claim.claim}) {claim.statement}", 120),
                None,
                tables.verdict_words(claim),
                value=measured.value if measured else None,
                low=measured.low if measured else None,
                high=measured.high if measured else None,
                below=measured is not None and measured.low is None and measured.high is not None,
                above=measured is not None and measured.high is None and measured.low is not None,
                other=claim.published_ratio,
            )
        )
    axis = Axis(proportional, lambda value: fmt.significant(value), "ratio", ((1.0, "equal"),), names=0.45)
    return Chart(
        name="claims",
        title="Published against measured",
        note="Hollow diamond: the published ratio. Filled mark: the measured one, bar: its 95 % interval.",
        draw=lambda width: draw(strips, axis, width),
        heads=("claim", "published", "measured", "verdict"),
        rows=as_rows(
            (
                fmt.safe(f"({claim.claim}) {claim.statement}"),
                f"{fmt.times(claim.published_ratio or 0)}×",
                fmt.ratio(claim.measured),
                tables.verdict_words(claim),
            )
            for claim in known
        ),
    )


_CHANGED: dict[told.Direction, Literal["", "good", "bad"]] = {"better": "good", "worse": "bad", "": ""}


def changes(found: RunComparison) -> Chart | None:
    """A strip a figure of each case both have, better in green, worse in red; None where there is none."""
    strips = []
    for one in found.changes:
        ratio = one.change
        if ratio is None or one.metric == "errors":
            continue
        open_below = ratio.low is None and ratio.high is not None
        open_above = ratio.high is None and ratio.low is not None
        word = told.direction(one)
        strips.append(
            Strip(
                told.NAMES[one.metric],
                None,
                f"{fmt.ratio(ratio)} {word}".strip(),
                value=None if open_below or open_above else ratio.value,
                low=ratio.low,
                high=ratio.high,
                below=open_below,
                above=open_above,
                badge="; ".join(f"{limit.words} ({limit.code})" for limit in one.limits),
                group=fmt.safe(one.case, 80),
                tone=_CHANGED[word],
            )
        )
    if not strips:
        return None
    axis = Axis(near, lambda value: fmt.significant(value), "new / base", ((1.0, "no change"),))
    return Chart(
        name="changes",
        title="New against base",
        note="Mark: the ratio; bar: its 95 % interval. A bar that crosses the line shows no change.",
        draw=lambda width: draw(strips, axis, width),
        heads=("figure", "case", "new / base"),
        rows=as_rows((strip.name, strip.group, strip.label) for strip in strips),
    )
