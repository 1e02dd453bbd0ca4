"""The live words of a study: how far its blocks have come, each case's mean, and the findings so far."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assay.core import format as fmt
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.next.study import WATCHED
from assay.plan.next.warming import warm_up_for
from assay.report.live_words import BAR_WIDTH, LiveWords, RunProgress
from assay.report.load import bar
from assay.report.model.circumstances import because_added, blocks_of
from assay.report.style import FAINT, HEADING
from assay.stats import quantiles, rate_per_s

MOST_CASES = 12
"""Cases listed at once: with the lines around them they fit 24 rows."""


class StudyWords(LiveWords):
    """A line a trial in a log, and a table of cases on a screen."""

    judges = True

    def begins(self, seen: RunProgress) -> str:
        """How much there is to do."""
        header = seen.run.header
        least, most = (fmt.span(sum(each)) for each in zip(*self._expected(seen), strict=True))
        how_long = least if least == most else f"{least} to {most}"
        cases, blocks = fmt.counted(len(header.cases), "case"), fmt.counted(header.blocks or 0, "block")
        study = header.study
        blocks += f" (up to {study.blocks + study.more_blocks})" if study and study.more_blocks else ""
        size = f"{cases} in {blocks}, {fmt.counted(len(seen.to_come), 'trial')} to do, about {how_long}"
        return f"{header.study_name}: {size}; run {header.run_id}"

    def ended(self, seen: RunProgress) -> str:
        """The trial's place, its figures, and how much is left."""
        last, total = seen.last, _total(seen)
        place = f"[{len(seen.run.trials):>{len(str(total))}}/{total}] block {last.block + 1}"
        name, left = seen.name(last.case), _left(seen)
        if last.measurement is None:
            return f"{place}  {name}: not measured; {left}"
        measured = last.measurement
        median = quantiles(measured.service_time, (0.5,))[0]
        times = f", p50 {fmt.time(median.value_ns)}" if median else ""
        failed = f", {fmt.count(measured.failed)} failed" if measured.failed else ""
        codes = f"; findings so far: {seen.findings.plain}" if seen.new_findings else ""
        added = f"; {because_added(seen.run)}" if _just_added(seen) else ""
        return f"{place}  {name}: {fmt.rate(rate_per_s(measured))}{times}{failed}; {left}{codes}{added}"

    def head(self, seen: RunProgress) -> Text:
        """The study and its size."""
        header = seen.run.header
        quick = " (quick)" if header.quick else ""
        blocks, cases = fmt.counted(blocks_of(seen.run), "block"), fmt.counted(len(header.cases), "case")
        about = f"  {header.profile}{quick}, {blocks} of {cases}"
        return Text.assemble((fmt.safe(header.study_name), HEADING), (about, FAINT))

    def progress(self, seen: RunProgress) -> Text:
        """The bar, the block, the trial and the time left."""
        total, done = _total(seen), len(seen.run.trials)
        drawn = f"{bar(done / total if total else 0, BAR_WIDTH):·<{BAR_WIDTH}}"
        if seen.slot is None:
            return Text(f"{drawn}  preparing the servers")
        block = f"block {seen.slot.block + 1} of {blocks_of(seen.run)}"
        return Text(f"{drawn}  {block}, trial {min(done + 1, total)} of {total}, {_left(seen)}")

    def so_far(self, seen: RunProgress) -> Iterator[RenderableType]:
        """Each case's mean."""
        if seen.run.trials:
            yield _means(seen)

    def _expected(self, seen: RunProgress) -> Iterator[tuple[float, float]]:
        yield 0.0, 0.0
        for slot in seen.to_come:
            yield seen.expected_s.get(slot.case, (0.0, 0.0))


def _just_added(seen: RunProgress) -> bool:
    """Whether the first blocks are over with this trial, and have shown that more are needed."""
    return bool(seen.to_come) and seen.to_come[0].block == seen.run.header.blocks != seen.last.block


def _total(seen: RunProgress) -> int:
    """Without the trials of searches that have ended."""
    return len(seen.run.trials) + len(seen.to_come)


def _left(seen: RunProgress) -> str:
    """Time left: each trial as long as its case took last, without what only the first ones have (a pilot, a
    watched warm-up); before the first, the study's own estimate."""
    guesses = {case: sum(bounds) / 2 for case, bounds in seen.expected_s.items()}
    of_case = {trial.case: trial for trial in seen.run.trials}
    again_s = {
        case: took_s - (_once_s(seen.run, of_case[case]) if case in of_case else 0.0)
        for case, took_s in seen.took_s.items()
    }
    left_s = sum(again_s.get(slot.case, guesses.get(slot.case, 0.0)) for slot in seen.to_come)
    return f"{fmt.span(round(left_s))} left"


def _once_s(run: Run, last: Trial) -> float:
    """What a case's last trial had of load that its next one will not have."""
    if last.measurement is None or last.warm_up is None or last.case not in run.header.design.warm_ups:
        return 0.0
    next_ns = last.measurement.measured_ns + warm_up_for(run, last.case, WATCHED).max_ns
    return max(0.0, (last.load_ns - next_ns) / 1e9)


def _means(seen: RunProgress) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    run, blocks = seen.run, blocks_of(seen.run)
    shown = [case for case in run.header.cases if any(trial.case == case.id for trial in run.trials)]
    for case in shown[:MOST_CASES]:
        rates = [rate_per_s(t.measurement) for t in run.trials if t.case == case.id and t.measurement]
        # The rates of a search are asked, not found: the last says where it stands, their mean nothing.
        shown_per_s = rates[-1:] if case.search else rates
        mean = fmt.rate(sum(shown_per_s) / len(shown_per_s)) if rates else "failed"
        done = f"{len(rates)} of {case.trials(blocks)}"
        table.add_row(seen.name(case.id, 40), mean, Text(done, FAINT))
    if len(shown) > MOST_CASES:
        table.add_row(Text(f"and {len(shown) - MOST_CASES} more", FAINT))
    return table
