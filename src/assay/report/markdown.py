"""A run as Markdown: the end screen's content as tables that a README can hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from assay import stats
from assay.report import format as fmt
from assay.report.findings import Grouped, effect_words, grouped
from assay.report.load import shape
from assay.report.model import answer, claims, followers, servers
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
from assay.values.run import Run
from assay.values.trial import Trial

_MOST_LISTED = 24
"""How many subjects of one finding are listed: a sweep of pools makes a hundred pairs of unequal means."""

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$&])")


def render(run: Run) -> str:
    """Write the whole report."""
    return "\n".join(_lines(run)) + "\n"


def summary(run: Run) -> str:
    """Write the report without its single trials: for the summary of a CI step."""
    found = sections(run)
    parts = (*_opening(run, found), *_failures(found), *_claims(run), *_findings(run))
    return "\n".join(parts) + "\n"


def measured(run: Run) -> Iterator[str]:
    """The lines that tell what was measured, without title, question and single trials."""
    found = sections(run)
    yield from _answers(run, found)
    yield from _failures(found)
    yield from _claims(run)
    yield from _findings(run)
    yield from _tables(run)
    yield from _circumstances(run)
    yield ""


def escape(text: str, longest: int = 500) -> str:
    """Make text from a server or a file plain: no markup, no line break, no table cell of its own."""
    return _SPECIAL.sub(r"\\\1", fmt.safe(text, longest))


def _lines(run: Run) -> Iterator[str]:
    found = sections(run)
    yield from _opening(run, found)
    yield from _failures(found)
    yield from _claims(run)
    yield from _findings(run)
    yield from _tables(run)
    yield from _trials(run, found)
    yield from _circumstances(run)


def _opening(run: Run, found: Sequence[Section]) -> Iterator[str]:
    yield f"# {escape(answer.name(run))}"
    yield ""
    if answer.question(run):
        yield escape(answer.question(run), 2000)
        yield ""
    yield from _answers(run, found)


def _answers(run: Run, found: Sequence[Section]) -> Iterator[str]:
    """The answers in a sentence each, what stands against them, and the results behind them."""
    for sentence in answer.answers(run, found):
        yield escape(sentence) if sentence.startswith(answer.ASIDES) else f"**{escape(sentence)}**"
        yield ""
    for sentence in remarks(run, found):
        yield escape(sentence)
        yield ""
    yield f"{escape(answer.standing(run))}."
    yield ""
    alone, following = followers.apart(found)
    for section in alone:
        yield from _results(section)
    for one in following:
        yield f"## {escape(one.title)}"
        yield ""
        yield f"{one.note}."
        yield ""
        yield from table(one.heads, ([escape(cell) for cell in line] for line in one.lines))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; a head that ends in a colon aligns its column to the right."""
    yield "| " + " | ".join(head.removesuffix(":") for head in heads) + " |"
    yield "|" + "|".join("---:" if head.endswith(":") else "---" for head in heads) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def _results(section: Section) -> Iterator[str]:
    yield f"## Results{': ' if section.title else ''}{escape(section.title)}"
    yield ""
    clock = "service time, closed loop" if all(row.closed_loop for row in section.rows) else "response time"
    places = ("tier:", "server", "throughput:", "± (95 %)", "of the best")
    behaviour = (f"p50 ({clock}):", f"p99 ({clock}):", "errors:", "server CPU:", "memory:", "start:")
    heads = (*places, *behaviour, "findings")
    yield from table(heads, (_result(row) for row in (*section.candidates, *section.others)))


def _result(row: Row) -> tuple[str, ...]:
    figure = f"**{throughput_words(row)}**" if row.throughput else throughput_words(row)
    p50 = row.service_p50_ns if row.closed_loop else row.response_p50_ns
    p99 = row.service_p99_ns if row.closed_loop else row.response_p99_ns
    candidate = row.case.role == "candidate"
    return (
        str(row.tier or fmt.UNKNOWN) if candidate else "",
        escape(row.name),
        figure,
        interval_words(row).removeprefix("± "),
        escape(relative_words(row)),
        fmt.time(p50.value if p50 else None),
        fmt.time(p99.value if p99 else None),
        fmt.share(row.error_share),
        fmt.share(row.cpu_share),
        fmt.size(row.peak_memory_bytes.value if row.peak_memory_bytes else None),
        fmt.time(row.start_ns.value if row.start_ns else None),
        " ".join(row.codes),
    )


def _failures(found: Sequence[Section]) -> Iterator[str]:
    failed = failed_rows(found)
    if failed:
        yield "## Not measured"
        yield ""
    for row in failed:
        assert row.failure is not None  # chosen for it
        yield f"- {escape(row.failed_name)}: {escape(failure_words(row))}: {escape(row.failure.reason)}"
    if failed:
        yield ""


def _claims(run: Run) -> Iterator[str]:
    found = claims.rows(run)
    if not found:
        return
    yield "## Published claims"
    yield ""
    yield from table(
        ("claim", "published:", "measured", "verdict", "why"),
        (
            (
                f"{'– ' if row.is_part else ''}{escape(row.words)}",
                row.published,
                escape(row.measured),
                row.verdict,
                escape(row.reason),
            )
            for row in found
        ),
    )


def _findings(run: Run) -> Iterator[str]:
    groups = grouped(ordered_findings(run), lambda case: name_of_case(run, case))
    if groups:
        yield "## Findings"
        yield ""
    for group in groups:
        yield from _finding(group)


def _finding(group: Grouped) -> Iterator[str]:
    first = group.first
    yield f"- **{first.code} {first.severity}: {escape(first.title)}.** {escape(first.meaning, 1000)}"
    for subject, evidence in group.subjects[:_MOST_LISTED]:
        yield f"  - {escape(subject)}: {escape(evidence)}" if subject else f"  - {escape(evidence)}"
    if len(group.subjects) > _MOST_LISTED:
        yield f"  - and {len(group.subjects) - _MOST_LISTED} more; the run record has them all"
    yield f"  - *Effect on the answer:* {effect_words(first)}"
    yield f"  - *What to do:* {escape(first.remedy, 1000)}"
    yield f"  - *Source:* {escape(first.source)}"
    yield ""


def _tables(run: Run) -> Iterator[str]:
    """As published, and how each server was configured."""
    for title, (heads, rows) in (
        ("As published", servers.published(run)),
        ("Servers", servers.configuration(run)),
    ):
        if rows:
            yield f"## {title}"
            yield ""
            escaped = [f"{escape(head.removesuffix(':'))}{':' * head.endswith(':')}" for head in heads]
            yield from table(escaped, ([escape(cell) for cell in row] for row in rows))


def _trials(run: Run, found: Sequence[Section]) -> Iterator[str]:
    if not any(trial.measurement for trial in run.trials):
        return
    yield "## Every trial"
    yield ""
    heads = ("server", "block:", "requests/s:", "mean:", "p50:", "p90:", "p99:", "max:", "failed:")
    order = [row.case.id for section in found for row in (*section.candidates, *section.others)]
    trials = sorted(run.trials, key=lambda trial: (order.index(trial.case), trial.block))
    yield from table(heads, (_trial(run, trial) for trial in trials if trial.measurement))


def _trial(run: Run, trial: Trial) -> tuple[str, ...]:
    measured = trial.measurement
    assert measured is not None  # chosen for it
    times = measured.response_time or measured.service_time
    found = stats.quantiles(times, (0.5, 0.9, 0.99))
    return (
        escape(name_of_case(run, trial.case)),
        str(trial.block + 1),
        fmt.count(round(stats.rate_per_s(measured))),
        fmt.time(times.mean_ns if times.count else None),
        *(fmt.time(quantile.value_ns if quantile else None) for quantile in found),
        fmt.time(times.max_ns if times.count else None),
        fmt.count(measured.failed),
    )


def _circumstances(run: Run) -> Iterator[str]:
    header = run.header
    yield "## How it was measured"
    yield ""
    yield f"- {escape(answer.title(run))}"
    for load in dict.fromkeys(shape(trial.plan) for trial in run.trials):
        yield f"- {escape(load)}"
    yield f"- {escape(answer.machine(run))}"
    versions = {"assay": header.environment.assay_version} | header.environment.tool_versions
    yield "- " + ", ".join(f"{escape(tool)} {escape(version)}" for tool, version in versions.items())
    if header.environment.git_commit:
        yield f"- commit {escape(header.environment.git_commit)}"
    yield f"- run {escape(header.run_id)}, made by {escape(shlex.join(header.command), 1000)}"
