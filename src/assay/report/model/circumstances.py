"""How a run was measured, in sentences that are true for servers we started and for URLs that stood."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from assay.core import cgroup, units
from assay.core import units as fmt
from assay.model.design import LoadDesign, SearchDesign
from assay.model.run import Run
from assay.report.model import interleaved
from assay.report.model.loads import drawn_from, shapes
from assay.report.model.rows import short_name
from assay.verdict import size


def title(run: Run) -> str:
    """Which run this is: study, profile, size, seed and time."""
    header = run.header
    when = datetime.fromtimestamp(header.created_unix_ns / 1e9, UTC)
    size = f"{fmt.counted(blocks_of(run), 'block')} of {fmt.counted(len(header.cases), 'case')}"
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
    return size.blocks_of(run) or len({trial.block for trial in run.trials})


def because_added(run: Run) -> str:
    """Why the study has more blocks than it asks for; empty where it has no more."""
    more, study = size.added(run), run.header.study
    if more is None or study is None:
        return ""
    deviates = f"the ratio of {more.pair[0]} and {more.pair[1]} deviates by {units.share(more.deviation)}"
    many = f"{fmt.counted(more.blocks, 'block')} more than {study.blocks}"
    return f"{many}, as {deviates} from block to block and {units.share(study.precision)} is wanted"


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
    for slices in interleaved.slices(run) if run.blocks else ():
        yield "slices", fmt.safe(slices, 500)
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
    seen = [trial.warm_up for trial in run.trials if trial.measurement and trial.warm_up]
    took_s = sorted(one.took_ns / 1e9 for one in seen if one.took_ns)
    if not took_s:
        return
    spans = dict.fromkeys((fmt.span(took_s[0]), fmt.span(took_s[-1])))
    steady = sum(one.steady for one in seen if one.took_ns)
    level = f"in {steady} of {fmt.counted(len(took_s), 'trial')} throughput was steady by then"
    yield "warm-up", f"{' to '.join(spans)} of load before what was measured; {level}"


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
        slices = "each with all servers alive at once and their slices in balanced random order"
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
