"""What the live screen says of a run, by its kind.

A screen has a head, a line that says how far the run has come, a line for the trial at hand, and what is
known so far; a log has a line after each trial that the kind of run finds worth one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assay.core import units as fmt
from assay.model.design import ComparisonDesign
from assay.model.run import Run
from assay.model.trial import Trial
from assay.plan.next.comparison import room_of
from assay.plan.next.schedule import Slot
from assay.plan.next.study import WATCHED, to_come
from assay.plan.next.warming import warm_up_for
from assay.report.model import comparison, followers
from assay.report.model.circumstances import because_added, blocks_of
from assay.report.style import FAINT, GOOD, HEADING, bar
from assay.stats import quantiles, rate_per_s
from assay.stats.sequential import FEWEST_BLOCKS
from assay.verdict.answer import answer
from assay.verdict.search import answer_of
from assay.verdict.see_runs import load_ns, next_ns, room_left

BAR_WIDTH = 24


@dataclass(frozen=True)
class RunProgress:
    """A run as far as it has come. Times in seconds, by case: what a trial is likely to take, and what the
    last one took. `findings` are the grave ones so far; `slot` is the trial at hand."""

    run: Run
    expected_s: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    took_s: Mapping[str, float] = field(default_factory=dict)
    findings: Text = field(default_factory=Text)
    new_findings: bool = False
    slot: Slot | None = None

    @property
    def last(self) -> Trial:
        """The trial that ended last."""
        return self.run.trials[-1]

    @cached_property
    def to_come(self) -> tuple[Slot, ...]:
        """The trials of a study that are left."""
        return to_come(self.run)

    def name(self, case_id: str, most: int = 60) -> str:
        """What a reader knows a case by."""
        names = {case.id: case.name for case in self.run.header.cases}
        return fmt.safe(names.get(case_id, case_id), most)


class LiveWords:
    """The words of a kind of run that has none of its own."""

    judges = False
    """Whether findings are looked for after each trial: it takes time between them."""

    def begins(self, seen: RunProgress) -> str:
        """Said when the run begins; empty for nothing."""
        return ""

    def ended(self, seen: RunProgress) -> str:
        """Said in a log after a trial; empty for nothing."""
        last = seen.last
        rate = fmt.rate(rate_per_s(last.measurement)) if last.measurement else "not measured"
        return f"[{len(seen.run.trials):>2}] {seen.name(last.case)}: {rate}"

    def head(self, seen: RunProgress) -> Text:
        """The first line of the screen: what runs, or what is known of its question."""
        return Text(fmt.safe(seen.run.header.study_name), HEADING)

    def progress(self, seen: RunProgress) -> Text:
        """How far it has come."""
        return Text(fmt.counted(len(seen.run.trials), "trial"), FAINT)

    def so_far(self, seen: RunProgress) -> Iterator[RenderableType]:
        """What is known, below the trial at hand."""
        yield from ()


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


_ROOM = 1.05
"""A load ends a little after its time."""


class ComparisonWords(LiveWords):
    """A line a block in a log, and the load that is left on a screen."""

    def begins(self, seen: RunProgress) -> str:
        """What it will take to settle anything, and when it ends at the latest."""
        design, cases = seen.run.header.design, len(seen.run.header.cases)
        assert isinstance(design, ComparisonDesign)  # chosen for that
        room = room_of(design)
        blocks = 1 if design.interleave else FEWEST_BLOCKS
        least, most = (fmt.span(blocks * each / 1e9) for each in (room.least_ns, room.most_ns))
        span = f"{least} of load" if least == most else f"{least} to {most} of load"
        count = str(room.most) if room.fewest == room.most else f"{room.fewest} to {room.most}"
        ends = (
            f"it ends after {fmt.span(design.budget_ns / 1e9)} of load at the latest, with room for {count}"
        )
        if room.fewest < FEWEST_BLOCKS:
            ends += f"; {_doubtful(FEWEST_BLOCKS * room.most_ns)}"
        if design.interleave:
            block = f"an interleaved block of {fmt.counted(cases, 'server')}"
            return f"{block} is {span}, and one may settle a large difference; {ends}"
        fewest = f"{FEWEST_BLOCKS} blocks of {fmt.counted(cases, 'trial')}, the fewest that settle anything"
        return f"{fewest}, are {span}; {ends}"

    def ended(self, seen: RunProgress) -> str:
        """Where the question stands, after a whole block; after the first one that the budget has no room for
        the fewest, where it has not."""
        run = seen.run
        block = [trial for trial in run.trials if trial.block == run.trials[-1].block]
        if len(block) != len(run.header.cases):
            return ""
        stands, left = comparison.state(run), room_left(run)
        short = run.trials[-1].block == 0 and 1 + left < FEWEST_BLOCKS and not answer(run).settled
        if not short:
            return stands
        needed_ns = load_ns(run) + (FEWEST_BLOCKS - 1) * next_ns(run)
        return f"{stands}; the budget has room for {fmt.count(left)} more: {_doubtful(needed_ns)}"

    def head(self, seen: RunProgress) -> Text:
        """Where the question stands."""
        first = "first block" if seen.run.header.design.interleave else "first block"
        return Text(comparison.state(seen.run) if seen.run.trials else first, HEADING)

    def progress(self, seen: RunProgress) -> Text:
        """How much of the budget is left."""
        assert isinstance(seen.run.header.design, ComparisonDesign)  # chosen for that
        budget_s, spent_s = seen.run.header.design.budget_ns / 1e9, comparison.load_s(seen.run)
        drawn = f"{bar(spent_s / budget_s if budget_s else 0, BAR_WIDTH):·<{BAR_WIDTH}}"
        return Text(f"{drawn}  at most {fmt.span(max(0.0, budget_s - spent_s))} of load left", FAINT)


def _doubtful(needed_ns: int) -> str:
    """That the fewest blocks which settle anything are doubtful, and a budget that has room for them."""
    enough_s = math.ceil(_ROOM * needed_ns / 1e9)
    return (
        f"{FEWEST_BLOCKS}, the fewest that order servers, are doubtful "
        f"(--budget {enough_s}s has room for them)"
    )


class SearchWords(LiveWords):
    """A line a trial, and the capacity as far as it is known."""

    def ended(self, seen: RunProgress) -> str:
        """Whether the objective held, and the capacity."""
        return followers.search_line(answer_of(seen.run))

    def head(self, seen: RunProgress) -> Text:
        """The capacity as far as it is known."""
        return Text.assemble(
            ("capacity ", HEADING), (followers.capacity_between(answer_of(seen.run).capacity), GOOD)
        )

    def progress(self, seen: RunProgress) -> Text:
        """What the last trial said."""
        return Text(followers.search_line(answer_of(seen.run)) if seen.run.trials else "first trial", FAINT)
