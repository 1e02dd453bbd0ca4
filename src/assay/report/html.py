"""A run as one HTML file: works offline and without a script, light and dark, on a phone and on paper.

Everything that came from a server or a file passes through the template's escaping; charts are SVG that is
drawn here, whose texts are escaped where they are drawn.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from assay.core import units as fmt
from assay.model.run import Run
from assay.report.charts import Chart, charts, colour, hues, inline, style, variables
from assay.report.document import FindingGroup, Table, Tone, plain
from assay.report.model.profiles import ProfilePair, beside
from assay.report.model.report import report_of
from assay.report.model.values import Report

if TYPE_CHECKING:
    from jinja2 import Environment

_MOST_ABOUT = 3
"""How many subjects the one line of a finding names."""

_MOST_LISTED = 16
"""How many charts the contents name one by one."""

Hues = Mapping[str, int | None]
"""The colour of each server, by its name."""

_CLASSES: dict[Tone, str] = {"good": "good", "warn": "warn-word", "bad": "bad"}


def render(run: Run, pair: ProfilePair | None = None) -> str:
    """Write the page. `pair` is the run with that under the other profile, if there is one."""
    told, colours = report_of(run), hues(run.header.cases)
    said = _context(told, colours)
    if pair:
        both = beside(pair)
        tables, extra = _tables(both.tables, "beside", colours), _tables(both.extra, "profiles")
        said["beside"] = {"told": both, "tables": tables, "extra": extra}
    else:
        said["beside"] = None
    made = charts(run, told.figures)
    first = [chart for chart in made if chart.first]
    claimed = next((chart for chart in made if chart.name == "claims"), None)
    said |= {
        "hero": [chart_words(chart, half=len(first) > 1) for chart in first],
        "claims_chart": claimed and chart_words(claimed),
        "charts": _groups(chart for chart in made if chart not in (*first, claimed)),
    }
    return _write("report", **said, contents=list(_contents(said)))


def page(name: str, title: str, base: str | None, **said: object) -> str:
    """Write one of the pages around the report; `base` is the path below which all of them are,
    None for one that stands alone."""
    return _write(name, **({"refresh": None, "title": title, "base": base} | said))


def _write(name: str, **said: object) -> str:
    from markupsafe import Markup

    own = resources.files("assay.report").joinpath("page", "report.css").read_text(encoding="utf-8")
    look = Markup(variables() + own + style())
    return _pages().get_template(f"{name}.html.jinja").render(style=look, **said)


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


# --- what every page is made of -------------------------------------------------------------


def table(one: Table, colours: Hues | None = None) -> dict[str, Any]:
    """A table as the templates show it: what names a line comes first. `colours` are of the names."""
    places = sorted(range(len(one.columns)), key=lambda place: not one.columns[place].key)
    columns = [one.columns[place] for place in places]
    rows = [([line.cells[place] for place in places], line) for line in one.lines]
    return {
        "heads": [(column.head, column.right, column.name) for column in columns],
        "rows": [
            {
                "cells": [cell.text for cell in cells],
                "tones": [_CLASSES.get(cell.tone, "") for cell in cells],
                "apart": line.apart,
                "part": line.inner,
                "hue": colour(colours[cells[0].text]) if colours and cells[0].text in colours else None,
            }
            for cells, line in rows
        ],
        "note": f"{one.note}." if one.note else "",
    }


def chart_words(chart: Chart, *, half: bool = False) -> dict[str, Any]:
    """A chart as the templates show it; `half` of a page wide where two stand side by side."""
    from markupsafe import Markup

    heads = (chart.heads[0], *(f"{head}:" for head in chart.heads[1:]))
    return {
        "name": chart.name,
        "title": fmt.safe(chart.title, 120),
        "note": fmt.safe(chart.note, 600),
        "small": chart.small,
        "svg": [(size, Markup(drawn)) for size, drawn in inline(chart, half=half)],
        "data": table(plain("", heads, chart.rows)),
    }


def finding_words(groups: Iterable[FindingGroup]) -> Iterator[dict[str, Any]]:
    """Findings, each rule's in one line that unfolds."""
    named: set[str] = set()
    for group in groups:
        subjects = [seen.subject for seen in group.subjects if seen.subject]
        about = ", ".join(subjects[:_MOST_ABOUT]) or group.subjects[0].evidence
        more = len(subjects) - _MOST_ABOUT
        yield {
            "group": group,
            "anchor": group.code not in named,
            "about": fmt.safe(about, 200) + (f" and {more} more" if more > 0 else ""),
        }
        named.add(group.code)


# --- the report -----------------------------------------------------------------------------


def _context(told: Report, colours: Hues) -> dict[str, Any]:
    """What the template says in words and tables; plain text all of it."""
    answer = told.answer
    return {
        "told": told,
        "asides": (*answer.sure[:1], *answer.surer),
        "remarks": (*answer.sure[1:], *answer.why),
        "results": _tables((*told.results, *told.tables), "results", colours),
        "claims": table(told.claims) if told.claims else None,
        "findings": list(finding_words(told.findings)),
        "tables": _tables([one for one in told.about if len(one.columns) > 1], "about", colours),
    }


def _tables(tables: Sequence[Table], anchor: str, colours: Hues | None = None) -> list[dict[str, Any]]:
    return [
        {"anchor": f"{anchor}-{place}", "title": one.title, "table": table(one, colours)}
        for place, one in enumerate(tables, start=1)
    ]


def _groups(drawn: Iterable[Chart]) -> list[dict[str, Any]]:
    """Charts in their order; small ones that follow each other stand side by side, with one note for all."""
    found = []
    for small, each in itertools.groupby(drawn, key=lambda chart: chart.small):
        group = list(each)
        note = max((chart.note for chart in group), key=len) if small else ""
        found.append({"small": small, "note": note, "charts": [chart_words(chart) for chart in group]})
    return found


def _contents(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(anchor, words) of every part of the page that is there."""
    yield from ((one["anchor"], one["title"]) for one in said["results"])
    for there, anchor, words in (
        (said["told"].failures, "failed", "Not measured"),
        (said["beside"], "beside", said["beside"] and said["beside"]["told"].title),
        (said["claims"], "claimed", "Published against measured"),
    ):
        if there:
            yield anchor, words
    drawn = [(chart["name"], chart["title"]) for group in said["charts"] for chart in group["charts"]]
    yield from drawn if len(drawn) <= _MOST_LISTED else [("charts", f"Charts ({len(drawn)})")]
    if said["findings"]:
        yield "findings", f"Findings ({len(said['findings'])})"
    yield "how", "How it was measured"
