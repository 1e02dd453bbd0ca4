"""Charts over time: throughput, percentiles, how a comparison came to its answer, the slices of blocks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay import verdict
from assay.core import units as fmt
from assay.model.block import Block
from assay.model.design import ComparisonDesign
from assay.model.estimate import Estimate
from assay.model.interleaving import Slice
from assay.model.measurement import Histogram
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.charts import data
from assay.report.charts.data import Placed, why_bounds
from assay.report.charts.drawings import Curve, Frame, ThroughputCurve, plot, throughput_courses
from assay.report.document import Chart
from assay.report.model.rows import LoadRows, Row, hues, short_name, time_words
from assay.report.picture import as_rows, slug
from assay.report.svg import Scale, near, proportional
from assay.stats.pairing import course
from assay.stats.sides import paired_logs
from assay.verdict.answer import answer
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.pairs import sides as sides_of

_TELLING = 100.0
"""The ratio of its ends up to which the interval of a tail is drawn."""
_FEWEST_POINTS = 2
"""Fewer are no line; a table says them better."""
_STRETCHED = {2.0: "p50", 10.0: "p90", 100.0: "p99", 1e3: "p99.9", 1e4: "p99.99", 1e5: "p99.999"}


def over_time(place: Placed) -> Chart | None:
    """Throughput over time, the warm-up shaded, each trial faint, changes of level marked."""
    found, rows = [], []
    for row in place.section.candidates:
        trials = place.trials(row)
        steps = data.course(trials, place.steps)
        if row.invalid or len(steps) < _FEWEST_POINTS:
            continue
        mean = tuple((step.at_s, step.mean_per_s) for step in steps)
        alone = tuple(data.alone(trials, place.steps))
        found.append(
            ThroughputCurve(row.name, place.colours[row.name], mean, alone, data.changes(trials, steps))
        )
        rows += [
            (row.name, f"{step.at_s:g}", *map(fmt.rate, (step.mean_per_s, step.low_per_s, step.high_per_s)))
            for step in steps
        ]
    if not found:
        return None
    return Chart(
        name=f"over-time{place.suffix}",
        title=f"Throughput over time{place.where}",
        note=_course_note(found),
        draw=lambda width: throughput_courses(found, width),
        heads=("server", "second", "mean", "lowest", "highest"),
        rows=as_rows(rows),
    )


def _course_note(found: Sequence[ThroughputCurve]) -> str:
    """What the marks mean, of those that are there."""
    marks = (
        ("bold: mean of the trials; faint: each trial", any(curve.trials for curve in found)),
        ("shaded: warm-up", any(at < 0 for curve in found for at, _ in curve.mean)),
        ("triangle: a trial's level changed there", any(curve.changes for curve in found)),
    )
    words = "; ".join(words for words, there in marks if there)
    own = "Each server on its own scale." if len(found) > 1 else ""
    return f"{own} {words[:1].upper()}{words[1:]}{'.' if words else ''}".strip()


def percentiles(place: Placed) -> Chart | None:
    """Percentile curves, as far as the data reach. The horizontal axis stretches the tail."""
    found = [curve for curve in _curves(place) if len(curve[2]) >= _FEWEST_POINTS]
    if not found:
        return None
    closed = all(row.closed_loop for row in place.section.candidates)
    two = len({clock for _, clock, _ in found}) > 1
    curves = [
        Curve(
            ", ".join([row.name, *([clock] if two else []), *_bound(row)]),
            place.colours[row.name],
            tuple((1 / (1 - p), estimate.value / 1e6) for p, estimate in points),
            tuple((1 / (1 - p), *_ends(estimate)) for p, estimate in points),
            dashed=two and clock == "service time",
        )
        for row, clock, points in found
    ]
    reach = max(x for curve in curves for x, _ in curve.points)
    spread = any(low < high for curve in curves for _, low, high in curve.ends)
    values = [y for curve in curves for y in curve.heights]
    frame = Frame(
        x=lambda start, end: Scale(2.0, max(reach, 2.5), start, end, log=True),
        y=lambda start, end: proportional(values, start, end),
        write_x=lambda value: _STRETCHED.get(value, fmt.UNKNOWN),
        write_y=lambda value: fmt.time(value * 1e6),
        x_title="percentile",
        y_title="time",
        inside=(
            "Closed loop: the time in the queue that the client itself makes, not what a user would wait."
            if closed
            else ""
        ),
        x_ticks=tuple(x for x in _STRETCHED if x <= reach * 1.001),
    )
    return Chart(
        name=f"percentiles{place.suffix}",
        title=f"Percentiles of time{place.where}",
        note=(
            "Service time, from the send to the whole answer."
            if closed
            else "Response time runs from the intended start, service time from the send: the gap is waiting."
        )
        + (" Thin bars: 95 % intervals over the trials." if spread else "")
        + why_bounds(place.section.candidates),
        draw=lambda width: plot(curves, frame, width),
        heads=("server", "clock", "percentile", "time", "low", "high"),
        rows=as_rows(
            (
                row.name,
                clock,
                f"p{100 * p:.10g}",
                *_cells(row, one, dict(points).get(0.5) if p > 0.5 else None),
            )
            for row, clock, points in found
            for p, one in points
        ),
    )


def _bound(row: Row) -> Iterator[str]:
    """Which way the truth may lie from a curve, where it is a bound."""
    if row.times.slack.up > 1:
        yield "at least"
    if row.times.slack.down < 1:
        yield "at most"


def _cells(row: Row, one: Estimate, median: Estimate | None) -> tuple[str, str, str]:
    known = verdict.known(one, row.times)
    low, high = (known.low, known.high) if known and known.limits else (one.low, one.high)
    return time_words(row, one, median), fmt.time(low), fmt.time(high)


def _curves(place: Placed) -> Iterator[tuple[Row, str, tuple[tuple[float, Estimate], ...]]]:
    for row in place.section.candidates:
        if row.service_p50_ns is None:
            continue
        tails = row.service_p99_ns is not None or row.response_p99_ns is not None
        for clock in ("response time", "service time"):
            points = data.curve(list(_histograms(place.trials(row), clock)))
            yield row, clock, points if tails else tuple(one for one in points if one[0] <= 0.5)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """In milliseconds. Of a few trials that disagree the interval would only flatten the curve."""
    low, high = estimate.low or estimate.value, estimate.high or estimate.value
    if high > _TELLING * low:
        low = high = estimate.value
    return low / 1e6, high / 1e6


def _histograms(trials: Iterable[Trial], clock: str) -> Iterator[Histogram]:
    for measured in (trial.measurement for trial in trials if trial.measurement):
        times = measured.response_time if clock == "response time" else measured.service_time
        if times is not None and times.count:
            yield times


_WIDEST = 8.0
"""Intervals that reach further from 1 than so many times are of too few blocks to draw."""
_MOST_CANDIDATES = 3
"""Of a study so many are drawn against the best: those next to it, of which the order was longest open."""


def courses(run: Run, found: Sequence[LoadRows] = ()) -> Iterator[Chart | None]:
    """A chart for each candidate against the best of a comparison; of an interleaved study, for those next to
    the best."""
    seen = verdict.see_run(run)
    if isinstance(run.header.design, ComparisonDesign):
        told = answer(run)
        best = seen.find(told.best.id) if told.best else None
        others = [seen.find(one.other.id) for one in told.pairs if not one.void]
        yield from _against(run, seen, best, others)
    elif run.blocks:
        for section in found:
            rows = [seen.find(row.case.id) for row in section.candidates if row.rank is not None]
            if len(rows) > 1:
                yield from _against(run, seen, rows[0], rows[1 : 1 + _MOST_CANDIDATES])


def _against(
    run: Run, seen: RunSeen, best: CaseSeen | None, others: Sequence[CaseSeen | None]
) -> Iterator[Chart | None]:
    for other in others:
        if best is not None and other is not None:
            yield _course(run, seen, best, other, alone=len(others) == 1)


def _course(run: Run, seen: RunSeen, best: CaseSeen, other: CaseSeen, *, alone: bool) -> Chart | None:
    findings = run.judgement.findings if run.judgement else ()
    pair = best.case.id, other.case.id
    sides = sides_of(findings, best, other)
    logs = paired_logs(*sides)
    wider = verdict.bias(findings, *pair), verdict.one_sided(findings, *pair)
    went = course(
        *sides,
        manner=seen.manner,
        alpha=seen.alpha,
        looks=seen.budget_shares(best, other),
        bias=wider[0],
        extra=wider[1],
        pooled=seen.pools.get(best.group),
    )
    known = list(enumerate(went, start=1))
    if len(known) < 2:
        return None
    names = short_name(best.case), short_name(other.case)
    colours = hues(run.header.cases)
    restarted = not all(side.external for side in sides)
    unit, units = ("block", "blocks") if restarted else ("batch", "batches")
    drawn = (
        Curve(
            f"{names[0]} / {names[1]}",
            colours[names[0]],
            tuple((float(at), ratio.value) for at, ratio in known),
            tuple((float(at), *ends) for at, ratio in known if (ends := _course_ends(ratio)) is not None),
            band=True,
        ),
        Curve(
            f"each {unit} alone",
            None,
            tuple((float(at), math.exp(log)) for at, log in enumerate(logs, start=1)),
            joined=False,
        ),
    )
    return Chart(
        name="course" if alone else f"course-{slug(other.case.id)}",
        title=f"How sure it became: {fmt.safe(names[0], 40)} against {fmt.safe(names[1], 40)}",
        note=_note(unit, looked_at=seen.manner == "looked at"),
        draw=lambda width: plot(drawn, _frame(drawn, len(logs), units), width),
        heads=(units, "ratio", "low", "high"),
        rows=as_rows(
            (str(at), *(fmt.UNKNOWN if one is None else fmt.times(one) for one in (r.value, r.low, r.high)))
            for at, r in known
        ),
    )


def _frame(drawn: Sequence[Curve], steps: int, units: str) -> Frame:
    values = [1.0, *(value for curve in drawn for value in curve.heights)]
    return Frame(
        x=lambda start, end: Scale(1.0, float(steps), start, end),
        y=lambda start, end: near(values, start, end),
        write_x=lambda value: f"{value:g}",
        write_y=lambda value: fmt.significant(value, 3),
        x_title=f"{units} so far",
        y_title="ratio of throughputs",
        x_ticks=tuple(float(at) for at in range(1, steps + 1, max(1, steps // 8))),
        level=(1.0, "equal"),
    )


def _note(unit: str, *, looked_at: bool) -> str:
    interval = "its 95 % interval"
    if looked_at:
        interval += f", which allows for looking after every {unit}, once there is one to draw"
    return (
        f"Line: the ratio after each {unit}; shaded: {interval}. A shade that leaves the dashed line shows a "
        "difference."
    )


def _course_ends(ratio: Estimate) -> tuple[float, float] | None:
    if ratio.low is None or ratio.high is None or ratio.high > _WIDEST * ratio.low:
        return None
    return ratio.low, ratio.high


_MOST_SLICES = 1_200
"""Of all servers together: more are no more to be told apart, and would only make the page large."""


_WARM_UP_SHARE = 10
"""A warm-up is drawn for a tenth of the time that was measured after it."""


def blocks(run: Run) -> Iterator[Chart | None]:
    """The last block of which every server saw the end; of none the last."""
    if not run.blocks:
        return
    whole = [one for one in run.blocks if all(trial.measurement for trial in one.trials)]
    yield _block(run, (whole or run.blocks)[-1])


def _block(run: Run, block: Block) -> Chart | None:
    names = {case.id: short_name(case) for case in run.header.cases}
    colours = hues(run.header.cases)
    arms = [(names[trial.case], trial.arm.slices) for trial in block.trials if trial.arm]
    most = max(1, _MOST_SLICES // max(1, len(arms)))
    shown = _shown([one for _, slices in arms for one in slices])
    curves = [_curve(name, colours[name], slices, shown, most) for name, slices in arms if slices]
    rates = [rate for curve in curves for _, _, rate in (*curve.faint, *curve.slices) if rate > 0]
    ends = [at for curve in curves for begin, end, _ in (*curve.faint, *curve.slices) for at in (begin, end)]
    if sum(bool(curve.slices or curve.faint) for curve in curves) < 2 or not rates:
        return None
    frame = Frame(
        x=lambda start, end: Scale(min(ends), max(ends), start, end),
        y=lambda start, end: proportional(rates, start, end),
        write_x=lambda value: fmt.significant(value, 3),
        write_y=fmt.rate,
        x_title="seconds since measuring began" if shown.measures else "seconds since the block began",
        y_title="answers a second, slice by slice",
    )
    length = fmt.time(block.lengths.slice_ns, exact=True)
    faint = f" Faint: {_warm_up(shown)}." if any(curve.faint for curve in curves) else ""
    return Chart(
        name="block",
        title=f"Slices of an interleaved block (number {block.number + 1} of {len(run.blocks)})",
        note=(
            f"Each piece of line is one slice of {length}: how much that server answered while the others "
            f"rested.{faint} What bends all of them at once is the machine, and cancels "
            "in their ratios."
        ),
        draw=lambda width: plot(curves, frame, width),
        heads=("server", "slices", "median", "lowest", "highest"),
        rows=as_rows(_row(name, slices) for name, slices in arms if slices),
    )


class _Span(NamedTuple):
    """What is drawn of an interleaved block: from which moment on (ns), and which moment is 0. It is all of
    it where nothing was measured."""

    from_ns: int
    zero_ns: int
    measures: bool


def _shown(slices: Sequence[Slice]) -> _Span:
    """A warm-up can take longer than all that comes after it: no more than its end is drawn."""
    measured = [one for one in slices if one.phase == "measured"]
    if not measured:
        return _Span(0, 0, measures=False)
    zero_ns = min(one.start_ns for one in measured)
    span_ns = max(one.start_ns + one.length_ns for one in measured) - zero_ns
    return _Span(max(0, zero_ns - span_ns // _WARM_UP_SHARE), zero_ns, measures=True)


def _warm_up(shown: _Span) -> str:
    if shown.from_ns == 0:
        return "its warm-up"
    return f"the last of its warm-up; the {fmt.span(shown.from_ns / 1e9)} before that are left out"


def _curve(name: str, colour: int | None, slices: Sequence[Slice], shown: _Span, most: int) -> Curve:
    """A server's slices as far as they are shown; of very many each so manieth."""
    late = [one for one in slices if one.start_ns >= shown.from_ns]
    some = late[:: max(1, -(-len(late) // most))]
    pieces: dict[str, list[tuple[float, float, float]]] = {"warmup": [], "measured": []}
    for one in some:
        begin_ns = one.start_ns - shown.zero_ns
        pieces[one.phase].append((begin_ns / 1e9, (begin_ns + one.length_ns) / 1e9, _rate(one)))
    warm, measured = map(tuple, pieces.values())
    return Curve(name, colour, (), joined=False, slices=measured, faint=warm)


def _rate(one: Slice) -> float:
    return one.completed / one.length_ns * 1e9 if one.length_ns else 0.0


def _row(name: str, slices: Sequence[Slice]) -> tuple[str, ...]:
    rates = [_rate(one) for one in slices if one.phase == "measured"]
    if not rates:
        return (name, "0", *3 * (fmt.UNKNOWN,))
    return name, fmt.count(len(rates)), *(fmt.rate(find(rates)) for find in (statistics.median, min, max))
