"""How many blocks a study has: what it asks for, and more where its first show that they are needed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import made_runs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, measurement, plan, trial
from msgspec.structs import replace

from assay.core.settings import Settings
from assay.model.block import Block
from assay.model.design import Choices, StudyDesign, WarmUp
from assay.model.run import Run
from assay.model.trial import Failure, OfCapacity, Trial
from assay.plan.next.study import to_come
from assay.plan.study.load import load_study
from assay.plan.study.resolve import resolve
from assay.plan.study.schema import LoadSetting, Profile
from assay.report.live_words import RunProgress, StudyWords
from assay.report.model.circumstances import circumstances, title
from assay.stats.scatter import allowed_correlation, widening
from assay.stats.sequential import trials_for_half_width
from assay.verdict import judge
from assay.verdict.see_runs import added, blocks_of, trials_of

WARM = WarmUp(min_ns=0, max_ns=0)
STEADY = [1.0, 1.01, 0.99, 1.0]
RESTLESS = [1.0, 1.15, 0.87, 1.05]


def study(ratios: Sequence[float], *, more: int = 6, precision: float = 0.05, first: int = 4) -> Run:
    """A study of two servers with these ratios, block after block, on a machine that drifts by half."""
    cases = [case("a"), case("b")]
    made = made_runs.run(cases, (), blocks=first)
    trials = []
    for block, ratio in enumerate(ratios):
        machine = 10_000 * (1 + 0.5 * block / len(ratios))
        trials += [trial("a", block, measurement(machine * ratio)), trial("b", block, measurement(machine))]
    design = StudyDesign(
        blocks=first,
        more_blocks=more,
        precision=precision,
        plans={one.id: plan() for one in cases},
        warm_ups=dict.fromkeys(("a", "b"), WARM),
    )
    return replace(made, header=replace(made.header, design=design), trials=tuple(trials))


def test_a_study_whose_ratios_are_known_well_enough_has_the_blocks_that_it_asks_for() -> None:
    made = study(STEADY)
    assert to_come(made) == ()
    assert judge(made, 0).complete
    assert (blocks_of(made), trials_of(made), added(made)) == (4, 8, None)


def test_ratios_that_deviate_get_as_many_blocks_as_their_deviation_asks_for() -> None:
    made = study(RESTLESS, more=100)
    more = added(made)
    assert more is not None
    assert more.deviation == pytest.approx(statistics.stdev(map(math.log, RESTLESS)))
    wide = widening(allowed_correlation([list(map(math.log, RESTLESS))]))
    needed = trials_for_half_width(wide * more.deviation, math.log(1.05))
    assert needed is not None
    assert needed > 10
    assert blocks_of(made) == needed
    assert {slot.block for slot in to_come(made)} == set(range(4, needed))
    assert not judge(made, 0).complete


def test_there_are_no_more_blocks_than_the_study_allows() -> None:
    made = study(RESTLESS, more=2)
    assert {slot.block for slot in to_come(made)} == {4, 5}
    assert to_come(study([*RESTLESS, 1.0, 1.2], more=2)) == ()
    assert to_come(study(RESTLESS, more=0)) == ()


def test_a_wider_interval_may_be_enough() -> None:
    assert blocks_of(study(RESTLESS, more=100, precision=0.5)) == 4


@given(st.lists(st.floats(0.2, 5), min_size=1, max_size=6))
def test_how_many_there_are_is_settled_by_the_first_blocks_alone(later: list[float]) -> None:
    """Looked at again after later blocks it would stop where chance made the ratios look alike."""
    assert blocks_of(study([*RESTLESS, *later])) == blocks_of(study(RESTLESS))
    assert blocks_of(study([*STEADY, *later])) == 4


def test_it_is_not_settled_before_the_first_blocks_are_over() -> None:
    begun = study(RESTLESS[:3])
    assert blocks_of(begun) == 4
    assert {slot.block for slot in to_come(begun)} == {3}
    last = study(RESTLESS)
    half = replace(last, trials=last.trials[:-1])
    assert [slot.case for slot in to_come(half)] == ["b"]


def test_a_server_that_was_never_measured_asks_for_nothing() -> None:
    made = study(STEADY)
    failed = tuple(
        trial("a", one.block, Failure(stage="start", reason="down")) if one.case == "a" else one
        for one in made.trials
    )
    assert to_come(replace(made, trials=failed)) == ()


def test_no_order_is_claimed_of_the_null_server_nor_of_open_loops() -> None:
    made = study(RESTLESS)
    null = case("b", role="ceiling")
    assert added(replace(made, header=replace(made.header, cases=(case("a"), null)))) is None
    opened = case("b", rate=OfCapacity(load="c", cases=("a",), share=0.5))
    assert added(replace(made, header=replace(made.header, cases=(case("a"), opened)))) is None


def test_blocks_are_asked_by_the_ratios_of_their_slices() -> None:
    """What the machine does to a whole block says nothing of how well its ratio is known."""
    made = study(())
    blocks = [
        made_runs.interleaved({"a": [1000 * k, 1210 * k], "b": [1000 * k, 1200 * k]}, block, block)
        for block, k in enumerate((1.0, 1.6, 0.5, 1.2))
    ]
    assert added(replace(made, blocks=tuple(blocks), trials=trials_in(blocks))) is None
    wild = [
        made_runs.interleaved({"a": [1000 * k, 1200 * k], "b": [1000, 1200]}, block, block)
        for block, k in enumerate((1.0, 1.6, 0.5, 1.2))
    ]
    assert added(replace(made, blocks=tuple(wild), trials=trials_in(wild))) is not None


def trials_in(blocks: Sequence[Block]) -> tuple[Trial, ...]:
    return tuple(one for block in blocks for one in block.trials)


def test_a_reader_is_told_how_many_and_why() -> None:
    made = study([*RESTLESS, 1.0, 1.0], more=2)
    because = (
        "2 blocks more than 4, as the ratio of a and b deviates by 12 % from block to block and 5.0 % is"
    )
    assert because in dict(circumstances(made))["order"]
    assert "6 blocks of 2 cases" in title(made)
    assert "more than" not in dict(circumstances(study(STEADY)))["order"]


def test_the_log_says_it_when_it_is_known() -> None:
    words = StudyWords()
    made = study(RESTLESS, more=2)
    assert "in 4 blocks (up to 6)" in words.begins(RunProgress(study((), more=2)))
    assert words.ended(RunProgress(made)).endswith("5.0 % is wanted")
    before = replace(made, trials=made.trials[:-1])
    after = study([*RESTLESS, 1.0], more=2)
    assert not any("is wanted" in words.ended(RunProgress(one)) for one in (before, after))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"more_blocks": -1}, "must not be below 0"),
        ({"blocks": 2, "more_blocks": 1}, "what 3 blocks or more have shown"),
        ({"precision": 0.0}, "precision must be"),
        ({"precision": 1.5}, "precision must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(changes: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Profile(loads=(LoadSetting(name="c", connections=1, measure_s=1),), **changes)  # type: ignore[arg-type]


def test_who_names_a_number_of_blocks_or_wants_a_first_look_gets_that() -> None:
    def more(choices: Choices) -> int:
        settings = Settings.resolve(environ={})
        design = resolve(load_study("franklin", settings), settings, choices).design
        assert isinstance(design, StudyDesign)
        return design.more_blocks

    assert more(Choices()) == 2
    assert more(Choices(blocks=6)) == 0
    assert more(Choices(quick=True)) == 0
