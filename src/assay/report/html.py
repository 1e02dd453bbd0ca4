"""A document as one HTML file: works offline and without a script, light and dark, on a phone and on paper.

Everything that came from a server or a file passes through the template's escaping; charts are SVG that is
drawn here, whose texts are escaped where they are drawn.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from assay.core import units as fmt
from assay.report.document import (
    Chart,
    Document,
    FindingGroup,
    Findings,
    Form,
    Part,
    Pictures,
    Section,
    Table,
    Tone,
    plain,
    section,
)
from assay.report.picture import colour, inline, style, variables

if TYPE_CHECKING:
    from jinja2 import Environment

_MOST_ABOUT = 3
"""How many subjects the one line of a finding names."""

_MOST_LISTED = 16
"""How many charts the contents name one by one."""

_CLASSES: dict[Tone, str] = {"good": "good", "warn": "warn-word", "bad": "bad"}


def render(told: Document, base: str | None = None, refresh_s: int | None = None) -> str:
    """Write the page. `base` is the path below which the pages around it are; None for a file of its own. It
    asks for itself again after `refresh_s`."""
    from markupsafe import Markup

    first = told.table and section("results-1", told.table.title, replace(told.table, title=""))
    shown = (*(first or ()), *(one for one in told.sections if not one.long))
    named: set[str] = set()
    own = resources.files("assay.report").joinpath("page", "report.css").read_text(encoding="utf-8")
    return (
        _pages()
        .get_template("document.html.jinja")
        .render(
            told=told,
            base=base,
            refresh_s=refresh_s,
            style=Markup(variables() + own + style()),
            hero=[_chart(chart, half=len(told.pictures) > 1) for chart in told.pictures],
            sections=[_section(one, named) for one in shown if not one.background],
            background=[_section(one, named) for one in shown if one.background],
            contents=list(_contents(shown)),
        )
    )


@functools.cache
def _pages() -> Environment:
    """The templates; whatever they are given is made visible, and escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("assay.report", "page")
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )


def _finalize(value: object) -> object:
    """What a template prints; its own markup is no plain string."""
    return fmt.visible(value, lines=True) if type(value) is str else value


def _table(one: Table) -> dict[str, Any]:
    """A table as the templates show it: what names a line comes first."""
    places = sorted(range(len(one.columns)), key=lambda place: not one.columns[place].key)
    columns = [one.columns[place] for place in places]
    rows = [([line.cells[place] for place in places], line) for line in one.lines]
    return {
        "heads": [(column.head, column.right, column.name) for column in columns],
        "rows": [
            {
                "cells": [(cell, _CLASSES.get(cell.tone, "")) for cell in cells],
                "apart": line.apart,
                "part": line.inner,
                "below": line.below,
                "hue": None if line.hue is None and not line.apart else colour(line.hue),
            }
            for cells, line in rows
        ],
        "note": f"{one.note}." if one.note else "",
    }


def _section(one: Section, named: set[str]) -> dict[str, Any]:
    """A section as the template shows it: (kind, value) of each part. `named` are rules with an anchor."""
    parts = [made for part in one.parts for made in _parts(part, named)]
    return {"name": one.name, "title": one.title, "parts": parts}


def _parts(part: Part, named: set[str]) -> Iterator[tuple[str, Any]]:
    match part:
        case Table():
            yield "table", {"title": part.title, "table": _table(part)}
        case Findings():
            yield "findings", list(_findings(part.groups, named))
        case Form():
            yield "form", {"form": part, "table": part.table and _table(part.table)}
        case Pictures():
            yield from (("pictures", group) for group in _groups(part.charts))
        case _:
            yield type(part).__name__.lower(), part


def _chart(chart: Chart, *, half: bool = False) -> dict[str, Any]:
    """A chart as the templates show it; `half` of a page wide where two stand side by side."""
    from markupsafe import Markup

    heads = (chart.heads[0], *(f"{head}:" for head in chart.heads[1:]))
    return {
        "name": chart.name,
        "title": fmt.safe(chart.title, 120),
        "note": fmt.safe(chart.note, 600),
        "svg": [(size, Markup(drawn)) for size, drawn in inline(chart, half=half)],
        "data": _table(plain("", heads, chart.rows)),
    }


def _groups(drawn: Iterable[Chart]) -> Iterator[dict[str, Any]]:
    """Charts in their order; small ones that follow each other stand side by side, with one note for all."""
    for small, each in itertools.groupby(drawn, key=lambda chart: chart.small):
        group = list(each)
        note = max((chart.note for chart in group), key=len) if small else ""
        yield {"small": small, "note": note, "charts": [_chart(chart) for chart in group]}


def _findings(groups: Iterable[FindingGroup], named: set[str]) -> Iterator[dict[str, Any]]:
    """Findings, each rule's in one line that unfolds."""
    for group in groups:
        about = fmt.safe(group.about(_MOST_ABOUT), 200)
        yield {"group": group, "anchor": group.code not in named, "about": about}
        named.add(group.code)


def _contents(shown: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """(anchor, words) of every part of the page that is there."""
    for one in shown:
        if one.background or not one.name:
            continue
        charts = [each for part in one.parts if isinstance(part, Pictures) for each in part.charts]
        many = sum(len(part.groups) for part in one.parts if isinstance(part, Findings))
        if one.name != "charts":
            yield one.name, f"{one.title} ({many})" if many else one.title
        elif len(charts) <= _MOST_LISTED:
            yield from ((each.name, each.title) for each in charts)
        else:
            yield one.name, f"{one.title} ({len(charts)})"
    yield from [("how", one.title) for one in shown if one.background][:1]
