"""The slices of an interleaved block: each server's rate in its slices, all on one axis of time."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.core import units as fmt
from assay.model.block import Block
from assay.model.interleaving import Slice
from assay.model.run import Run
from assay.report.charts.chart import Chart, as_rows
from assay.report.charts.data import hues
from assay.report.charts.lines import Curve, Frame, plot
from assay.report.charts.scale import Scale, logarithmic
from assay.report.model.rows import short_name

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
        y=lambda start, end: logarithmic(rates, start, end),
        write_x=lambda value: fmt.significant(value, 3),
        write_y=fmt.rate,
        x_title="seconds since measuring began" if shown.measures else "seconds since the block began",
        y_title="answers a second, slice by slice",
    )
    length = fmt.time(block.lengths.slice_ns, exact=True)
    return Chart(
        name="block",
        title=f"Slices of an interleaved block (number {block.number + 1} of {len(run.blocks)})",
        note=(
            f"Each piece of line is one slice of {length}: how much that server answered while the others "
            f"rested. Faint: {_warm_up(shown)}. What bends all of them at once is the machine, and cancels "
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
    warm, measured = (
        tuple(
            (
                (one.start_ns - shown.zero_ns) / 1e9,
                (one.start_ns + one.length_ns - shown.zero_ns) / 1e9,
                _rate(one),
            )
            for one in some
            if one.phase == phase
        )
        for phase in ("warmup", "measured")
    )
    return Curve(name, colour, (), joined=False, slices=measured, faint=warm)


def _rate(one: Slice) -> float:
    return one.completed / one.length_ns * 1e9 if one.length_ns else 0.0


def _row(name: str, slices: Sequence[Slice]) -> tuple[str, ...]:
    rates = [_rate(one) for one in slices if one.phase == "measured"]
    if not rates:
        return (name, "0", *3 * (fmt.UNKNOWN,))
    return (
        name,
        fmt.count(len(rates)),
        *(fmt.rate(find(rates)) for find in (statistics.median, min, max)),
    )
