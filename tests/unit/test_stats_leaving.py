"""Who takes part in the next block, and levels of servers that were not in all blocks."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.ranking import FEWEST, implied, taking_part
from assay.stats.scatter import fitted, pool

names = st.lists(st.sampled_from("abcdefgh"), min_size=2, unique=True)


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Servers that can be had, pairs that are undecided (of others, too), and servers not seen yet."""
    pairs = list(combinations("abcdefgh", 2))
    return draw(names), draw(st.lists(st.sampled_from(pairs), unique=True)), draw(names)


@given(questions())
def test_a_block_has_a_pair_that_is_undecided_and_nobody_for_nothing(
    asked: tuple[list[str], list[tuple[str, str]], list[str]],
) -> None:
    servers, undecided, unseen = asked
    found = taking_part(servers, undecided, unseen)
    assert len(found) >= FEWEST and found <= set(servers)
    can_be_had = [pair for pair in undecided if set(pair) <= set(servers)]
    assert all(set(pair) <= found for pair in can_be_had)
    if can_be_had:
        told = {server for pair in can_be_had for server in pair} | set(unseen)
        assert found <= told
    else:
        assert found == set(servers)


@given(names, st.data())
def test_as_pairs_are_decided_blocks_only_get_smaller_to_the_last_pair(
    servers: list[str], data: st.DataObject
) -> None:
    left = [(servers[0], other) for other in servers[1:]]
    before = frozenset(servers)
    while len(left) > 1:
        left.remove(data.draw(st.sampled_from(left)))
        found = taking_part(servers, left)
        assert found < before and len(found) == len(left) + 1
        before = found
    assert len(before) == FEWEST


@given(st.permutations("abcdef"), st.data())
def test_orders_that_follow_are_those_of_all_chains_and_no_other(
    servers: list[str], data: st.DataObject
) -> None:
    shown = data.draw(st.sets(st.sampled_from(list(combinations(servers, 2)))))

    def leads(faster: str, slower: str) -> bool:
        return any(between == slower or leads(between, slower) for first, between in shown if first == faster)

    assert implied(shown) == {pair for pair in combinations(servers, 2) if leads(*pair)}


logs = st.floats(-0.5, 0.5)


@given(st.lists(logs, min_size=4, max_size=4), st.lists(logs, min_size=9, max_size=9), st.data())
def test_levels_are_those_of_all_blocks_whoever_was_in_which(
    levels: list[float], moods: list[float], data: st.DataObject
) -> None:
    left_after = [data.draw(st.integers(3, 9)) for _ in levels[:-2]] + [9, 9]
    rows = [
        {block: level + moods[block] for block in range(last)}
        for level, last in zip(levels, left_after, strict=True)
    ]
    fit = fitted(rows)
    for place, level in enumerate(levels):
        assert fit.levels[place] - fit.levels[0] == pytest.approx(level - levels[0], abs=1e-6)
    assert all(abs(value) < 1e-6 for row in fit.residuals for value in row.values())
    assert fit.degrees == sum(left_after) - 4 - 9 + 1


def test_servers_that_left_still_say_how_all_scatter() -> None:
    wobble = (0.01, -0.02, 0.015, 0.0, -0.01, 0.02, 0.005, -0.015)
    rows = [
        {block: wobble[(block * step + step) % 8] for block in range(last)}
        for step, last in ((1, 3), (3, 3), (5, 8), (7, 8))
    ]
    found = pool(rows, alike=False)
    assert found is not None and found.variance is not None
    assert found.joined(0.0004, 8, 2)[1] > 7  # degrees of freedom beyond those of its own eight blocks
