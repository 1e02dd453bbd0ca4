"""A comparison of two runs as data, and what became of a run that was judged again."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core import units as fmt
from assay.model.finding import Finding
from assay.model.run import Judgement, Run
from assay.report.document import Items, Section
from assay.report.model.rows import name_of_case
from assay.report.model.values import subject_words
from assay.verdict.compare import RunComparison


def as_json(comparison: RunComparison) -> str:
    """The comparison as data."""
    document = {
        "format": 1,
        "base": comparison.base.header.run_id,
        "new": comparison.new.header.run_id,
        "broken": comparison.broken,
        "warnings": comparison.warnings,
        "changes": comparison.changes,
        "only_base": comparison.only_base,
        "only_new": comparison.only_new,
        "unmeasured": comparison.unmeasured,
        "findings": [{"side": side, "finding": finding} for side, finding in comparison.findings],
    }
    return fmt.as_json(document)


def rejudgement(run: Run, judgement: Judgement, *, stored: bool) -> Section:
    """Say what is new and what is gone. `run` holds the judgement before, if there was one."""
    head = "Judged again" if run.judgement else "Judged"
    title = f"{head} by Assay {judgement.assay_version}{'' if stored else ' (not stored)'}"
    return Section("judged", title, (Items(changes(run, judgement)),))


def changes(run: Run, judgement: Judgement) -> tuple[str, ...]:
    """What changed, in a line each."""
    before = run.judgement
    if before is None:
        return ("it had no judgement that knew all of its trials",)
    said = [f"the judgement before was Assay {before.assay_version}'s"]
    was, now = _lines(run, before.findings), _lines(run, judgement.findings)
    said += [f"new: {told}" for told in now if told not in was]
    said += [f"gone: {told}" for told in was if told not in now]
    if before.clean != judgement.clean:
        said.append("it now is clean" if judgement.clean else "it no longer is clean")
    said += [
        f"claim ({after.claim}): {earlier.verdict}, now {after.verdict}"
        for earlier in before.claims
        for after in judgement.claims
        if earlier.claim == after.claim and earlier.verdict != after.verdict
    ]
    return tuple(said) if len(said) > 1 else (*said, "nothing changed")


def _lines(run: Run, findings: Iterable[Finding]) -> list[str]:
    """Each finding by its code, severity and subject."""
    told = []
    for one in findings:
        about = fmt.safe(subject_words(one.subject, lambda case: name_of_case(run, case)))
        told.append(f"{one.code} {one.severity}{f', {about}' if about else ''}: {fmt.safe(one.title)}")
    return told
