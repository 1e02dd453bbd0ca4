"""How many blocks a study has: as many as it asks for, and more where its first ones deviate. Pure.

A study may allow `more_blocks`, until its ratios are known to within `precision`. How many of them there are
is settled once, behind its first blocks, by how much their log ratios deviate and by nothing else. A mean is
independent of its deviation, so that an ordinary interval may be used at the end (Stein, Annals of
Mathematical Statistics 16 (1945), 243-258); one that stopped where the ratios seem decided would have to
allow for the looking, as a comparison's does. Limit: the deviation of all blocks together is used, which the
choice makes a little too small; docs/statistics.md shows what is left of the coverage.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import msgspec

from assay.model.run import Run
from assay.stats.pairing import LEAST_BLOCKS, paired_logs
from assay.stats.unpaired import more_for_precision
from assay.verdict.facts import CaseSeen
from assay.verdict.search import answers_of
from assay.verdict.see_runs import see_rates


class Added(NamedTuple):
    """So many blocks more than were asked for, since the ratio of `pair` (names) deviates by so much (a log
    ratio) from block to block: the most of all pairs that ask for them."""

    blocks: int
    deviation: float
    pair: tuple[str, str]


def blocks_of(run: Run) -> int | None:
    """How many blocks the run has, as far as its trials tell; None where it ends by its own figures."""
    least, more = run.header.blocks, added(run)
    return least if least is None or more is None else least + more.blocks


def trials_of(run: Run) -> int | None:
    """How many trials the run has, of searches the most; None where it ends by its own figures."""
    blocks = blocks_of(run)
    return None if blocks is None else sum(case.trials(blocks) for case in run.header.cases)


def tried_in(run: Run, blocks: int) -> bool:
    """Whether every case was tried in each of so many blocks; a search that has ended needs no more."""
    tried = Counter((trial.case, trial.block) for trial in run.trials)
    ended = {case for case, answer in answers_of(run).items() if answer and answer.search.ask() is None}
    return all(
        tried[case.id, block] >= case.trials_a_block
        for case in run.header.cases
        if case.id not in ended
        for block in range(blocks)
        if case.takes_part(block)
    )


def added(run: Run) -> Added | None:
    """The blocks that the first ones show to be needed; None where they suffice, or are not over yet."""
    study = run.header.study
    if study is None or not study.more_blocks or not tried_in(run, study.blocks):
        return None
    found = []
    for a, b, logs in _ratios(run, study.blocks):
        more = more_for_precision(logs, study.precision, study.more_blocks)
        if more > 0:
            found.append(Added(more, statistics.stdev(logs), (a.name, b.name)))
    return max(found, default=None, key=lambda one: one.deviation)


def _ratios(run: Run, blocks: int) -> Iterator[tuple[CaseSeen, CaseSeen, list[float]]]:
    """For each two candidates whose closed loops are compared, their log ratios in the first blocks."""
    first = tuple(trial for trial in run.trials if trial.block < blocks)
    for group in see_rates(msgspec.structs.replace(run, trials=first)).groups.values():
        candidates = [one for one in group if one.candidate and one.answered and not one.case.dependent]
        for a, b in combinations(candidates, 2):
            logs = paired_logs(a.side(), b.side())
            if len(logs) >= LEAST_BLOCKS:
                yield a, b, logs
