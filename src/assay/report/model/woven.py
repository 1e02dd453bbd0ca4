"""How a run was woven, in sentences: its turns, how ratios scatter, and what would narrow them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assay import verdict
from assay.core import format as fmt
from assay.model.block import Sitting
from assay.model.design import ContestDesign
from assay.model.run import Run
from assay.report.model.rows import name_of_case, with_names
from assay.stats import NOISE_FLOOR
from assay.stats.interleaved import More, Spread, more_needed, spread
from assay.stats.pairing import Side, cycle_logs, left_out, reach
from assay.verdict.pairs import sides as sides_of
from assay.verdict.seen import RunSeen

_FEW_LOADS = 2
"""So many have their turns told with the answer; of more a page would be turns before it is results."""


class _Pair(NamedTuple):
    """Two servers, how their log ratios scatter, and the half-width of their interval; `standing`: it is of
    batches of all their cycles; and the share of cycles that were disturbed and are `left_out`."""

    a: str
    b: str
    spread: Spread
    half: float
    standing: bool
    left_out: float


def unit(run: Run) -> str:
    """What a block of the run is called."""
    return "sitting" if run.sittings else "block"


def unit_of(run: Run, a: Side, b: Side) -> str:
    """What each value of a pair is called: of servers that nobody restarts a batch of cycles."""
    return "batch" if a.standing and b.standing else unit(run)


def told(run: Run) -> Iterator[str]:
    """Sentences for the answer; none of a run whose trials followed one another."""
    if not run.sittings:
        return
    each = tuple(turns(run))
    yield from each if len(each) <= _FEW_LOADS else (_all_turns(run),)
    pairs = list(_pairs(run))
    if (most := max((pair.left_out for pair in pairs), default=0.0)) > 0:
        yield (
            f"Ratios leave out cycles in which other programs kept the client from its core: {_share(most)} "
            f"of them{', at most' if len(pairs) > 1 else ''}."
        )
    if pairs:
        yield _scatter(run, max(pairs, key=lambda pair: pair.half))


def turns(run: Run) -> Iterator[str]:
    """How each load went round, in a sentence."""
    by_load = _by_load(run)
    for load, sittings in by_load.items():
        yield _turns(run, sittings, f", {fmt.safe(load)}" if len(by_load) > 1 else "")


def _all_turns(run: Run) -> str:
    """How many loads went round, where a sentence of each would stand before the results."""
    each = _by_load(run).values()
    last = [sittings[-1].lengths for sittings in each]
    return (
        f"Woven: {_range([len(sittings) for sittings in each], str)} sittings of each of {len(last)} loads, "
        f"its servers at once, loaded in turns of {_range([one.slice_ns for one in last], _exact)}, "
        f"{_range([one.settle_ns for one in last], _exact)} to settle before each; why so long is told of "
        "each where it says how it was measured."
    )


def _range(values: Sequence[int], said: Callable[[int], str]) -> str:
    low, high = min(values), max(values)
    return said(low) if low == high else f"{said(low)} to {said(high)}"


def _by_load(run: Run) -> dict[str, list[Sitting]]:
    """The sittings of each workload and load: each finds lengths of its own."""
    cases = {case.id: case for case in run.header.cases}
    workloads = {case.workload for case in run.header.cases}
    found: dict[str, list[Sitting]] = {}
    for sitting in run.sittings:
        case = cases[sitting.trials[0].case]
        load = f"{case.workload}, {case.load}" if len(workloads) > 1 else case.load
        found.setdefault(load, []).append(sitting)
    return found


def _turns(run: Run, sittings: Sequence[Sitting], of_load: str) -> str:
    """How a load went round: the lengths of its last sitting, which the first ones settled."""
    last = sittings[-1]
    alive = len(last.trials)
    lengths = {sitting.lengths.slice_ns for sitting in sittings}
    earlier = f" (earlier ones in turns of {fmt.time(min(lengths))})" if min(lengths) < max(lengths) else ""
    why = f" ({with_names(run, last.lengths.why)})" if last.lengths.why else ""
    begins = "; ratios leave out the first fifth of each slice, which pays for the switch"
    return (
        f"Woven{of_load}: {fmt.counted(len(sittings), 'sitting')} of {fmt.counted(alive, 'server')} at once, "
        f"loaded in turns of {_exact(last.lengths.slice_ns)}{why}, {_exact(last.lengths.settle_ns)} to "
        f"settle before each; {fmt.span(_sitting_s(last))} of slices for each in a sitting{earlier}"
        f"{begins if run.header.design.unlike else ''}."
    )


def _sitting_s(sitting: Sitting) -> float:
    """For how long a server of the sitting was measured, in the middle."""
    measured = [trial.measurement.measured_ns for trial in sitting.trials if trial.measurement]
    return sorted(measured)[len(measured) // 2] / 1e9 if measured else 0.0


def _scatter(run: Run, pair: _Pair) -> str:
    seen = pair.spread
    names = " / ".join(name_of_case(run, case) for case in (pair.a, pair.b))
    said = (
        f"The ratio that scatters most ({names}) deviates by {_share(seen.within)} from cycle to cycle of a "
        f"sitting of {seen.cycles} and by {_share(seen.between)} from sitting to sitting beyond that"
    )
    design = run.header.design
    wanted = design.sought if isinstance(design, ContestDesign) else NOISE_FLOOR
    if pair.half <= math.log1p(wanted):
        return f"{said}; it is known to ± {_share(pair.half)}."
    more = _more(run, pair, math.log1p(wanted))
    ways = []
    if more.sittings is not None:
        ways.append(fmt.counted(max(1, more.sittings - seen.sittings), "more sitting"))
    if more.cycles is not None:
        ways.append(f"sittings of {fmt.count(more.cycles)} cycles")
    if not ways:
        return f"{said}; no number of sittings would bring it to ± {_share(wanted)}."
    return f"{said}; {' or '.join(ways)} would probably bring it to ± {_share(wanted)}."


def _more(run: Run, pair: _Pair, half: float) -> More:
    """What would bring the interval to `half`; of servers that stand only the number of cycles counts."""
    seen, whole = pair.spread, _seen(run)
    if not pair.standing:
        return more_needed(seen, half, lambda n: reach(whole.manner, n, whole.alpha))
    times = (pair.half / half) ** 2
    return More(math.ceil(seen.sittings * times), math.ceil(seen.cycles * times))


def _pairs(run: Run) -> Iterator[_Pair]:
    """Every two that were compared and took turns in more than one sitting."""
    seen = _seen(run)
    for one in run.judgement.comparisons if run.judgement else ():
        a, b = seen.find(one.a), seen.find(one.b)
        if a is None or b is None or one.ratio is None or one.void:
            continue
        sides = sides_of(run.judgement.findings if run.judgement else (), a, b)
        found = spread(list(cycle_logs(*sides).values()))
        if found is not None and one.ratio.low is not None and one.ratio.high is not None:
            half = math.log(one.ratio.high / one.ratio.low) / 2
            yield _Pair(one.a, one.b, found, half, all(side.standing for side in sides), left_out(*sides))


def _seen(run: Run) -> RunSeen:
    return verdict.see_run(run)


def _exact(ns: int) -> str:
    return fmt.time(ns, exact=True)


def _share(part: float) -> str:
    return fmt.share(part)
