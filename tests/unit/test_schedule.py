"""Randomised complete blocks."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from assay.plan.next.schedule import order, remaining

CASES = st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=8, unique=True)


@given(CASES, st.integers(1, 8), st.integers(0, 2**31))
def test_every_block_holds_every_case_once(cases: list[str], blocks: int, seed: int) -> None:
    slots = order(cases, blocks, seed)
    assert [slot.number for slot in slots] == list(range(len(cases) * blocks))
    for block in range(blocks):
        inside = [slot for slot in slots if slot.block == block]
        assert sorted(slot.case for slot in inside) == sorted(cases)
        assert [slot.position for slot in inside] == list(range(len(cases)))


@given(CASES, st.integers(1, 8), st.integers(0, 2**31), st.data())
def test_what_remains_keeps_its_order(cases: list[str], blocks: int, seed: int, data: st.DataObject) -> None:
    slots = order(cases, blocks, seed)
    done = data.draw(st.sets(st.sampled_from([(slot.case, slot.block) for slot in slots])))
    left = remaining(slots, done)
    assert [(slot.case, slot.block) not in done for slot in slots].count(True) == len(left)
    assert list(left) == sorted(left, key=lambda slot: slot.number)


def test_those_that_come_later_may_come_several_times() -> None:
    slots = order("abc", 2, 1, later={"b": 3})
    for block in range(2):
        inside = [slot.case for slot in slots if slot.block == block]
        assert sorted(inside[:2]) == ["a", "c"] and inside[2:] == ["b", "b", "b"]
    left = remaining(slots, [("b", 0), ("b", 0), ("a", 0)])
    assert [(slot.case, slot.block) for slot in left].count(("b", 0)) == 1
    assert len(left) == len(slots) - 3


def test_a_case_may_be_in_some_blocks_only() -> None:
    slots = order("ab", 4, 1, {"b": (1, 3)})
    assert [(slot.case, slot.block) for slot in slots if slot.case == "b"] == [("b", 1), ("b", 3)]
    assert sorted(slot.block for slot in slots if slot.case == "a") == [0, 1, 2, 3]
    assert [slot.number for slot in slots] == list(range(6))


def test_the_seed_settles_the_order_for_good() -> None:
    """Written down: a change would make every run that was cut off impossible to resume."""
    assert [slot.case for slot in order("abcd", 2, 1)] == EXPECTED
    assert order("abcd", 2, 1) != order("abcd", 2, 2)


def test_each_case_comes_first_about_equally_often() -> None:
    first = Counter(slot.case for slot in order("abc", 600, 7) if slot.position == 0)
    assert all(150 < first[case] < 250 for case in "abc")


EXPECTED = ["c", "a", "b", "d", "b", "c", "a", "d"]
