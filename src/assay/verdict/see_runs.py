"""From a stored run to what the rules look at: its cases, their loads, and what is left of its budget. Pure.

How many blocks a study has: as many as it asks for, and more where its first ones deviate. Pure.

A study may allow `more_blocks`, until its ratios are known to within `precision`. How many of them there are
is settled once, behind its first blocks, by how much their log ratios deviate and by nothing else. A mean is
independent of its deviation, so that an ordinary interval may be used at the end (Stein, Annals of
Mathematical Statistics 16 (1945), 243-258); one that stopped where the ratios seem decided would have to
allow for the looking, as a comparison's does. Limit: the deviation of all blocks together is used, which the
choice makes a little too small; docs/method/evidence/simulations.md shows the coverage.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from assay.model.block import Block
from assay.model.design import ComparisonDesign
from assay.model.finding import Claim
from assay.model.run import Header, Run
from assay.model.trial import AS_GIVEN, Trial
from assay.stats.sequential import LEAST_BLOCKS, more_for_precision
from assay.stats.sides import paired_logs
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load, OfRun
from assay.verdict.objective import misses_of, objectives, results_of
from assay.verdict.search import answers_of
from assay.verdict.see import see_delays, see_trial

TAILS = ("_p90", "_p99")


def see_run(run: Run) -> RunSeen:
    """A run as the rules look at it."""
    quoted = {
        case
        for claim in claims_of(run.header)
        for pair in claim.comparisons
        if pair.metric.endswith(TAILS)
        for case in (pair.a, pair.b)
    }
    clocks = [trial.host.mhz for trial in run.trials if trial.host is not None and trial.host.mhz]
    fastest = max(clocks, default=None)
    searched = objectives(run.header)
    capacities = {case: found.capacity for case, found in answers_of(run).items() if found}
    kin = {case.id: case.control_of or case.id for case in run.header.cases}
    beside: dict[int, tuple[float, ...]] = {}
    resting: dict[int, float | None] = {}
    for block in run.blocks:
        beside |= _beside(block, kin)
        resting |= _resting(block)
    cases = []
    for case in run.header.cases:
        tried = tuple(trial for trial in run.trials if trial.case == case.id)
        trials = results_of(searched[case.id], tried) if case.id in searched else tried
        loads = _loads(trials, run.header)
        beyond = misses_of(searched[case.id], tried) if case.id in searched else ()
        unlike, delays = run.header.design.unlike, see_delays(trials, run.header.environment)
        seen = CaseSeen(case, trials, loads, capacities.get(case.id), unlike, delays)
        of_run = OfRun(
            fastest_mhz=fastest,
            busy_share=seen.server_busy_share,
            tail_quoted=case.id in quoted,
            of_a_search=case.id in searched,
        )
        follows = case.load == AS_GIVEN
        told = tuple(
            replace(
                load,
                of_run=of_run,
                follows=follows,
                beside=beside.get(trial.number, ()),
                resting_cores=resting.get(trial.number, 0.0),
            )
            for trial, load in zip(seen.measured, loads, strict=True)
        )
        missed = tuple(
            replace(load, of_run=msgspec.structs.replace(of_run, missed=True))
            for load in _loads(beyond, run.header)
        )
        cases.append(replace(seen, loads=told, missed=missed))
    return RunSeen(run.header, _with_controls(cases), run.damage, run.blocks, looks_of(run))


def _loads(trials: Iterable[Trial], header: Header) -> tuple[Load, ...]:
    """The loads of those that were measured."""
    return tuple(
        see_trial(trial, trial.measurement, header.environment)
        for trial in trials
        if trial.measurement is not None
    )


def see_rates(run: Run) -> RunSeen:
    """The cases with their trials and blocks, for those who compare them and look at no load."""
    cases = run.header.cases
    trials = {case.id: tuple(trial for trial in run.trials if trial.case == case.id) for case in cases}
    unlike, environment = run.header.design.unlike, run.header.environment
    seen = [
        CaseSeen(case, of_it := trials[case.id], (), unlike=unlike, delays=see_delays(of_it, environment))
        for case in cases
    ]
    return RunSeen(run.header, _with_controls(seen), interleaved=run.blocks, budget_used=looks_of(run))


def _with_controls(cases: Sequence[CaseSeen]) -> tuple[CaseSeen, ...]:
    """Each case with its A/A control, where it has one."""
    controls = {seen.case.control_of: seen for seen in cases if seen.case.control_of}
    return tuple(replace(seen, control=controls.get(seen.case.id)) for seen in cases)


def _beside(block: Block, kin: Mapping[str, str]) -> dict[int, tuple[float, ...]]:
    """By the number of each trial, for each of its rounds what the other servers did in it, each as a share
    of its own mean. A server's control does what it does, and tells nothing of the machine."""
    arms = {
        trial.number: (kin.get(trial.case, trial.case), trial.arm.rounds)
        for trial in block.trials
        if trial.arm is not None and trial.measurement is not None
    }
    found: dict[int, tuple[float, ...]] = {}
    for number, (server, own) in arms.items():
        others = [
            [rates[round_number] for round_number in own]
            for other, rates in arms.values()
            if own and other != server and own.keys() <= rates.keys()
        ]
        courses = [[rate / level for rate in each] for each in others if (level := sum(each) / len(each)) > 0]
        if courses:
            found[number] = tuple(map(statistics.fmean, zip(*courses, strict=True)))
    return found


def _resting(block: Block) -> dict[int, float | None]:
    """By the number of each trial, how many cores the other servers kept busy in its slices, as in those in
    which all of them could be looked at; None where there are none of these."""
    found: dict[int, float | None] = {}
    for place, trial in enumerate(block.trials):
        own = [seen for seen in block.server_slices if seen.arm == place]
        rested = [
            (one.length_ns, [used for arm, used in enumerate(one.cpu_ns) if arm != place]) for one in own
        ]
        whole = [(length_ns, used) for length_ns, used in rested if None not in used]
        length_ns = sum(length for length, _ in whole)
        if length_ns:
            found[trial.number] = sum(sum(filter(None, used)) for _, used in whole) / length_ns
        elif own:
            found[trial.number] = None
    return found


def claims_of(header: Header) -> tuple[Claim, ...]:
    """The published claims that the run puts to the test."""
    return header.study.claims if header.study else ()


def load_ns(run: Run) -> int:
    """For how long load was offered, warm-ups included."""
    return sum(trial.load_ns for trial in run.trials)


def spent(run: Run, servers: int | None = None) -> bool:
    """Whether the budget of a comparison has no room for another block of so many `servers`, or of those that
    the last one had; never of another run.

    A budget of 0 is none.
    """
    design = run.header.design
    if not isinstance(design, ComparisonDesign) or not design.budget_ns or not run.trials:
        return False
    return load_ns(run) + next_ns(run, servers) > design.budget_ns


def looks_of(run: Run) -> tuple[float, ...]:
    """Of a comparison, the share of its budget that it had used after each block; of another run nothing.
    Without a budget it is as at its end.

    It depends on lengths of time alone, not on what the ratios came to: so it is no choice among looks.
    """
    design = run.header.design
    if not isinstance(design, ComparisonDesign):
        return ()
    used = list(itertools.accumulate(load for load, _ in _blocks(run).values()))
    shares = [min(1.0, load / (design.budget_ns or used[-1] or 1)) for load in used]
    return (*shares[:-1], 1.0) if spent(run) else tuple(shares)


def _blocks(run: Run) -> dict[int, tuple[int, int]]:
    """By block the load that was offered in it, and to how many servers."""
    found: dict[int, tuple[int, int]] = {}
    for trial in run.trials:
        load, servers = found.get(trial.block, (0, 0))
        found[trial.block] = load + trial.load_ns, servers + 1
    return dict(sorted(found.items()))


def even_load_ns(run: Run) -> int:
    """For how long load would have been offered had every interleaved block had as many servers as the first:
    what a comparison saves as decided servers leave."""
    if not run.blocks:
        return load_ns(run)
    blocks = _blocks(run).values()
    most = max(servers for _, servers in blocks)
    return sum(load * most // servers for load, servers in blocks)


def room_left(run: Run) -> int:
    """How many blocks the budget of a comparison has room for yet, each like the last one."""
    design = run.header.design
    assert isinstance(design, ComparisonDesign)  # the caller chose it for that
    return max(0, design.budget_ns - load_ns(run)) // max(1, next_ns(run))


def next_ns(run: Run, servers: int | None = None) -> int:
    """The load of another block: that of the last one, without the pilot, which only the first has; of so
    many servers, if not of as many."""
    last, (spent_ns, had) = list(_blocks(run).items())[-1]
    for block in run.blocks:
        if block.block == last and block.pilot is not None:
            arms = sum(1 for trial in block.trials if trial.arm and trial.measurement)
            spent_ns -= arms * block.pilot.rounds * (block.pilot.shorter_ns + block.pilot.longer_ns)
    return spent_ns * (servers or had) // had


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
        for a, b in itertools.combinations(candidates, 2):
            logs = paired_logs(a.side(), b.side())
            if len(logs) >= LEAST_BLOCKS:
                yield a, b, logs
