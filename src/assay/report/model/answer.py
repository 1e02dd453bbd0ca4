"""The answer of a run: who is fastest, how sure that is, what would make it surer; and remarks beside it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from assay import verdict
from assay.core import units as fmt
from assay.model.design import AnyDesign, ComparisonDesign, SearchDesign
from assay.model.estimate import Estimate
from assay.model.finding import Severity
from assay.model.plan import Closed
from assay.model.run import Run
from assay.report.model import circumstances, comparison, followers, order
from assay.report.model.costs import cost_sections
from assay.report.model.rows import LoadRows, limits_words, name_of_case, ordered_findings, sections
from assay.report.model.unranked import measured
from assay.report.model.values import ORDER, Answer
from assay.report.model.warned import short
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
    reported = f"Effects below {fmt.share(verdict.minimum_effect(findings))} are not reported."
    for control, ratio in seen.controls.items():
        case = seen.find(control)
        assert case is not None  # its ratio was made of it
        name = name_of_case(run, case.case.control_of)
        known = ratio.low is not None and ratio.high is not None
        # How large a bias may be is all that an interval decides, however wide it is.
        bias = "" if known else " So few blocks bound no bias."
        bias = " The run is biased (D1)." if failed else bias
        yield f"A/A difference of {name}: {differed(ratio)}.{bias} {reported}"


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


def differed(ratio: Estimate) -> str:
    """How far a ratio is from 1: "+0.4 % [−1.2 %, +2.0 %]"."""
    measured = fmt.signed_share(ratio.value - 1)
    if ratio.low is None or ratio.high is None:
        return measured
    return f"{measured} [{fmt.signed_share(ratio.low - 1)}, {fmt.signed_share(ratio.high - 1)}]"


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

_LONGEST_SENTENCE = 4000
"""No sentence of ours gets there: lists of names end before."""
_LONGEST_LINE = 200


def answer(run: Run, found: Sequence[LoadRows]) -> Answer:
    """The answer of a run whose cases are those of `found`, fit to be shown."""
    own = SENTENCES.get(type(run.header.design))
    told = own(run) if own is not None else _of_loads(run, found)
    headline = told.headline or ("Nothing was measured that may be shown",)
    costs = [said for one in cost_sections(run, found) for said in one.sentences]
    headline = (*headline, *costs[:1])
    more = (*costs[1:], *told.more, *circumstances.sentences(run), *_limits(found), *remarks(run, found))
    return Answer(
        headline=tuple(_short_names(run, said) for said in headline),
        more=tuple(fmt.safe(sentence, _LONGEST_SENTENCE) for sentence in more),
        advice=fmt.safe(told.advice, _LONGEST_SENTENCE),
    )


def in_a_line(run: Run) -> str:
    """What a list of runs says of one: its headline, cut after a word if long.

    "not judged" where the record has no judgement that counts; a report then makes one, which takes a while.
    """
    if run.judgement is None:
        return "not judged"
    said = "; ".join(answer(run, sections(run)).headline)
    return textwrap.shorten(said, _LONGEST_LINE, placeholder=" …", break_on_hyphens=False)


def _short_names(run: Run, text: str) -> str:
    """A sentence whose names leave room for the rest of it."""
    names = {name for case in run.header.cases for name in (case.name, case.label or case.server_name)}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, short(name))
    return fmt.safe(text, _LONGEST_SENTENCE)


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


def _of_loads(run: Run, found: Sequence[LoadRows]) -> Answer:
    """The order at the load that is compared; of several who is first at how many."""
    loads = [one for one in found if not any(row.case.search or row.case.rate for row in one.rows)]
    if len(loads) > 1:
        return Answer((_of_many(loads),), tuple(_sureness(run, loads)))
    if not loads:
        return Answer(())
    told = order.in_sentences(run, loads[0])
    none = not any(row.rank for row in loads[0].candidates)
    return replace(told, more=(*_sureness(run, loads), *told.more), advice=told.advice or _remedy(run) * none)


def _of_many(found: Sequence[LoadRows]) -> str:
    """Who is first at how many loads."""
    firsts: Counter[str] = Counter()
    for section in found:
        leaders = [row.name for row in section.candidates if row.rank == 1]
        firsts.update(leaders[:1] if len(leaders) == 1 else [])
    if not firsts:
        return f"Nobody is shown fastest at any of {len(found)} loads"
    told = ", ".join(f"{short(name)} at {n}" for name, n in firsts.most_common(order.MOST_OTHERS))
    open_loads = len(found) - sum(firsts.values())
    return f"Fastest of {len(found)} loads: {told}{f'; open at {open_loads}' if open_loads else ''}"


def _remedy(run: Run) -> str:
    """What the gravest error asks for, where there is no answer."""
    grave = [one for one in ordered_findings(run) if one.severity == "error"]
    return f"{grave[0].remedy.rstrip('.')} ({grave[0].code})" if grave else ""


def _sureness(run: Run, shown: Sequence[LoadRows]) -> Iterator[str]:
    """How sure the order is, where there is one."""
    judgement = run.judgement
    ratios = [one.ratio for one in judgement.comparisons if one.ratio] if judgement else []
    ordered = [row for section in shown for row in section.candidates if row.rank is not None]
    if judgement is not None and ratios and ordered:
        blocks = fmt.counted(min(ratio.n for ratio in ratios), "block")
        yield (
            f"95 % CI of each ratio, paired over {blocks}; Holm covers each shown difference; effects below "
            f"{fmt.share(judgement.minimum_effect)} are not reported."
        )


def _limits(shown: Sequence[LoadRows]) -> Iterator[str]:
    """What limits the answers."""
    rows = sum(measured(row) for section in shown for row in section.candidates)
    said = limits_words((one for section in shown for one in order.limits_of(section)), rows)
    if said:
        yield f"What limits it: {said}."
