"""When a server is warm: asked while the load runs, of the windows seen so far. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from assay.model.design import WarmUp
from assay.model.measurement import Window
from assay.model.trial import WarmUpSeen
from assay.stats.steady import FEWEST_WINDOWS, warm_up_state

NO_WARM_UP = WarmUpSeen(steady=False, bound_ns=0, reason="none was asked for", took_ns=0)


def warmed_up(windows: Sequence[Window], rule: WarmUp) -> WarmUpSeen | None:
    """How the warm-up ends, or None while it goes on. `windows` are those of the warm-up, in order.

    It ends when throughput is shown to be steady, not before `rule.min_ns`, and at `rule.max_ns` in any
    case: counted from where the windows count, as the latest alone may be at hand. A change of level that
    comes later than this looks is caught by rule S2.
    """
    if rule.max_ns == 0:
        return NO_WARM_UP
    elapsed_ns = windows[-1].start_ns + windows[-1].length_ns if windows else 0
    at_bound = elapsed_ns >= rule.max_ns
    if not at_bound and elapsed_ns < rule.min_ns:
        return None
    state = warm_up_state(windows)
    silent = state.steady and state.level_per_s == 0
    steady, reason = state.steady and not silent, "nothing was answered" if silent else state.reason
    if not steady and not at_bound:
        return None
    return WarmUpSeen(
        steady=steady,
        bound_ns=rule.max_ns,
        reason=reason,
        changes_ns=state.changes_ns,
        took_ns=elapsed_ns,
        rising=state.rising,
    )


def preload() -> None:
    """Run the judgement once before there is a load: what it has to import, the generator's core cannot
    spare once it is asked."""
    steps = (
        Window(start_ns=n, length_ns=1, phase="warmup", started=0, completed=n % 3, failed=0, bytes_read=0)
        for n in range(2 * FEWEST_WINDOWS)
    )
    warm_up_state(tuple(steps))
