"""Outcomes as tables: Markdown for the record, the same on the terminal."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from model import Figure, Outcome, Row, Spread


def machine() -> str:
    """One line about where the figures were taken."""
    model = platform.processor() or "unknown processor"
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in information.read_text().splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"


def markdown(outcome: Outcome) -> str:
    """One section."""
    parts = [
        f"### {outcome.name}: {outcome.title}",
        f"{outcome.how}. Medians, with the least and the most of the rounds.",
    ]
    if outcome.rows:
        head = ("generator", "CPU a request (µs)", "of which its loop", "requests/s")
        parts.append(_table(head, [_row(each) for each in outcome.rows]))
    if outcome.figures:
        figures = [_figure(figure) for figure in outcome.figures]
        parts.append(_table(("figure", "measured", "required", ""), figures))
    parts.extend(f"Not measured: {reason}." for reason in outcome.missing)
    return "\n\n".join(parts) + "\n"


def page(outcomes: Iterable[Outcome]) -> str:
    """All sections below a head that names the machine."""
    return "\n".join([f"Machine: {machine()}.\n", *(markdown(outcome) for outcome in outcomes)])


def _spread(spread: Spread, digits: int) -> str:
    numbers = (f"{value:,.{digits}f}" for value in (spread.median, spread.low, spread.high))
    return "{} ({} – {})".format(*numbers)


def _row(row: Row) -> tuple[str, ...]:
    loop = _spread(row.loop_cpu_us, 2) if row.loop_cpu_us else ""
    return row.contender, _spread(row.cpu_us, 2), loop, _spread(row.per_s, 0)


def _figure(figure: Figure) -> tuple[str, str, str, str]:
    digits = 0 if figure.spread.median >= 1000 else 2
    measured = f"{_spread(figure.spread, digits)} {figure.unit}"
    if figure.limit is None:
        return figure.name, measured, "", ""
    required = f"{'≤' if figure.at_most else '≥'} {figure.limit:,g} {figure.unit}"
    return figure.name, measured, required, "✓ kept" if figure.passed else "✗ missed"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])
