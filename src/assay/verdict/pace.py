"""Who set the pace: the server's idle time says it, and bounds what a held-back server might do.

The utilisation law (Denning, Buzen, 1978) says U = X D: with cores busy for a share U at X answers/s and
a demand D of core time an answer, no more than X / U can be served. A fuller queue lowers D a little, for
answers then come in batches: the truth of one server whose client was burdened with a known cost a request
lay between X / U and X / U^3 (its core 80 to 94 % busy).
"""

from __future__ import annotations

FULL = 0.97
"""Busy share of a server's cores from which it set the pace, whatever its client did: in front of
a core that was 98 to 100 % busy a client at 99 % cost it nothing."""

EXPONENT = 3.0


def paced_by_server(busy_share: float | None) -> bool:
    """Whether the server's cores were full; not where their share is not known."""
    return busy_share is not None and busy_share >= FULL


def at_most(busy_share: float | None) -> float | None:
    """How many times the measured throughput the server can reach at most; None where that is not known."""
    if busy_share is None or busy_share <= 0:
        return None
    return float(min(1.0, busy_share) ** -EXPONENT)


def why_unbounded(busy_share: float | None) -> str:
    """What the evidence adds where there is no upper bound."""
    if busy_share is not None:
        return ""
    return "; how busy the server's cores were is not known, so nothing bounds its throughput from above"
