"""When a server is warm, and for how long the next process of the same program is warmed up: the first trials
show it, the others go by those. Pure.

A fresh process of the same program under the same load warms up as the ones before did, so only the first are
watched until their throughput is steady. That leaves more of the time for what is compared, and more than a
little of it on a restless machine, where few looks are steady and a watched warm-up runs to its bound. Should
a later one not be warm, rule S2 sees it in the measured windows.

A server that climbed without a step to the end of its warm-up needs all of it: no step is no sign that it was
warm from the first request on. Interleaved it was warm when it first served nearly as many as ever in one
slice, whatever its level did after that: that was the machine. A level may seem to hold while a server is
cold. So a watched warm-up counts only where what was measured behind it is near the best of its server under
that load; one that showed no change of level also where another trial came there after the least: then the
machine was slow. What it says is too short once a server that was warmed up so long, or longer, was not near
the best.

A restless machine hides how soon a server is at its level in the one warm-up that is watched. Later processes
that are interleaved tell it together: those that served, shortly after their start, what they served in the
rest of their warm-up.

Builds of one program warm up alike, so what each was seen to need counts for all of them: a machine that
moves the level of one late in its only watched warm-up would else keep every one that follows at its bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean, stdev

from assay.model.design import WarmUp
from assay.model.measurement import Window
from assay.model.run import Run
from assay.model.trial import Arm, Trial, WarmUpSeen
from assay.plan.next.lengths import REQUESTS, WARMING_NS
from assay.stats import rate_per_s
from assay.stats.steady import FEWEST_WINDOWS, warm_at_once, warm_up_state

_AT_ONCE_WINDOWS = 3 * FEWEST_WINDOWS
_AT_ONCE_ANSWERS = 20_000
"""What is compiled while it runs is so after fewer calls: after 15,000 at the latest in HotSpot
(`Tier4CompileThreshold`), and from a few hundred on its level rises."""
NO_WARM_UP = WarmUpSeen(steady=False, bound_ns=0, reason="none was asked for", took_ns=0)


def warmed_up(windows: Sequence[Window], rule: WarmUp) -> WarmUpSeen | None:
    """How the warm-up ends, or None while it goes on. `windows` are those of the warm-up, in order.

    It ends when throughput is shown to be steady in windows of 100 ms, not before `rule.min_ns`, and at
    `rule.max_ns` in any case: counted from where the windows count, as the latest alone may be at hand. Of a
    fast server that is at its level at once shorter windows tell as much, on a restless machine, too. What
    changes later than this looks is caught by rule S2.
    """
    if rule.max_ns == 0:
        return NO_WARM_UP
    elapsed_ns = windows[-1].start_ns + windows[-1].length_ns if windows else 0
    at_bound = elapsed_ns >= rule.max_ns
    if not at_bound and elapsed_ns < rule.min_ns:
        return None
    at_once = _at_once(windows)
    state = warm_up_state(windows, 0 if at_once else WARMING_NS)
    silent = state.steady and state.level_per_s == 0
    steady = at_once or (state.steady and not silent)
    if not steady and not at_bound:
        return None
    return WarmUpSeen(
        steady=steady,
        bound_ns=rule.max_ns,
        reason="" if steady else "nothing was answered" if silent else state.reason,
        changes_ns=state.changes_ns,
        took_ns=elapsed_ns,
        rising=state.rising,
    )


def _at_once(windows: Sequence[Window]) -> bool:
    """Whether nine of ten windows hold enough requests each for a rate, all together more than what is
    compiled while it runs needs, and the server was never faster than in the first tenth of them."""
    answered = sorted(one.completed for one in windows)
    few = len(answered) < _AT_ONCE_WINDOWS or sum(answered) < _AT_ONCE_ANSWERS
    return not few and answered[len(answered) // 10] >= REQUESTS and warm_at_once(windows)


def preload() -> None:
    """Run the judgement once before there is a load: what it has to import, the generator's core cannot
    spare once it is asked."""
    steps = (
        Window(start_ns=n, length_ns=1, phase="warmup", started=0, completed=n % 3, failed=0, bytes_read=0)
        for n in range(2 * FEWEST_WINDOWS)
    )
    warm_up_state(tuple(steps))


LEAST_NS = 100_000_000
"""A fresh process of a compiled server is at its level within some tens of milliseconds."""
_LEAST_UNSHOWN_NS = 300_000_000
"""As much gets one whose watched warm-up was judged in windows of 100 ms, which show no sooner end of it."""
_TELLING = 4
"""Later processes that tell together: their mean is then known to half of what one deviates by."""
_SOON = 0.03
"""By so little less may a process serve soon after its start: as halves of a watched warm-up may differ."""
_TOO_RESTLESS = 0.1
"""Their mean tells nothing where its standard error is larger."""
_MARGIN = 1.5
"""The last change of level lay within the first third of what was watched; half as much again is safe."""
_AT_LEVEL = 0.8
"""Of the best rate: trials of a warm server were seen to differ by up to 17 % on two shared cores, and a JVM
that was half cold came to a sixth, a third and two fifths of it."""
_NEAR_BEST = 0.9
"""Of the best slice: beside a program that is busy half of the time, slices of a warm server were seen
between 18 and 56 k/s, and the first near the best among the first three."""
_AGAIN = 2
"""Times as many are watched at most, where some do not count: it may be the machine that is restless."""


def warm_up_for(run: Run, case: str, watched: int) -> WarmUp:
    """The warm-up of the next trial of `case`, once `watched` trials of its server under its load were
    watched until they were steady, and were warm: a control's trials are its original's, too."""
    whole = run.header.design.warm_ups[case]
    if whole.max_ns == 0:
        return whole
    cases = {one.id: one for one in run.header.cases}
    load, server = (cases[case].workload, cases[case].load), cases[case].server
    by_server: dict[str, list[Trial]] = {}
    for trial in run.trials:
        if (cases[trial.case].workload, cases[trial.case].load) == load and trial.warm_up is not None:
            by_server.setdefault(cases[trial.case].server, []).append(trial)
    follows = cases[case].dependent
    shown = {of: _WarmUps(trials, whole, follows=follows) for of, trials in by_server.items()}
    own = shown.get(server, _WarmUps((), whole, follows=follows))
    interleave = run.header.design.interleave
    alike = shown.values() if interleave is not None and interleave.alike else (own,)
    counted = [needed_ns for each in alike for needed_ns in each.counted]
    long_enough = [needed_ns for needed_ns in counted if not own.too_short(needed_ns)]
    if (len(own.counted) < watched or not long_enough) and own.watched < _AGAIN * watched:
        return whole
    # Of several that are long enough the shortest: the machine's own noise only adds.
    needed_ns = min(long_enough) if long_enough else max(counted, default=whole.max_ns)
    if whole.min_ns < needed_ns <= _LEAST_UNSHOWN_NS and not own.too_short(whole.min_ns):
        early = [share for each in alike for share in each.early_shares()]
        needed_ns = whole.min_ns if _are_soon_warm(early) else needed_ns
    return WarmUp(min_ns=needed_ns, max_ns=needed_ns)


def _needed_ns(trial: Trial, seen: WarmUpSeen, whole: WarmUp) -> int:
    """What a watched warm-up says that its server needs: all of it where the server was still getting faster
    at its end, without a step at which that ended. It was told in short windows where ten usual ones are
    longer."""
    if seen.rising:
        return whole.max_ns
    at_once = seen.steady and (seen.took_ns or whole.max_ns) < FEWEST_WINDOWS * WARMING_NS
    least_ns = whole.min_ns if at_once else max(whole.min_ns, _LEAST_UNSHOWN_NS)
    changed_ns = seen.changes_ns[-1] if seen.changes_ns else 0
    reached_ns = _near_best_ns(trial.arm, trial.plan.threads) if trial.arm else None
    warm_ns = changed_ns if reached_ns is None else min(changed_ns, reached_ns)
    return min(max(least_ns, round(_MARGIN * warm_ns)), whole.max_ns)


def _early_share(arm: Arm, least_ns: int) -> float | None:
    """What a server served in the second half of the least warm-up as a share of its rate in the rest of its
    own; None where it had no slices then, or served nothing. What was measured says less: a slice of another
    length has another rate."""
    ends = accumulate(one.length_ns for one in arm.slices)
    own = [(end, one) for end, one in zip(ends, arm.slices, strict=True) if one.phase == "warmup"]
    early = [one for end, one in own if least_ns / 2 < end <= least_ns]
    rest = [one for end, one in own if end > least_ns]
    soon, then = (
        sum(each.completed for each in part) / (sum(each.length_ns for each in part) or 1)
        for part in (early, rest)
    )
    return soon / then if soon and then else None


def _are_soon_warm(shares: Sequence[float]) -> bool:
    """Whether processes were warm soon after their start, when they served such shares of what followed."""
    if len(shares) < _TELLING:
        return False
    error = stdev(shares) / math.sqrt(len(shares))
    return error <= _TOO_RESTLESS and 1 - fmean(shares) <= max(_SOON, error)


def _near_best_ns(arm: Arm, threads: int) -> int | None:
    """After how long, in its own slices, the server first served nearly as many as it ever did in one; None
    where it served nothing. Other programs only take from a server, so at that moment it was warm, and what
    changed later was the machine. While others had the core of the client (so many `threads` of it), nothing
    was asked of the server, and it did not get warmer."""
    rates = [one.completed / one.length_ns if one.length_ns else 0.0 for one in arm.slices]
    best, own_ns = max(rates, default=0.0), 0
    for one, rate in zip(arm.slices, rates, strict=True):
        own_ns += max(0, one.length_ns - (one.client_delayed_ns or 0) // threads)
        if rate > 0 and rate >= _NEAR_BEST * best:
            return own_ns
    return None


class _WarmUps:
    """What the trials of a server under a load show: how many were `watched`, and for how long those that
    count say that it has to be warmed up. A load that follows from others (`follows`) is offered at a rate,
    so that what comes back tells nothing of how warm a server is: all of them count."""

    def __init__(self, trials: Sequence[Trial], whole: WarmUp, *, follows: bool) -> None:
        rates = [rate_per_s(trial.measurement) if trial.measurement else 0.0 for trial in trials]
        least = 0.0 if follows else _AT_LEVEL * max(rates, default=0.0)
        told: list[tuple[int, bool]] = []
        self._went_by: list[tuple[int, bool]] = []
        for trial, rate in zip(trials, rates, strict=True):
            seen = trial.warm_up
            assert seen is not None  # they are what is shown here
            if seen.bound_ns == whole.max_ns:
                told.append((_needed_ns(trial, seen, whole), rate >= least))
            elif trial.measurement is not None:
                self._went_by.append((seen.bound_ns, rate >= least))
        self.watched = len(told)
        self._trials, self._whole = trials, whole
        usual_ns = max(whole.min_ns, _LEAST_UNSHOWN_NS)
        quick = self._was_enough(usual_ns)
        self.counted = [
            needed_ns for needed_ns, at_level in told if at_level or (quick and needed_ns <= usual_ns)
        ]

    def early_shares(self) -> list[float]:
        """What each later process served soon, as a share; one that had the least warm-up tells none."""
        told = (
            _early_share(one.arm, self._whole.min_ns)
            for one in self._trials
            if one.arm and one.warm_up and self._whole.min_ns < one.warm_up.bound_ns < self._whole.max_ns
        )
        return [share for share in told if share is not None]

    def too_short(self, needed_ns: int) -> bool:
        """Whether the server was cold after as long or longer, and never warm after as long or less."""
        cold = any(bound_ns >= needed_ns and not at_level for bound_ns, at_level in self._went_by)
        return cold and not self._was_enough(needed_ns)

    def _was_enough(self, needed_ns: int) -> bool:
        """Whether the server was warm after as long or less."""
        return any(bound_ns <= needed_ns and at_level for bound_ns, at_level in self._went_by)
