"""T: blocks that a server has no figures of, and servers that cannot have any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.model.finding import Subject
from assay.model.trial import Trial
from assay.verdict.facts import CaseSeen, RunSeen
from assay.verdict.rule import CaseRule, Effects, Hit, RunRule, Thresholds
from assay.verdict.words import counted, percent

_ITS_OWN = ("start", "contract", "load")
"""Stages in which it is the server that failed; what a service or a machine did is nobody's fault here."""


def missed_blocks(case: CaseSeen, run: RunSeen, thresholds: Thresholds) -> Hit | None:
    """T4: the blocks in which others had their slices and it served nothing, or not to the end.

    They are missing from its pairs. Taken as nothing served, they leave that share of its figure.
    """
    tried = _beside_others(case, run)
    missed = [trial for trial in tried if _served_nothing(trial)]
    if not missed:
        return None
    left = 1 - len(missed) / len(tried)
    evidence = (
        f"it {', and '.join(_causes(missed, len(tried)))}; with nothing served there, {percent(left)} of its "
        "figure is left"
    )
    figures = {"blocks": float(len(missed)), "rounds": float(_rounds(missed[0])), "at_least_times": left}
    return Hit("warning", evidence, figures, gravity=len(missed))


def _beside_others(case: CaseSeen, run: RunSeen) -> list[Trial]:
    """Its trials of the blocks in which another of its load was interleaved, and served something to the
    end."""
    if case.case.dependent or not any(trial.arm for trial in case.trials):
        return []
    sat = {
        trial.block
        for other in run.groups[case.group]
        if other.case.id != case.case.id
        for trial in other.measured
        if trial.arm and not _served_nothing(trial)
    }
    return [trial for trial in case.trials if trial.block in sat]


def _served_nothing(trial: Trial) -> bool:
    if trial.measurement is not None:
        return trial.measurement.completed == 0
    ended = trial.arm is not None and trial.arm.ended is not None
    return ended or (trial.failure is not None and trial.failure.stage in _ITS_OWN)


def _causes(missed: Sequence[Trial], tried: int) -> Iterator[str]:
    """What became of it, kind by kind, the first of each in full."""
    ended = [trial for trial in missed if trial.arm and trial.arm.ended]
    if ended:
        first = ", in the first of them" if len(ended) > 1 else ""
        yield (
            f"ended before the others in {counted(len(ended), 'block')} of {tried}{first} after "
            f"{counted(_rounds(ended[0]), 'measured round')}{_why(ended[0])}"
        )
    silent = [trial for trial in missed if trial.measurement is not None]
    if silent:
        yield f"answered nothing in {counted(len(silent), 'block')} of {tried}"
    failed = [trial for trial in missed if trial not in ended and trial not in silent]
    if failed:
        yield f"has no figures of {counted(len(failed), 'block')} of {tried}{_why(failed[0])}"


def _why(trial: Trial) -> str:
    return f": {trial.failure.reason}" if trial.failure else ""


def _rounds(trial: Trial) -> int:
    return len(trial.arm.rounds) if trial.arm else 0


T4 = CaseRule(
    code="T4",
    title="a server missing from blocks",
    severities=("warning",),
    effects=(Effects("at most", because="it missed blocks that others had"),),
    meaning=(
        "It died, answered nothing, or did not keep its contract, and the others went on. Such a block "
        "counts for those pairs that were whole, so this server's figure and ratios are of its good blocks "
        "alone. What it served in all of them lies between that and the same with nothing served in those "
        "that it missed."
    ),
    remedy="read its log; where it is killed for want of memory, measure fewer at once or --sequential",
    source="ours",
    example="A server that leaks until it is killed in its third block.",
    check=missed_blocks,
)


def not_side_by_side(run: RunSeen, thresholds: Thresholds) -> Iterator[tuple[Subject, Hit]]:
    """T5: why the servers were not interleaved, as the design keeps it."""
    if run.header.design.sequential and sum(seen.candidate for seen in run.cases) > 1:
        yield Subject(), Hit("note", run.header.design.sequential)


T5 = RunRule(
    code="T5",
    title="servers not side by side",
    severities=("note",),
    meaning=(
        "They cannot live at the same time (their memory, a fixed port, a database that several write), so "
        "they were measured one after the other. The machine's drift between trials is then in every "
        "difference: the same certainty takes many more blocks."
    ),
    remedy="give each a port and a database of its own, or a machine with room for all",
    source="ours; the same program twice: 9 % deviation sequential, 1 % interleaved",
    example="Two servers that both insist on port 8080.",
    check=not_side_by_side,
)
