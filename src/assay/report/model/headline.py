"""The headline of a run: who is fastest and by what factor, in at most three lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assay import verdict
from assay.core import units as fmt
from assay.model.design import ComparisonDesign, SearchDesign
from assay.model.estimate import Compared, Estimate
from assay.model.run import Run
from assay.report.model import comparison, followers, order
from assay.report.model.rows import LoadRows, Row, name_of_case, ordered_findings
from assay.report.model.unranked import rules_words
from assay.report.model.warned import short
from assay.verdict.answer import CandidateRatio, answer
from assay.verdict.search import answer_of

MOST_OTHERS = 3
"""So many ratios stand in the headline; of more the table has them."""


def headline_of(run: Run, found: Sequence[LoadRows]) -> tuple[tuple[str, ...], str]:
    """The answer, and what to do where there is none."""
    design = run.header.design
    if isinstance(design, ComparisonDesign):
        return _comparison(run)
    if isinstance(design, SearchDesign):
        return tuple(_capacity(run)), " ".join(followers.search_sentences(run).surer)
    if len(found) > 1:
        return (_of_many(found),), ""
    if not found or not run.trials:
        return ("Nothing was measured that may be shown.",), ""
    [section] = found
    placed = [row for row in section.candidates if row.rank is not None]
    if placed and len(section.candidates) > 1:
        return (_ranking(run, placed),), ""
    told = order.in_sentences(run, section)
    return tuple(_short_names(run, line) for line in told.headline), " ".join(told.surer) or _remedy(run)


def _ranking(run: Run, placed: Sequence[Row]) -> str:
    """ "A is fastest: 1.67× B [1.61, 1.72], 18.2× C [17.4, 19.0]"."""
    first = [row for row in placed if row.rank == 1]
    behind = [row for row in placed if row.rank != 1]
    head = " and ".join(short(row.name) for row in first[:2])
    if len(first) == 1:
        said = f"{head} is fastest"
    else:
        said = f"{head if len(first) == 2 else f'{len(first)} servers'} share rank 1: no difference shown"
    if not behind:
        return said
    named = behind if len(behind) <= MOST_OTHERS else [*behind[: MOST_OTHERS - 1], behind[-1]]
    ratios = [factor(order.compared(run, first[0], row), row) for row in named]
    who = "" if len(first) == 1 else f"{short(first[0].name)} is "
    return f"{said}{': ' if len(first) == 1 else '; '}{who}{', '.join(ratios)}"


def factor(found: Compared | None, slower: Row) -> str:
    """How many times as fast as the slower one: "1.67× Go [1.61, 1.72]", "≥ 1.57× Go"."""
    name = short(slower.name)
    if found is not None and found.ratio is not None and found.known is not None:
        known = found.known
        if known.limits and known.low and known.high:
            return f"{fmt.end(known.low)} to {fmt.end(known.high)}× {name}"
        return times(found.ratio.value, known.low, known.high, name)
    back = slower.relative
    if back is None or not back.value:
        return f"ahead of {name}"
    low, high = (1 / end if end else None for end in (back.high, back.low))
    return times(1 / back.value, low, high, name)


def times(value: float, low: float | None, high: float | None, name: str = "") -> str:
    """A factor of `name` with what is known of it: "1.67× Go [1.61, 1.72]", "≥ 1.57× Go", "about 1.6×"."""
    of = f"× {name}".rstrip()
    if low and high:
        return f"{fmt.times(value)}{of} [{fmt.end(low)}, {fmt.end(high)}]"
    if low:
        return f"≥ {fmt.end(low)}{of}"
    return f"≤ {fmt.end(high)}{of}" if high else f"about {fmt.times(value)}{of}"


def _comparison(run: Run) -> tuple[tuple[str, ...], str]:
    """The answer of `assay versus`; as a gate, what the limit came to first."""
    found = answer(run)
    lines, advice = [], ""
    if found.gate is not None:
        lines.append(_short_names(run, comparison.gate_sentence(run, found.gate)))
        advice = comparison.what_would_decide(run, found, found.gate)
    for case in found.unmeasured:
        lines.append(_short_names(run, comparison.not_measured(run, case)))
    if found.best is None:
        return tuple(lines) or ("Nothing can be compared.",), advice or _remedy(run)
    best = short(name_of_case(run, found.best.id))
    shown = [pair for pair in found.pairs if pair.settled == "different" and pair.ratio and not pair.void]
    if shown:
        word = "fastest" if len(shown) == len(found.pairs) > 1 else "faster"
        lines.append(f"{best} is {word}: {', '.join(_of_pair(run, pair) for pair in shown)}")
    lines += [_not_shown(run, best, pair) for pair in found.pairs if pair not in shown]
    narrow = any(pair.settled is None and not pair.void and not pair.limits for pair in found.pairs)
    if not advice and found.gate is None and narrow:
        advice = " ".join(comparison.in_sentences(run).surer)
    return tuple(lines), advice


def _capacity(run: Run) -> Iterator[str]:
    """ "capacity with p99<50ms: 352/s [329, 392]", how sure it is, and what the server did not survive."""
    found = answer_of(run)
    objective, capacity = found.bounds.objective, found.capacity
    if verdict.invalid(ordered_findings(run), run.header.cases[0].id, "times"):
        yield f"the capacity with {objective} is invalid"
    elif capacity is None:
        why = fmt.safe(found.steps[-1].why, 100) if found.steps else "no trial ended"
        yield f"no capacity with {objective}: {why}"
    elif found.state == "below the range":
        last = next(step for step in reversed(found.steps) if step.holds is False)
        at = f"{fmt.rate(capacity.value)}, the lowest that was asked"
        yield f"{objective} does not hold even at {at}: {fmt.safe(last.why, 100)}"
    else:
        how = {"found": "", "above the range": f", {followers.top_words(found)}"}.get(
            found.state, f", not settled after {fmt.counted(len(found.steps), 'trial')}"
        )
        yield f"capacity with {objective}: {_rate_between(capacity)}{how}"
    if found.deaths:
        first = min(found.deaths, key=lambda step: step.rate_per_s)
        yield f"the server did not survive {fmt.rate(first.rate_per_s)}: {fmt.safe(first.why, 100)}"


def _rate_between(capacity: Estimate) -> str:
    if capacity.low is None:
        return f"≤ {fmt.rate(capacity.value)}"
    if capacity.high is None:
        return f"≥ {fmt.rate(capacity.value)}"
    return f"{fmt.rate(capacity.value)} [{fmt.grouped(capacity.low)}, {fmt.grouped(capacity.high)}]"


def _not_shown(run: Run, best: str, pair: CandidateRatio) -> str:
    other = short(name_of_case(run, pair.other.id))
    if pair.void:
        return f"{best} and {other} may not be compared ({rules_words(run, pair.void)})"
    if pair.ratio is None:
        return f"{best} and {other} share no block"
    ratio = times(pair.ratio.value, pair.ratio.low, pair.ratio.high)
    if pair.settled == "alike":
        return f"{best} and {other} are equivalent: {ratio}"
    return f"{best} and {other} are not told apart: {best} / {other} {ratio}"


def _of_pair(run: Run, pair: CandidateRatio) -> str:
    assert pair.ratio is not None  # the caller asked
    other = short(name_of_case(run, pair.other.id))
    low, high = pair.ratio.low, pair.ratio.high
    if pair.limits and low is not None and high is not None:
        return f"{fmt.end(low)} to {fmt.end(high)}× {other}"
    return times(pair.ratio.value, low, high, other)


def _of_many(found: Sequence[LoadRows]) -> str:
    """Who is first at how many loads."""
    firsts: Counter[str] = Counter()
    for section in found:
        leaders = [row.name for row in section.candidates if row.rank == 1]
        firsts.update(leaders[:1] if len(leaders) == 1 else [])
    if not firsts:
        return f"Nobody is shown fastest at any of {len(found)} loads"
    told = ", ".join(f"{short(name)} at {n}" for name, n in firsts.most_common(MOST_OTHERS))
    open_loads = len(found) - sum(firsts.values())
    return f"Fastest of {len(found)} loads: {told}{f'; open at {open_loads}' if open_loads else ''}"


def _short_names(run: Run, text: str) -> str:
    """A sentence whose names leave room for the rest of it."""
    names = {name for case in run.header.cases for name in (case.name, case.label or case.server_name)}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, short(name))
    return fmt.safe(text, 240)


def _remedy(run: Run) -> str:
    """What the gravest error asks for, where there is no answer."""
    grave = [one for one in ordered_findings(run) if one.severity == "error"]
    return f"{grave[0].remedy.rstrip('.')} ({grave[0].code})" if grave else ""
