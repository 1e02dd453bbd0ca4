"""A search for a capacity: its answer in sentences, its trials as a table, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay import verdict
from assay.report import format as fmt
from assay.report.model.rows import name_of_case
from assay.report.style import FAINT, GOOD, HEADING, SEVERITY_STYLE
from assay.values.estimate import Estimate
from assay.values.run import Run
from assay.verdict.search import Answer, Step, answer_of


def sentences(run: Run) -> tuple[str, ...]:
    """What was found, how sure that is, and what the server did not survive."""
    return tuple(_sentences(run, answer_of(run)))


def tables(run: Run) -> Iterable[RenderableType]:
    """Each trial in the order of the search."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style=FAINT, show_edge=False)
    table.add_column("trial", justify="right", no_wrap=True)
    table.add_column("rate", justify="right", no_wrap=True)
    table.add_column("objective", no_wrap=True)
    table.add_column("seen", overflow="fold")
    for number, step in enumerate(answer_of(run).steps, start=1):
        held = Text(_held(step), "" if step.held else SEVERITY_STYLE["flagged"])
        table.add_row(str(number), fmt.rate(step.rate_per_s), held, fmt.safe(step.why, 200))
    yield Padding(table, (1, 0))


def line(found: Answer) -> str:
    """The last trial and where the search stands, in a line."""
    step = found.steps[-1]
    said = f"[{len(found.steps):>2}] {fmt.rate(step.rate_per_s)}: {_held(step)} ({fmt.safe(step.why, 120)})"
    return f"{said}; capacity {_between(found.capacity)}"


def screen(found: Answer) -> Text:
    """The same for a screen."""
    return Text.assemble(("capacity ", HEADING), (_between(found.capacity), GOOD))


def _held(step: Step) -> str:
    if step.died:
        return "died"
    return {True: "held", False: "missed", None: "no answer"}[step.held]


def _sentences(run: Run, found: Answer) -> Iterator[str]:
    name = name_of_case(run, run.header.cases[0].id)
    objective = found.bounds.objective
    trials = f"{len(found.steps)} trial{'' if len(found.steps) == 1 else 's'}"
    capacity, rate = found.capacity, fmt.rate
    if verdict.withheld(run.judgement.findings if run.judgement else (), run.header.cases[0].id, "times"):
        yield f"The capacity of {name} is withheld; {_worth(run)}."
    elif capacity is None:
        why = found.steps[-1].why if found.steps else "no trial ended"
        yield f"Nothing is known of {name}: {why}."
    elif found.outcome == "found":
        assert capacity.low is not None and capacity.high is not None  # an interval ended the search
        sure = f"95 % sure: {rate(capacity.low)} to {rate(capacity.high)}, {trials}"
        yield f"{name} holds {objective} up to {rate(capacity.value)} ({sure}); {_worth(run)}."
    elif found.outcome == "below the range":
        last = next(step for step in reversed(found.steps) if step.held is False)
        at = f"{rate(capacity.value)}, the lowest that was asked"
        yield f"{name} does not hold {objective} even at {at} ({trials}): {last.why}."
    elif found.outcome == "above the range":
        yield f"{name} holds {objective} at {rate(capacity.value)}, {_top(found)} ({trials}); {_worth(run)}."
    else:
        yield (
            f"Not settled after {trials}: {name} holds {objective} up to {_between(capacity)}; "
            "give it a larger --budget, or a wider --within."
        )
    if found.deaths:
        first = min(found.deaths, key=lambda step: step.rate_per_s)
        number = f"{len(found.deaths)} of {trials}"
        yield f"The server did not survive {rate(first.rate_per_s)} ({number}): {first.why}."


def _top(found: Answer) -> str:
    if found.limited_per_s is not None:
        return f"and the generator reached its own limit at {fmt.rate(found.limited_per_s)}"
    return "the highest that was asked: give --to a higher rate"


def _between(capacity: Estimate | None) -> str:
    if capacity is None:
        return "not known yet"
    if capacity.low is None:
        return f"below {fmt.rate(capacity.value)}"
    if capacity.high is None:
        return f"above {fmt.rate(capacity.value)}"
    return f"{fmt.rate(capacity.value)} [{fmt.rate(capacity.low)}, {fmt.rate(capacity.high)}]"


def _worth(run: Run) -> str:
    if run.judgement is None:
        return "not judged"
    findings = verdict.concerning(run.judgement.findings, run.header.cases[0].id)
    grave = [f"{one.code} {one.severity}" for one in findings if one.severity != "note"]
    return f"no hallmark: {', '.join(dict.fromkeys(grave))}" if grave else "the hallmark holds"
