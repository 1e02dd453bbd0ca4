"""A series of runs on the terminal: how long it will take, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.core import units as fmt
from assay.model.run import Run, Series, SeriesPart
from assay.report.model import answer
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE, plain_table


@dataclass(frozen=True)
class Expected:
    """How long a run is likely to take, in seconds; `lacking` names the servers that cannot run here."""

    part: SeriesPart
    cases: int
    blocks: int
    least_s: float
    most_s: float
    lacking: tuple[str, ...]


def estimate(expected: Sequence[Expected], refused: Sequence[tuple[SeriesPart, str]]) -> RenderableType:
    """Say before it starts what is to be done and for how long."""
    least, most = sum(one.least_s for one in expected), sum(one.most_s for one in expected)
    number = fmt.counted(len(expected), "run")
    parts: list[RenderableType] = [Text(f"{number}, {_span(least, most)} of measuring", HEADING)]
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, no_wrap=justify == "right")
    for one in expected:
        size = f"{fmt.counted(one.cases, 'case')} x {one.blocks}"
        table.add_row(_name(one.part), one.part.profile, size, _span(one.least_s, one.most_s))
    parts.append(table)
    for lacking in dict.fromkeys(name for one in expected for name in one.lacking):
        parts.append(
            Text(f"{fmt.safe(lacking)} lacks something here: it will be a row with the reason", FAINT)
        )
    for part, problem in refused:
        parts.append(
            Text(f"{_name(part)}, {part.profile}: {fmt.safe(problem, 500)}", SEVERITY_STYLE["error"])
        )
    parts.append(Text("Builds come on top where something is new. Ctrl-C keeps what is measured.", FAINT))
    return Group(*parts)


def summary(series: Series, runs: Mapping[str, Run]) -> RenderableType:
    """Say what came of each run of the series."""
    table = plain_table()
    for head in ("study", "profile", "what stands against it", "run"):
        table.add_column(head, overflow="fold")
    for part in series.parts:
        run = runs.get(part.run)
        if part.state == "failed" or run is None:
            said = Text(fmt.safe(part.problem or _UNSHOWN[bool(part.run)], 300), SEVERITY_STYLE["error"])
        else:
            clean = run.judgement is not None and run.judgement.clean
            said = Text(answer.state(run), GOOD if clean else "")
        table.add_row(_name(part), part.profile, said, fmt.safe(part.run or fmt.UNKNOWN))
    return Group(Text(f"\nSeries {fmt.safe(series.series_id)}", HEADING), table)


_UNSHOWN = {False: "not run", True: "its record cannot be read"}


def _name(part: SeriesPart) -> str:
    return fmt.safe(part.study, 40)


def _span(least_s: float, most_s: float) -> str:
    least, most = fmt.span(least_s), fmt.span(most_s)
    return f"about {least}" if least == most else f"about {least} to {most}"
