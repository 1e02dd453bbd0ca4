"""`Chart`: a picture, its table, its look in page, file and pixels; the data and colours that charts draw."""

from __future__ import annotations

import functools
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import NamedTuple

from assay import stats
from assay.core.errors import EnvironmentLacks
from assay.model.estimate import Estimate
from assay.model.measurement import Histogram, Measurement
from assay.model.run import Run
from assay.model.trial import Trial
from assay.report.charts import svg
from assay.report.document import Chart, Drawing
from assay.report.model.rows import LoadRows, Row, hues, times_limited
from assay.stats.steady import steady_state

FILE_WIDTH = 760.0
"""Width in pixels of charts written to files (twice that in a PNG)."""
WIDE, HALF, NARROW = 900.0, 530.0, 358.0
"""What the page holds of each chart: one for a desk (or for half of its width, where two stand side by side),
and one for a phone with the same size of letters."""
_EDGE = 16.0

# Okabe and Ito's palette without its yellow and black, which vanish on a white or a dark page, and two more:
# told apart with every common colour blindness. Servers beyond them repeat colours; their marks differ.
_SERIES = (
    ("#0072b2", "#4fb3ea"), ("#c05200", "#ff8f4a"), ("#00805d", "#2fce9f"), ("#b8508f", "#ea93c4"),
    ("#946200", "#f2b632"), ("#2a79ae", "#9bd4fa"), ("#6b5bb5", "#a99df0"), ("#8a5a3c", "#d3a17f"),
)  # fmt: skip
COLOURS = len(_SERIES)
INKS = {
    "page": ("#ffffff", "#16181b"), "ink": ("#1c1e21", "#e8e6e3"), "soft": ("#5b6068", "#a2a7ae"),
    "line": ("#dcdfe3", "#3a3d42"), "panel": ("#f5f6f8", "#202327"), "grey": ("#767b84", "#9a9fa8"),
    "good": ("#00704f", "#5fd0a5"), "bad": ("#b3261e", "#ff8a80"), "warn": ("#a04000", "#ffab70"),
    "note": ("#00639b", "#7cc4f5"), "link": ("#00639b", "#7cc4f5"),
} | {f"s{place}": both for place, both in enumerate(_SERIES)}  # fmt: skip
"""Every colour of a page and its charts: on light, on dark."""


def inline(chart: Chart, *, half: bool = False) -> tuple[tuple[str, str], ...]:
    """The chart for a page, as (class, SVG): the style shows the one that fits the reader's window."""
    desk = ("half", HALF) if half else ("wide", WIDE)
    sizes = (("narrow", NARROW),) if chart.small else (desk, ("narrow", NARROW))
    return tuple((size, _document(chart.draw(width), chart.title)) for size, width in sizes)


def to_svg(chart: Chart, about: str) -> str:
    """The chart as a picture that scales, on white, with what its marks mean and what it is `about`."""
    drawn = chart.draw(FILE_WIDTH - 2 * _EDGE)
    room = drawn.width
    parts: list[str] = []
    y = _EDGE + 14
    for words, cls in ((chart.title, "head"), (chart.note, "soft small"), (about, "soft small")):
        if cls != "head" and words == chart.note:
            moved = f"translate({svg.number(_EDGE)},{svg.number(y)})"
            parts.append(svg.element("g", "".join(drawn.parts), transform=moved))
            y += drawn.height + 20
        for one in svg.wrapped(words, room, 17 if cls == "head" else 11):
            parts.append(svg.text(_EDGE, y, one, cls))
            y += 22 if cls == "head" else 15
        y += 4
    style = svg.element("style", _flat_style())
    ground = svg.element("rect", width=FILE_WIDTH, height=y, fill=INKS["page"][0])
    return _document(Drawing(FILE_WIDTH, y, (style, ground, *parts)), chart.title, standing=True)


def to_png(chart: Chart, about: str) -> bytes:
    """The same as pixels at twice the size: legible on a slide."""
    if not _has_fonts():
        raise EnvironmentLacks(
            "a picture's words: this machine has no font that they could be drawn with",
            "apt-get install fonts-dejavu-core",
        )
    return _pixels(to_svg(chart, about))


def _pixels(document: str) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=document, zoom=2))


@functools.cache
def _has_fonts() -> bool:
    """Whether the words of a chart are drawn: without any of its fonts they would be left out silently."""
    style = svg.element("style", _flat_style())
    blank, said = (
        _document(Drawing(40, 20, (style, svg.text(2, 15, words))), "", standing=True) for words in ("", "Aa")
    )
    return _pixels(blank) != _pixels(said)


def _document(drawn: Drawing, title: str, *, standing: bool = False) -> str:
    size = f"{svg.number(drawn.width)} {svg.number(drawn.height)}"
    about: dict[str, float | str] = {"viewBox": f"0 0 {size}", "role": "img", "aria_label": title}
    if standing:
        about |= {"xmlns": "http://www.w3.org/2000/svg", "width": drawn.width, "height": drawn.height}
    return svg.element("svg", "".join(drawn.parts), **about)


def style() -> str:
    """How the classes look; colours are the page's variables."""
    return resources.files("assay.report").joinpath("page", "chart.css").read_text(encoding="utf-8")


def variables() -> str:
    """Every colour as a variable: light, dark, and light on paper."""
    light, dark = ("".join(f"--{name}:{both[place]};" for name, both in INKS.items()) for place in (0, 1))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def _flat_style() -> str:
    """The style for a file of its own: not every reader of SVG knows variables."""
    return re.sub(r"var\(--(\w+)\)", lambda found: INKS[found[1]][0], style())


def colour(place: int | None) -> str:
    """The class of a server's colour; None is what does not compete."""
    return "s-none" if place is None else f"s{place % COLOURS}"


def shape(place: int | None) -> int:
    """The mark of a server: the second round of colours has other marks."""
    return 0 if place is None else place + place // COLOURS


def as_rows(cells: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Freeze a table's cells."""
    return tuple(tuple(row) for row in cells)


MOST_STEPS = 60
"""Points of a course over time: more would not be told apart on a page."""
FEWEST_STEPS = 10
_WHOLE = 0.6
"""Share of the usual load of a slice of time that one must have to be drawn: the last is often cut off."""
ALL_STEPS = 12_000
"""Points of all trials of a run together: a page holds them all twice, and it is to stay small."""

# Dense enough for a smooth curve; those without enough requests behind them are left out later.
CURVE = (0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999)


class RateStep(NamedTuple):
    """Throughput in one slice of time: the mean of the trials, their lowest and their highest."""

    at_s: float
    mean_per_s: float
    low_per_s: float
    high_per_s: float


def steps_for(trials: int) -> int:
    """How many points each of so many trials may have."""
    return min(MOST_STEPS, max(FEWEST_STEPS, ALL_STEPS // max(1, trials)))


def course(trials: Sequence[Trial], most_steps: int = MOST_STEPS) -> tuple[RateStep, ...]:
    """Throughput over time since the end of the warm-up (negative before), over all trials."""
    measured = [trial.measurement for trial in trials if trial.measurement and trial.measurement.windows]
    if not measured:
        return ()
    step_ns = _step_ns(measured, most_steps)
    sums: dict[int, list[float]] = defaultdict(list)
    for measurement in measured:
        for index, per_s in _binned(measurement, step_ns):
            sums[index].append(per_s)
    # A slice that only some trials reached would show the others' absence as a change.
    return tuple(
        RateStep(index * step_ns / 1e9, sum(values) / len(values), min(values), max(values))
        for index, values in sorted(sums.items())
        if len(values) * 2 > len(measured)
    )


def alone(trials: Sequence[Trial], most_steps: int = MOST_STEPS) -> Iterator[tuple[tuple[float, float], ...]]:
    """Each trial's own course, as (second, throughput), in the steps of `course`."""
    measured = [trial.measurement for trial in trials if trial.measurement and trial.measurement.windows]
    if len(measured) < 2:  # it is the mean
        return
    step_ns = _step_ns(measured, most_steps)
    for measurement in measured:
        yield tuple((index * step_ns / 1e9, per_s) for index, per_s in sorted(_binned(measurement, step_ns)))


def changes(trials: Sequence[Trial], steps: Sequence[RateStep]) -> tuple[tuple[float, float], ...]:
    """Each change of level that the steady-state rule counts: (second, throughput drawn there)."""
    found = []
    for trial in trials:
        if trial.measurement is None or not steps:
            continue
        warmup_ns = trial.measurement.warmup_ns
        measured = [window for window in trial.measurement.windows if window.phase == "measured"]
        at = [*(trial.warm_up.changes_ns if trial.warm_up else ()), *steady_state(measured).changes_ns]
        for second in ((ns - warmup_ns) / 1e9 for ns in at):
            nearest = min(steps, key=lambda step: abs(step.at_s - second))
            found.append((second, nearest.mean_per_s))
    return tuple(found)


def _step_ns(measured: Sequence[Measurement], most_steps: int) -> int:
    longest = max(seen.windows[-1].start_ns + seen.windows[-1].length_ns for seen in measured)
    window = max(max(seen.windows[0].length_ns, 1) for seen in measured)
    return window * max(1, -(-longest // (window * most_steps)))


def _binned(measurement: Measurement, step_ns: int) -> Iterable[tuple[int, float]]:
    """Whole slices of one trial: their number from the start of measuring, and answers a second."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for window in measurement.windows:
        slot = counts[(window.start_ns - measurement.warmup_ns) // step_ns]
        slot[0] += window.completed
        slot[1] += window.length_ns
    usual_ns = statistics.median(length_ns for _, length_ns in counts.values())
    for index, (completed, length_ns) in counts.items():
        if length_ns >= usual_ns * _WHOLE:  # interleaved servers rest in between
            yield index, completed / (length_ns / 1e9)


def curve(histograms: Sequence[Histogram]) -> tuple[tuple[float, Estimate], ...]:
    """Quantiles of a case over its trials; those without enough requests are left out."""
    by_trial = [stats.quantiles(histogram, CURVE) for histogram in histograms]
    points = []
    for place, p in enumerate(CURVE):
        values = [found[place] for found in by_trial]
        known = [value.value_ns for value in values if value is not None]
        estimate = stats.positive_mean(known, "ns") if known and len(known) == len(values) else None
        if estimate is not None:
            points.append((p, estimate))
    return tuple(points)


class Placed:
    """One section; its charts bear its title where the run has `several`."""

    def __init__(self, run: Run, section: LoadRows, several: bool) -> None:
        """Look up what is shared, once."""
        self.section = section
        self.where = f": {section.title}" if section.title else ""
        self.suffix = f"-{slug(section.title)}" if several else ""
        self.colours = hues(run.header.cases)
        self.steps = steps_for(len(run.trials))
        self._trials = trials_by_case(run.trials)

    def trials(self, row: Row) -> list[Trial]:
        """The row's measured trials."""
        return self._trials.get(row.case.id, [])


def why_bounds(rows: Iterable[Row]) -> str:
    """What a chart's note adds where times in it are bounds."""
    limited = times_limited(rows)
    return f" {limited[:1].upper()}{limited[1:]}." if limited else ""


def trials_by_case(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The measured trials of each case."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.measurement:
            found.setdefault(trial.case, []).append(trial)
    return found


def slug(text: str) -> str:
    """`text` fit for an anchor and the name of a file."""
    return "".join(character if character.isalnum() else "-" for character in text.lower()).strip("-")[:60]
