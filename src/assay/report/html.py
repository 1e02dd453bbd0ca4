"""A run as one HTML file: works offline, light and dark, on a phone and on paper.

Everything that came from a server or a file passes through the template's escaping; data for
the charts is JSON in which no markup can begin.
"""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

from assay.report import beside
from assay.report import format as fmt
from assay.report.charts import Chart, charts
from assay.report.charts.chart import Spec, config
from assay.report.findings import effect_words, grouped
from assay.report.load import shape
from assay.report.model import answer, claims, followers, profiles, servers
from assay.report.model.followers import Follower
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

_VEGA_LITE = "6.4"
"""The version whose specifications Altair writes."""


def render(run: Run, pair: Pair | None = None) -> str:
    """Write the page. `pair` is the run with that under the other profile, if there is one."""
    from markupsafe import Markup

    found = sections(run)
    drawn = charts(run, found)
    return (
        _pages()
        .get_template("report.html.jinja")
        .render(
            **_said(run, found),
            beside=_beside(pair) if pair else None,
            charts=drawn,
            style=Markup(_own("report.css")),
            script=Markup(_own("report.js")),
            bundle=Markup(_bundle()),
            data=Markup(_data(drawn)),
        )
    )


def page(name: str, title: str, base: str, **said: object) -> str:
    """Write one of the pages around the report; `base` is the path below which all of them are."""
    from markupsafe import Markup

    known = {"refresh": None, "style": Markup(_own("report.css")), "title": title, "base": base}
    return _pages().get_template(f"{name}.html.jinja").render(**(known | said))


@functools.cache
def _pages() -> Environment:
    """The templates; whatever they are given is made visible, and escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("assay.report", "page")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, finalize=_finalize
    )


def _finalize(value: object) -> object:
    """What a template prints; its own markup is no plain string."""
    return fmt.visible(value, lines=True) if type(value) is str else value


def _said(run: Run, found: Sequence[Section]) -> dict[str, Any]:
    """What the template says in words and tables; plain text all of it."""
    header, judgement = run.header, run.judgement
    alone, following = followers.apart(found)
    return {
        "title": fmt.safe(answer.name(run)),
        "question": fmt.safe(answer.question(run), 2000),
        "answers": [
            fmt.safe(sentence, 1000) for sentence in (*answer.answers(run, found), *remarks(run, found))
        ],
        "standing": answer.standing(run),
        "hallmark": judgement is not None and judgement.hallmark,
        "which": fmt.safe(answer.title(run)),
        "profile": fmt.safe(header.profile),
        "sections": [section_words(section) for section in alone],
        "followers": [_follower(one) for one in following],
        "failures": list(_failures(found)),
        "claims": list(_claims(run)),
        "findings": list(_findings(run)),
        "tables": list(_tables(run)),
        "circumstances": list(_circumstances(run)),
        "command": fmt.safe(shlex.join(header.command), 2000),
        "version": header.environment.assay_version,
        "run_id": fmt.safe(header.run_id),
    }


def section_words(section: Section) -> dict[str, Any]:
    """A section as the templates show it."""
    closed = all(row.closed_loop for row in section.rows)
    return {
        "title": fmt.safe(section.title),
        "clock": "service times of a closed loop: the queue that the client makes"
        if closed
        else "response times",
        "rows": [_row(row) for row in (*section.candidates, *section.others)],
    }


def _row(row: Row) -> dict[str, Any]:
    bad = row.withheld or (row.throughput is None and row.failure is not None)
    p50 = row.service_p50_ns if row.closed_loop else row.response_p50_ns
    p99 = row.service_p99_ns if row.closed_loop else row.response_p99_ns
    candidate = row.case.role == "candidate"
    return {
        "apart": not candidate,
        "tier": (row.tier or fmt.UNKNOWN) if candidate else "",
        "name": fmt.safe(row.name, 80),
        "bad": bad,
        "throughput": throughput_words(row),
        "interval": interval_words(row).removeprefix("± "),
        "relative": relative_words(row),
        "p50": fmt.time(_value(p50)),
        "p99": fmt.time(_value(p99)),
        "errors": fmt.share(row.error_share),
        "cpu": fmt.share(row.cpu_share),
        "memory": fmt.size(_value(row.peak_memory_bytes)),
        "start": fmt.time(_value(row.start_ns)),
        "codes": row.codes,
    }


def _follower(one: Follower) -> dict[str, Any]:
    return {
        "title": fmt.safe(one.title),
        "note": f"{one.note}.",
        "heads": [(head.removesuffix(":"), head.endswith(":")) for head in one.heads],
        "rows": [[fmt.safe(cell, 80) for cell in line] for line in one.lines],
    }


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _beside(pair: Pair) -> dict[str, Any]:
    """The two profiles side by side, in words and cells."""
    return {
        "title": beside.TITLE,
        "which": [(profile, fmt.safe(said)) for profile, said in beside.which(pair)],
        "warnings": [fmt.safe(said, 500) for said in profiles.warnings(pair)],
        "heads": _heads(beside.HEADS),
        "tables": [
            {
                "title": fmt.safe(beside.title_of(table)),
                "rows": [
                    (not line.competes, [fmt.safe(cell, 80) for cell in beside.cells(line)])
                    for line in sorted(table.lines, key=lambda line: not line.competes)
                ],
                "told": [fmt.safe(said, 1000) for said in profiles.told(table)],
            }
            for table in profiles.tables(pair)
        ],
        "note": beside.NOTE,
        "claim_heads": _heads(beside.CLAIM_HEADS),
        "claims": [
            [fmt.safe(cell, 500) for cell in beside.claim_cells(line)] for line in profiles.claims(pair)
        ],
        "changes": [fmt.safe(said) for said in beside.changes(pair)],
        "setting_heads": _heads(beside.SETTING_HEADS),
        "settings": [
            [fmt.safe(cell, 80) for cell in (line.name, line.setting, line.published, line.fair)]
            for line in profiles.settings(pair)
        ],
    }


def _heads(heads: Iterable[str]) -> list[tuple[str, bool]]:
    """Each head, and whether its column is aligned right."""
    return [(fmt.safe(head.removesuffix(":"), 60), head.endswith(":")) for head in heads]


def _failures(found: Sequence[Section]) -> Iterator[dict[str, str]]:
    for row in failed_rows(found):
        assert row.failure is not None  # chosen for it
        log = "\n".join(fmt.safe(line) for line in row.failure.log_tail.splitlines()[-20:])
        where = failure_words(row)
        yield {
            "name": fmt.safe(row.failed_name, 80),
            "where": where,
            "reason": fmt.safe(row.failure.reason, 1000),
            "log": log,
        }


def _claims(run: Run) -> Iterator[dict[str, Any]]:
    for row in claims.rows(run):
        yield asdict(row) | {"words": fmt.safe(row.words, 500), "reason": fmt.safe(row.reason, 500)}


def _findings(run: Run) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for group in grouped(ordered_findings(run), lambda case: name_of_case(run, case)):
        first = group.first
        yield {
            "code": first.code,
            "anchor": first.code not in seen,
            "severity": first.severity,
            "title": fmt.safe(first.title),
            "subjects": [(fmt.safe(subject, 200), fmt.safe(said, 500)) for subject, said in group.subjects],
            "meaning": fmt.safe(first.meaning, 1000),
            "effect": effect_words(first),
            "remedy": fmt.safe(first.remedy, 1000),
            "source": fmt.safe(first.source),
        }
        seen.add(first.code)


def _tables(run: Run) -> Iterator[dict[str, Any]]:
    for title, (heads, rows) in (
        ("As published", servers.published(run)),
        ("Servers", servers.configuration(run)),
    ):
        if rows:
            yield {
                "title": title,
                "heads": _heads(heads),
                "rows": [[fmt.safe(cell, 200) for cell in row] for row in rows],
            }


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


def _own(name: str) -> str:
    return resources.files("assay.report").joinpath("page", name).read_text(encoding="utf-8")


@functools.cache
def _bundle() -> str:
    """Vega, Vega-Lite and vega-embed in one script, from vl-convert: nothing is fetched.

    Within HTML a script ends at the first "</script", also inside a string.
    """
    import vl_convert

    script = vl_convert.javascript_bundle(vl_version=_VEGA_LITE)  # type: ignore[call-arg]  # a snippet is optional
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _data(drawn: Iterable[Chart]) -> str:
    # Charts of one kind differ in their data only: each specification is written once.
    specs: list[Spec] = []
    placed: dict[str, dict[str, Any]] = {}
    for chart in drawn:
        spec = {key: value for key, value in chart.spec.items() if key != "datasets"}
        if spec not in specs:
            specs.append(spec)
        placed[chart.name] = {"spec": specs.index(spec), "datasets": chart.spec["datasets"]}
    document = {"light": config(), "dark": config(dark=True), "specs": specs, "charts": placed}
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
