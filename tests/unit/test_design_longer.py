"""When the slices of a warm-up are too short for a slow server, by one that was told to be steady early.

Spring on the `owners` of the petclinic study, 64 connections on one core: in slices of 100 ms its level
seemed to hold after 7.2 s, at 130 answers a second; it was at 577 after 22 s, and once warm at 1,912.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import made_runs
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.model.design import WarmUp
from assay.model.interleaving import Slice
from assay.model.trial import WarmUpSeen
from assay.plan.next.lengths import QUICK_NS, WARMING_NS, longer_ns
from assay.plan.next.warming import warmed_up
from assay.runner.steering import OwnTime

MS, S = 1_000_000, 1_000_000_000
CONNECTIONS = 64
MOST_NS = 2500 * MS
BOUNDS = WarmUp(min_ns=2 * S, max_ns=40 * S)
OWNERS = [
    *(0, 4, 6, 7, 6, 7, 11, 6, 4, 8, 9, 8, 6, 12, 5, 6, 4, 12, 7, 5, 14, 11, 5, 4, 13),
    *(12, 9, 11, 14, 9, 8, 14, 13, 12, 12, 15, 10, 16, 10, 14, 7, 16, 11, 11, 14, 14, 16, 13, 13, 13),
    *(14, 11, 10, 12, 6, 16, 9, 9, 18, 15, 12, 11, 12, 18, 12, 14, 11, 9, 11, 16, 15, 14, 17),
]
"""What it answered in each of its first slices, of 100 ms."""
LATER = [426, 421, 467, 537, 824, 1443]
"""What it answered in those behind them, of 2.5 s."""


def made(times: int, completed: int, length_ns: int = WARMING_NS, **changes: int) -> Slice:
    one = made_runs.made_slice(times, times, 0, 10.0 * completed)
    return replace(one, phase="warmup", length_ns=length_ns, carried=CONNECTIONS, **changes)


def asked(
    *completed: int, length_ns: int = WARMING_NS, watched_ns: int = 40 * S, **changes: int
) -> int | None:
    """What slices of that length are to be, where the last ones brought so many answers."""
    slices = [made(times, each, length_ns, **changes) for times, each in enumerate(completed)]
    return longer_ns(length_ns, MOST_NS, watched_ns, {"quick": [made(0, 9000)] * 3, "slow": slices})


def until(time_ns: int) -> float:
    """How many answers the record holds by then, even within a slice."""
    ends = list(accumulate([WARMING_NS] * len(OWNERS) + [MOST_NS] * len(LATER), initial=0))
    answered = list(accumulate([*OWNERS, *LATER], initial=0))
    place = min(bisect_right(ends, time_ns), len(ends) - 1)
    part = (time_ns - ends[place - 1]) / (ends[place] - ends[place - 1])
    return answered[place - 1] + part * (answered[place] - answered[place - 1])


def told(*, longer: bool) -> tuple[WarmUpSeen | None, list[int]]:
    """What comes of a warm-up whose answers come as those of the record, and how long its slices were."""
    own, slices = OwnTime(), list[Slice]()
    length_ns, now_ns = WARMING_NS, 0
    while now_ns + length_ns <= 22 * S:
        answers = round(until(now_ns + length_ns)) - round(until(now_ns))
        slices.append(made(len(slices), answers, length_ns))
        now_ns += length_ns
        found = warmed_up(own.of(slices), BOUNDS)
        if found is not None:
            return found, sorted({one.length_ns for one in slices})
        if longer:
            length_ns = longer_ns(length_ns, MOST_NS, BOUNDS.max_ns, {"slow": slices}) or length_ns
    return None, sorted({one.length_ns for one in slices})


def test_a_server_that_still_warms_up_is_not_steady_in_slices_shorter_than_its_answers() -> None:
    short, lengths = told(longer=False)
    assert short is not None and short.steady and short.took_ns == 7200 * MS and lengths == [100 * MS]
    assert told(longer=True) == (None, [100 * MS, 200 * MS, 400 * MS, 800 * MS, 1600 * MS])


def test_slices_of_fewer_than_four_service_times_get_longer() -> None:
    assert asked(*OWNERS[:3]) == asked(*OWNERS[-3:]) == 200 * MS
    assert asked(255, 255, 255) == 200 * MS
    assert asked(255, 256, 255) is None  # it is no chance that one of them held as many
    assert asked(58, 63, 53, length_ns=400 * MS) == 800 * MS


def test_a_warm_up_keeps_enough_slices_to_be_judged_before_its_bound() -> None:
    assert asked(200, 200, 200, length_ns=1600 * MS) == 2 * S  # a twentieth of 40 s
    assert asked(200, 200, 200, length_ns=2 * S) is None
    assert asked(4, 6, 7, watched_ns=2 * S) is None
    assert asked(4, 6, 7, watched_ns=0) is None  # it ends when it is told to, whatever it shows
    assert asked(200, 200, 200, length_ns=2 * S, watched_ns=100 * S) == MOST_NS


def test_short_slices_become_usual_ones_where_they_hold_few_requests_or_showed_no_level_in_a_second() -> None:
    assert asked(90, 199, 199, 199, length_ns=QUICK_NS) == WARMING_NS
    assert asked(199, 199, 600, length_ns=QUICK_NS) is None
    assert asked(*[600] * 99, length_ns=QUICK_NS) is None
    assert asked(*[600] * 100, length_ns=QUICK_NS) == WARMING_NS
    assert asked(*[600] * 100, length_ns=QUICK_NS, watched_ns=S) == 50 * MS  # twenty of them are to fit
    assert asked(90, 90, 90, length_ns=QUICK_NS, watched_ns=0) is None


def test_a_server_whose_first_answers_alone_are_slow_lengthens_none() -> None:
    assert asked(25, 180, 1500) is None
    assert asked(25, 180, 1500, 4000, 6000) is None


def test_one_that_answers_nothing_or_refuses_lengthens_none() -> None:
    assert asked(0, 0, 0) is None
    assert asked(0, 0, 1, failed=9000) is None
    assert asked(0, 0, 0, late=4) == 200 * MS
    assert asked(0, 0, 0, late=4, length_ns=2 * S) == MOST_NS  # to be seen at all


@given(
    counts=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3)), min_size=40, max_size=40),
    watched_s=st.integers(0, 60),
)
def test_lengths_grow_a_few_times_at_most_and_no_further_than_there_is_time_for(
    counts: list[tuple[int, int]], watched_s: int
) -> None:
    lengths, slices = [WARMING_NS], list[Slice]()
    for times, (completed, late) in enumerate(counts):
        slices.append(made(times, completed, lengths[-1], late=late))
        longer = longer_ns(lengths[-1], MOST_NS, watched_s * S, {"slow": slices})
        if longer is not None:
            assert lengths[-1] < longer <= min(2 * lengths[-1], MOST_NS)
            lengths.append(longer)
    assert len(lengths) <= 7  # 2.5 s are 25 times as long: five doublings, and one to where a bound ends
