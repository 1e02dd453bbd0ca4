"""What a run says beside its ranking, a sentence each: its A/A control, and how servers scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from assay import verdict
from assay.report import format as fmt
from assay.report.model.rows import Section, name_of_case
from assay.stats.usl import UslFit, usl_fit
from assay.values.estimate import Estimate
from assay.values.plan import Closed
from assay.values.run import Run


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
    floor = verdict.noise_floor(findings)
    for control, ratio in seen.controls.items():
        case = seen.find(control)
        assert case is not None  # its ratio was made of it
        itself = f"{name_of_case(run, case.case.control_of)} is {_written(ratio)} of itself"
        said = (
            f"the run finds a difference where none is (D1), so none below {fmt.share(floor)} is claimed"
            if failed
            else f"no difference where none is; none below {fmt.share(floor)} is claimed"
        )
        yield f"A/A control: {itself}: {said}."


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


def _written(ratio: Estimate) -> str:
    """With three decimals: what matters here is how near to 1 it is."""
    interval = "" if ratio.low is None else f" [{ratio.low:.3f}, {ratio.high:.3f}]"
    return f"{ratio.value:.3f}{interval}"


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
