"""M, continued: what the shape of the load lets one conclude."""

from __future__ import annotations

from assay.stats.arrivals import constant_fit, poisson_fit
from assay.verdict.facts import CaseSeen, RunSeen, intended_between
from assay.verdict.load import Load
from assay.verdict.rule import BETWEEN_BUILDS, CaseRule, Effects, Hit, LoadRule, Threshold, Thresholds
from assay.verdict.rules.silence import fell_silent
from assay.verdict.words import counted, duration, percent


def waiting_hidden(load: Load, thresholds: Thresholds) -> Hit | None:
    """M4, open loops: both clocks side by side."""
    clocks = load.clocks
    if load.asked.closed or clocks.response is None or clocks.service is None:
        return None
    response, service = clocks.response.quantiles.get(0.99), clocks.service.quantiles.get(0.99)
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
    if not load.asked.closed or not quoted or load.asked.think_time_ns:
        return None
    many = counted(load.asked.places, f"saturating {load.asked.place}")
    return Hit("warning", f"a tail of service times is quoted from {many}")


M5 = LoadRule(
    code="M5",
    title="tail latency from a closed loop",
    severities=("warning",),
    meaning=(
        "At saturation the times are the queue that the client itself makes (connections divided by "
        "throughput), and a slow answer holds back the very requests that would have shown it."
    ),
    remedy="measure latency with arrivals at a rate below capacity (--rate)",
    source="TailBench (IISWC'16); Schroeder et al., open versus closed (NSDI'06)",
    example="p99 of wrk with 400 connections, quoted as the server's tail latency.",
    check=tail_from_closed_loop,
)


def arrivals_otherwise(load: Load, thresholds: Thresholds) -> Hit | None:
    """M6: counts of starts per window against the claimed arrivals."""
    schedule = load.asked.open_loop
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


def not_server_bound(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """M7, closed loops without think time. Over an emulated network the way sets the pace, on purpose."""
    thinks = any(load.asked.think_time_ns for load in case.loads)
    meant = case.case.emulation is not None or case.case.facts.get("bottleneck")
    if not case.closed or thinks or meant or any(map(fell_silent, case.loads)):
        return None
    busy = case.server_busy_share
    if busy is None or busy >= thresholds["busy"]:
        return None
    return Hit(
        "warning",
        f"the server's cores were {percent(busy)} busy, and nothing else is named that held it back",
        {"busy_share": busy, "limit": thresholds["busy"]},
        gravity=-busy,
    )


M7 = CaseRule(
    code="M7",
    title="not server-bound",
    severities=("warning",),
    effects=(
        Effects("at least", because="something else than the server set the pace", held_back=True),
        BETWEEN_BUILDS,
    ),
    thresholds=(
        Threshold("busy", 0.90, "share", "busy share of the server's cores from which it set the pace"),
    ),
    meaning=(
        "The server had CPU time to spare, so something else set the pace, and that is what the figure "
        "measures."
    ),
    remedy=(
        "use more connections; look for locks, pools, a slow service or too few workers; where the "
        'bottleneck is known and meant, name it in the server\'s facts or the workload (bottleneck = "...")'
    ),
    source="the-benchmarker PR 9662",
    example=(
        "A server with a pool of three database connections: its cores idle while requests queue for the "
        "pool."
    ),
    exempt=frozenset({"ceiling"}),
    check=not_server_bound,
)
