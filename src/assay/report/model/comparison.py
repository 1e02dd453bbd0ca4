"""The answer of a comparison in sentences that a person can quote, and where it stands while it runs.

A gate also says what the limit came to: how much slower it is at least, and how much slower it could be.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from assay import verdict
from assay.core import units as fmt
from assay.model.design import ComparisonDesign
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.model.trial import Case
from assay.report.model.rows import name_of_case
from assay.report.model.unranked import rules_words
from assay.report.model.values import Answer
from assay.report.model.warned import short
from assay.stats.sequential import LEAST_BLOCKS
from assay.verdict.answer import CandidateRatio, ComparisonAnswer, Gate, answer
from assay.verdict.see_runs import next_ns, spent

_ROOM = 1.05
_NAMED = 3
"""Pairs that are named of those that are not told apart beside the best's."""


def gate_sentence(run: Run, gate: Gate) -> str:
    """The decision, in a sentence."""
    base, head = name_of_case(run, gate.base.id), name_of_case(run, gate.head.id)
    limit = f"the limit of {fmt.share(gate.allowed, exact=True)}"
    if gate.outcome == "not measured":
        return f"{base} and {head} were not both measured: {limit} can be held to nothing"
    if gate.outcome == "invalid" or gate.ratio is None:
        why = f" ({', '.join(gate.void)})" if gate.void else ""
        return f"The throughput is invalid{why}: {limit} cannot be held to it"
    known = _known(base, head, gate.ratio)
    if gate.decided:
        return f"{known}: {limit} is {gate.outcome}"
    wider = verdict.widening(run.judgement.findings if run.judgement else (), gate.base.id, gate.head.id)
    limits = verdict.words_of((*gate.limits, *wider))
    why = f" ({limits})" if limits else ""
    return f"{known}: whether {limit} is kept cannot be told{why}"


def what_would_decide(run: Run, found: ComparisonAnswer, gate: Gate) -> str:
    """How many more blocks; empty where nothing is left to decide, or no number of blocks would."""
    if gate.outcome != "could not tell" or gate.limits:
        return ""
    if gate.blocks_needed is None or not found.blocks:
        return "Not decided: this machine is too noisy to say how many more blocks would do."
    return f"Not decided: {more_blocks(run, found, gate.blocks_needed - found.blocks)}"


def more_blocks(run: Run, found: ComparisonAnswer, needed: int) -> str:
    """That so many more would do, and a budget that pays for them: somewhat more than they may take."""
    more, load_s = max(1, needed), next_ns(run, len(found.undecided)) / 1e9
    budget_s = math.ceil(_ROOM * (found.load_s + more * load_s))
    return (
        f"about {fmt.counted(more, 'more block')} ({fmt.span(more * load_s)} of load) would probably do; "
        f"give it --budget {budget_s}s, longer trials, or a quieter machine."
    )


def _known(base: str, head: str, ratio: Estimate) -> str:
    low, high = ratio.low, ratio.high
    most = "" if low is None or low >= 1 else f"up to {_slower(low)}"
    if high is not None and high < 1:
        if most.endswith(f" {_slower(high)}"):  # both ends read alike
            return f"{head} is slower than {base} by {_slower(high)}"
        could = f", and could be {most}" if most else ""
        return f"{head} is slower than {base} by at least {_slower(high)}{could}"
    if low is not None and low > 1:
        return f"{head} is not slower than {base}: it serves at least {fmt.share(low - 1)} more"
    could = f"; could be {most} slower" if most else "; nothing bounds how much slower it could be"
    return f"{head} is not shown slower than {base}{could if low is None or low < 1 else ''}"


def _slower(ratio: float) -> str:
    return fmt.share(1 - ratio)


def in_sentences(run: Run) -> Answer:
    """Who is faster and by what factor; as a gate, what the limit came to first. Then how sure that is, and
    what would settle what is open."""
    found = answer(run)
    lines = [gate_sentence(run, found.gate)] if found.gate is not None else []
    lines += [not_measured(run, case) for case in found.unmeasured]
    lines += _pairs(run, found) if found.best is not None else ["Nothing can be compared"]
    # No number of blocks narrows what a rule has opened.
    narrow = any(not pair.void and not pair.limits for pair in found.open)
    advice = ""
    if found.gate is not None:
        advice = what_would_decide(run, found, found.gate)
    elif found.best is not None and narrow:
        advice = _what_would_settle(run, found)
    return Answer(tuple(lines), tuple(_more(run, found)), advice)


def _pairs(run: Run, found: ComparisonAnswer) -> list[str]:
    """Those that are slower in one line; then each pair of which none is shown to be."""
    assert found.best is not None  # the caller asked
    best = short(name_of_case(run, found.best.id))
    shown = [pair for pair in found.pairs if pair.settled == "different" and pair.ratio and not pair.void]
    word = "fastest" if len(shown) == len(found.pairs) > 1 else "faster"
    ratios = ", ".join(_factor(pair, short(name_of_case(run, pair.other.id))) for pair in shown)
    lines = [f"{best} is {word}: {ratios}"] if shown else []
    lines += [_not_shown(run, best, pair) for pair in found.pairs if pair not in shown]
    if found.open_beside:
        pairs = [
            " and ".join(short(name_of_case(run, one)) for one in pair.order) for pair in found.open_beside
        ]
        rest = f", and {fmt.counted(len(pairs) - _NAMED, 'more pair')}" if len(pairs) > _NAMED else ""
        lines.append(f"Nor are told apart: {'; '.join(pairs[:_NAMED])}{rest}")
    return lines


def _not_shown(run: Run, best: str, pair: CandidateRatio) -> str:
    other = short(name_of_case(run, pair.other.id))
    if pair.void:
        return f"{best} and {other} may not be compared ({rules_words(run, pair.void)})"
    if pair.ratio is None:
        return f"{best} and {other} share no block"
    if pair.settled == "alike":
        return f"{best} and {other} are equivalent: {_factor(pair)}"
    return f"{best} and {other} are not told apart: {best} / {other} {_factor(pair)}"


def _factor(pair: CandidateRatio, name: str = "") -> str:
    assert pair.ratio is not None  # the caller asked
    return fmt.factor(pair.ratio.value, pair.ratio.low, pair.ratio.high, name, bounds=bool(pair.limits))


def _more(run: Run, found: ComparisonAnswer) -> Iterator[str]:
    """How sure the ratios are, and what limits or widens each."""
    if any(pair.ratio for pair in found.pairs):
        yield _sure(run, found)
    if _ranks_all(run) and found.settled:
        yield "Every two are told apart or alike."
    if found.even_load_s > found.load_s:
        yield _left_early(found)
    if not found.settled and spent(run, len(found.undecided)):
        yield _ended_by_budget(run, found)
    findings = run.judgement.findings if run.judgement else ()
    for pair in found.pairs if found.best is not None else ():
        if pair.ratio is None or pair.void or found.best is None:
            continue
        said = []
        if pair.settled == "alike":
            said.append(f"equivalent to within {fmt.share(found.margin)}")
        limits = (*pair.limits, *verdict.widening(findings, found.best.id, pair.other.id))
        said += [f"limited by: {verdict.words_of(tuple(dict.fromkeys(limits)))}"] if limits else []
        if pair.settled != "different" and pair.detectable is not None:
            said.append(f"this run would have seen {fmt.share(pair.detectable - 1)}")
        if said:
            names = " / ".join(name_of_case(run, one.id) for one in (found.best, pair.other))
            yield f"{names}: {'; '.join(said)}."


def _ranks_all(run: Run) -> bool:
    return isinstance(run.header.design, ComparisonDesign) and run.header.design.rank_all


def _left_early(found: ComparisonAnswer) -> str:
    """What it took as decided servers left, and what it would have taken otherwise."""
    load, even = fmt.span(found.load_s), fmt.span(found.even_load_s)
    return f"Decided servers left the blocks: {load} of load instead of {even} with all in each."


def _ended_by_budget(run: Run, found: ComparisonAnswer) -> str:
    """That the run ended where it did because its budget was used up."""
    design = run.header.design
    assert isinstance(design, ComparisonDesign)  # it alone has a budget that is spent
    blocks = fmt.counted(found.blocks, "block")
    fewest = f", and an order needs {LEAST_BLOCKS}" if found.blocks < LEAST_BLOCKS else ""
    return f"The budget of {fmt.span(design.budget_ns / 1e9)} of load ended it after {blocks}{fewest}."


def state(run: Run) -> str:
    """Where the comparison stands, in a line: blocks, load, and the widest question left."""
    found = answer(run)
    size = f"{fmt.counted(found.blocks, 'block')}, {fmt.span(found.load_s)} of load"
    if found.best is None or not found.pairs:
        whys = [(name_of_case(run, case.id), _why(run, case)) for case in found.unmeasured]
        hopeless = "; ".join(f"{fmt.safe(name, 40)}:{why}" for name, why in whys if why)
        return f"{size}: {hopeless}" if hopeless else size
    gate = found.gate
    if gate is not None:
        limit = f"limit of {fmt.share(gate.allowed, exact=True)}"
        return f"{size}: head / base {fmt.ratio(gate.ratio)}, {limit}: {gate.outcome}"
    best = name_of_case(run, found.best.id)
    pairs = ", ".join(
        f"{fmt.safe(best, 40)} / {fmt.safe(name_of_case(run, pair.other.id), 40)} {fmt.ratio(pair.ratio)}"
        + (f" ({pair.settled})" if pair.settled else "")
        for pair in found.pairs
    )
    left = f"; {fmt.counted(len(found.open_beside), 'other pair')} open" if found.open_beside else ""
    return f"{size}: {pairs}{left}"


def not_measured(run: Run, case: Case) -> str:
    """Why a candidate has no figure, in a clause that begins with its name."""
    why = _why(run, case) or _failed(run, case)
    return f"{name_of_case(run, case.id)} was not measured{why and f':{why}, and it was tried no more'}"


def _failed(run: Run, case: Case) -> str:
    """What failed before its load, the first time."""
    failures = [trial.failure for trial in run.trials if trial.case == case.id and trial.failure]
    return f" {failures[0].stage} failed: {fmt.safe(failures[0].reason, 300)}" if failures else ""


def _why(run: Run, case: Case) -> str:
    """What became of its requests where it was loaded and none was answered as expected."""
    tried = [trial.measurement for trial in run.trials if trial.case == case.id and trial.measurement]
    if not tried or any(one.completed for one in tried):
        return ""
    failed = sum(one.failed for one in tried)
    if not failed:
        return " none of its answers came within the time that was measured"
    kinds: Counter[str] = Counter()
    for outcome in (outcome for one in tried for outcome in one.outcomes):
        kinds[outcome.kind] += outcome.count
    named = ", ".join(kind.replace("_", " ") for kind, _ in kinds.most_common(3))
    return f" all of its {fmt.counted(failed, 'request')} failed{named and f' ({named})'}"


def _sure(run: Run, found: ComparisonAnswer) -> str:
    """Where the intervals come from: they are looked at after every block, and allow for it. That holds with
    the last look, too."""
    over = fmt.counted(found.blocks, "block")
    batches = [pair.batches for pair in found.pairs if pair.batches]
    fewest = min(pair.ratio.n for pair in found.pairs if pair.ratio)
    if batches:
        over = f"{fmt.count(min(batches))} batches of the rounds of {over}"
    elif fewest < found.blocks and found.even_load_s > found.load_s:
        over = f"{fewest} to {over}"
    return f"95 % CI of all ratios together, paired over {over}, valid at every look (alpha spending)."


def _what_would_settle(run: Run, found: ComparisonAnswer) -> str:
    """Said of the comparison that needs most."""
    left = found.open
    known = [
        pair.blocks_needed - (found.blocks if pair.batches else pair.ratio.n)
        for pair in left
        if pair.blocks_needed is not None and pair.ratio is not None
    ]
    if not known or len(known) < len(left):
        return "Not settled: this machine is too noisy to say how many more blocks would do."
    return f"Not settled: {more_blocks(run, found, max(known))}"
