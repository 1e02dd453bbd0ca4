"""A run as one HTML file: works offline and without a script, light and dark, on a phone and on paper.

Everything that came from a server or a file passes through the template's escaping; charts are SVG that is
drawn here, whose texts are escaped where they are drawn.
"""

from __future__ import annotations

import functools
import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from assay.report import beside
from assay.report import format as fmt
from assay.report.charts import Chart, charts, colour, hues, inline, style, variables
from assay.report.findings import effect_words, grouped
from assay.report.load import shape
from assay.report.model import answer, claims, followers, profiles, servers
from assay.report.model.profiles import Pair
from assay.report.model.remarks import remarks
from assay.report.model.rows import (
    Row,
    Section,
    failed_rows,
    failure_words,
    interval_words,
    name_of_case,
    ordered_findings,
    relative_words,
    sections,
    throughput_words,
)
from assay.values.estimate import Estimate
from assay.values.run import Run

if TYPE_CHECKING:
    from jinja2 import Environment

_MOST_ABOUT = 3
"""How many subjects the one line of a finding names."""

RESULTS = (
    "server", "tier:", "throughput:", "± (95 %):", "of the best", "p50:", "p99:", "errors:", "server CPU:",
    "memory:", "start:", "findings",
)  # fmt: skip
"""Heads of the table of results; one that ends in a colon stands over a column of figures."""


def render(run: Run, pair: Pair | None = None) -> str:
    """Write the page. `pair` is the run with that under the other profile, if there is one."""
    found = sections(run)
    said = _said(run, found, pair)
    drawn = {chart.name: chart_words(chart) for chart in charts(run, found)}
    hero, claimed = drawn.pop("answer", None), drawn.pop("claims", None)
    said |= {"hero": hero, "claims_chart": claimed, "charts": _groups(drawn.values())}
    return _write("report", **said, contents=list(_contents(said)))


def page(name: str, title: str, base: str | None, **said: object) -> str:
    """Write one of the pages around the report; `base` is the path below which all of them are,
    None for one that stands alone."""
    return _write(name, **({"refresh": None, "title": title, "base": base} | said))


def _write(name: str, **said: object) -> str:
    from markupsafe import Markup

    look = Markup(variables() + _own("report.css") + style())
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


def _own(name: str) -> str:
    return resources.files("assay.report").joinpath("page", name).read_text(encoding="utf-8")


# --- what every page is made of -------------------------------------------------------------


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    note: str = "",
    apart: Sequence[bool] = (),
    part: Sequence[bool] = (),
    colours: Mapping[str, int | None] | None = None,
    tones: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A table as the templates show it, without the columns in which nothing is known.

    `apart` marks rows that do not compete, `part` rows that belong to the one above; `colours` are the
    first cells' and `tones` the classes of cells by their words.
    """
    lines = [list(row) for row in rows]
    kept = [
        place
        for place in range(len(heads))
        if place == 0 or any(line[place] not in ("", fmt.UNKNOWN) for line in lines)
    ]
    return {
        "heads": [
            (fmt.safe(heads[place].removesuffix(":"), 60), heads[place].endswith(":")) for place in kept
        ],
        "rows": [
            {
                "cells": [fmt.safe(line[place], 500) for place in kept],
                "tones": [(tones or {}).get(line[place], "") for place in kept],
                "apart": is_apart,
                "part": is_part,
                "hue": colour(colours[line[0]]) if colours and line[0] in colours else None,
            }
            for line, is_apart, is_part in itertools.zip_longest(lines, apart, part, fillvalue=False)
            if isinstance(line, list)
        ],
        "note": note,
    }


def chart_words(chart: Chart) -> dict[str, Any]:
    """A chart as the templates show it."""
    from markupsafe import Markup

    heads = (chart.heads[0], *(f"{head}:" for head in chart.heads[1:]))
    return {
        "name": chart.name,
        "title": fmt.safe(chart.title, 120),
        "note": fmt.safe(chart.note, 600),
        "small": chart.small,
        "svg": [(size, Markup(drawn)) for size, drawn in inline(chart)],
        "data": table(heads, chart.rows),
    }


def results(section: Section, colours: Mapping[str, int | None]) -> dict[str, Any]:
    """A section's table of results."""
    rows = (*section.candidates, *section.others)
    closed = all(row.closed_loop for row in section.rows)
    clock = "service times of a closed loop: the queue that the client makes" if closed else "response times"
    below = " Rows below the line do not compete." if section.others else ""
    return table(
        RESULTS,
        map(_cells, rows),
        note=f"p50 and p99 are {clock}.{below}",
        apart=[row.case.role != "candidate" for row in rows],
        colours=colours,
        tones={"withheld": "bad", "failed": "bad", "missing": "bad", "best": "good"},
    )


def _cells(row: Row) -> tuple[str, ...]:
    p50 = row.service_p50_ns if row.closed_loop else row.response_p50_ns
    p99 = row.service_p99_ns if row.closed_loop else row.response_p99_ns
    return (
        row.name,
        str(row.tier or ""),
        throughput_words(row),
        interval_words(row).removeprefix("± "),
        relative_words(row),
        fmt.time(_value(p50)),
        fmt.time(_value(p99)),
        fmt.share(row.error_share),
        fmt.share(row.cpu_share),
        fmt.size(_value(row.peak_memory_bytes)),
        fmt.time(_value(row.start_ns)),
        " ".join(row.codes),
    )


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def findings_words(run: Run) -> Iterator[dict[str, Any]]:
    """The findings of a run, each rule's in one line that unfolds."""
    seen: set[str] = set()
    for group in grouped(ordered_findings(run), lambda case: name_of_case(run, case)):
        first = group.first
        subjects = [subject for subject, _ in group.subjects if subject]
        about = ", ".join(subjects[:_MOST_ABOUT]) or group.subjects[0][1]
        more = len(subjects) - _MOST_ABOUT
        yield {
            "code": first.code,
            "anchor": first.code not in seen,
            "severity": first.severity,
            "title": fmt.safe(first.title),
            "about": fmt.safe(about, 200) + (f" and {more} more" if more > 0 else ""),
            "subjects": [(fmt.safe(subject, 200), fmt.safe(said, 500)) for subject, said in group.subjects],
            "meaning": fmt.safe(first.meaning, 1000),
            "effect": effect_words(first),
            "remedy": fmt.safe(first.remedy, 1000),
            "source": fmt.safe(first.source),
        }
        seen.add(first.code)


# --- the report -----------------------------------------------------------------------------


def _said(run: Run, found: Sequence[Section], pair: Pair | None) -> dict[str, Any]:
    """What the template says in words and tables; plain text all of it."""
    header, judgement = run.header, run.judgement
    alone, following = followers.apart(found)
    colours = hues(header.cases)
    sentences = answer.answers(run, found)
    asides = [one for one in sentences if one.startswith(answer.ASIDES)]
    shown = [
        {
            "anchor": f"results-{place}",
            "title": fmt.safe(f"Results: {section.title}" if section.title else "Results"),
            "table": results(section, colours),
        }
        for place, section in enumerate(alone, start=1)
    ]
    shown += [
        {
            "anchor": f"following-{place}",
            "title": fmt.safe(one.title),
            "table": table(one.heads, one.lines, note=f"{one.note}.", colours=colours),
        }
        for place, one in enumerate(following, start=1)
    ]
    return {
        "title": fmt.safe(answer.name(run)),
        "question": fmt.safe(answer.question(run), 2000),
        "answers": [fmt.safe(one, 1000) for one in sentences if one not in asides],
        "asides": [fmt.safe(one, 1000) for one in (*asides, *remarks(run, found))],
        "standing": answer.standing(run),
        "hallmark": judgement is not None and judgement.hallmark,
        "which": fmt.safe(answer.title(run)),
        "results": shown,
        "failures": list(_failures(found)),
        "beside": _beside(pair, colours) if pair else None,
        "claims": _claims(run),
        "findings": list(findings_words(run)),
        "tables": list(_tables(run)),
        "circumstances": list(_circumstances(run)),
        "command": fmt.safe(shlex.join(header.command), 2000),
        "version": header.environment.assay_version,
        "run_id": fmt.safe(header.run_id),
    }


def _groups(drawn: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Charts in their order; small ones that follow each other stand side by side."""
    return [
        {"small": small, "charts": list(group)}
        for small, group in itertools.groupby(drawn, key=lambda chart: bool(chart["small"]))
    ]


def _contents(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(anchor, words) of every part of the page that is there."""
    yield from ((one["anchor"], one["title"]) for one in said["results"])
    for key, anchor, words in (
        ("failures", "failed", "Not measured"),
        ("beside", "beside", beside.TITLE),
        ("claims", "claimed", "Published against measured"),
    ):
        if said[key]:
            yield anchor, words
    for group in said["charts"]:
        yield from ((chart["name"], chart["title"]) for chart in group["charts"])
    if said["findings"]:
        yield "findings", f"Findings ({len(said['findings'])})"
    yield from ((one["anchor"], one["title"]) for one in said["tables"])
    yield "how", "How it was measured"


def _beside(pair: Pair, colours: Mapping[str, int | None]) -> dict[str, Any]:
    """The two profiles side by side, in words and cells."""
    tables = []
    for one in profiles.tables(pair):
        lines = sorted(one.lines, key=lambda line: not line.competes)
        apart = [not line.competes for line in lines]
        tables.append(
            {
                "title": fmt.safe(beside.title_of(one)),
                "table": table(beside.HEADS, map(beside.cells, lines), apart=apart, colours=colours),
                "told": [fmt.safe(said, 1000) for said in profiles.told(one)],
            }
        )
    claimed = [beside.claim_cells(line) for line in profiles.claims(pair)]
    settings = [(line.name, line.setting, line.published, line.fair) for line in profiles.settings(pair)]
    return {
        "title": beside.TITLE,
        "which": [(profile, fmt.safe(said)) for profile, said in beside.which(pair)],
        "warnings": [fmt.safe(said, 500) for said in profiles.warnings(pair)],
        "tables": tables,
        "note": beside.NOTE,
        "claims": table(beside.CLAIM_HEADS, claimed) if claimed else None,
        "changes": [fmt.safe(said) for said in beside.changes(pair)],
        "settings": table(beside.SETTING_HEADS, settings) if settings else None,
    }


def _failures(found: Sequence[Section]) -> Iterator[dict[str, str]]:
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        yield {
            "name": fmt.safe(row.failed_name, 80),
            "where": failure_words(row),
            "reason": fmt.safe(row.failure.reason, 1000),
            "log": "\n".join(fmt.safe(line) for line in row.failure.log_tail.splitlines()[-20:]),
        }


def _claims(run: Run) -> dict[str, Any] | None:
    rows = claims.rows(run)
    if not rows:
        return None
    return table(
        ("claim", "published:", f"measured ({run.header.profile}):", "verdict", "why"),
        [(row.words, row.published, row.measured, row.standing, row.reason) for row in rows],
        part=[row.is_part for row in rows],
        tones={
            "supported": "good",
            "supported: direction and size": "good",
            "direction holds, size does not": "warn-word",
            "contradicted": "bad",
        },
    )


def _tables(run: Run) -> Iterator[dict[str, Any]]:
    for anchor, title, (heads, rows) in (
        ("published", "As published", servers.published(run)),
        ("servers", "Servers", servers.configuration(run)),
    ):
        if rows:
            yield {"anchor": anchor, "title": title, "table": table(heads, rows)}


def _circumstances(run: Run) -> Iterator[tuple[str, str]]:
    seen = run.header.environment
    yield "machine", fmt.safe(answer.machine(run), 500)
    for load in dict.fromkeys(shape(trial.plan) for trial in run.trials):
        yield "load", load
    blocks, seed = answer.blocks_of(run), run.header.design.seed
    yield "order", f"{blocks} randomised blocks, seed {seed}, a fresh server for each trial"
    yield "versions", fmt.safe(", ".join(f"{tool} {said}" for tool, said in _versions(run)), 1000)
    if seen.git_commit:
        yield "commit", fmt.safe(seen.git_commit)
    yield "descriptors", fmt.count(seen.descriptor_limit)


def _versions(run: Run) -> Iterable[tuple[str, str]]:
    yield "assay", run.header.environment.assay_version
    yield from run.header.environment.tool_versions.items()
