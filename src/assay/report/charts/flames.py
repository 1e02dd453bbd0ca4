"""Flame graphs of `--why`: call stacks as bars on bars, and how two servers differ (Gregg 2011, 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import svg
from assay.report.document import Chart, Drawing
from assay.report.model.rows import LoadRows, short_name
from assay.stats import costs as why

_ROW, _GAP = 17.0, 1.0
_LEAST_PIXELS = 1.5
_WORTH_A_NAME = 24.0
_MOST_ROWS = 40
_LISTED = 12
_MOST_GRAPHS = 6


@dataclass
class StackFrame:
    """A function in its callers' order: samples in it and below it, here and in the other server."""

    count: int = 0
    other: int = 0
    inner: dict[str, StackFrame] = field(default_factory=dict)


def flames(run: Run, found: Sequence[LoadRows]) -> Iterator[Chart]:
    """A graph of each server whose stacks were sampled, and where two were the difference of the two."""
    for place, section in enumerate(found):
        rows = (section.candidates or section.rows)[:_MOST_GRAPHS]
        by_name = {short_name(row.case): why.stacks(why.costs_by_block(run, row.case.id)) for row in rows}
        sampled = {name: stacks for name, stacks in by_name.items() if stacks}
        for number, (name, stacks) in enumerate(sampled.items()):
            yield _graph(f"flames-{place}-{number}", name, stacks)
        if len(sampled) == 2:
            (first, stacks), (second, others) = sampled.items()
            yield _difference(f"flames-{place}-difference", first, stacks, second, others)


def _graph(anchor: str, name: str, stacks: Mapping[str, int]) -> Chart:
    tree = _tree(stacks, {})
    return Chart(
        name=anchor,
        title=f"Flame graph: {name}",
        note=f"{tree.count:,} samples of what was on a core: a bar is a function, as wide as its share of "
        "the samples, on its caller; names in brackets are files without symbols",
        draw=partial(_drawn, tree, None),
        heads=("function", "of the samples:"),
        rows=tuple(_heaviest(stacks, tree.count)),
    )


def _difference(anchor: str, first: str, a: Mapping[str, int], second: str, b: Mapping[str, int]) -> Chart:
    tree = _tree(b, a)
    return Chart(
        name=anchor,
        title=f"Flame graph: {second} against {first}",
        note=f"bars are as wide as in {second}; red ones have a larger share of its samples than of "
        f"{first}'s, blue ones a smaller one. What {first} alone does has no bar",
        draw=partial(_drawn, tree, max(1, tree.other)),
        heads=("function", f"{first}:", f"{second}:"),
        rows=tuple(_most_moved(a, b)),
    )


def _tree(stacks: Mapping[str, int], others: Mapping[str, int]) -> StackFrame:
    top = StackFrame()
    for samples, attribute in ((stacks, "count"), (others, "other")):
        for stack, number in samples.items():
            at = top
            setattr(at, attribute, getattr(at, attribute) + number)
            for name in stack.split(";"):
                at = at.inner.setdefault(name, StackFrame())
                setattr(at, attribute, getattr(at, attribute) + number)
    return top


def _drawn(top: StackFrame, other_total: int | None, width: float) -> Drawing:
    depth = min(_MOST_ROWS, _depth(top, width / max(1, top.count)))
    parts: list[str] = []
    _place(top, 0.0, 0, width / max(1, top.count), depth, (top.count, other_total), parts)
    return Drawing(width, depth * _ROW, tuple(parts))


def _depth(frame: StackFrame, pixels: float) -> int:
    wide = [one for one in frame.inner.values() if one.count * pixels >= _LEAST_PIXELS]
    return 1 + max((_depth(one, pixels) for one in wide), default=-1) if wide else 0


def _place(
    frame: StackFrame,
    x: float,
    row: int,
    pixels: float,
    depth: int,
    totals: tuple[int, int | None],
    parts: list[str],
) -> None:
    """Bars of what this frame called, from `x` on, in the row above."""
    if row >= depth:
        return
    for name, inner in sorted(frame.inner.items()):
        wide = inner.count * pixels
        if wide >= _LEAST_PIXELS:
            parts.append(_bar(name, inner, x, (depth - row - 1) * _ROW, wide, totals))
            _place(inner, x, row + 1, pixels, depth, totals, parts)
        x += wide


def _bar(
    name: str, frame: StackFrame, x: float, y: float, wide: float, totals: tuple[int, int | None]
) -> str:
    count, other = totals
    part = frame.count / count
    tip = f"{name}: {fmt.share(part)}"
    fill, opacity = "s1", 0.25 + 0.35 * (sum(map(ord, name)) % 7) / 6
    if other is not None:
        before = frame.other / other
        tip += f", was {fmt.share(before)}"
        moved = part - before
        fill, opacity = ("s-bad" if moved > 0 else "s0"), min(0.85, 0.08 + 4 * abs(moved))
    bar = svg.box(x, y, max(0.5, wide - _GAP), _ROW - _GAP, fill, opacity, tip)
    if wide < _WORTH_A_NAME:
        return bar
    return bar + svg.text(x + 3, y + 12, svg.cut(name, wide - 6, 11), "small", whole=tip)


def _selves(stacks: Mapping[str, int]) -> dict[str, int]:
    """Samples by the function that was running."""
    found: dict[str, int] = {}
    for stack, number in stacks.items():
        name = stack.rpartition(";")[2]
        found[name] = found.get(name, 0) + number
    return found


def _heaviest(stacks: Mapping[str, int], total: int) -> Iterator[tuple[str, str]]:
    for name, number in sorted(_selves(stacks).items(), key=lambda item: -item[1])[:_LISTED]:
        yield fmt.safe(name, 80), fmt.share(number / total)


def _most_moved(a: Mapping[str, int], b: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """The functions whose own share of the samples differs most."""
    totals = max(1, sum(a.values())), max(1, sum(b.values()))
    selves = _selves(a), _selves(b)
    shares = {
        name: tuple(side.get(name, 0) / total for side, total in zip(selves, totals, strict=True))
        for name in selves[0] | selves[1]
    }
    for name, (first, second) in sorted(shares.items(), key=lambda item: -abs(item[1][1] - item[1][0]))[
        :_LISTED
    ]:
        yield fmt.safe(name, 80), fmt.share(first), fmt.share(second)
