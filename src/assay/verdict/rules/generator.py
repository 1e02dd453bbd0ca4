"""G: the load generator itself must not be what is measured."""

from __future__ import annotations

import statistics

from assay.verdict.rule import CaseRule, Hit, Limits, LoadRule, Threshold
from assay.verdict.seen import CaseSeen, Load, RunSeen
from assay.verdict.words import counted, percent, rate


def generator_saturated(load: Load, limits: Limits) -> Hit | None:
    """G1, from the threads' own CPU clocks and from the idle time of the generator's cores."""
    if load.paced_by_spinning or not load.worker_busy_shares:
        return None  # a spinning pacer is busy by design; its send lag tells instead
    busiest = max(load.worker_busy_shares)
    idle, seen = 1 - busiest, f"the busiest generator thread used {percent(busiest)} of its core"
    alone = bool(load.client_cpus) and not load.cores_shared
    if alone and load.host is not None and load.host.client_cpus_idle_share < idle:
        idle = load.host.client_cpus_idle_share
        seen = f"the generator's cores were only {percent(idle)} idle"
    if idle >= limits["idle"]:
        return None
    return Hit(
        "withheld",
        f"{seen} (at least {percent(limits['idle'])} must stay idle)",
        {"idle_share": idle, "limit": limits["idle"]},
        gravity=-idle,
    )


G1 = LoadRule(
    code="G1",
    title="the generator was saturated",
    severities=("withheld",),
    withholds="everything",
    thresholds=(Threshold("idle", 0.20, "share", "idle share that each generator core must keep"),),
    meaning=(
        "The client had no time to spare, so it may have been the client that set the pace: the server "
        "may well do more, and every time includes the client's own queue."
    ),
    remedy=(
        "give the generator more threads, on cores that the server does not use, or give the server fewer"
        " cores; on a small machine this server is too fast to be weighed by one client core"
    ),
    source="Hyperfoil's CPU watchdog",
    example=(
        "A null server at 230,000/s with its client at 99 % of a core: the figure is the client's. The "
        "same client at 45 % in front of a server at 70,000/s has time to spare."
    ),
    exempt=frozenset({"ceiling"}),
    check=generator_saturated,
)


def near_ceiling(case: CaseSeen, run: RunSeen, limits: Limits) -> Hit | None:
    """G5, closed loops only: an open loop offers what it was asked to."""
    ceiling = run.ceiling_for(case)
    if ceiling is None or not case.loads or not all(load.closed for load in case.loads):
        return None
    reached = statistics.fmean(case.throughput_by_block.values())
    most = statistics.fmean(ceiling.throughput_by_block.values())
    if most <= 0 or reached <= limits["flagged"] * most:
        return None
    share = reached / most
    return Hit(
        "withheld" if share > limits["withheld"] else "flagged",
        f"{rate(reached)} is {percent(share)} of the {rate(most)} that the null server reached here",
        {"share": share, "ceiling_per_s": most, "limit": limits["flagged"]},
        gravity=share,
    )


G5 = CaseRule(
    code="G5",
    title="close to the generator's ceiling",
    severities=("flagged", "withheld"),
    withholds="everything",
    thresholds=(
        Threshold(
            "flagged", 0.70, "share", "share of the null server's throughput above which a case is flagged"
        ),
        Threshold("withheld", 0.90, "share", "share above which its figures are withheld"),
    ),
    meaning=(
        "A server that does nothing was hardly faster, so the figure says more about the client, the "
        "kernel and the machine than about this server; differences between such servers are squeezed "
        "together."
    ),
    remedy="give the generator more cores or the server fewer, or give the server more work for each request",
    source="MLPerf's null system under test; percentages ours",
    example="A Go server at 180,000/s where the null server reaches 235,000/s (77 %): flagged.",
    exempt=frozenset({"ceiling"}),
    check=near_ceiling,
)


def connections_missing(load: Load, limits: Limits) -> Hit | None:
    """G8, closed loops only: an open loop opens connections as it needs them."""
    asked, opened, answered = load.connections, load.connections_opened, load.connections_answered
    if not load.closed or asked is None or opened is None or answered is None:
        return None
    if opened == asked and answered >= asked:
        return None
    figures = {"asked": float(asked), "opened": float(opened), "answered": float(answered)}
    if opened != asked:
        evidence = f"{opened:,} of the {counted(asked, 'connection')} asked for were opened"
    else:
        evidence = f"{counted(asked - answered, 'connection')} of {asked:,} never got an answer"
    reasons = [outcome for outcome in load.outcomes if outcome.kind in _CONNECT_FAILURES]
    if reasons:
        most = max(reasons, key=lambda outcome: outcome.count)
        evidence += f" ({most.kind.replace('_', ' ')}: {most.count:,})"
    return Hit("withheld", evidence, figures, gravity=(asked - min(opened, answered)) / asked)


_CONNECT_FAILURES = frozenset({"connect_refused", "connect_timeout", "no_descriptors", "no_ports"})

G8 = LoadRule(
    code="G8",
    title="connections missing",
    severities=("withheld",),
    withholds="everything",
    meaning=(
        "The load was not the one that was asked for: fewer clients than stated were being served, so the"
        " throughput and the times belong to another experiment."
    ),
    remedy=(
        "raise the descriptor limit (ulimit -n) of client and server, the server's own connection limit "
        "and its accept queue (net.core.somaxconn), or ask for fewer connections"
    ),
    source="the published franklin study: 157 connect errors of 396 connections in every run",
    example="wrk -c400 with `connect 157` in its socket errors: 239 connections carried the load.",
    check=connections_missing,
)
