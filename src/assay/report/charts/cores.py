"""A bar a set of cores: what each part of its time went to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from assay.core import units as fmt
from assay.model.run import Run
from assay.report import svg
from assay.report.document import Chart, Drawing
from assay.report.model.accounts import TITLE, CoreShares, accounts_of, shares
from assay.report.model.rows import LoadRows

_LOOK = {
    "server user": ("s2", 1.0),
    "server kernel": ("s2", 0.55),
    "services": ("s6", 0.9),
    "generator user": ("s0", 1.0),
    "generator kernel": ("s0", 0.55),
    "kernel": ("s4", 0.8),
    "others": ("s-bad", 0.85),
    "stolen": ("s3", 0.85),
    "idle": ("s-none", 0.14),
    "unknown": ("s-none", 0.6),
}
"""Colour and strength of each part; its name stands in the bar where it fits, and in the legend."""
_BAR, _ROW, _GAP = 18.0, 42.0, 1.0
_MOST_BARS = 24


def cores(run: Run, found: Sequence[LoadRows]) -> Chart | None:
    """Where the time of each server's cores went; None where no trial has an account."""
    several = len(found) > 1
    bars = [
        (f"{server}{f', {load}' if several and load else ''}: {one.label}", one)
        for load, server, accounts in accounts_of(run, found)
        for one in shares(accounts)
    ]
    if not bars:
        return None
    left_out = f"{len(bars) - _MOST_BARS} more are in the table." if len(bars) > _MOST_BARS else ""
    parts = tuple(name for name in _LOOK if any(one.parts.get(name) for _, one in bars))
    return Chart(
        name="cores",
        title=TITLE,
        note=f"A bar is the time of these cores while the server was measured. {left_out}",
        draw=partial(_drawn, bars[:_MOST_BARS], parts),
        heads=("cores", *(f"{name}:" for name in parts)),
        rows=tuple(
            (fmt.safe(name, 80), *(fmt.share(one.parts[part]) for part in parts)) for name, one in bars
        ),
    )


def _drawn(bars: Sequence[tuple[str, CoreShares]], parts: Sequence[str], width: float) -> Drawing:
    drawn: list[str] = []
    y = 0.0
    for name, one in bars:
        drawn.append(svg.text(0, y + 12, svg.cut(name, width), "", whole=name))
        drawn.extend(_bar(one, parts, y + 18, width))
        y += _ROW
    x = 0.0
    for part in parts:
        wide = 16 + svg.width_of(part, 11) + 14
        if x + wide > width and x > 0:
            x, y = 0.0, y + 18
        look, strength = _LOOK[part]
        drawn.append(svg.box(x, y + 2, 11, 11, look, strength, part))
        drawn.append(svg.text(x + 16, y + 12, part, "small"))
        x += wide
    return Drawing(width, y + 20, tuple(drawn))


def _bar(one: CoreShares, parts: Sequence[str], y: float, width: float) -> Iterator[str]:
    x = 0.0
    for part in parts:
        share = one.parts.get(part)
        if not share:
            continue
        wide = share * width
        look, strength = _LOOK[part]
        words = f"{part} {fmt.share(share)}"
        yield svg.box(x, y, max(0.5, wide - _GAP), _BAR, look, strength, words)
        if part in ("idle", "unknown") and svg.width_of(words, 11) + 8 < wide:
            yield svg.text(x + 4, y + 13, words, "small")
        elif svg.width_of(fmt.share(share), 11) + 8 < wide:
            yield svg.text(x + 4, y + 13, fmt.share(share), "small")
        x += wide
