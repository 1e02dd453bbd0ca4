"""The budget of a comparison: what is announced of it, what a pilot may take, what is said where it ended."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import case, measurement, run, trial

from assay.cli import versus
from assay.cli.parser import Parser
from assay.model.block import LONGEST_NS
from assay.model.design import Candidate, ComparisonDesign
from assay.model.run import Run
from assay.plan.next.comparison import has_room_for_pilot, pilot_ns, room_of
from assay.plan.words.drafts import interleave_of, within
from assay.report.live_words import ComparisonWords, RunProgress
from assay.report.model import comparison
from assay.stats.sequential import FEWEST_BLOCKS
from assay.verdict import judge
from assay.verdict.see_runs import load_ns

SECOND = 1_000_000_000


def drafted(*words: str) -> ComparisonDesign:
    """What the command line drafts."""
    parser = Parser("assay versus", "test")
    versus.configure(parser)
    design = versus.settled(parser.read([*words])).run.design
    assert isinstance(design, ComparisonDesign)
    return design


def begun(design: ComparisonDesign) -> Run:
    made = run([case(name) for name in design.warm_ups], ())
    return msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, design=design))


UNLIKE = ("./a {port}", "./b {port}")
ALIKE = ("./old/a {port}", "./new/a {port}")


@pytest.mark.parametrize("candidates", [UNLIKE, ALIKE, (*UNLIKE, "./c {port}", "./d {port}", "./e {port}")])
@pytest.mark.parametrize("more", [(), ("--sequential",), ("--slice", "500ms"), ("--no-control",)])
@pytest.mark.parametrize("budget", ["", "100s", "150s", "10m"])
def test_what_is_announced_agrees_with_the_budget(
    candidates: tuple[str, ...], more: tuple[str, ...], budget: str
) -> None:
    design = drafted(*candidates, *more, *(("--budget", budget) if budget else ()))
    said, room = ComparisonWords().begins(RunProgress(begun(design))), room_of(design)
    assert room.fewest <= room.most
    assert room.fewest == 1 or room.fewest * room.most_ns <= design.budget_ns
    assert room.most == 1 or room.most * room.least_ns <= design.budget_ns
    assert re.search(rf"with room for {room.fewest}( to {room.most})?\b", said)
    assert ("doubtful" in said) == (room.fewest < FEWEST_BLOCKS)
    if "doubtful" in said:
        enough = re.search(r"--budget (\d+s)", said)
        assert enough is not None
        assert room_of(drafted(*candidates, *more, "--budget", enough[1])).fewest >= room.fewest


@given(
    budget_s=st.integers(min_value=20, max_value=3600),
    entries=st.integers(min_value=2, max_value=9),
    slice_ms=st.integers(min_value=250, max_value=5000),
)
def test_a_pilot_leaves_the_budget_to_the_blocks(budget_s: int, entries: int, slice_ms: int) -> None:
    candidates = [Candidate(name="a", command="./a"), Candidate(name="b", command="./b")]
    interleave = within(interleave_of(candidates, None, None), budget_s * SECOND, entries)
    assert interleave is not None
    slice_ns = slice_ms * 1_000_000
    if has_room_for_pilot(interleave, slice_ns):
        takes_ns = entries * 12 * slice_ns
        assert takes_ns <= max(
            entries * pilot_ns(interleave),
            budget_s * SECOND // (8 if interleave.most_slice_ns < LONGEST_NS else 5),
        )


def compared(budget_s: float, blocks: int, *, noise: int = 40) -> Run:
    """Blocks of 2 s of two candidates whose difference is not told apart."""
    rates = {"A": 10_000, "B": 10_010}
    trials = [
        trial(name, block, measurement(per_s + noise * ((block + place) % 3), seconds=1))
        for block in range(blocks)
        for place, (name, per_s) in enumerate(rates.items())
    ]
    made = run([case("A"), case("B")], trials, 0, {"kind": "versus", "margin": 0.0001})
    design = msgspec.structs.replace(made.header.design, budget_ns=round(budget_s * SECOND))
    made = msgspec.structs.replace(made, header=msgspec.structs.replace(made.header, design=design))
    return msgspec.structs.replace(made, judgement=judge(made, 0))


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (2, "The budget of 5 s of load ended it after 2 blocks, and an order needs 3."),
        (5, "The budget of 11 s of load ended it after 5 blocks."),
    ],
)
def test_the_answer_names_the_budget_where_that_ended_the_run(blocks: int, said: str) -> None:
    made = compared(2 * blocks + 1, blocks)
    assert load_ns(made) == 2 * blocks * SECOND
    assert said in comparison.in_sentences(made).more
    roomy = compared(10 * blocks, blocks)
    assert not any("budget of" in one for one in comparison.in_sentences(roomy).more)


def test_the_first_block_tells_that_the_budget_is_short() -> None:
    words = ComparisonWords()
    short = words.ended(RunProgress(compared(5, 1)))
    assert "the budget has room for 1 more: 4, the fewest there is to be room for, are doubtful" in short
    assert "(--budget 9s has room for them)" in short
    assert "budget" not in words.ended(RunProgress(compared(9, 1)))
    assert "budget" not in words.ended(RunProgress(compared(5, 2)))
