"""How long slices are, and the washout before them: chosen from what was seen, and why. Pure.

A slice has to be long beside what it holds: 25 service times, so that its two ends weigh little, and 200
requests, so that its rate is one; the same for all servers. Between unlike programs a switch costs one more
than the other, so theirs are longer (`Interleaving.least_slice_ns`, 50 service times), and a pilot of two
lengths shows whether that is long enough. Builds of one program pay the same for a switch; where the machine
moves their ratio from one slice of the usual length to the next, shorter ones lie nearer to each other. The
washout is that in which the slowest one's queue drains, and is doubled while the first fifth of slices
differs from the rest and that helps.

A warm-up's slices are 10 ms at first, in which a compiled server is shown to be at its level at once. They
are longer for servers that are slower, or warm up. They are longer still where they turn out to be less than
four service times of a server: what it shows in so few is chance, and its ten windows would be over long
before it is warm.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple

from assay.core.units import share, time
from assay.model.block import ALIKE_NS, Block, Interleaving, Lengths, Pilot
from assay.model.interleaving import Slice
from assay.stats.estimates import student_t_quantile
from assay.stats.interleaved import FEWEST_ROUNDS, beyond_chance, early_excess, error_of_mean, ratio_by_round
from assay.stats.steady import FEWEST_WINDOWS

MOST_DOUBLED = 8
"""Times the washout that was found: beyond, it is not the settling that makes the first fifth differ."""
SERVICE_TIMES = 25
UNLIKE_SERVICE_TIMES = 50
"""Between unlike programs: Ruby against Go lay 4.5 % above what slices of 2 s told where slices held 25
service times of Ruby, and 2.4 % where they held 50."""
REQUESTS = 200
SETTLES_IN = 1.5
"""Mean service times: what is under way when a slice ends is answered by then, before the next one."""
PILOT_ROUNDS = FEWEST_ROUNDS
EARLY_DIFFERS = 0.01
_HELPS = 0.75
"""A longer washout has to take a quarter of the difference away. Go's slices begin 12 % below what they
come to whatever the rest before them, and 60 ms of it before slices of 260 ms are a fifth of the time."""
STANDARD_ERRORS = 3
"""What noise explains in one look: a restless machine is no reason."""
WARMING_NS = 100_000_000
QUICK_NS = 10_000_000
_MOST_QUICK = 100
"""A second of them: on a quiet machine a server that is at its level at once is told to be by then."""
_SHORTER = 6
"""A sixth of 25 service times is four of them, of 50 eight."""
_SERVICE_TIMES_WARMING = 4
"""As many does a slice of a warm-up hold where lengths are known. The ten windows that a warm-up is judged by
are then forty: the level of a JVM seemed to hold after fifteen, and was a fourteenth of what it came to."""
_LAST = 3
"""Slices in a row that are too short, after which longer ones are tried: a cold server's first are slow."""
_WATCHED_SLICES = 2 * FEWEST_WINDOWS
"""That a warm-up which is watched to its bound has room for: of fewer none could be told to be steady."""
_STEP_NS = 10_000_000
_SHORT_STEP_NS = 5_000_000
STILL = 0.06
"""By how much the ratio of two builds deviates from round to round of 100 ms on two cores that are left
alone: there shorter slices were seen to gain nothing."""
_JOINED_NS = 30_000_000
_SETTLES = 10
"""A short slice is so many washout: no more than a tenth of the time is lost to them."""
_QUICK_WASHOUT_NS = 2_000_000
"""Of short slices, where answers need no longer: servers' clocks have to be read in it."""
_TOO_RESTLESS = 0.1
"""A pilot that could have missed so much (a log ratio) has not shown that ratios are the same."""
NAMELESS: Mapping[str, str] = MappingProxyType({})


def lengths_for(
    interleave: Interleaving,
    slices: Mapping[str, Sequence[Slice]],
    names: Mapping[str, str] = NAMELESS,
    least_washout_ns: int = 0,
) -> Lengths:
    """The lengths that an interleaved block needs after these slices of each case (its warm-up's); `names`
    are those that a reader knows the cases by."""
    drains_ns = max(least_washout_ns, round(SETTLES_IN * max(map(_mean_ns, slices.values()), default=0.0)))
    least_ns, why = _shortest(interleave, slices, drains_ns)
    # Ten washout are 15 service times: enough for builds that lose the same at either end.
    shortened = interleave.given_slice_ns is None and least_ns < interleave.usual_slice_ns
    times = (
        SERVICE_TIMES if interleave.alike or interleave.given_slice_ns is not None else UNLIKE_SERVICE_TIMES
    )
    for case, each in slices.items():
        name = names.get(case, case)
        seen = [one for one in each if one.completed > 0]
        if not seen:
            continue
        needed_ns = times * max(_mean_ns(seen), _median_ns(seen))
        if needed_ns > least_ns and not shortened:
            least_ns, why = needed_ns, f"{times} service times of {name}"
            if interleave.given_slice_ns is not None:
                why += f", as {time(interleave.given_slice_ns)} would be too short"
        rate = sum(one.completed for one in seen) / sum(one.length_ns for one in seen)
        if interleave.given_slice_ns is None and REQUESTS / rate > least_ns:
            least_ns, why = REQUESTS / rate, f"{REQUESTS} requests of {name}"
    most_ns = max(interleave.most_slice_ns, interleave.given_slice_ns or 0)
    if least_ns > most_ns:
        least_ns, why = most_ns, f"the longest that there is time for; {why} would take {time(least_ns)}"
    short = interleave.given_slice_ns is None and least_ns < interleave.usual_slice_ns
    step_ns = _SHORT_STEP_NS if short else _STEP_NS
    rounded_ns = (
        math.ceil(least_ns / step_ns) * step_ns if interleave.given_slice_ns is None else round(least_ns)
    )
    washout_ns = max(
        min(interleave.washout_ns, _QUICK_WASHOUT_NS) if short else interleave.washout_ns, drains_ns
    )
    return Lengths(slice_ns=rounded_ns, washout_ns=min(washout_ns, rounded_ns // 4), why=why)


def _shortest(
    interleave: Interleaving, slices: Mapping[str, Sequence[Slice]], drains_ns: int
) -> tuple[float, str]:
    """The shortest slice before it is known what it has to hold, and why; `drains_ns` is the washout that
    servers need."""
    if interleave.given_slice_ns is not None:
        return interleave.given_slice_ns, "as asked for"
    if not interleave.alike:
        return interleave.least_slice_ns, "unlike servers"
    moves, usual_ns = _moves(slices), interleave.usual_slice_ns
    settled_ns = _SETTLES * max(_QUICK_WASHOUT_NS, drains_ns)
    short_ns = max(interleave.least_slice_ns, settled_ns, usual_ns * STILL / max(moves, STILL))
    if short_ns >= usual_ns:
        return usual_ns, "builds of one program"
    return (
        short_ns,
        f"builds of one program, whose ratio moved by {share(moves)} from slice to slice of {time(usual_ns)}",
    )


def _moves(slices: Mapping[str, Sequence[Slice]]) -> float:
    """By how much (a log ratio) a ratio deviates from one round of usual slices to the next, on average over
    the pairs; 0 where too few rounds tell. Shorter slices are joined to 30 ms, whose deviation is that of
    usual ones times the root of how many those hold. Steps between neighbours hold no slow drift, and what
    servers do in the first third of a warm-up is left out."""
    variances = []
    for a, b in combinations(slices.values(), 2):
        longest_ns = max((one.length_ns for one in (*a, *b)), default=ALIKE_NS)
        answered = [
            {one.round: one.completed for one in each if one.completed > 0 and one.length_ns == longest_ns}
            for each in (a, b)
        ]
        common = sorted(answered[0].keys() & answered[1].keys())
        joined = max(1, _JOINED_NS // longest_ns)
        grouped: dict[int, list[list[int]]] = {}
        for number in common[len(common) // 3 :]:
            grouped.setdefault(number // joined, []).append([each[number] for each in answered])
        whole = {at: map(sum, zip(*each, strict=True)) for at, each in grouped.items() if len(each) == joined}
        logs = {at: math.log(one / other) for at, (one, other) in whole.items()}
        steps = [logs[after] - logs[before] for before, after in pairwise(logs) if after == before + 1]
        if len(steps) >= FEWEST_ROUNDS:
            shorter = min(1.0, joined * longest_ns / ALIKE_NS)
            variances.append(shorter * statistics.fmean(step * step for step in steps) / 2)
    return math.sqrt(statistics.fmean(variances)) if variances else 0.0


def _mean_ns(slices: Sequence[Slice]) -> float:
    """The mean service time, in which a closed loop's queue drains."""
    completed = sum(one.completed for one in slices)
    return sum(one.service_time_sum_ns for one in slices) / completed if completed else 0.0


def longer_ns(
    length_ns: int, most_ns: int, watched_ns: int, slices: Mapping[str, Sequence[Slice]]
) -> int | None:
    """How long the slices of a warm-up should be instead of `length_ns`; None where they can stay.

    They are too short for a server whose answers all come in others' slices, however long they get
    (`most_ns`), and for one that answers so few in each of its last ones that their number is chance: that
    looks steady while it still warms up. For the latter a warm-up that is watched for up to `watched_ns` has
    to hold enough of them to be judged. One that answers nothing at all is not helped by longer ones.
    """
    enough_ns = min(most_ns, watched_ns // _WATCHED_SLICES)
    if length_ns < min(WARMING_NS, enough_ns) and any(map(_tells_too_little, slices.values())):
        return min(WARMING_NS, enough_ns)
    bound_ns = length_ns
    for each in slices.values():
        last = [one for one in each if one.length_ns >= length_ns][-_LAST:]
        if len(last) < _LAST or not any(one.completed or one.late for one in last):
            continue
        if not any(one.completed for one in last):
            bound_ns = max(bound_ns, most_ns)
        elif all(_few(one) for one in last):
            bound_ns = max(bound_ns, enough_ns)
    return min(2 * length_ns, bound_ns) if bound_ns > length_ns else None


def _tells_too_little(quick: Sequence[Slice]) -> bool:
    """Whether no more of such short slices would show that a server is at its level at once."""
    return len(quick) >= _MOST_QUICK or (
        len(quick) >= _LAST and all(one.completed < REQUESTS for one in quick[-_LAST:])
    )


def _few(one: Slice) -> bool:
    """Whether a slice is less than a few service times by Little's law: what is under way at its end takes as
    long as that to be answered. Failures are answers, too, so that one that refuses is not taken for slow."""
    return one.completed + one.failed < _SERVICE_TIMES_WARMING * one.carried


def _median_ns(slices: Sequence[Slice]) -> float:
    """The median service time; the mean is far above it where some connections wait long for others."""
    return statistics.median(one.service_time_p50_ns for one in slices)


def warming_ns(lengths: Lengths | None, least_warm_ns: int, *, far: bool) -> int:
    """The slices of a warm-up of at least so long: shorter, so that a fast server is soon shown to be at its
    level, and still some service times of the slowest where those are known. `far` generators agree on each
    change."""
    least_ns = WARMING_NS if far or least_warm_ns >= FEWEST_WINDOWS * WARMING_NS else QUICK_NS
    return least_ns if lengths is None else max(least_ns, lengths.slice_ns // _SHORTER)


def lengths_now(
    interleave: Interleaving, blocks: Sequence[Block], names: Mapping[str, str] = NAMELESS
) -> Lengths | None:
    """Those of the block after these: the same, with twice the washout where the last one shows that it
    was too short; with that of the first where twice as much changed nothing. None where there was none."""
    measured = [one for one in blocks if any(trial.measurement for trial in one.trials)]
    if not measured:
        return None
    last, lengths = measured[-1], measured[-1].lengths
    least_ns, longest_ns = measured[0].lengths.washout_ns, max(one.lengths.washout_ns for one in measured)
    found = _slow_to_begin(last)
    if found is None or lengths.washout_ns < longest_ns:
        return lengths  # enough, or what was tried to no avail
    case, excess = found
    whose, by = f"the first fifth of {names.get(case, case)}'s slices", share(abs(excess))
    before = _excess(_settled_half_as_long(measured, lengths), case)
    if before is not None and abs(excess) > _HELPS * abs(before):
        return _settling(lengths, least_ns, f"{time(lengths.washout_ns)} left {whose} {by} apart")
    if 2 * lengths.washout_ns > min(MOST_DOUBLED * least_ns, lengths.slice_ns // 4):
        return lengths
    return _settling(lengths, 2 * lengths.washout_ns, f"{whose} differed by {by}")


def _settling(lengths: Lengths, washout_ns: int, because: str) -> Lengths:
    why = f"{lengths.why.partition('; washout')[0]}; washout {time(washout_ns)}, as {because}"
    return Lengths(slice_ns=lengths.slice_ns, washout_ns=washout_ns, why=why)


def _settled_half_as_long(measured: Sequence[Block], lengths: Lengths) -> Block | None:
    """The last block before the washout was doubled to what it is now."""
    return next((one for one in reversed(measured) if 2 * one.lengths.washout_ns == lengths.washout_ns), None)


def _excess(block: Block | None, case: str) -> float | None:
    """By how much the slices of a case began unlike they went on."""
    arms = [trial.arm for trial in block.trials if trial.case == case] if block else []
    seen = early_excess(arms[0].slices) if arms and arms[0] else None
    return seen.mean if seen else None


def _slow_to_begin(block: Block) -> tuple[str, float] | None:
    """Whose slices begin unlike they go on by more than a hundredth, most of all."""
    found = []
    for trial in block.trials:
        excess = early_excess(trial.arm.slices) if trial.arm and trial.measurement else None
        if excess is None:
            continue
        errors = beyond_chance(STANDARD_ERRORS, excess.slices - 1, len(block.trials))
        if abs(excess.mean) > max(EARLY_DIFFERS, errors * excess.error):
            found.append((trial.case, excess.mean))
    return max(found, key=lambda one: abs(one[1]), default=None)


def rounds_of(measure_ns: int, lengths: Lengths) -> int:
    """How many rounds an interleaved block has in which each server is measured for so long or longer: an
    even number, as every second one is the one before it backwards."""
    wanted = max(FEWEST_ROUNDS, math.ceil(measure_ns / lengths.slice_ns))
    return wanted + wanted % 2


class Piloted(NamedTuple):
    """What a pilot came to."""

    lengths: Lengths
    pilot: Pilot


def piloted(
    lengths: Lengths,
    longer_ns: int,
    slices: Mapping[str, Sequence[Slice]],
    names: Mapping[str, str] = NAMELESS,
) -> Piloted | None:
    """The lengths after a pilot that tried those of `lengths` and slices of `longer_ns`: the shorter only
    where the ratios of all pairs agree within their errors, and what these would have let pass is said. None
    where no two servers went through it. `slices` are those of servers that are compared."""
    worst: tuple[float, float, tuple[str, str]] | None = None
    resolved = 0.0
    pairs = list(combinations(slices, 2))
    for a, b in pairs:
        short, long = (
            ratio_by_round(_of_length(slices[a], ns), _of_length(slices[b], ns))
            for ns in (lengths.slice_ns, longer_ns)
        )
        if min(len(short), len(long)) < 2:
            continue
        apart = abs(statistics.fmean(short) - statistics.fmean(long))
        allowed = student_t_quantile(len(short) + len(long) - 2, 1 - 0.025 / len(pairs))
        passes = allowed * math.hypot(error_of_mean(short), error_of_mean(long))
        resolved = max(resolved, passes)
        beyond = apart / (passes or 1e-12)
        if worst is None or beyond > worst[0]:
            worst = (beyond, apart, (a, b))
    if worst is None:
        return None
    beyond, apart, pair = worst
    agree = beyond <= 1
    pilot = Pilot(
        shorter_ns=lengths.slice_ns,
        longer_ns=longer_ns,
        rounds=PILOT_ROUNDS,
        apart=math.expm1(apart),
        pair=pair,
        agree=agree,
        resolved=math.expm1(resolved),
    )
    if agree:
        told = f"a pilot at {time(longer_ns)} told the same ratios, to {share(math.expm1(resolved))}"
        if resolved > _TOO_RESTLESS:
            told = f"a pilot at {time(longer_ns)} told none apart by more than {share(math.expm1(resolved))}"
        why = f"{lengths.why}; {told}"
        return Piloted(Lengths(slice_ns=lengths.slice_ns, washout_ns=lengths.washout_ns, why=why), pilot)
    a, b = (names.get(case, case) for case in pair)
    said = f"a pilot at {time(lengths.slice_ns)} told another ratio of {a} and {b}"
    why = f"{said}, {share(pilot.apart)} apart"
    return Piloted(Lengths(slice_ns=longer_ns, washout_ns=lengths.washout_ns, why=why), pilot)


def _of_length(slices: Sequence[Slice], length_ns: int) -> dict[int, float]:
    """The last rates at slices of that length, by round."""
    found = {one.round: one.completed / one.length_ns for one in slices if one.length_ns == length_ns}
    return dict(sorted(found.items())[-PILOT_ROUNDS:])
