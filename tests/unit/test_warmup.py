"""When a server counts as warm."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.study import WarmUp
from assay.trial.warmup import is_warm
from assay.values.measurement import Window

MS = 1_000_000
RULE = WarmUp(min_ns=1_500 * MS, max_ns=6_000 * MS)


def windows(rates: Sequence[float], length_ms: int = 100) -> list[Window]:
    return [
        Window(
            start_ns=place * length_ms * MS,
            length_ns=length_ms * MS,
            phase="warmup",
            started=0,
            completed=round(rate * length_ms / 1000),
            failed=0,
            bytes_read=0,
        )
        for place, rate in enumerate(rates)
    ]


def warm_after_ms(rates: Sequence[float], rule: WarmUp = RULE) -> int | None:
    seen = windows(rates)
    return next((100 * n for n in range(1, len(seen) + 1) if is_warm(seen[:n], rule)), None)


def test_a_level_server_is_warm_after_four_slices() -> None:
    assert warm_after_ms([1000] * 100) == 1900  # the fourth slice counts from 80 % of its length on


def test_the_least_time_is_kept() -> None:
    assert warm_after_ms([1000] * 100, WarmUp(min_ns=3_000 * MS, max_ns=6_000 * MS)) == 3000


def test_a_server_that_gets_faster_is_warm_when_it_is_level() -> None:
    climbing = [100 * (n + 1) for n in range(25)]
    assert warm_after_ms([*climbing, *([2500] * 75)]) == 2500 + 1900


def test_the_bound_ends_an_unsteady_warm_up() -> None:
    assert warm_after_ms([1000, 1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000, 2000] * 10) == 6000


def test_a_server_that_answers_nothing_is_not_warm_before_the_bound() -> None:
    assert warm_after_ms([0] * 100) == 6000


@pytest.mark.parametrize("seen", [0, 1])
def test_without_a_warm_up_all_is_measured(seen: int) -> None:
    assert is_warm(windows([1000] * seen), WarmUp(min_ns=0, max_ns=0))


def test_nothing_seen_is_not_warm() -> None:
    assert not is_warm([], RULE)
