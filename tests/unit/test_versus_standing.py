"""A comparison of servers that nobody restarts: its interval is of batches, its time is told in blocks."""

from __future__ import annotations

import math
import random
import re

from made_runs import case, interleaved, plan, run
from msgspec.structs import replace

from assay.model.block import Block
from assay.model.design import ComparisonDesign, WarmUp
from assay.model.run import Run
from assay.report.charts import charts
from assay.report.model import comparison
from assay.report.model.circumstances import sentences
from assay.stats.interleaved import FEWEST_BATCHES
from assay.stats.pairing import half_width
from assay.stats.sequential import SPENT_ERROR, blocks_to_settle, last_level
from assay.verdict import judge, see_run
from assay.verdict.answer import answer
from assay.verdict.pairs import pair_of

ROUNDS = 30


def looking(n: int) -> float | None:
    """The half-width of n values in deviations while more may come."""
    return half_width(n, last_level(n, SPENT_ERROR))


def stood(blocks: int, apart: float, noise: float, allowed: float | None = None) -> Run:
    """Two URLs, one a little faster, whose slices scatter by `noise`; judged."""
    draw = random.Random(3)
    rates = {"go": 10_000.0 * apart, "node": 10_000.0}
    made = run([case(name, label=name.title()) for name in rates], (), 0)
    design = ComparisonDesign(
        budget_ns=10**11,
        margin=0.001,
        slower_allowed=allowed,
        plans=dict.fromkeys(rates, plan()),
        warm_ups=dict.fromkeys(rates, WarmUp(min_ns=0, max_ns=0)),
    )
    made = replace(made, header=replace(made.header, study_name="versus", design=design))
    for number in range(blocks):
        each = {
            name: [per_s * math.exp(draw.gauss(0, noise)) for _ in range(ROUNDS)]
            for name, per_s in rates.items()
        }
        made = made.after(standing(interleaved(each, number, number)))
    return replace(made, judgement=judge(made, 0))


def standing(block: Block) -> Block:
    arms = ((one, one.arm) for one in block.trials)
    trials = tuple(replace(one, arm=replace(arm, external=True)) for one, arm in arms if arm)
    return replace(block, trials=trials)


def test_the_interval_is_told_by_its_batches_and_one_block_may_settle_it() -> None:
    made = stood(1, apart=1.2, noise=0.01)
    found = answer(made)
    assert [pair.settled for pair in found.pairs] == ["different"]
    batches = found.pairs[0].batches
    assert batches is not None and batches >= FEWEST_BATCHES
    sure, *_ = comparison.in_sentences(made).more
    assert f"paired over {batches} batches of the rounds of 1 block," in sure
    assert found.pairs[0].ratio is not None and found.pairs[0].ratio.method.endswith("by batches of rounds")


def test_what_would_settle_it_is_told_in_blocks() -> None:
    made = stood(3, apart=1.06, noise=0.2)
    [pair] = answer(made).pairs
    assert pair.settled is None and pair.batches is not None and pair.batches > 3
    a, b = see_run(made).cases
    known = pair_of(see_run(made), (), a, b).pair
    values = blocks_to_settle(known.logs if known else (), 0.001, looking)
    assert values is not None and pair.blocks_needed == math.ceil(values * 3 / pair.batches)
    surer = comparison.in_sentences(made).advice
    assert surer.startswith(f"Not settled: about {pair.blocks_needed - 3} more block")


def test_what_would_decide_a_limit_is_told_in_blocks() -> None:
    made = stood(3, apart=1.02, noise=0.1, allowed=0.02)
    gate = answer(made).gate
    go, node = see_run(made).cases
    known = pair_of(see_run(made), (), node, go).pair
    assert gate is not None and gate.blocks_needed is not None and known is not None
    values = blocks_to_settle([log - math.log(0.98) for log in known.logs], 0.0, looking, minimum_effect=0.0)
    assert values is not None and gate.blocks_needed == math.ceil(values * 3 / len(known.logs))
    sentences = re.match(r"Not decided: about ([\d,]+) more block", comparison.in_sentences(made).advice)
    assert sentences and int(sentences[1].replace(",", "")) == max(1, gate.blocks_needed - 3)


def test_of_servers_that_stand_no_number_of_blocks_is_forecast() -> None:
    [_, scatter] = sentences(stood(3, apart=1.02, noise=0.02))
    assert "Widest interval: " in scatter and "more block" not in scatter


def test_its_course_is_drawn_by_batches() -> None:
    made = stood(3, apart=1.02, noise=0.02)
    chart = next(one for one in charts(made) if one.name == "course")
    assert chart.heads[0] == "batches" and len(chart.rows) == answer(made).pairs[0].batches
    assert "each batch" in chart.note and "batches so far" in "".join(chart.draw(900).parts)
