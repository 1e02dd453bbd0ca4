"""What each request of a mix came to: a line each, for one load and for the cases of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from assay.core import units as fmt
from assay.model.measurement import Measurement, RequestFigures
from assay.report.document import Cell, Column, Table, TableLine, table
from assay.stats.quantiles import case_quantile

_LONGEST = 60
_PERCENTILES = (0.5, 0.9, 0.99)
_COLUMNS = (
    Column("request", "request", key=True),
    Column("throughput", "answers/s", right=True),
    Column("completed", "right", right=True),
    Column("failed", "failed", right=True),
    *(Column(f"p{100 * p:g}", f"p{100 * p:g}", right=True) for p in _PERCENTILES),
    Column("max", "max", right=True),
    Column("unusual", "statuses and failures"),
)


def of_load(measured: Measurement, *, times: bool) -> Table | None:
    """The table of one load; None where all requests have one name. Without `times` they are left out."""
    found = of_cases({"": (measured,)}, times=times)
    return found if found.lines else None


def of_cases(cases: Mapping[str, Sequence[Measurement]], *, times: bool = True) -> Table:
    """The same of the trials of each case, by its name: counts of all of them, times as of other tables. A
    single case is not named."""
    lines = [line for name, trials in cases.items() for line in _lines(name, trials, times)]
    is_open = any(one.response_time is not None for one in chain.from_iterable(cases.values()))
    note = "response time from the intended start" if is_open else "service time from the send"
    columns = (Column("server", "server", key=len(cases) > 1), *_COLUMNS)
    return table("", columns, lines, note)


def _lines(case: str, trials: Sequence[Measurement], times: bool) -> Iterator[TableLine]:
    named: dict[str, list[RequestFigures]] = {}
    for one in chain.from_iterable(trial.by_request for trial in trials):
        named.setdefault(one.name, []).append(one)
    seconds = sum(trial.measured_ns for trial in trials) / 1e9
    for name, figures in named.items():
        completed = sum(one.completed for one in figures)
        yield TableLine(
            (
                Cell(fmt.safe(case, _LONGEST)),
                Cell(fmt.safe(name, _LONGEST)),
                Cell(fmt.rate(completed / seconds).removesuffix("/s") if seconds else ""),
                Cell(fmt.count(completed)),
                Cell(fmt.count(sum(one.failed for one in figures))),
                *(Cell(text) for text in _times(figures, times)),
                Cell(_unusual(figures), "faint"),
            )
        )


def _times(figures: Sequence[RequestFigures], times: bool) -> Iterator[str]:
    known = [one.response_time or one.service_time for one in figures]
    for p in _PERCENTILES:
        found = case_quantile(known, p) if times else None
        yield fmt.time(found.value) if found else ""
    most = max((one.max_ns for one in known), default=0)
    yield fmt.time(most) if times and most else ""


def _unusual(figures: Sequence[RequestFigures]) -> str:
    """Statuses where they are not all 200, then ways of failing."""
    statuses, failures = Counter[str](), Counter[str]()
    for one in figures:
        statuses.update(one.statuses)
        failures.update(one.failures)
    shown = statuses if set(statuses) - {"200"} else {}
    said = [f"{status}: {fmt.count(count)}" for status, count in sorted(shown.items())]
    said += [f"{kind.replace('_', ' ')}: {fmt.count(count)}" for kind, count in failures.items()]
    return ", ".join(said)
