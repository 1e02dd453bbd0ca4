"""T: servers that are interleaved: what one does in another's time and what a switch costs must be no
answer."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from assay.core.units import counted
from assay.core.units import share as percent
from assay.model.finding import Subject
from assay.model.interleaving import Slice
from assay.model.trial import Arm
from assay.stats.interleaved import FEWEST_ROUNDS, beyond_chance, carry_over, error_of_mean
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.rule import CaseRule, Effects, Hit, RunRule, Threshold, Thresholds

FEWEST_BLOCKS = 3
"""From here on an interleaved block is one value, as its slices share their processes. With one or two of
them, which rank nobody, the scatter of their slices is what there is."""


class _Shift(NamedTuple):
    """A mean (of log ratios, or of shares), its standard error, and the degrees of freedom by which that is
    known."""

    mean: float
    error: float
    degrees: float

    def __str__(self) -> str:
        """By how much more or less it is: "9.8 % (± 0.6 %) less"."""
        much = percent(abs(math.expm1(self.mean)))
        return f"{much} (± {percent(self.error)}) {'less' if self.mean < 0 else 'more'}"

    def beyond(self, thresholds: Thresholds, looks: int) -> bool:
        """Whether it is larger than is let pass, and than chance makes the largest of so many."""
        errors = beyond_chance(thresholds["errors"], self.degrees, looks)
        return abs(self.mean) > max(math.log1p(thresholds["differs"]), errors * self.error)

    def widens(self, a: CaseSeen, b: CaseSeen, evidence: str, **figures: float) -> tuple[Subject, Hit]:
        """What is said of `a` beside `b`; `figures` say how their comparison is wider."""
        figures = {"shift": math.exp(self.mean), "error": self.error, **figures}
        hit = Hit("warning", evidence, figures, gravity=abs(self.mean))
        return Subject(case=a.case.id, other_case=b.case.id), hit


def _of_slices(blocks: Sequence[Sequence[float]]) -> _Shift | None:
    """The mean of what was taken of slices, a row for each block; None with too few to tell."""
    rows = [row for row in blocks if row]
    values = [value for row in rows for value in row]
    if len(values) < FEWEST_ROUNDS:
        return None
    if len(rows) >= FEWEST_BLOCKS:
        return _of_blocks([statistics.fmean(row) for row in rows])
    return _Shift(statistics.fmean(values), error_of_mean(values), len(values) - 1)


def _of_blocks(values: Sequence[float]) -> _Shift:
    """The mean of one value an interleaved block. A t test of it holds however the blocks differ in what they
    tell (Ibragimov and Mueller 2010)."""
    error = statistics.stdev(values) / math.sqrt(len(values))
    return _Shift(statistics.fmean(values), error, len(values) - 1)


def works_while_resting(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """T1: for each server and each other in whose slices its processes used the CPU."""
    used = {
        (worker.case.id, whose): found
        for worker in run.cases
        for whose, blocks in _used_in_slices_of(run, worker.case.id).items()
        if (found := _of_slices(blocks)) is not None
    }
    for (case, whose), busy in used.items():
        errors = beyond_chance(_T1_ERRORS, busy.degrees, len(used))
        worker, held = run.find(case), run.find(whose)
        if worker is None or held is None or busy.mean - errors * busy.error <= thresholds["warning"]:
            continue
        evidence = (
            f"{worker.name} used {percent(busy.mean)} of a core in the slices of {held.name} "
            f"(at most {percent(thresholds['warning'], exact=True)} is let pass)"
        )
        figures = {"share": busy.mean, "taken": busy.mean}
        yield Subject(case=whose, other_case=case), Hit("warning", evidence, figures, busy.mean)


def _used_in_slices_of(run: RunSeen, case: str) -> Mapping[str, list[list[float]]]:
    """By the server whose slices they were, and block by block: the share of each that `case` used of a
    core."""
    shares: dict[str, list[list[float]]] = {}
    for block in run.interleaved:
        if not any(trial.case == case for trial in block.trials):
            continue
        here: dict[str, list[float]] = {}
        for rest in block.rested(case):
            here.setdefault(rest.whose, []).append(rest.cpu_ns / rest.length_ns)
        for whose, each in here.items():
            shares.setdefault(whose, []).append(each)
    return shares


_T1_ERRORS = 2.0
"""How many standard errors the mean lies above the limit, in a single look."""

T1 = RunRule(
    code="T1",
    title="a server works while it rests",
    severities=("warning",),
    effects=(
        Effects(
            comparison="wider",
            because="the other worked in its time",
            way="in favour of the one in whose slices the other worked, by its share of them",
        ),
    ),
    thresholds=(
        Threshold("warning", 0.01, "share", "how much of a core it may use in the slices of another"),
    ),
    meaning=(
        "What it does then (compiling, collecting garbage, answering what was left over) it does in the "
        "other's time: the other would be faster alone, and its own slices are spared the work."
    ),
    remedy="longer slices, or trials one after the other (--sequential)",
    source="ours; Go against Vert.x drifts by 3 to 5 % interleaved below 250 ms",
    example="A JVM whose compiler is at work while the other server has its slice.",
    check=works_while_resting,
)


def cold_after_switch(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """T2: the ratio in the first fifth of the slices against that in the rest of the same slices."""
    pairs = list(_pairs(run))
    for a, b in pairs:
        blocks = _paired_slices(a, b)
        early = [
            [log for one, two in rounds if (log := _early_shift(one, two)) is not None] for rounds in blocks
        ]
        shift = _of_slices(early)
        if shift is not None and shift.beyond(thresholds, len(pairs)):
            colder, other = (a, b) if shift.mean < 0 else (b, a)
            slower = shift._replace(mean=-abs(shift.mean))
            whole = [_whole_shift(one, two) for rounds in blocks for one, two in rounds]
            moved = math.expm1(abs(statistics.fmean(whole)))
            evidence = (
                f"relative to {other.name}, {colder.name} serves {slower} in the first fifth of its slices "
                f"than later in them; their ratio is taken without that fifth, which moves it by "
                f"{percent(moved)}"
            )
            yield slower.widens(colder, other, evidence, moved=moved)


def _early_shift(a: Slice, b: Slice) -> float | None:
    """ln of a/b early over a/b later; None where one answered nothing in either part."""
    parts = [(one.early_completed, one.completed - one.early_completed) for one in (a, b)]
    (early_a, later_a), (early_b, later_b) = parts
    if min(early_a, early_b, later_a, later_b) <= 0:
        return None
    return math.log(early_a * later_b / (early_b * later_a))


def _whole_shift(a: Slice, b: Slice) -> float:
    """By how much ln(a/b) of whole slices lies apart from that without their first fifths."""
    later_a, later_b = a.completed - a.early_completed, b.completed - b.early_completed
    if min(later_a, later_b) <= 0:
        return 0.0
    return math.log(a.completed * later_b / (b.completed * later_a))


_DIFFERS = (
    Threshold("differs", 0.01, "share", "how far the two may lie apart"),
    Threshold("errors", 3.0, "count", "how many standard errors apart they must lie, in a single look"),
)
T2 = RunRule(
    code="T2",
    title="cold after a switch",
    severities=("warning",),
    effects=(Effects(comparison="wider", because="one is slow at the begin of its slices"),),
    thresholds=_DIFFERS,
    meaning=(
        "A switch costs one of the two more than the other: its caches are cold, its queue must fill again, "
        "or its first answers come only after a long service time. Their ratio is therefore that of the last "
        "four fifths of their slices. A server that is cold for longer still has some of it in the ratio. So "
        "its interval reaches once more as far as the first fifth moved it, in favour of the colder one."
    ),
    remedy="longer slices, over which a switch is spread, or trials one after the other (--sequential)",
    source="ours; washout is doubled by itself before this is said",
    example="A server that needs 30 ms to get up to speed after each pause, in slices of 100 ms.",
    check=cold_after_switch,
)


def connections_reopened(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """T3: connections opened again between slices, by the connections that there are."""
    arms = _arms(case)
    slices = [one for arm in arms for one in arm.slices if one.phase == "measured"]
    asked = max((load.measured.connections.asked for load in case.loads), default=0)
    if not slices or not asked or not all(load.keep_alive for load in case.loads):
        return None
    share = sum(one.reopened for one in slices) / len(slices) / asked
    if share <= thresholds["reopened"]:
        return None
    evidence = (
        f"{percent(share)} of its {counted(asked, 'connection')} were opened again for each slice, on average"
    )
    figures = {"share": share, "limit": thresholds["reopened"]}
    count = _closes_after(case) if share < _ALL_REST else None
    if count is None:
        return Hit("warning", evidence, figures, gravity=share)
    return Hit(
        "warning",
        f"{evidence}: it closes each after about {count:,} requests",
        figures | {"requests_each": float(count)},
        gravity=share,
        remedy=_RAISE_COUNT,
        effects=_BY_COUNT,
    )


def _closes_after(case: CaseSeen) -> int | None:
    """The usual limit of requests on a connection that fits how often they were opened again; None where
    none does, or too few were to tell."""
    seen = [(load.measured.requests, load.measured.connections) for load in case.loads]
    opened = sum(connections.opened for _, connections in seen)
    reopened = sum(connections.reopened for _, connections in seen)
    if reopened < _FEWEST_CLOSES * opened:
        return None
    # Those that are still open have had half of their requests, on average.
    each = sum(requests.completed for requests, _ in seen) / (reopened + opened / 2)
    nearest = min(_USUAL_COUNTS, key=lambda count: abs(each / count - 1))
    return nearest if abs(each / nearest - 1) <= _NEAR else None


_ALL_REST = 0.9
"""Where a time-out closes connections that rest, nearly all are closed in each pause."""
_FEWEST_CLOSES = 3
"""Closes for each connection, from which they tell a count."""
_USUAL_COUNTS = (100, 128, 200, 256, 500, 1000, 2000, 5000, 10_000)
_NEAR = 0.1
_BY_COUNT = Effects(when="it closes them after a number of requests, as it would in any load")
_RAISE_COUNT = (
    "raise its limit of requests on a connection (nginx: keepalive_requests, Apache: MaxKeepAliveRequests)"
)


T3 = CaseRule(
    code="T3",
    title="connections opened again each slice",
    severities=("warning",),
    effects=(Effects("at least", because="it closes connections that rest"), _BY_COUNT),
    thresholds=(Threshold("reopened", 0.1, "share", "share of the connections, on average over slices"),),
    meaning=(
        "The server closes connections that carry nothing for the length of the others' turns. Each of its "
        "slices begins with handshakes, which it would not have without the pauses."
    ),
    remedy="set its keep-alive time-out above the pause between slices, or measure with --sequential",
    source="ours; opening 64 connections anew for each slice costs a Go server 10 % at 50 ms",
    example="A keep-alive time-out of 30 ms, with a pause of 100 ms.",
    check=connections_reopened,
)


def order_matters(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """T6: the slices of a that follow one of its own, against those that follow one of b."""
    pairs = list(_pairs(run))
    for a, b in pairs:
        for seen, before in ((a, b), (b, a)):
            found = _carried(run, seen.case.id, before.case.id)
            if found is not None and found.shift.beyond(thresholds, 2 * len(pairs)):
                shift = found.shift
                evidence = (
                    f"{seen.name} serves {shift} in slices right after those of {before.name} than in slices "
                    "right after its own"
                )
                yield shift.widens(seen, before, evidence, wider=abs(shift.mean) * found.share)


class _SlicesAfter(NamedTuple):
    """What slices have of following another server's, and the share of these among them and those that follow
    their own."""

    shift: _Shift
    share: float


def _carried(run: RunSeen, case: str, other: str) -> _SlicesAfter | None:
    """One contrast an interleaved block; None where too few slices followed either."""
    followed = {case: 0, other: 0}
    contrasts = []
    for block in run.interleaved:
        arms = {trial.case: trial.arm for trial in block.trials if trial.arm and trial.measurement}
        if case not in arms or other not in arms:
            continue
        whose = {one.number: name for name, arm in arms.items() for one in arm.slices}
        own = _measured(arms[case])
        after = {one.round: whose[one.number - 1] for one in own if one.number - 1 in whose}
        logs = {one.round: math.log(one.completed / one.length_ns) for one in own}
        for name in followed:
            followed[name] += sum(before == name for before in after.values())
        contrasts.append(carry_over(logs, after, case, other))
    told = [one for one in contrasts if one is not None]
    if not told or min(followed.values()) < FEWEST_ROUNDS:
        return None
    if len(told) >= FEWEST_BLOCKS:
        shift = _of_blocks([one.mean for one in told])
    else:
        error = math.hypot(*(one.error for one in told)) / len(told)
        shift = _Shift(statistics.fmean(one.mean for one in told), error, sum(one.degrees for one in told))
    return _SlicesAfter(shift, followed[other] / sum(followed.values()))


T6 = RunRule(
    code="T6",
    title="who follows whom can be seen",
    severities=("warning",),
    effects=(Effects(comparison="wider", because="its rate depends on who had the slice before"),),
    thresholds=_DIFFERS,
    meaning=(
        "The server whose slice is next meets what another leaves behind: unfinished work, caches, a clock "
        "that has come down. The order is balanced, so all meet it alike; but a server alone would "
        "not meet it at all, and differences as small as that are not claimed."
    ),
    remedy="longer slices or a longer washout, or trials one after the other (--sequential)",
    source="ours; carry-over effects of crossover designs (Senn)",
    example="A server that works on for 50 ms after its last answer, in slices of 100 ms.",
    check=order_matters,
)


def _pairs(run: RunSeen) -> Iterator[tuple[CaseSeen, CaseSeen]]:
    """Interleaved cases that are compared, each two of them once."""
    for group in run.groups.values():
        yield from combinations([seen for seen in group if seen.candidate and seen.interleaved], 2)


def _arms(case: CaseSeen) -> tuple[Arm, ...]:
    return tuple(trial.arm for trial in case.measured if trial.arm is not None)


def _measured(arm: Arm) -> list[Slice]:
    """Its measured slices in which something was answered."""
    return [one for one in arm.slices if one.phase == "measured" and one.completed > 0 and one.length_ns > 0]


def _paired_slices(a: CaseSeen, b: CaseSeen) -> Sequence[Sequence[tuple[Slice, Slice]]]:
    """By block that has both, the slices of both in each of its rounds."""
    found: list[list[tuple[Slice, Slice]]] = []
    others = {arm.block: arm for arm in _arms(b)}
    for arm in _arms(a):
        if arm.block in others:
            by_round = {one.round: one for one in _measured(others[arm.block])}
            found.append([(one, by_round[one.round]) for one in _measured(arm) if one.round in by_round])
    return found
