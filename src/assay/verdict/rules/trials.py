"""S, T: what the trials and blocks of a case say together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from assay.core.units import counted, rate
from assay.core.units import share as percent
from assay.model.design import LoadDesign
from assay.model.finding import Subject
from assay.model.trial import Trial
from assay.stats import mean, trials_for_half_width
from assay.stats.scatter import ASSUMED, widening
from assay.stats.sequential import LEAST_BLOCKS
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.rule import (
    CaseRule,
    Effects,
    Hit,
    RunRule,
    Threshold,
    Thresholds,
)


def trials_scatter(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """S3: the deviation between trials."""
    values = list(case.throughput_by_block.values())
    if not case.closed or len(values) < 3 or not statistics.fmean(values):
        return None
    share = statistics.stdev(values) / statistics.fmean(values)
    if share <= thresholds["note"]:
        return None
    return Hit(
        "warning" if share > thresholds["warning"] else "note",
        f"trials deviate by {percent(share)} of their mean",
        {"deviation_share": share, "limit": thresholds["warning"]},
        gravity=share,
    )


S3 = CaseRule(
    code="S3",
    title="trials differ",
    severities=("warning", "note"),
    thresholds=(
        Threshold("note", 0.05, "share", "deviation of trials, of their mean, from which it is noted"),
        Threshold("warning", 0.10, "share", "deviation above which the case gets a warning"),
    ),
    meaning="One trial says little about the next; only large differences between servers can be shown.",
    remedy="find what differs between trials (machine, start-up, data), quieten it, or run many more",
    source="pyperf's stability check",
    example="Five runs of one server between 27,000/s and 36,000/s.",
    check=trials_scatter,
)


def outliers(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """S4: modified z score, 0.6745 (x - median) / MAD, of trials in their order."""
    values = [value for _, value in sorted(case.throughput_by_block.items())]
    if len(values) < 5:
        return None
    centre = statistics.median(values)
    # Trials that agree to a thousandth have no outliers worth a word.
    spread = max(statistics.median(abs(value - centre) for value in values), 1e-3 * abs(centre), 1e-12)
    far = thresholds["z"] * spread
    odd = [place for place, value in enumerate(values) if 0.6745 * abs(value - centre) > far]
    if not odd:
        return None
    which = "the first trial" if odd[0] == 0 else f"trial {odd[0] + 1}"
    more = f" and {counted(len(odd) - 1, 'other')}" if len(odd) > 1 else ""
    off = values[odd[0]] / centre - 1
    side = "above" if off > 0 else "below"
    evidence = f"{which}{more} of {len(values)} stands out: {percent(abs(off))} {side} the median"
    return Hit("note", evidence, {"outliers": float(len(odd)), "first": float(odd[0] == 0)})


S4 = CaseRule(
    code="S4",
    title="an outlier among the trials",
    severities=("note",),
    thresholds=(Threshold("z", 14.8, "ratio", "modified z score of an outlier"),),
    meaning=(
        "One trial went quite otherwise. It is kept: outliers are part of what was seen, and the interval is "
        "as wide as they make it."
    ),
    remedy=(
        "if it is the first, something was cold: a cache, a disk, a frequency; run one block more before "
        "measuring"
    ),
    source="hyperfine",
    example="The first trial at half the throughput of the nine others: the page cache was cold.",
    check=outliers,
)


def too_few_trials(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """S5: once for the run where no candidate has enough, otherwise for each case that lacks some. A load
    that was kept is compared with nothing."""
    if isinstance(run.header.design, LoadDesign):
        return
    least = int(thresholds["trials"])
    # A case that was never measured has another trouble, and its row says which; an open loop is not ranked.
    counts = {seen.case.id: len(seen.measured) for seen in run.cases if seen.candidate and seen.closed}
    short = {case: count for case, count in counts.items() if count < least}
    if not short:
        return
    if len(short) == len(counts) and len(set(short.values())) == 1:
        n = next(iter(short.values()))
        yield Subject(), _too_few(run, f"{counted(n, 'trial')} of each case", n, least)
        return
    for case, n in short.items():
        yield Subject(case=case), _too_few(run, counted(n, "trial"), n, least)


def _too_few(run: RunSeen, seen: str, n: int, least: int) -> Hit:
    remedy = "give it more time: a larger --budget" if run.header.blocks is None else ""
    figures = {"trials": float(n), "limit": float(least)}
    none = f", and an order needs {LEAST_BLOCKS}" if n < LEAST_BLOCKS else ""
    effects = _NO_ORDER if n < LEAST_BLOCKS else _WIDE
    return Hit("warning", f"{seen}; {least} are asked for{none}", figures, remedy=remedy, effects=effects)


_WIDE = Effects(when="enough for an order")
_NO_ORDER = Effects(because="no place", when=f"fewer than {LEAST_BLOCKS} blocks")

S5 = RunRule(
    code="S5",
    title="few trials",
    severities=("warning",),
    effects=(_WIDE, _NO_ORDER),
    thresholds=(Threshold("trials", 6, "count", "measured trials that a case should have"),),
    meaning=(
        "The intervals of so few repetitions are wide, so only large differences can be shown; with two or "
        "one there is no interval to trust, and nobody has a place."
    ),
    remedy="run at least 6 blocks, 10 where it matters; --quick trades this certainty for time",
    source="benchstat's minimum",
    example="One run a server, as most published comparisons have: nothing tells a difference from noise.",
    check=too_few_trials,
)


def more_trials(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """S6: how many trials would narrow the interval to 1 %."""
    estimate = mean(list(case.throughput_by_block.values()), "req/s")
    if not case.candidate or not case.closed or estimate is None:
        return None
    if estimate.high is None or not estimate.value:
        return None
    half = (estimate.high - estimate.value) / estimate.value
    deviation = widening(ASSUMED) * statistics.stdev(case.throughput_by_block.values()) / estimate.value
    needed = trials_for_half_width(deviation, thresholds["half_width"])
    if half <= thresholds["half_width"]:
        return None
    more = (
        f"{needed:,} trials would narrow it to {percent(thresholds['half_width'], exact=True)}"
        if needed
        else "no number of trials helps"
    )
    return Hit(
        "note",
        f"the interval is {percent(half)} of the mean on each side; {more}",
        {"half_width": half, "trials_needed": float(needed or 0)},
        gravity=half,
    )


S6 = CaseRule(
    code="S6",
    title="a wide interval",
    severities=("note",),
    thresholds=(Threshold("half_width", 0.01, "share", "half-width of the interval, of the mean"),),
    meaning="Smaller differences than this interval cannot be told from noise.",
    remedy="run more blocks if a smaller difference matters",
    source="pyperf",
    example="72,000/s, 70,100 to 73,900 from six trials: 24 trials would give about 1 %.",
    check=more_trials,
)


_ITS_OWN = ("start", "contract", "load")
"""Stages in which it is the server that failed; what a service or a machine did is nobody's fault here."""


def missed_blocks(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """T4: the blocks in which others had their slices and it served nothing, or not to the end.

    They are missing from its pairs. Taken as nothing served, they leave that share of its figure.
    """
    tried = _beside_others(case, run)
    missed = [trial for trial in tried if _served_nothing(trial)]
    if not missed:
        return None
    left = 1 - len(missed) / len(tried)
    evidence = (
        f"it {', and '.join(_causes(missed, len(tried)))}; with nothing served there, {percent(left)} of its "
        "figure is left"
    )
    figures = {"blocks": float(len(missed)), "rounds": float(_rounds(missed[0])), "at_least_times": left}
    return Hit("warning", evidence, figures, gravity=len(missed))


def _beside_others(case: CaseSeen, run: RunSeen) -> list[Trial]:
    """Its trials of the blocks in which another of its load was interleaved, and served something to the
    end."""
    if case.case.dependent or not any(trial.arm for trial in case.trials):
        return []
    sat = {
        trial.block
        for other in run.groups[case.group]
        if other.case.id != case.case.id
        for trial in other.measured
        if trial.arm and not _served_nothing(trial)
    }
    return [trial for trial in case.trials if trial.block in sat]


def _served_nothing(trial: Trial) -> bool:
    if trial.measurement is not None:
        return trial.measurement.completed == 0
    ended = trial.arm is not None and trial.arm.ended is not None
    return ended or (trial.failure is not None and trial.failure.stage in _ITS_OWN)


def _causes(missed: Sequence[Trial], tried: int) -> Iterator[str]:
    """What became of it, kind by kind, the first of each in full."""
    ended = [trial for trial in missed if trial.arm and trial.arm.ended]
    if ended:
        first = ", in the first of them" if len(ended) > 1 else ""
        yield (
            f"ended before the others in {counted(len(ended), 'block')} of {tried}{first} after "
            f"{counted(_rounds(ended[0]), 'measured round')}{_why(ended[0])}"
        )
    silent = [trial for trial in missed if trial.measurement is not None]
    if silent:
        yield f"answered nothing in {counted(len(silent), 'block')} of {tried}"
    failed = [trial for trial in missed if trial not in ended and trial not in silent]
    if failed:
        yield f"has no figures of {counted(len(failed), 'block')} of {tried}{_why(failed[0])}"


def _why(trial: Trial) -> str:
    return f": {trial.failure.reason}" if trial.failure else ""


def _rounds(trial: Trial) -> int:
    return len(trial.arm.rounds) if trial.arm else 0


T4 = CaseRule(
    code="T4",
    title="a server missing from blocks",
    severities=("warning",),
    effects=(Effects("at most", because="it missed blocks that others had"),),
    meaning=(
        "It died, answered nothing, or did not keep its contract, and the others went on. Such a block "
        "counts for those pairs that were whole, so this server's figure and ratios are of its good blocks "
        "alone. What it served in all of them lies between that and the same with nothing served in those "
        "that it missed."
    ),
    remedy="read its log; where it is killed for want of memory, measure fewer at once or --sequential",
    source="ours",
    example="A server that leaks until it is killed in its third block.",
    check=missed_blocks,
)


def not_side_by_side(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """T5: why the servers were not interleaved, as the design keeps it."""
    if run.header.design.sequential and sum(seen.candidate for seen in run.cases) > 1:
        yield Subject(), Hit("note", run.header.design.sequential)


T5 = RunRule(
    code="T5",
    title="servers not side by side",
    severities=("note",),
    meaning=(
        "They cannot live at the same time (their memory, a fixed port, a database that several write), so "
        "they were measured one after the other. The machine's drift between trials is then in every "
        "difference: the same certainty takes many more blocks."
    ),
    remedy="give each a port and a database of its own, or a machine with room for all",
    source="ours; the same program twice: 9 % deviation sequential, 1 % interleaved",
    example="Two servers that both insist on port 8080.",
    check=not_side_by_side,
)


def suspiciously_equal(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """G7: what holds unrelated servers at one figure is something that they share."""
    for group in run.groups.values():
        rates = {
            seen.case.id: statistics.fmean(seen.throughput_by_block.values())
            for seen in group
            if seen.candidate and seen.closed
        }
        best = max(rates.values(), default=0.0)
        level = [seen for seen in group if rates.get(seen.case.id, -1.0) >= best * (1 - thresholds["within"])]
        busiest = [
            min(1.0, max(*load.busy_shares, load.crowded_share, load.client_cores_busy or 0.0))
            for seen in level
            for load in seen.loads
            if load.busy_shares
        ]
        servers = {seen.case.server for seen in level}
        named = ", ".join(sorted(seen.name for seen in level))
        busy = statistics.fmean(busiest) if busiest else 0.0
        if len(servers) < thresholds["servers"] or busy < thresholds["busy"]:
            continue
        evidence = (
            f"{named} all reach {rate(best)} to within {percent(thresholds['within'], exact=True)}; "
            f"the client was {percent(busy)} busy"
        )
        for seen in level:
            unbounded = _UNBOUNDED if seen.server_busy_share is None else ""
            hit = Hit("error", evidence + unbounded, {"best_per_s": best, "client_busy_share": busy})
            yield Subject(case=seen.case.id), hit


_UNBOUNDED = "; how busy the server's cores were is not known, so nothing bounds its throughput from above"
_ONE_FIGURE = Effects("at least", "at most", because="unrelated servers ended at one figure", held_back=True)


G7 = RunRule(
    code="G7",
    title="unrelated servers at one figure",
    severities=("error",),
    effects=(_ONE_FIGURE,),
    thresholds=(
        Threshold("within", 0.01, "share", "distance from the best that counts as the same figure"),
        Threshold("servers", 3, "count", "unrelated servers at one figure that are no coincidence"),
        Threshold("busy", 0.8, "share", "busy share of the client from which it is the likely cause"),
    ),
    meaning=(
        "Servers that have nothing in common do not end at one figure: what they share, the client, set it."
    ),
    remedy="give the generator more cores or the servers fewer, until they differ",
    source="the-benchmarker #9775; ours",
    example="Twelve frameworks in four languages between 178,000/s and 179,500/s.",
    check=suspiciously_equal,
)
