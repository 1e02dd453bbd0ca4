"""How a run was measured: its machine, loads and slices, how ratios scatter, what would narrow them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from assay import verdict
from assay.core import cgroup
from assay.core import units as fmt
from assay.model.block import Block
from assay.model.design import ComparisonDesign, LoadDesign, SearchDesign
from assay.model.run import Environment, Run
from assay.report.model.loads import drawn_from, shapes
from assay.report.model.rows import name_of_case, short_name, with_names
from assay.stats import MINIMUM_EFFECT
from assay.stats.interleaved import Spread, more_needed, spread
from assay.stats.sides import left_out, round_logs
from assay.verdict import see_runs
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


def sentences(run: Run) -> Iterator[str]:
    """Sentences for the answer; none of a run whose trials followed one another."""
    if not run.blocks:
        return
    each = tuple(slices(run))
    yield from each if len(each) <= _FEW_LOADS else (_all_slices(run),)
    pairs = list(_pairs(run))
    if (most := max((pair.left_out for pair in pairs), default=0.0)) > 0:
        yield (
            f"Ratios leave out rounds in which other programs kept the client from its core: "
            f"{fmt.share(most)} of them{', at most' if len(pairs) > 1 else ''}."
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


def _counted(values: Sequence[int], what: str) -> str:
    low, high = min(values), max(values)
    return f"{low} to {fmt.counted(high, what)}" if low < high else fmt.counted(high, what)


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
    alive = [len(block.trials) for block in blocks]
    lengths = {block.lengths.slice_ns for block in blocks}
    earlier = f" (earlier ones in slices of {fmt.time(min(lengths))})" if min(lengths) < max(lengths) else ""
    why = f" ({with_names(run, last.lengths.why)})" if last.lengths.why else ""
    begins = "; ratios leave out the first fifth of each slice, which pays for the switch"
    return (
        f"Interleaved{of_load}: {fmt.counted(len(blocks), 'block')} of {_counted(alive, 'server')} at "
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
        f"Widest interval: {names}, ± {fmt.share(pair.half)}. It deviates by {fmt.share(seen.within)} from "
        f"round to round (blocks of {seen.rounds}) and by {fmt.share(seen.between)} from block to block."
    )
    # Of servers that stand the rounds count, not the blocks: how these would scatter is not known. What would
    # settle a comparison its answer says, of the pairs that are open.
    asked = isinstance(run.header.design, ComparisonDesign)
    if asked or pair.half <= math.log1p(MINIMUM_EFFECT) or pair.external:
        return said
    blocks = more_needed(seen, math.log1p(MINIMUM_EFFECT), verdict.see_run(run).half_width)
    if blocks is None:
        return said
    more = fmt.counted(max(1, blocks - seen.blocks), "more block")
    return f"{said} For ± {fmt.share(MINIMUM_EFFECT)}: about {more}."


def _pairs(run: Run) -> Iterator[_RatioPair]:
    """Every two that were compared and were interleaved in more than one block."""
    seen = verdict.see_run(run)
    for one in run.judgement.comparisons if run.judgement else ():
        a, b = seen.find(one.a), seen.find(one.b)
        if a is None or b is None or one.ratio is None or one.void:
            continue
        sides = sides_of(run.judgement.findings if run.judgement else (), a, b)
        found = spread(list(round_logs(*sides).values()))
        if found is not None and one.known and one.known.low and one.known.high:
            half = math.log(one.known.high / one.known.low) / 2
            yield _RatioPair(
                one.a, one.b, found, half, all(side.external for side in sides), left_out(*sides)
            )


def _exact(ns: int) -> str:
    return fmt.time(ns, exact=True)


def title(run: Run) -> str:
    """Which run this is: study, profile, size, seed and time."""
    header = run.header
    when = datetime.fromtimestamp(header.created_unix_ns / 1e9, UTC)
    cases = [len(header.cases)]
    if isinstance(header.design, ComparisonDesign):
        cases = [*Counter(trial.block for trial in run.trials).values()] or cases
    size = f"{fmt.counted(blocks_of(run), 'block')} of {_counted(cases, 'case')}"
    if isinstance(header.design, SearchDesign) or len(header.cases) == 1:
        size = fmt.counted(len(run.trials), "trial")
    profile = f", profile {header.profile}{' (quick)' if header.quick else ''}" if header.profile else ""
    seed = f"seed {header.design.seed}"
    if isinstance(header.design, LoadDesign):
        seed = next(filter(None, map(drawn_from, header.design.plans.values())), "")
    drawn = f", {seed}" if seed else ""
    return f"{header.study_name}{profile}, {size}{drawn}, {when:%Y-%m-%d %H:%M} UTC"


def blocks_of(run: Run) -> int:
    """How many blocks the run has, or has had so far where it ends when it is settled."""
    return see_runs.blocks_of(run) or len({trial.block for trial in run.trials})


def because_added(run: Run) -> str:
    """Why the study has more blocks than it asks for; empty where it has no more."""
    more, study = see_runs.added(run), run.header.study
    if more is None or study is None:
        return ""
    deviates = f"the ratio of {more.pair[0]} and {more.pair[1]} deviates by {fmt.share(more.deviation)}"
    many = f"{fmt.counted(more.blocks, 'block')} more than {study.blocks}"
    return f"{many}, as {deviates} from block to block and {fmt.share(study.precision)} is wanted"


def machine(run: Run) -> str:
    """The machine in a line: what the figures belong to."""
    seen = run.header.environment
    servers = f"servers on {_cores(seen.server_cpus)}"
    if all_stood(run):
        many = len(stood(run)) > 1
        servers = "the servers stood where they were" if many else "the server stood where it was"
    hardware = f"{seen.cpu_model}, {fmt.counted(seen.cores, 'core')}, {fmt.size(seen.memory_bytes)}"
    limits = cgroup.Allowed(seen.allowed_cores, seen.allowed_memory_bytes)
    held = cgroup.words(limits, seen.cores, seen.memory_bytes)
    on = f"{hardware}, {seen.os} ({seen.kernel}); client on {_cores(seen.client_cpus)}, {servers}"
    return f"{on}; {held}" if held else on


def _cores(cpus: tuple[int, ...]) -> str:
    if not cpus:
        return "any core"
    return f"core{'' if len(cpus) == 1 else 's'} {', '.join(map(str, cpus))}"


def stood(run: Run) -> tuple[str, ...]:
    """The names of the servers that were met where they stood: nobody started them, so nobody saw them."""
    measured = [trial for trial in run.trials if trial.measurement]
    met = {trial.case for trial in measured if trial.server is None}
    started = {trial.case for trial in measured if trial.server is not None}
    return tuple(
        dict.fromkeys(
            short_name(case) for case in run.header.cases if case.id in met and case.id not in started
        )
    )


def all_stood(run: Run) -> bool:
    """Whether no server of the run was started by it."""
    measured = [trial for trial in run.trials if trial.measurement]
    return bool(measured) and all(trial.server is None for trial in measured)


def circumstances(run: Run) -> Iterator[tuple[str, str]]:
    """(what, how) of everything that a figure of the run rests on."""
    header = run.header
    seen = header.environment
    yield "run", fmt.safe(title(run))
    yield "order", "; ".join(filter(None, (_order(run), fmt.safe(because_added(run), 500))))
    each = tuple(slices(run)) if run.blocks else ()
    for said in each if len(each) > _FEW_LOADS else ():  # of fewer `sentences` tell
        yield "slices", fmt.safe(said, 500)
    yield "servers", fmt.safe(_servers(run), 1000)
    for load in shapes(run):
        yield "load", load
    yield from _warm_up(run)
    for link in _links(run):
        yield "link", fmt.safe(link, 500)
    yield "machine", fmt.safe(machine(run), 500)
    versions = {"assay": seen.assay_version} | seen.tool_versions
    yield "versions", fmt.safe(", ".join(f"{tool} {said}" for tool, said in versions.items()), 1000)
    if seen.git_commit:
        yield "commit", fmt.safe(seen.git_commit)
    yield "descriptors", fmt.count(seen.descriptor_limit)


def _warm_up(run: Run) -> Iterator[tuple[str, str]]:
    """For how long servers had load before anything was measured, where the record tells."""
    seen = [
        (trial.case, trial.warm_up)
        for trial in run.trials
        if trial.measurement and trial.warm_up and trial.warm_up.took_ns
    ]
    if not seen:
        return
    took_s = sorted((one.took_ns or 0) / 1e9 for _, one in seen)
    spans = dict.fromkeys((fmt.span(took_s[0]), fmt.span(took_s[-1])))
    bounds = {case: whole.max_ns for case, whole in run.header.design.warm_ups.items()}
    watched = [one.steady for case, one in seen if one.bound_ns == bounds.get(case, one.bound_ns)]
    ended = [f"{sum(watched)} of {len(watched)} that were watched ended steady"] if watched else []
    if by_those := len(seen) - len(watched):
        ended.append(f"{fmt.counted(by_those, 'trial')} went by earlier ones")
    yield "warm-up", f"{' to '.join(spans)} of load before what was measured; {', '.join(ended)}"


def _links(run: Run) -> Iterator[str]:
    """What links with a delay carried, each once: what was lost, also beyond what was asked for, and late."""
    links = [trial.link for trial in run.trials if trial.link is not None and trial.link.carried is not None]
    for emulation in dict.fromkeys(link.emulation for link in links):
        same = [link for link in links if link.emulation == emulation]
        carried = [link.carried for link in same if link.carried is not None]
        packets, lost, overflowed, late = (
            sum(getattr(one, name) for one in carried) for name in ("packets", "lost", "overflowed", "late")
        )
        if emulation is None or not packets:
            continue
        shared = ", ".join(dict.fromkeys(link.congestion for link in same if link.congestion))
        far = fmt.emulation(emulation.round_trip_ns, emulation.loss, emulation.congestion)
        yield (
            f"{far}: {fmt.counted(packets, 'packet')}, "
            f"{fmt.share(lost / packets)} lost by chance, "
            f"{fmt.share(overflowed / packets)} for want of room, {fmt.share(late / packets)} sent late"
            + (f"; TCP by {shared}" if shared and not emulation.congestion else "")
        )


def _order(run: Run) -> str:
    seed = run.header.design.seed
    if isinstance(run.header.design, SearchDesign):
        return f"{fmt.counted(len(run.trials), 'trial')}, each at the rate that those before it asked for"
    blocks = blocks_of(run)
    if len(run.header.cases) == 1:
        return fmt.counted(len(run.trials), "trial")
    if run.blocks:
        slices = "each with its servers alive at once and their slices in balanced random order"
        return f"{fmt.counted(blocks, 'block')}, {slices} (seed {seed})"
    return f"{fmt.counted(blocks, 'block')}, each with every case once, in an order drawn from seed {seed}"


def _servers(run: Run) -> str:
    """Who was started anew, and who was met as it stood."""
    names = stood(run)
    if not names:
        return f"a fresh process for each {'block' if run.blocks else 'trial'}"
    told = "met at the URL where they stand: their start, CPU and memory are not known"
    if all_stood(run):
        return told if len(names) > 1 else told.replace("they stand: their", "it stands: its")
    return f"a fresh process for each trial, but of {', '.join(names)}, {told}"


def environment_differences(base: Environment, new: Environment) -> tuple[tuple[str, str, str], ...]:
    """(what, base, new) for everything of the machine and the versions that differs."""
    before, after = _facts(base), _facts(new)
    names = dict.fromkeys([*before, *after])
    return tuple(
        (name, before.get(name, "–"), after.get(name, "–"))
        for name in names
        if before.get(name) != after.get(name)
    )


def _facts(seen: Environment) -> dict[str, str]:
    facts = {
        "machine": seen.machine_id,
        "CPU": seen.cpu_model,
        "cores": str(seen.cores),
        "memory": str(seen.memory_bytes),
        "system": f"{seen.os} ({seen.kernel})",
        "governor": seen.governor or "unknown",
        "client cores": ", ".join(map(str, seen.client_cpus)),
        "server cores": ", ".join(map(str, seen.server_cpus)),
        "assay": seen.assay_version,
    }
    if seen.allowed_cores is not None:
        facts["cores allowed"] = f"{seen.allowed_cores:g}"
    if seen.allowed_memory_bytes is not None:
        facts["memory allowed"] = str(seen.allowed_memory_bytes)
    return facts | seen.tool_versions
