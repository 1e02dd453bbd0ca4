"""D: the experiment's design."""

from __future__ import annotations

from collections.abc import Iterator

from assay.model.finding import Subject
from assay.stats import MINIMUM_EFFECT
from assay.stats.pairing import ALPHA, pair
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.rule import Effects, Hit, RunRule, Threshold, Thresholds
from assay.verdict.words import counted, percent


def control_differs(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """D1. However small it is: a limit of a gate may be smaller."""
    for control, ratio in run.controls.items():
        seen = run.find(control)
        original = run.find(seen.case.control_of) if seen else None
        if original is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
            continue
        far = max(ratio.high, 1 / ratio.low) - 1
        yield (
            Subject(),
            Hit(
                "warning",
                f"{original.name} is {ratio.value:.3f} ({ratio.low:.3f}-{ratio.high:.3f}) of itself, "
                f"so no difference below {percent(far)} is claimed",
                {"ratio": ratio.value, "low": ratio.low, "high": ratio.high, "wider": far},
            ),
        )


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
        "new neighbours. With 4 % drift two identical servers are then declared different in 98 % of "
        "runs."
    ),
    remedy="run in blocks, each case once a block in random order (assay run and assay versus do)",
    source="RMIT, ICPE'17; our simulation in docs/statistics.md",
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
                yield (
                    Subject(case=yardstick.case.id),
                    Hit(
                        "note",
                        f"{name} serves {percent(ratio - 1)} more than this {yardstick.case.role}"
                        + (f", and {len(faster) - 1} more do" if len(faster) > 1 else ""),
                        {"ratio": ratio, "limit": 1 + thresholds["faster"], "candidates": float(len(faster))},
                    ),
                )


def _faster(
    run: RunSeen, seen: CaseSeen, yardstick: CaseSeen, at_least: float, alpha: float
) -> tuple[float, str] | None:
    """How much faster a candidate is than the yardstick, and its name; None unless that is shown, with what
    is left of the error where several are looked at."""
    made = pair(seen.side(), yardstick.side(), manner=run.manner, alpha=alpha)
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
