"""Did it get worse? Two runs, case by case: ratios with intervals, and limits held against them.

A limit is broken only where the whole interval lies beyond it, kept only where the whole
interval lies within it; in between nobody can tell from so few trials.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from assay import stats, verdict
from assay.core.units import emulation
from assay.model.estimate import Estimate, Known, Limit
from assay.model.finding import Finding, Metric
from assay.model.plan import Open
from assay.model.run import Run
from assay.model.trial import Trial
from assay.stats.estimates import Held, check_limit
from assay.stats.pairing import pair
from assay.stats.sequential import unpaired_difference
from assay.stats.sides import Side
from assay.verdict.effects import UNLIMITED, Bounded, Figures, bounded
from assay.verdict.pairs import Between, bias_of, pair_of
from assay.verdict.see_runs import see_rates

Watched = Literal["throughput", "p99", "memory", "start", "errors"]
LimitVerdict = Held | Literal["invalid", "not measured", ""]
METRICS: tuple[Watched, ...] = ("throughput", "p99", "memory", "start", "errors")


class Change(msgspec.Struct, frozen=True):
    """One metric of one case, new against base.

    `change` is the ratio new/base, for errors the difference new - base of the shares. `outcome` is
    empty where no limit was set. `limits` say why an end of the change is open, or moved; `base_known` and
    `new_known` are what is known of each side's throughput or time.
    """

    case: str
    metric: Watched
    base: Estimate | None
    new: Estimate | None
    change: Estimate | None
    outcome: LimitVerdict = ""
    limits: tuple[Limit, ...] = ()
    base_known: Known | None = None
    new_known: Known | None = None


class RunComparison(msgspec.Struct, frozen=True):
    """Two runs against each other. `warnings` say what makes them hard to compare."""

    base: Run
    new: Run
    changes: tuple[Change, ...]
    only_base: tuple[str, ...]
    only_new: tuple[str, ...]
    unmeasured: tuple[str, ...]
    warnings: tuple[str, ...]
    findings: tuple[tuple[str, Finding], ...]
    """("base" or "new", finding) about the compared cases, notes left out."""

    @property
    def broken(self) -> bool:
        """Whether a limit is broken beyond doubt."""
        return any(change.outcome == "broken" for change in self.changes)

    @property
    def unsure(self) -> bool:
        """Whether it cannot be told of a limit if it is broken."""
        return any(change.outcome == "could not tell" for change in self.changes)

    @property
    def invalid(self) -> bool:
        """Whether a limit could not be held against a figure that is invalid, or that new lacks."""
        return any(change.outcome in ("invalid", "not measured") for change in self.changes)


def compare(
    base: Run, new: Run, limits: Mapping[Watched, float], pairs: Sequence[tuple[str, str]] | None = None
) -> RunComparison:
    """Compare the cases that both runs have, or the given `pairs` (base case, new case).

    `limits` are shares: 0.05 of a throughput allows 5 % less, of any other metric 5 % more; of
    errors it is the allowed rise of the share itself.
    """
    ids_base, ids_new = _ids(base), _ids(new)
    pairs = pairs or [(case, case) for case in ids_base if case in ids_new]
    compared = tuple(change for a, b in pairs for change in _case(base, new, a, b, limits))
    two_runs = not _is_one_run(base, new)
    chosen_base, chosen_new = {a for a, _ in pairs}, {b for _, b in pairs}
    return RunComparison(
        base=base,
        new=new,
        changes=compared,
        unmeasured=tuple(b for a, b in pairs if not _measured(base, a) and not _measured(new, b)),
        only_base=tuple(case for case in ids_base if case not in chosen_base) if two_runs else (),
        only_new=tuple(case for case in ids_new if case not in chosen_new) if two_runs else (),
        warnings=(*_warnings(base, new), *_unlike_networks(base, new, pairs)),
        findings=tuple(
            (side, finding)
            for side, run, chosen in (("base", base, chosen_base), ("new", new, chosen_new))
            for finding in (run.judgement.findings if run.judgement else ())
            if finding.severity != "note" and finding.subject.case in (None, *chosen)
        ),
    )


def _warnings(base: Run, new: Run) -> list[str]:
    once = _is_one_run(base, new) and base.damage == new.damage
    sides = (("base", base),) if once else (("base", base), ("new", new))
    said = [f"the record of {side}: {damage}" for side, run in sides for damage in run.damage]
    if base.header.environment.machine_id != new.header.environment.machine_id:
        said.append("the runs were made on different machines: their figures are not comparable")
    if base.header.study_name != new.header.study_name:
        said.append(f"different studies: {base.header.study_name} and {new.header.study_name}")
    elif base.header.profile != new.header.profile:
        said.append(f"different profiles: {base.header.profile} and {new.header.profile}")
    if not _is_one_run(base, new):
        said.append("two runs share no blocks: the intervals are of these runs, not of programs")
    return said


def _unlike_networks(base: Run, new: Run, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each pair whose loads went over unlike ways."""
    before, after = ({case.id: case.emulation for case in run.header.cases} for run in (base, new))
    for a, b in pairs:
        one, other = before.get(a), after.get(b)
        if one != other:
            said = [
                emulation(it.round_trip_ns, it.loss, it.congestion) if it else "none" for it in (one, other)
            ]
            yield f"{a if a == b else f'{a} → {b}'}: loads over different networks, {' and '.join(said)}"


def _ids(run: Run) -> list[str]:
    """What may be compared: not the open loops at rates that each run found for itself."""
    compared = ("candidate", "reference")
    return [case.id for case in run.header.cases if case.role in compared and not case.dependent]


def _case(base: Run, new: Run, a: str, b: str, limits: Mapping[Watched, float]) -> list[Change]:
    trials_a, trials_b = _measured(base, a), _measured(new, b)
    if not trials_a and not trials_b:
        return []
    name = b if a == b else f"{a} → {b}"
    sides = _RunSide(base, a, trials_a), _RunSide(new, b, trials_b)
    between = verdict.between(_findings(base), a, b) if _is_one_run(base, new) and a != b else ()
    forbidden = any(one.on_comparison == "void" for one in between)
    return [
        _against_limit(
            _change(name, metric, *sides),
            forbidden or _taken(base, a, metric) or _taken(new, b, metric),
            limits.get(metric),
            sides[1],
        )
        for metric in METRICS
    ]


def _is_one_run(base: Run, new: Run) -> bool:
    return base.header.run_id == new.header.run_id


def _measured(run: Run, case: str) -> list[Trial]:
    return [trial for trial in run.trials if trial.case == case and trial.measurement]


def _taken(run: Run, case: str, metric: Watched) -> bool:
    return verdict.invalid(_findings(run), case, "times" if metric == "p99" else "throughput")


def _findings(run: Run) -> tuple[Finding, ...]:
    return run.judgement.findings if run.judgement else ()


class _RunSide(msgspec.Struct, frozen=True):
    run: Run
    case: str
    trials: Sequence[Trial]


def _change(case: str, metric: Watched, base: _RunSide, new: _RunSide) -> Change:
    if metric == "errors":
        return _errors(case, base.trials, new.trials)
    of = _metric(metric, base.trials)
    found = _between(base, new, metric, of)
    unit = stats.UNITS.get(of, "ns")
    means = [
        stats.positive_mean(list(stats.by_block(side.trials, of).values()), unit) for side in (base, new)
    ]
    return Change(
        case=case,
        metric=metric,
        base=means[0],
        new=means[1],
        change=found.bounded,
        limits=found.limits,
        base_known=verdict.known(means[0], _left(base, metric)),
        new_known=verdict.known(means[1], _left(new, metric)),
    )


def _left(side: _RunSide, metric: Watched) -> Bounded:
    """What findings leave of a side's figure: no load bounds memory or the time to start."""
    figures: dict[Watched, Figures] = {"throughput": "throughput", "p99": "times"}
    if metric not in figures:
        return UNLIMITED
    return bounded(_findings(side.run), side.case, figures[metric])


def _between(base: _RunSide, new: _RunSide, watched: Watched, metric: Metric) -> Between:
    """new over base: by block within one run, else with what each run found about its own side."""
    if _is_one_run(base.run, new.run):
        run = see_rates(base.run)
        cases = {seen.case.id: seen for seen in run.cases}
        # Of its measured trials: one that failed may have a start time.
        after, before = (replace(cases[one.case], trials=tuple(one.trials)) for one in (new, base))
        gate = getattr(base.run.header.design, "slower_allowed", None) is not None
        return pair_of(run, _findings(base.run), after, before, metric, one_sided_ends=gate)
    sides: list[Side] = []
    limits: list[Limit] = []
    for side in (new, base):
        left = _left(side, watched)
        sides.append(Side(stats.by_block(side.trials, metric), left.slack))
        limits += left.limits
    # Either run may have moved its own side.
    wider = math.prod(1 + bias_of(_findings(side.run), metric) for side in (base, new)) - 1
    made = pair(*sides, manner="unpaired", bias=wider)
    return Between(made, (), tuple(dict.fromkeys(limits)))


def _metric(metric: Watched, trials: Sequence[Trial]) -> Metric:
    """The stored metric; p99 is of response time where the loop was open."""
    open_loop = bool(trials) and all(isinstance(trial.plan.load, Open) for trial in trials)
    named: dict[Watched, Metric] = {
        "throughput": "throughput",
        "p99": "response_time_p99" if open_loop else "service_time_p99",
        "memory": "peak_memory",
        "start": "start_time",
    }
    return named[metric]


def _errors(case: str, a: Sequence[Trial], b: Sequence[Trial]) -> Change:
    shares_a, shares_b = _error_shares(a), _error_shares(b)
    return Change(
        case=case,
        metric="errors",
        base=stats.mean(shares_a, "share"),
        new=stats.mean(shares_b, "share"),
        change=unpaired_difference(shares_b, shares_a, "share"),
    )


def _error_shares(trials: Sequence[Trial]) -> list[float]:
    seen = [trial.measurement for trial in trials if trial.measurement]
    return [one.failed / (one.failed + one.completed) for one in seen if one.failed + one.completed]


def _against_limit(change: Change, taken: bool, limit: float | None, new: _RunSide) -> Change:
    """The change held against its limit."""
    if taken:
        return Change(change.case, change.metric, None, None, None, "invalid" if limit is not None else "")
    if limit is None:
        return change
    if not new.trials:
        return replace(change, outcome="not measured")
    edge = limit if change.metric == "errors" else (1 - limit if change.metric == "throughput" else 1 + limit)
    outcome: LimitVerdict = check_limit(change.change, edge, more_is_better=change.metric == "throughput")
    return replace(change, outcome=outcome)
