"""How a run was interleaved, in sentences: its slices, how ratios scatter, and what would narrow them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assay import verdict
from assay.core import units as fmt
from assay.model.block import Block
from assay.model.design import ComparisonDesign
from assay.model.run import Run
from assay.report.model.rows import name_of_case, with_names
from assay.stats import MINIMUM_EFFECT
from assay.stats.interleaved import More, Spread, more_needed, spread
from assay.stats.pairing import Side, half_width, left_out, round_logs
from assay.verdict.facts import RunSeen
from assay.verdict.pairs import sides as sides_of

_FEW_LOADS = 2
"""So many have their turns told with the answer; of more a page would be slices before it is results."""


class _RatioPair(NamedTuple):
    """Two servers, how their log ratios scatter, and the half-width of their interval; `external`: it is of
    batches of all their rounds; and the share of rounds that were preempted and are `left_out`."""

    a: str
    b: str
    spread: Spread
    half: float
    external: bool
    left_out: float


def unit_of(a: Side, b: Side) -> str:
    """What each value of a pair is called: of servers that nobody restarts a batch of rounds."""
    return "batch" if a.external and b.external else "block"


def sentences(run: Run) -> Iterator[str]:
    """Sentences for the answer; none of a run whose trials followed one another."""
    if not run.blocks:
        return
    each = tuple(slices(run))
    yield from each if len(each) <= _FEW_LOADS else (_all_slices(run),)
    pairs = list(_pairs(run))
    if (most := max((pair.left_out for pair in pairs), default=0.0)) > 0:
        yield (
            f"Ratios leave out rounds in which other programs kept the client from its core: {_share(most)} "
            f"of them{', at most' if len(pairs) > 1 else ''}."
        )
    if pairs:
        yield _scatter(run, max(pairs, key=lambda pair: pair.half))


def slices(run: Run) -> Iterator[str]:
    """How each load went round, in a sentence."""
    by_load = _by_load(run)
    for load, blocks in by_load.items():
        yield _slices(run, blocks, f", {fmt.safe(load)}" if len(by_load) > 1 else "")


def _all_slices(run: Run) -> str:
    """How many loads went round, where a sentence of each would stand before the results."""
    each = _by_load(run).values()
    last = [blocks[-1].lengths for blocks in each]
    return (
        f"Interleaved: {_range([len(blocks) for blocks in each], str)} blocks of each of {len(last)} loads, "
        f"its servers at once, loaded in slices of {_range([one.slice_ns for one in last], _exact)}, "
        f"{_range([one.washout_ns for one in last], _exact)} of washout before each; why so long is told of "
        "each where it says how it was measured."
    )


def _range(values: Sequence[int], said: Callable[[int], str]) -> str:
    low, high = min(values), max(values)
    return said(low) if low == high else f"{said(low)} to {said(high)}"


def _by_load(run: Run) -> dict[str, list[Block]]:
    """The blocks of each workload and load: each finds lengths of its own."""
    cases = {case.id: case for case in run.header.cases}
    workloads = {case.workload for case in run.header.cases}
    found: dict[str, list[Block]] = {}
    for block in run.blocks:
        case = cases[block.trials[0].case]
        load = f"{case.workload}, {case.load}" if len(workloads) > 1 else case.load
        found.setdefault(load, []).append(block)
    return found


def _slices(run: Run, blocks: Sequence[Block], of_load: str) -> str:
    """How a load went round: the lengths of its last block, which the first ones settled."""
    last = blocks[-1]
    alive = len(last.trials)
    lengths = {block.lengths.slice_ns for block in blocks}
    earlier = f" (earlier ones in slices of {fmt.time(min(lengths))})" if min(lengths) < max(lengths) else ""
    why = f" ({with_names(run, last.lengths.why)})" if last.lengths.why else ""
    begins = "; ratios leave out the first fifth of each slice, which pays for the switch"
    return (
        f"Interleaved{of_load}: {fmt.counted(len(blocks), 'block')} of {fmt.counted(alive, 'server')} at "
        f"once, loaded in slices of {_exact(last.lengths.slice_ns)}{why}, a washout of "
        f"{_exact(last.lengths.washout_ns)} before each; {fmt.span(_block_s(last))} for each in "
        f"a block{earlier}"
        f"{begins if run.header.design.unlike else ''}."
    )


def _block_s(block: Block) -> float:
    """For how long a server of the block was measured, in the middle."""
    measured = [trial.measurement.measured_ns for trial in block.trials if trial.measurement]
    return sorted(measured)[len(measured) // 2] / 1e9 if measured else 0.0


def _scatter(run: Run, pair: _RatioPair) -> str:
    seen = pair.spread
    names = " / ".join(name_of_case(run, case) for case in (pair.a, pair.b))
    said = (
        f"The ratio that scatters most ({names}) deviates by {_share(seen.within)} from round to round of a "
        f"block of {seen.rounds} and by {_share(seen.between)} from block to block beyond that"
    )
    design = run.header.design
    wanted = design.margin if isinstance(design, ComparisonDesign) else MINIMUM_EFFECT
    if pair.half <= math.log1p(wanted):
        return f"{said}; it is known to ± {_share(pair.half)}."
    more = _more(run, pair, math.log1p(wanted))
    ways = []
    if more.blocks is not None:
        ways.append(fmt.counted(max(1, more.blocks - seen.blocks), "more block"))
    if more.rounds is not None:
        ways.append(f"blocks of {fmt.count(more.rounds)} rounds")
    if not ways:
        return f"{said}; no number of blocks would bring it to ± {_share(wanted)}."
    return f"{said}; {' or '.join(ways)} would probably bring it to ± {_share(wanted)}."


def _more(run: Run, pair: _RatioPair, half: float) -> More:
    """What would bring the interval to `half`; of servers that stand only the number of rounds counts."""
    seen, whole = pair.spread, _run_seen(run)
    if not pair.external:
        return more_needed(seen, half, lambda n: half_width(whole.manner, n, whole.alpha))
    times = (pair.half / half) ** 2
    return More(math.ceil(seen.blocks * times), math.ceil(seen.rounds * times))


def _pairs(run: Run) -> Iterator[_RatioPair]:
    """Every two that were compared and were interleaved in more than one block."""
    seen = _run_seen(run)
    for one in run.judgement.comparisons if run.judgement else ():
        a, b = seen.find(one.a), seen.find(one.b)
        if a is None or b is None or one.ratio is None or one.void:
            continue
        sides = sides_of(run.judgement.findings if run.judgement else (), a, b)
        found = spread(list(round_logs(*sides).values()))
        if found is not None and one.ratio.low is not None and one.ratio.high is not None:
            half = math.log(one.ratio.high / one.ratio.low) / 2
            yield _RatioPair(
                one.a, one.b, found, half, all(side.external for side in sides), left_out(*sides)
            )


def _run_seen(run: Run) -> RunSeen:
    return verdict.see_run(run)


def _exact(ns: int) -> str:
    return fmt.time(ns, exact=True)


def _share(part: float) -> str:
    return fmt.share(part)
