"""What a slice has of the slice before it: the size of it, and an error that is its own. Simulated."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping

import pytest

from assay.stats.interleaved import CarryOver, carry_over


def followed(draw: random.Random, arms: int, rounds: int) -> dict[int, str]:
    """Whose slice was before each slice of the first arm; every second round runs backwards."""
    last, order, after = "", list("abcdef"[:arms]), {}
    for round_number in range(rounds):
        order = order[::-1] if round_number % 2 else draw.sample(order, arms)
        for name in order:
            if name == "a" and last:
                after[round_number] = last
            last = name
    return after


def seen(
    draw: random.Random, arms: int, effects: Mapping[str, float], rounds: int = 40, noise: float = 0.02
) -> CarryOver | None:
    """An interleaved block on a machine that slows down all the time."""
    after = followed(draw, arms, rounds)
    logs = {
        round_number: 9.0
        - 0.01 * round_number
        + effects.get(after.get(round_number, ""), 0.0)
        + draw.gauss(0, noise)
        for round_number in range(rounds)
    }
    return carry_over(logs, after, "a", "b")


@pytest.mark.parametrize("arms", [2, 3, 4])
def test_a_injected_effect_is_read_at_its_size(arms: int) -> None:
    draw = random.Random(arms)
    found = [one for _ in range(200) if (one := seen(draw, arms, {"b": math.log(0.9)})) is not None]
    assert statistics.fmean(one.mean for one in found) == pytest.approx(math.log(0.9), abs=0.004)


@pytest.mark.parametrize("arms", [2, 3])
def test_the_error_is_that_of_the_estimate(arms: int) -> None:
    draw = random.Random(arms)
    found = [one for _ in range(600) if (one := seen(draw, arms, {})) is not None]
    spread = statistics.pstdev(one.mean for one in found)
    assert math.sqrt(statistics.fmean(one.error**2 for one in found)) == pytest.approx(spread, rel=0.1)


def test_what_follows_a_third_server_is_not_put_down_to_the_other() -> None:
    draw = random.Random(5)
    found = [one for _ in range(200) if (one := seen(draw, 3, {"c": math.log(0.8)})) is not None]
    assert statistics.fmean(one.mean for one in found) == pytest.approx(0.0, abs=0.006)


def test_a_block_without_both_kinds_tells_nothing() -> None:
    logs = {round_number: 9.0 + round_number % 3 for round_number in range(8)}
    assert carry_over(logs, dict.fromkeys(range(8), "b"), "a", "b") is None
    assert carry_over(logs, dict.fromkeys(range(8), "a"), "a", "b") is None
    assert carry_over({}, {}, "a", "b") is None
