"""A search for a capacity: its answer in sentences, its trials as a table, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report.model.rows import name_of_case, ordered_findings
from assay.report.model.values import Answer, Cell, Column, Table, TableLine, table
from assay.verdict.search import SearchAnswer, Step, answer_of

_COLUMNS = (
    Column("trial", "trial", right=True, key=True),
    Column("rate", "rate", right=True, key=True),
    Column("objective", "objective"),
    Column("seen", "seen"),
)


def in_sentences(run: Run) -> Answer:
    """What was found, how sure that is, and what the server did not survive."""
    found = answer_of(run)
    more = "To settle it: give it a larger --budget, or a wider --resolution."
    searching = found.capacity is not None and found.state == "searching" and not _invalid(run)
    return Answer(headline=tuple(_sentences(run, found)), surer=(more,) * searching)


def steps(run: Run) -> Table:
    """Each trial in the order of the search."""
    lines = (
        TableLine(
            (
                Cell(str(number)),
                Cell(fmt.rate(step.rate_per_s)),
                Cell(_step_words(step), "plain" if step.holds else "warn"),
                Cell(fmt.safe(step.why, 200)),
            )
        )
        for number, step in enumerate(answer_of(run).steps, start=1)
    )
    return table("Trials of the search", _COLUMNS, lines)


def line(found: SearchAnswer) -> str:
    """The last trial and where the search stands, in a line."""
    step = found.steps[-1]
    why = fmt.safe(step.why, 120)
    said = f"[{len(found.steps):>2}] {fmt.rate(step.rate_per_s)}: {_step_words(step)} ({why})"
    return f"{said}; capacity {between(found.capacity)}"


def _step_words(step: Step) -> str:
    if step.died:
        return "died"
    return {True: "held", False: "missed", None: "no answer"}[step.holds]


def _sentences(run: Run, found: SearchAnswer) -> Iterator[str]:
    name = name_of_case(run, run.header.cases[0].id)
    objective = found.bounds.objective
    trials = fmt.counted(len(found.steps), "trial")
    capacity, rate = found.capacity, fmt.rate
    if _invalid(run):
        yield f"The capacity of {name} is invalid."
    elif capacity is None:
        why = found.steps[-1].why if found.steps else "no trial ended"
        yield f"Nothing is known of {name}: {why}."
    elif found.state == "found":
        assert capacity.low is not None and capacity.high is not None  # an interval ended the search
        sure = f"95 % sure: {rate(capacity.low)} to {rate(capacity.high)}, {trials}"
        yield f"{name} holds {objective} up to {rate(capacity.value)} ({sure})."
    elif found.state == "below the range":
        last = next(step for step in reversed(found.steps) if step.holds is False)
        at = f"{rate(capacity.value)}, the lowest that was asked"
        yield f"{name} does not hold {objective} even at {at} ({trials}): {last.why}."
    elif found.state == "above the range":
        yield f"{name} holds {objective} at {rate(capacity.value)}, {_top(found)} ({trials})."
    else:
        yield f"Not settled after {trials}: {name} holds {objective} {_so_far(capacity)}."
    if found.deaths:
        first = min(found.deaths, key=lambda step: step.rate_per_s)
        number = f"{len(found.deaths)} of {trials}"
        yield f"The server did not survive {rate(first.rate_per_s)} ({number}): {first.why}."


def _invalid(run: Run) -> bool:
    """Whether the times are no results that the objective was held to."""
    return verdict.invalid(ordered_findings(run), run.header.cases[0].id, "times")


def _top(found: SearchAnswer) -> str:
    if found.limited_per_s is not None and found.capacity and found.limited_per_s <= found.capacity.value:
        return "and the generator reached its own limit there"
    if found.limited_per_s is not None:
        return f"and the generator reached its own limit at {fmt.rate(found.limited_per_s)}"
    return "the highest that was asked: give --to a higher rate"


def _so_far(capacity: Estimate) -> str:
    """What trials have shown of a capacity that is not settled."""
    at = fmt.rate(capacity.value)
    if capacity.high is None:
        return f"at {at} at least: it missed it in no trial above"
    if capacity.low is None:
        return f"below {at} at most: it missed it there, and held it in no trial below"
    return f"up to {between(capacity)}"


def between(capacity: Estimate | None) -> str:
    """A capacity with its interval, or the bound that is known of it."""
    if capacity is None:
        return "not known yet"
    if capacity.low is None:
        return f"at most {fmt.rate(capacity.value)}"
    if capacity.high is None:
        return f"at least {fmt.rate(capacity.value)}"
    return f"{fmt.rate(capacity.value)} [{fmt.rate(capacity.low)}, {fmt.rate(capacity.high)}]"
