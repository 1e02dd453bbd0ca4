"""Charts of a run as SVG, drawn at report time: each with the data behind it as a table.

A run has those charts that its data can fill, in the order in which a reader asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.core import units as fmt
from assay.model.design import SearchDesign
from assay.model.run import Run
from assay.report.charts import latency as latencies
from assay.report.charts import rates
from assay.report.charts.answer import answer, claims, latency
from assay.report.charts.cores import cores
from assay.report.charts.data import Placed
from assay.report.charts.flames import flames
from assay.report.charts.rates import resources, throughput
from assay.report.charts.timed import blocks, courses, over_time, percentiles
from assay.report.document import Chart
from assay.report.model import circumstances as told
from assay.report.model.rows import LoadRows, competing, sections

__all__ = ["about", "charts"]


def charts(run: Run, found: Sequence[LoadRows] | None = None) -> tuple[Chart, ...]:
    """Every chart of the run, the one that answers first. `found` are its sections."""
    found = sections(run) if found is None else found
    made = [chart for section in found for chart in _of_section(run, section, len(found) > 1)]
    across = (*blocks(run), *courses(run, found), *rates.objectives(run), *rates.across(run, found))
    across = (*across, *flames(run, found), cores(run, found))
    drawn = [chart for chart in (*made, *across) if chart is not None]
    first, beside = answer(run, found), None
    alone = len(competing(run.header.cases)) == 1
    if first is not None:
        beside = _taken(drawn, "objective") if isinstance(run.header.design, SearchDesign) else None
        beside = beside or latency(run, found)
    elif alone and len(run.trials) == 1 and (first := _taken(drawn, "over-time")):
        # One load: how it went, and its times; one mark would repeat its figure.
        beside = _taken(drawn, "percentiles")
        _taken(drawn, "throughput")
    elif (alone or _closed(found)) and (first := _taken(drawn, "throughput")):
        # What a server alone serves is the answer, and of servers without ratios there is no other.
        first, beside = replace(first, name="answer"), latency(run, found)
    head = (replace(chart, first=True) for chart in (first, beside) if chart is not None)
    claimed = claims(run)
    return (*head, *((claimed,) if claimed else ()), *drawn)


def _closed(found: Sequence[LoadRows]) -> bool:
    """Whether one closed loop is all there is."""
    return len(found) == 1 and all(row.closed_loop for row in found[0].rows)


def _taken(drawn: list[Chart], name: str) -> Chart | None:
    """The first chart whose name begins so, out of the list; None where there is none."""
    found = next((chart for chart in drawn if chart.name.startswith(name)), None)
    if found is not None:
        drawn.remove(found)
    return found


def about(run: Run) -> str:
    """What a picture that stands alone must say: study, machine, date, run."""
    header = run.header
    seen = header.environment
    machine = f"{seen.cpu_model}, {fmt.counted(seen.cores, 'core')} ({seen.hostname})"
    return fmt.safe(f"{told.title(run)}; {machine}; run {header.run_id}; Assay {seen.assay_version}", 500)


def _of_section(run: Run, section: LoadRows, several: bool) -> Iterator[Chart | None]:
    place = Placed(run, section, several)
    if all(row.case.search for row in section.rows):
        yield throughput(place, "capacity", "Capacity", "the highest rate at which the objective held")
        return
    if all(row.case.rate for row in section.rows):  # an open loop at a share of capacity: times alone
        yield percentiles(place)
        yield from latencies.over_time(place)
        return
    if not isinstance(run.header.design, SearchDesign):  # whose trials are at many rates
        yield throughput(place, "throughput", "Throughput", "right answers a second")
    yield over_time(place)
    yield percentiles(place)
    yield from latencies.over_time(place)
    yield from resources(place)
