"""Published claims as a table: each claim, then its comparisons where it has several."""

from __future__ import annotations

from collections.abc import Iterator

from assay.core import format as fmt
from assay.model.estimate import ClaimVerdict, Verdict
from assay.model.run import Run
from assay.report.model.values import Cell, Column, Table, TableLine, Tone, table

_COLUMNS = (
    Column("claim", "claim", key=True),
    Column("published", "published", right=True),
    Column("measured", "measured"),
    Column("verdict", "verdict"),
    Column("why", "why"),
)
_TONES: dict[Verdict, Tone] = {"supported": "good", "contradicted": "bad", "inconclusive": "faint"}
_DIRECTION = "direction holds, size does not"


def claims(run: Run) -> Table | None:
    """The claims of a judged run, in the study's order; None where it has none."""
    verdicts = run.judgement.claims if run.judgement else ()
    if not verdicts:
        return None
    return table("Published claims", _COLUMNS, (line for claim in verdicts for line in _lines(claim)))


def _lines(claim: ClaimVerdict) -> Iterator[TableLine]:
    yield _line(claim, f"({claim.claim}) {claim.statement}", inner=False)
    for part in claim.parts:
        yield _line(part, part.statement, inner=True)


def _line(claim: ClaimVerdict, words: str, *, inner: bool) -> TableLine:
    published = fmt.UNKNOWN if claim.published_ratio is None else fmt.times(claim.published_ratio)
    said = verdict_words(claim)
    cells = (
        Cell(fmt.safe(words)),
        Cell(published),
        Cell(fmt.ratio(claim.measured)),
        Cell(said, "warn" if said == _DIRECTION else _TONES[claim.verdict]),
        Cell(fmt.safe(claim.reason, 500)),
    )
    return TableLine(cells, inner=inner)


def verdict_words(claim: ClaimVerdict) -> str:
    """The verdict in words that tell a claim's direction from its size: 9.4 measured supports that one is
    faster, and does not support that it is 28 times as fast."""
    measured, published = claim.measured, claim.published_ratio
    if claim.verdict != "supported" or measured is None or published is None:
        return claim.verdict
    low, high = measured.low, measured.high
    if (low is None or low <= published) and (high is None or published <= high):
        return "supported: direction and size" if low is not None and high is not None else "direction holds"
    return _DIRECTION
