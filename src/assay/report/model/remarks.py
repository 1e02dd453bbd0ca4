"""What a run says beside its ranking, a sentence each: its A/A control, and how servers scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from assay import verdict
from assay.core import units as fmt
from assay.model.estimate import Estimate
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.model.rows import Section, name_of_case
from assay.stats.usl import UslFit, usl_fit


def remarks(run: Run, found: Sequence[Section]) -> Iterator[str]:
    """Every remark that the run's data supports."""
    yield from _controls(run)
    yield from _scaling(run, found)
    yield from _thresholds(run)


def _controls(run: Run) -> Iterator[str]:
    """What each A/A control says of the run's comparisons; nothing where it has too few pairs."""
    if all(case.role != "control" for case in run.header.cases):
        return
    seen = verdict.see_run(run)
    findings = run.judgement.findings if run.judgement else ()
    failed = any(one.code == "D1" for one in findings)
    claimed = f"no difference below {fmt.share(verdict.minimum_effect(findings))} is claimed"
    for control, ratio in seen.controls.items():
        case = seen.find(control)
        assert case is not None  # its ratio was made of it
        name = name_of_case(run, case.case.control_of)
        bias = "the run is biased (D1)" if failed else _bias(ratio)
        yield f"A/A control: {name} differed from itself by {_differed(ratio)}: {bias}, and {claimed}."


def _bias(ratio: Estimate) -> str:
    """How large a bias may be is all that an interval decides, however wide it is."""
    known = ratio.low is not None and ratio.high is not None
    return "no bias is seen beyond that" if known else "so few blocks bound no bias"


def _thresholds(run: Run) -> Iterator[str]:
    """What the run's design changed of the rules, and why: also where no rule speaks."""
    for code, setting in run.header.design.rules.items():
        rule = verdict.explain(code)
        changed = (
            f"{one.name} {threshold_words(one.unit, value)} instead of {threshold_words(one.unit, one.value)}"
            for one in rule.thresholds
            if (value := setting.thresholds.get(one.name)) is not None
        )
        words = f"{', '.join(changed)}: {setting.reason}"
        yield f"Threshold of {code} ({rule.title}) set by this run: {words}."


def threshold_words(unit: Literal["share", "ratio", "ns", "count"], value: float) -> str:
    """A threshold's value with its unit."""
    match unit:
        case "share":
            return fmt.share(value, exact=True)
        case "ns":
            return fmt.time(value, exact=True)
        case "ratio":
            return fmt.times(value)
        case "count":
            return f"{value:g}"


def _differed(ratio: Estimate) -> str:
    measured = fmt.signed_share(ratio.value - 1)
    if ratio.low is None or ratio.high is None:
        return measured
    return f"{measured} (95 %: {fmt.signed_share(ratio.low - 1)} to {fmt.signed_share(ratio.high - 1)})"


def _scaling(run: Run, found: Sequence[Section]) -> Iterator[str]:
    """The Universal Scalability Law over each server's sweep of connections, where it fits."""
    plans = {trial.case: trial.plan.load for trial in run.trials}
    sweeps: dict[tuple[str, str], dict[int, float]] = {}
    for row in (row for section in found for row in section.candidates):
        load = plans.get(row.case.id)
        if isinstance(load, Closed) and row.throughput is not None:
            sweep = sweeps.setdefault((row.case.workload, row.name), {})
            sweep[load.connections] = row.throughput.value
    several = len({case.workload for case in run.header.cases}) > 1
    for (workload, name), sweep in sweeps.items():
        fit = usl_fit(sweep)
        if fit is not None:
            where = f" ({workload})" if several else ""
            yield f"{name}{where} {_fit_words(fit, max(sweep))}."


def _fit_words(fit: UslFit, most: int) -> str:
    found = (
        f"scales with {fmt.share(fit.contention)} contention and {fit.coherency:.2g} coherency "
        f"(Universal Scalability Law, residual {fmt.share(fit.residual)})"
    )
    if fit.peak_connections is None or fit.peak_per_s is None:
        return f"{found}, without a peak up to {most} connections"
    peak = f"{fmt.rate(fit.peak_per_s)} at about {fit.peak_connections:.0f} connections"
    return f"{found}, with its peak of {peak}"
