"""How an interleaved block goes through its states: event by event, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import made_runs
import pytest
from msgspec.structs import replace

from assay.model.block import Interleaving, Lengths
from assay.model.design import WarmUp
from assay.model.interleaving import End, EndArm, GiveSlices, Measure, SetLengths, Slice
from assay.model.trial import WarmUpSeen
from assay.plan.next import Due, DueBlock, Slot
from assay.plan.next.lengths import PILOT_ROUNDS
from assay.runner.steering import (
    ArmWatched,
    AskedChange,
    Ended,
    Measuring,
    PilotLong,
    PilotShort,
    Progress,
    Rejoining,
    RoundBegan,
    SteeringState,
    Transitions,
    WarmingUp,
)

MS, S = 1_000_000, 1_000_000_000
CASES = ("a", "b", "c")
UNLIKE = Interleaving(least_slice_ns=100 * MS)
ALIKE = replace(UNLIKE, alike=True)
KNOWN = Lengths(slice_ns=200 * MS, washout_ns=5 * MS, why="known")
FOUND = Lengths(slice_ns=100 * MS, washout_ns=5 * MS, why="unlike servers")
WARM = WarmUpSeen(steady=True, bound_ns=2 * S, reason="steady", took_ns=S)
ALL_WARM = dict.fromkeys(range(3), WARM)
SHORT = AskedChange(SetLengths(slice_ns=100 * MS, washout_ns=5 * MS))
LONG = AskedChange(SetLengths(slice_ns=200 * MS, washout_ns=5 * MS))
MEASURE = AskedChange(Measure())


def transitions(
    lengths: Lengths | None = None, interleave: Interleaving = UNLIKE, warm_up: int = 2 * S
) -> Transitions:
    """Of a block of three compared servers, each measured for a second."""
    watched = WarmUp(min_ns=warm_up // 2, max_ns=warm_up)
    dues = tuple(
        Due(Slot(number, 0, number, case), made_runs.plan(seconds=1), watched)
        for number, case in enumerate(CASES)
    )
    due = DueBlock(0, 0, 1, interleave, dues, lengths, {}, frozenset(CASES))
    return Transitions(due, [ArmWatched(case, watched) for case in CASES])


def at(state: SteeringState, warm: Mapping[int, WarmUpSeen] = ALL_WARM, gone: Sequence[int] = ()) -> Progress:
    return Progress(state, FOUND, warm, frozenset(gone))


def fast(rounds: int = 6, carried: int = 2) -> dict[int, Sequence[Slice]]:
    """Slices of three servers with as many requests as a slice has to hold."""
    return {
        place: [
            replace(made_runs.made_slice(3 * n + place, n, place, 20_000), phase="warmup", carried=carried)
            for n in range(rounds)
        ]
        for place in range(3)
    }


def began(
    number: int,
    *,
    warmed: Sequence[int] = (),
    ended: Sequence[int] = (),
    measured: bool = False,
    carried: int = 2,
) -> RoundBegan:
    return RoundBegan(number, measured, fast(carried=carried), dict.fromkeys(warmed, WARM), frozenset(ended))


WARMING = WarmingUp(100 * MS)
YIELDED = WarmingUp(100 * MS, yielded=True)
OVER = 20 + PILOT_ROUNDS

TABLE: dict[str, tuple[Transitions, Progress, RoundBegan, SteeringState, tuple[AskedChange, ...]]] = {
    "nobody is warm yet": (transitions(), at(WARMING, {}), began(5), WARMING, ()),
    "who is warm yields to the cold": (
        transitions(),
        at(WARMING, {}),
        began(5, warmed=[0]),
        YIELDED,
        (AskedChange(GiveSlices(arms=(1, 2))),),
    ),
    "nobody yields twice": (transitions(), at(YIELDED, {0: WARM}), began(6), YIELDED, ()),
    "the last one is warm after others yielded": (
        transitions(),
        at(YIELDED, {0: WARM, 1: WARM}),
        began(9, warmed=[2]),
        Rejoining(),
        (AskedChange(GiveSlices(arms=(0, 1, 2))), SHORT),
    ),
    "the last cold one ends while others yield": (
        transitions(),
        at(YIELDED, {0: WARM, 1: WARM}),
        began(9, ended=[2]),
        Rejoining(),
        (SHORT,),
    ),
    "all are warm at once": (
        transitions(),
        at(WARMING, {}),
        began(9, warmed=[0, 1, 2]),
        PilotShort(),
        (AskedChange(GiveSlices(arms=(0, 1, 2))), SHORT),
    ),
    "all are warm at once and lengths are known": (
        transitions(KNOWN),
        Progress(WARMING, KNOWN),
        began(9, warmed=[0, 1, 2]),
        Measuring(),
        (AskedChange(GiveSlices(arms=(0, 1, 2))), LONG, MEASURE),
    ),
    "slices hold too few requests to tell": (
        transitions(warm_up=20 * S),
        at(WARMING, {}),
        began(9, carried=5000),
        WarmingUp(200 * MS),
        (LONG,),
    ),
    "who yielded has had no whole round": (transitions(), at(Rejoining(12)), began(12), Rejoining(12), ()),
    "a pilot follows the round together": (
        transitions(),
        at(Rejoining(12)),
        began(13),
        PilotShort(14),
        (),
    ),
    "builds of one program take short slices together once more": (
        transitions(interleave=ALIKE),
        at(YIELDED, {0: WARM, 1: WARM}),
        began(9, warmed=[2]),
        Rejoining(),
        (AskedChange(GiveSlices(arms=(0, 1, 2))),),
    ),
    "no pilot of builds of one program": (
        transitions(interleave=ALIKE),
        at(Rejoining(12)),
        began(13),
        Measuring(),
        (SHORT, MEASURE),
    ),
    "no pilot of a length asked for": (
        transitions(interleave=Interleaving(least_slice_ns=100 * MS, given_slice_ns=100 * MS)),
        at(Rejoining(12)),
        began(13),
        Measuring(),
        (SHORT, MEASURE),
    ),
    "no pilot of one server": (
        transitions(),
        at(Rejoining(12), gone=[1, 2]),
        began(13),
        Measuring(),
        (SHORT, MEASURE),
    ),
    "the short pilot goes on": (transitions(), at(PilotShort(20)), began(OVER - 1), PilotShort(20), ()),
    "the long pilot follows": (transitions(), at(PilotShort(20)), began(OVER), PilotLong(), (LONG,)),
    "the long pilot goes on": (transitions(), at(PilotLong(20)), began(OVER - 1), PilotLong(20), ()),
    "measuring follows the pilot": (
        transitions(),
        at(PilotLong(20)),
        began(OVER),
        Measuring(),
        (SHORT, MEASURE),
    ),
    "a pilot ends with its second last server, at the length that was found": (
        transitions(),
        at(PilotLong(20), gone=[1]),
        began(21, ended=[2]),
        Measuring(),
        (SHORT, MEASURE),
    ),
    "measuring holds from a later round": (transitions(), at(Measuring()), began(30), Measuring(), ()),
    "the first measured round names the end": (
        transitions(),
        at(Measuring()),
        began(31, measured=True),
        Measuring(31),
        (AskedChange(End(), 41),),
    ),
    "measured rounds are counted": (
        transitions(),
        at(Measuring(31)),
        began(35, measured=True),
        Measuring(31, rounds=4),
        (),
    ),
    "nobody is left while warming up": (
        transitions(),
        at(WARMING, {}, gone=[0, 1]),
        began(5, ended=[2]),
        Ended(),
        (AskedChange(End()),),
    ),
    "nobody is left in a pilot": (
        transitions(),
        at(PilotLong(20)),
        began(21, ended=[0, 1, 2]),
        Ended(),
        (AskedChange(End()),),
    ),
    "nothing follows the end": (transitions(), at(Ended(), gone=[0, 1, 2]), began(22), Ended(), ()),
}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_a_round_leads_to_a_state_and_changes(
    row: tuple[Transitions, Progress, RoundBegan, SteeringState, tuple[AskedChange, ...]],
) -> None:
    rules, progress, event, state, asked = row
    step = rules.round_began(progress, event)
    assert (step.progress.state, step.asked) == (state, asked)


@pytest.mark.parametrize("state", [WARMING, Rejoining(3), PilotShort(3), PilotLong(3), Measuring(3)])
def test_the_arm_of_a_server_that_died_ends_once(state: SteeringState) -> None:
    rules = transitions()
    first = rules.arms_died(at(state, gone=[0]), [0, 2])
    assert first.asked == (AskedChange(EndArm(arm=2)),)
    assert (first.progress.state, first.progress.gone) == (state, frozenset({0, 2}))
    assert rules.arms_died(first.progress, [0, 2]).asked == ()


@pytest.mark.parametrize(
    ("state", "then"),
    [
        (WARMING, WARMING),
        (Rejoining(), Rejoining(7)),
        (Rejoining(5), Rejoining(5)),
        (PilotShort(), PilotShort(7)),
        (PilotLong(), PilotLong(7)),
        (PilotLong(5), PilotLong(5)),
        (Measuring(), Measuring()),
    ],
)
def test_a_state_counts_from_the_round_that_the_run_names(state: SteeringState, then: SteeringState) -> None:
    assert transitions().holds(at(state), 7).state == then


def test_a_block_starts_by_warming_up_or_measures_at_once() -> None:
    cold = transitions().start()
    assert (cold.progress.state, cold.progress.warm, cold.asked) == (WARMING, {}, ())
    assert transitions(warm_up=S).start().progress.state == WarmingUp(10 * MS)
    warm = transitions(warm_up=0).start()
    assert (warm.progress.state, warm.asked) == (Measuring(), (MEASURE,))
    assert warm.progress.warm.keys() == {0, 1, 2}


def test_the_washout_is_never_below_what_generators_need() -> None:
    rules = Transitions(transitions().due, transitions().arms, least_washout_ns=9 * MS)
    assert rules.start().progress.lengths.washout_ns == 9 * MS
    found = rules.round_began(at(YIELDED, {0: WARM, 1: WARM}), began(9, warmed=[2]))
    assert found.asked[-1] == AskedChange(SetLengths(slice_ns=100 * MS, washout_ns=9 * MS))


def test_a_pilot_is_kept_with_the_lengths_that_it_decided() -> None:
    both = {
        place: [
            replace(one, length_ns=100 * MS if number < 6 else 200 * MS) for number, one in enumerate(slices)
        ]
        for place, slices in fast(rounds=12).items()
    }
    step = transitions().round_began(at(PilotLong(20)), RoundBegan(OVER, slices=both))
    assert step.progress.pilot is not None
    assert step.progress.pilot.longer_ns == 200 * MS
    assert step.progress.lengths.slice_ns == 100 * MS
    assert "a pilot at 200 ms" in step.progress.lengths.why


def test_a_block_that_was_cut_counts_from_four_measured_rounds_on() -> None:
    assert [at(Measuring(1, rounds)).is_whole for rounds in (0, 3, 4, 5)] == [False, False, True, True]
    assert not at(PilotLong(1)).is_whole
