"""The A/A control of a run in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from assay import verdict
from assay.report import format as fmt
from assay.report.rows import name_of_case
from assay.values.estimate import Estimate
from assay.values.run import Run


def sentences(run: Run) -> Iterator[str]:
    """What each control says of the run's comparisons; nothing where there is none, or too few pairs."""
    if all(case.role != "control" for case in run.header.cases):
        return
    seen = verdict.see_run(run)
    failed = run.judgement is not None and any(one.code == "D1" for one in run.judgement.findings)
    floor = 100 * verdict.noise_floor(seen)
    for control, ratio in seen.controls.items():
        case = seen.find(control)
        assert case is not None  # its ratio was made of it
        itself = f"{name_of_case(run, case.case.control_of)} is {_written(ratio)} of itself"
        said = (
            "the run finds a difference where none is, and no comparison of it can be trusted (D1)"
            if failed
            else f"no difference where none is; none below {fmt.significant(floor, 2)} % is claimed"
        )
        yield f"A/A control: {itself}: {said}."


def _written(ratio: Estimate) -> str:
    """With three decimals: what matters here is how near to 1 it is."""
    interval = "" if ratio.low is None else f" [{ratio.low:.3f}, {ratio.high:.3f}]"
    return f"{ratio.value:.3f}{interval}"
