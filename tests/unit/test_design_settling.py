"""How long the washout of an interleaved block is, as the ones before it showed."""

from __future__ import annotations

import made_runs
import pytest
from msgspec.structs import replace

from assay.model.block import ALIKE_NS, Block, Interleaving, Lengths
from assay.plan.next.lengths import lengths_now

MS = 1_000_000
ALIKE = Interleaving(least_slice_ns=ALIKE_NS, alike=True)


def test_the_settle_time_doubles_where_slices_begin_slower_than_they_go_on() -> None:
    even = made_runs.interleaved({"a": [1000.0] * 8, "b": [1000.0] * 8})
    assert lengths_now(ALIKE, []) is None
    assert lengths_now(ALIKE, [even]) == even.lengths
    late = _beginning_late(even, 0.9)
    found = lengths_now(ALIKE, [late])
    assert found is not None
    assert (found.slice_ns, found.washout_ns) == (100 * MS, 10 * MS)
    assert "the first fifth of a's slices differed by 13 %" in found.why
    named = lengths_now(ALIKE, [late], {"a": "Go net/http"})
    assert named is not None and "the first fifth of Go net/http's slices" in named.why
    at_most = replace(late, lengths=Lengths(slice_ns=100 * MS, washout_ns=20 * MS))
    assert lengths_now(ALIKE, [at_most]) == at_most.lengths


@pytest.mark.parametrize(("left", "settle_ms"), [(0.9, 5), (0.91, 5), (0.95, 20)])
def test_a_settle_time_that_was_doubled_to_no_avail_is_taken_back_for_good(
    left: float, settle_ms: int
) -> None:
    even = made_runs.interleaved({"a": [10_000.0] * 8, "b": [10_000.0] * 8})
    first, doubled = (
        replace(_beginning_late(even, share), lengths=Lengths(slice_ns=100 * MS, washout_ns=ms * MS))
        for share, ms in ((0.9, 5), (left, 10))
    )
    found = lengths_now(ALIKE, [first, doubled])
    assert found is not None and found.washout_ns == settle_ms * MS
    if settle_ms == 5:
        assert "washout 5.00 ms, as 10.0 ms left the first fifth of a's slices" in found.why
        third = replace(first, lengths=found)
        assert lengths_now(ALIKE, [first, doubled, third]) == found


def test_a_first_fifth_that_only_scatters_doubles_nothing() -> None:
    even = made_runs.interleaved({"a": [1000.0] * 8, "b": [1000.0] * 8})
    first = even.trials[0]
    assert first.arm is not None
    wild = tuple(
        replace(one, early_completed=one.early_completed + (8 if number % 2 else -7))
        for number, one in enumerate(first.arm.slices)
    )
    made = replace(even, trials=(replace(first, arm=replace(first.arm, slices=wild)), even.trials[1]))
    assert lengths_now(ALIKE, [made]) == even.lengths


def _beginning_late(even: Block, share: float) -> Block:
    """The block, but that the first fifth of its first server's slices has that share of what it had."""
    first = even.trials[0]
    assert first.arm is not None
    slow = tuple(replace(one, early_completed=round(one.early_completed * share)) for one in first.arm.slices)
    return replace(even, trials=(replace(first, arm=replace(first.arm, slices=slow)), *even.trials[1:]))
