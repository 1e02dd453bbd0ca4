"""D, M: what the experiment's design and the shape of the load let one conclude."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core.units import counted
from assay.core.units import share as percent
from assay.core.units import time as duration
from assay.model.finding import Subject
from assay.stats import MINIMUM_EFFECT
from assay.stats.pairing import ALPHA, pair
from assay.stats.quantiles import constant_fit, poisson_fit
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.load import Load, intended_between, quantile
from assay.verdict.rule import Effects, Hit, LoadRule, RunRule, Threshold, Thresholds


def control_differs(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """D1. However small it is: a limit of a gate may be smaller."""
    for control, ratio in run.controls.items():
        seen = run.find(control)
        original = run.find(seen.case.control_of) if seen else None
        if original is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
            continue
        far = max(ratio.high, 1 / ratio.low) - 1
        evidence = (
            f"{original.name} is {ratio.value:.3f} ({ratio.low:.3f}-{ratio.high:.3f}) of itself, "
            f"so no difference below {percent(far)} is claimed"
        )
        figures = {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "wider": far}
        yield Subject(), Hit("warning", evidence, figures)


D1 = RunRule(
    code="D1",
    title="a server differs from itself",
    severities=("warning",),
    effects=(Effects(comparison="wider", because="a server differed from itself"),),
    meaning=(
        "The A/A control enters one case twice. It came out different, so this run finds differences "
        "where none are: as large as the far end of that interval, which is taken off every ratio."
    ),
    remedy="quieten the machine and run again with more blocks; trust no small difference of this run",
    source="same-binary null control",
    example=(
        "The same binary at 1.03 (1.01 to 1.05) times itself, on a machine that warmed up during the run."
    ),
    check=control_differs,
)


def not_interleaved(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """D2: a block must be over before the next begins."""
    trials = sorted(
        (trial for seen in run.cases for trial in seen.trials), key=lambda t: t.started_at_unix_ns
    )
    if sum(len(seen.trials) > 1 for seen in run.cases) < 2:
        return
    returns = sum(later.block < earlier.block for earlier, later in zip(trials, trials[1:], strict=False))
    if returns:
        evidence = f"{returns} of {len(trials)} trials began in an earlier block than the trial before"
        yield Subject(), Hit("warning", evidence, {"returns": float(returns)})


D2 = RunRule(
    code="D2",
    title="cases were not interleaved",
    severities=("warning",),
    effects=(Effects(comparison="void"),),
    meaning=(
        "Cases that run one after the other each meet another machine: it heats up, is throttled, gets "
        "new neighbours. With 4 % drift two identical servers are then declared different in 87 % of "
        "runs."
    ),
    remedy="run in blocks, each case once a block in random order (assay run and assay versus do)",
    source="RMIT, ICPE'17; our simulation in docs/method/evidence/simulations.md",
    example="All runs of server A before lunch, all runs of server B after.",
    check=not_interleaved,
)


def yardstick_overtaken(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """D4: a candidate that is shown faster than the reference or the ceiling it is measured by."""
    for group in run.groups.values():
        results = [seen for seen in group if seen.case.id not in run.void]
        candidates = [seen for seen in results if seen.candidate and seen.closed]
        for yardstick in [seen for seen in results if seen.case.role in ("reference", "ceiling")]:
            alpha = ALPHA / max(1, len(candidates))
            found = [_faster(run, seen, yardstick, thresholds["faster"], alpha) for seen in candidates]
            faster = [one for one in found if one is not None]
            if faster:
                ratio, name = max(faster)
                evidence = f"{name} serves {percent(ratio - 1)} more than this {yardstick.case.role}"
                evidence += f", and {len(faster) - 1} more do" if len(faster) > 1 else ""
                limit = 1 + thresholds["faster"]
                figures = {"ratio": ratio, "limit": limit, "candidates": float(len(faster))}
                yield Subject(case=yardstick.case.id), Hit("note", evidence, figures)


def _faster(
    run: RunSeen, seen: CaseSeen, yardstick: CaseSeen, at_least: float, alpha: float
) -> tuple[float, str] | None:
    """How much faster a candidate is than the yardstick, and its name; None unless that is shown, with what
    is left of the error where several are looked at."""
    made = pair(
        seen.side(),
        yardstick.side(),
        manner=run.manner,
        alpha=alpha,
        looks=run.budget_shares(seen, yardstick),
    )
    if made is None or made.p_above >= alpha or made.ratio.value <= 1 + at_least:
        return None
    return made.ratio.value, seen.case.label or seen.case.server


D4 = RunRule(
    code="D4",
    title="a yardstick that is overtaken",
    severities=("note",),
    thresholds=(Threshold("faster", MINIMUM_EFFECT, "share", "how much faster a candidate may be"),),
    meaning=(
        "A reference stands for what is possible, and the null server for what the generator can drive. A "
        "candidate was faster, so neither says how far the others are from a limit."
    ),
    remedy="tune the reference until nothing overtakes it, or read it as one more server",
    source="ours; in the heroes study Go with pgx once served more than the reference in Rust",
    example="A reference whose pool of connections lets its database sleep between any two queries.",
    last=True,
    check=yardstick_overtaken,
)


def damaged_record(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """D5: what a line said, and whom it would have helped, is not known any more."""
    if run.damage:
        lines = counted(len(run.damage), "line")
        evidence = f"{lines} of the record cannot be used: {run.damage[0]}"
        yield Subject(), Hit("warning", evidence, {"lines": float(len(run.damage))})


D5 = RunRule(
    code="D5",
    title="the record is damaged",
    severities=("warning",),
    meaning=(
        "Bytes of the stored run are not those that were written. The figures rest on what is left; a trial "
        "that is gone may have spoken for any server."
    ),
    remedy="take the record from a copy, look at the disk it lay on, or run again",
    source="ours; the checksum of each line of a run record",
    example="A bit that turned over in a trial: nine of ten trials of that server are left.",
    check=damaged_record,
)


def waiting_hidden(load: Load, thresholds: Thresholds) -> Hit | None:
    """M4, open loops: both clocks side by side."""
    if load.closed:
        return None
    response, service = quantile(load.response, 0.99), quantile(load.service, 0.99)
    if response is None or service is None:
        return None
    if response <= thresholds["factor"] * service or response - service <= thresholds["least"]:
        return None
    return Hit(
        "warning",
        f"p99 is {duration(response)} from the intended start, but {duration(service)} from the send",
        {"response_p99_ns": response, "service_p99_ns": service, "factor": response / service},
        gravity=response / service,
    )


M4 = LoadRule(
    code="M4",
    title="requests waited before they were sent",
    severities=("warning",),
    thresholds=(
        Threshold("factor", 2.0, "ratio", "p99 of response time over p99 of service time"),
        Threshold("least", 1e6, "ns", "difference of the two below which nothing is said"),
    ),
    meaning=(
        "The server stalled or could not keep the rate: users waited for a turn. A closed loop would have"
        " waited with them and shown the service time alone (coordinated omission)."
    ),
    remedy="quote the response time; look for pauses of the server, or offer a lower rate",
    source="wrk2; factor ours",
    example="One stall of a second at 1,000/s: service p99 is 2 ms, response p99 is 900 ms.",
    exempt=frozenset({"ceiling"}),
    check=waiting_hidden,
)


def tail_from_closed_loop(load: Load, thresholds: Thresholds) -> Hit | None:
    """M5, where a claim rests on such a tail. Think time keeps a loop below saturation."""
    quoted = load.of_run is not None and load.of_run.tail_quoted
    if not load.closed or not quoted or load.think_time_ns:
        return None
    many = counted(load.places, f"saturating {load.place}")
    return Hit("warning", f"a tail of service times is quoted from {many}")


M5 = LoadRule(
    code="M5",
    title="tail latency from a closed loop",
    severities=("warning",),
    meaning=(
        "At saturation the times are the queue that the client itself makes: connections divided by "
        "throughput. A slow answer holds back the very requests that would have shown it."
    ),
    remedy="measure latency with arrivals at a rate below capacity (--rate)",
    source="TailBench (IISWC'16); Schroeder et al., open versus closed (NSDI'06)",
    example="p99 of wrk with 400 connections, quoted as the server's tail latency.",
    check=tail_from_closed_loop,
)


def arrivals_otherwise(load: Load, thresholds: Thresholds) -> Hit | None:
    """M6: counts of starts per window against the claimed arrivals."""
    schedule = load.open_loop
    if schedule is None or len(load.windows) < 2 or load.pool_exhausted:
        return None
    whole = [window for window in load.windows if window.length_ns >= 0.9 * load.windows[0].length_ns]
    begin = whole[0].start_ns
    intended = [
        intended_between(schedule, w.start_ns - begin, w.start_ns - begin + w.length_ns) for w in whole
    ]
    counts = [window.started for window in whole]
    poisson = schedule.arrivals == "poisson"
    fit = poisson_fit(counts, intended) if poisson else constant_fit(counts, intended)
    if fit is None or fit.fits:
        return None
    if poisson:
        evidence = (
            f"Anderson-Darling statistic {fit.statistic:.1f} (at most {fit.limit:.2f}) for Poisson arrivals"
        )
    else:
        evidence = f"constant arrivals scatter {fit.statistic:.1f} times as much as Poisson arrivals would"
    return Hit("warning", evidence, {"statistic": fit.statistic, "limit": fit.limit}, gravity=fit.statistic)


M6 = LoadRule(
    code="M6",
    title="arrivals are not what the plan claims",
    severities=("warning", "note"),
    meaning=(
        "Requests came in bursts or lulls of the generator's own, and the queue that these make is in the"
        " times."
    ),
    remedy="let the pacer spin (--pacer spin), give the generator a core of its own, or ask for a lower rate",
    source="Lancet (ATC'19): Anderson-Darling on inter-arrivals; ours on counts per window",
    example="A token bucket that releases ten requests every 10 ms and calls it 1,000/s.",
    passing=True,
    check=arrivals_otherwise,
)
