"""Published claims as lines of a table: each claim, then its comparisons where it has several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.report import format as fmt
from assay.values.estimate import ClaimVerdict, Verdict
from assay.values.run import Run


@dataclass(frozen=True)
class ClaimRow:
    """A claim, or (`is_part`) one of the comparisons that decide it; `claim` is its letter in both."""

    claim: str
    words: str
    published: str
    measured: str
    verdict: Verdict
    reason: str
    is_part: bool
    standing: str


def rows(run: Run) -> tuple[ClaimRow, ...]:
    """The lines of all claims of a judged run, in the study's order."""
    claims = run.judgement.claims if run.judgement else ()
    return tuple(row for claim in claims for row in _rows(claim))


def _rows(claim: ClaimVerdict) -> Iterator[ClaimRow]:
    yield _row(claim, f"({claim.claim}) {claim.statement}", is_part=False)
    for part in claim.parts:
        yield _row(part, part.statement, is_part=True)


def _row(said: ClaimVerdict, words: str, *, is_part: bool) -> ClaimRow:
    published = fmt.UNKNOWN if said.published_ratio is None else fmt.times(said.published_ratio)
    measured = fmt.ratio(said.measured)
    return ClaimRow(
        said.claim, words, published, measured, said.verdict, said.reason, is_part, standing(said)
    )


def standing(said: ClaimVerdict) -> str:
    """The verdict in words that tell a claim's direction from its size: 9.4 measured supports that one is
    faster, and does not support that it is 28 times as fast."""
    measured, published = said.measured, said.published_ratio
    if said.verdict != "supported" or measured is None or published is None:
        return said.verdict
    low, high = measured.low, measured.high
    if (low is None or low <= published) and (high is None or published <= high):
        return "supported: direction and size" if low is not None and high is not None else "direction holds"
    return "direction holds, size does not"
