"""The answer of a run: who is fastest, how sure that is, what would make it surer; and remarks beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from assay import verdict
from assay.core import units as fmt
from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign
from assay.model.estimate import Estimate
from assay.model.finding import Finding, Severity
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.model import circumstances, comparison, followers, order
from assay.report.model.rows import LoadRows, limits_words, name_of_case, ordered_findings, sections
from assay.report.model.unranked import measured
from assay.report.model.values import ORDER, Answer
from assay.stats.capacity import UslFit, usl_fit


def remarks(run: Run, found: Sequence[LoadRows]) -> Iterator[str]:
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


def _scaling(run: Run, found: Sequence[LoadRows]) -> Iterator[str]:
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


SENTENCES: dict[type[AnyDesign], Callable[[Run], Answer]] = {
    ComparisonDesign: comparison.in_sentences,
    SearchDesign: followers.search_sentences,
}
"""The answer of a kind of run that has one of its own."""

_MOST_REMEDIES = 2
_LONGEST_SENTENCE = 4000
"""No sentence of ours gets there: lists of names end before."""
_LONGEST_LINE = 200


def answer(run: Run, found: Sequence[LoadRows]) -> Answer:
    """The answer of a run whose cases are those of `found`, fit to be shown."""
    own = SENTENCES.get(type(run.header.design))
    told = own(run) if own is not None else _of_sections(run, found)
    why = (*told.why, *remarks(run, found))
    surer = told.surer or tuple(_remedies(run))
    return Answer(
        headline=_safe(told.headline or ("Nothing was measured that may be shown.",)),
        sure=_safe((*told.sure, *circumstances.sentences(run))),
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


def _of_sections(run: Run, found: Sequence[LoadRows]) -> Answer:
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


def _sureness(run: Run, shown: Sequence[LoadRows]) -> Iterator[str]:
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


def _limits(shown: Sequence[LoadRows]) -> Iterator[str]:
    """What limits the answers."""
    rows = sum(measured(row) for section in shown for row in section.candidates)
    said = limits_words((one for section in shown for one in order.limits_of(section)), rows)
    if said:
        yield f"What limits it: {said}."
