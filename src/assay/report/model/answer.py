"""The answer of a run: who is fastest and by how much, how sure that is, why no surer, what would make it
so; and the lines that say which run it is and on which machine."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from assay.core import units as fmt
from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign
from assay.model.finding import Finding, Severity
from assay.model.run import Run
from assay.report.model import comparison, interleaved, order, search
from assay.report.model.findings import ORDER
from assay.report.model.remarks import remarks
from assay.report.model.rows import Section, limits_words, ordered_findings, sections
from assay.report.model.unranked import measured
from assay.report.model.values import Answer

SENTENCES: dict[type[AnyDesign], Callable[[Run], Answer]] = {
    ComparisonDesign: comparison.in_sentences,
    SearchDesign: search.in_sentences,
}
"""The answer of a kind of run that has one of its own."""

_MOST_REMEDIES = 2
_LONGEST_SENTENCE = 4000
"""No sentence of ours gets there: lists of names end before."""
_LONGEST_LINE = 200


def answer(run: Run, found: Sequence[Section]) -> Answer:
    """The answer of a run whose cases are those of `found`, fit to be shown."""
    own = SENTENCES.get(type(run.header.design))
    told = own(run) if own is not None else _of_sections(run, found)
    why = (*told.why, *remarks(run, found))
    surer = told.surer or tuple(_remedies(run))
    return Answer(
        headline=_safe(told.headline or ("Nothing was measured that may be shown.",)),
        sure=_safe((*told.sure, *interleaved.sentences(run))),
        why=_safe(why),
        surer=_safe(surer),
        state=state(run),
        clean=run.judgement is not None and run.judgement.clean,
    )


def in_a_line(run: Run) -> str:
    """What a list of runs says of one: the sentences of its report's answer, cut after a word if long.

    "not judged" where the record has no judgement that counts; a report then makes one, which takes a while.
    """
    if run.judgement is None:
        return "not judged"
    said = " ".join(answer(run, sections(run)).headline)
    return textwrap.shorten(said, _LONGEST_LINE, placeholder=" …", break_on_hyphens=False)


def _safe(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(fmt.safe(sentence, _LONGEST_SENTENCE) for sentence in said)


def state(run: Run) -> str:
    """Say whether the run is clean, or what stands against it."""
    judgement = run.judgement
    if judgement is None:
        return "not judged: the run ended before its verdict"
    if judgement.clean:
        return "clean: no rule stands against this run"
    grave: dict[Severity, list[str]] = {}
    for one in judgement.findings:
        if one.severity != "note" and one.code not in grave.setdefault(one.severity, []):
            grave[one.severity].append(one.code)
    said = [f"{', '.join(sorted(grave[severity]))} {severity}" for severity in ORDER if grave.get(severity)]
    cut = "" if judgement.complete else ", and the run did not end"
    return f"not clean: {'; '.join(said) or 'nothing was measured'}{cut}"


def name(run: Run) -> str:
    """What the study calls itself."""
    return run.header.design.title or run.header.study_name


def question(run: Run) -> str:
    """What the study asks, in its own words; empty where it does not say."""
    return " ".join(run.header.design.question.split())


def _of_sections(run: Run, found: Sequence[Section]) -> Answer:
    """One sentence for each workload and load; those of the closed loops where there are any."""
    closed = [section for section in found if any(row.closed_loop for row in section.rows)] or found
    told = [(section, order.in_sentences(run, section)) for section in closed]
    said = [
        f"{section.title}: {one.headline[0]}" if section.title else one.headline[0] for section, one in told
    ]
    surer = dict.fromkeys(sentence for _, one in told for sentence in one.surer)
    sure, limits = _sureness(run, closed), _limits(closed)
    return Answer(headline=tuple(said), sure=tuple(sure), why=tuple(limits), surer=tuple(surer))


def _remedies(run: Run) -> Iterator[str]:
    """What the gravest findings ask for; first of those that did something to the answer."""
    grave = [one for one in ordered_findings(run) if one.severity != "note"]
    told = [one for one in grave if not (one.on_throughput == one.on_times == "none") or one.on_comparison]
    firsts: dict[str, Finding] = {}
    for one in sorted(told or grave, key=lambda one: (ORDER.index(one.severity), one.code)):
        firsts.setdefault(one.code, one)
    for one in list(firsts.values())[:_MOST_REMEDIES]:
        remedy = one.remedy.rstrip(".")
        yield f"To be surer: {remedy[:1].lower()}{remedy[1:]} ({one.code})."


def _sureness(run: Run, shown: Sequence[Section]) -> Iterator[str]:
    """How sure the order is, where there is one."""
    judgement = run.judgement
    ratios = [one.ratio for one in judgement.comparisons if one.ratio] if judgement else []
    ordered = [row for section in shown for row in section.candidates if row.rank is not None]
    if judgement is not None and ratios and ordered:
        blocks = fmt.counted(min(ratio.n for ratio in ratios), "block")
        yield (
            f"How sure: 95 % intervals of ratios, paired over {blocks}; the order holds for all pairs "
            f"together (Holm), and no difference below {fmt.share(judgement.minimum_effect)} is claimed."
        )


def _limits(shown: Sequence[Section]) -> Iterator[str]:
    """What limits the answers."""
    rows = sum(measured(row) for section in shown for row in section.candidates)
    said = limits_words((one for section in shown for one in order.limits_of(section)), rows)
    if said:
        yield f"What limits it: {said}."
