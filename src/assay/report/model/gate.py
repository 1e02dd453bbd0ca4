"""What a limit came to, in sentences: how much slower it is at least, and how much slower it could be."""

from __future__ import annotations

import math

from assay import verdict
from assay.core import format as fmt
from assay.model.estimate import Estimate
from assay.model.run import Run
from assay.report.model.rows import name_of_case
from assay.verdict.answer import ComparisonAnswer, Gate

_ROOM = 1.05


def sentence(run: Run, gate: Gate) -> str:
    """The decision, in a sentence."""
    base, head = name_of_case(run, gate.base.id), name_of_case(run, gate.head.id)
    limit = f"the limit of {fmt.share(gate.allowed, exact=True)}"
    if gate.outcome == "not measured":
        return f"{base} and {head} were not both measured: {limit} can be held to nothing."
    if gate.outcome == "withheld" or gate.ratio is None:
        why = f" ({', '.join(gate.void)})" if gate.void else ""
        return f"The throughput is withheld{why}: {limit} cannot be held to it."
    known = _known(base, head, gate.ratio)
    if gate.decided:
        return f"{known}: {limit} is {gate.outcome}."
    wider = verdict.widening(run.judgement.findings if run.judgement else (), gate.base.id, gate.head.id)
    limits = verdict.words_of((*gate.limits, *wider))
    why = f" ({limits})" if limits else ""
    return f"{known}: whether {limit} is kept cannot be told{why}."


def state(gate: Gate) -> str:
    """Where it stands, for a line of a log."""
    ratio = fmt.ratio(gate.ratio)
    return f"head / base {ratio}, limit of {fmt.share(gate.allowed, exact=True)}: {gate.outcome}"


def what_would_decide(run: Run, found: ComparisonAnswer, gate: Gate) -> str:
    """How many more blocks; empty where nothing is left to decide, or no number of blocks would."""
    if gate.outcome != "could not tell" or gate.limits:
        return ""
    if gate.blocks_needed is None or not found.blocks:
        return "Not decided: this machine is too noisy to say how many more blocks would do."
    unit = "more block"
    more = max(1, gate.blocks_needed - found.blocks)
    return f"Not decided: {more_blocks(found, more, unit)}"


def more_blocks(found: ComparisonAnswer, more: int, unit: str) -> str:
    """How many would do, and the budget that pays for them: somewhat more than they are likely to take."""
    load_s = found.load_s / found.blocks
    budget_s = math.ceil(_ROOM * (found.blocks + more) * load_s)
    return (
        f"about {fmt.counted(more, unit)} ({fmt.span(more * load_s)} of load) would probably do; "
        f"give it --budget {budget_s}s, longer trials, or a quieter machine."
    )


def _known(base: str, head: str, ratio: Estimate) -> str:
    low, high = ratio.low, ratio.high
    most = "" if low is None or low >= 1 else f"up to {_slower(low)}"
    if high is not None and high < 1:
        could = f", and could be {most}" if most else ""
        return f"{head} is slower than {base} by at least {_slower(high)}{could}"
    if low is not None and low > 1:
        return f"{head} is not slower than {base}: it serves at least {fmt.share(low - 1)} more"
    could = f"; could be {most} slower" if most else "; nothing bounds how much slower it could be"
    return f"{head} is not shown slower than {base}{could if low is None or low < 1 else ''}"


def _slower(ratio: float) -> str:
    return fmt.share(1 - ratio)
