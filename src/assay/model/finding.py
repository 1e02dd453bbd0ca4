"""`Finding`: what a verdict rule has to say about a trial, a case, a comparison or the run."""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value

Severity = Literal["withheld", "flagged", "note"]

Effect = Literal["none", "void", "at least", "at most", "wider", "one way", "unknown"]
"""What a finding does to what is known of a figure.

- *void*: the figure is of something else.
- *at least*, *at most*: the truth may be higher, not lower; lower, not higher. Of a comparison *at least*
  says that the two are at least so far apart.
- *wider*: the interval is enlarged by an amount that the finding states.
- *one way*: of a comparison: it holds in one direction only.
- *none*: worth knowing, changes nothing. Of a comparison: it holds whatever bounds the two figures.
- *unknown*: the finding is of a rule that this version does not have.
"""


class Subject(Value, frozen=True, kw_only=True):
    """What a finding is about. Empty fields mean "all of them": no case is the whole run."""

    case: str | None = None
    other_case: str | None = None
    trial: int | None = None


class Finding(Value, frozen=True, kw_only=True):
    """One judgement. `evidence` holds the figures as a sentence; `figures` as numbers.

    `trials` says in how many trials of the subject it was seen (0 where that has no meaning).
    `on_throughput`, `on_times` and `on_comparison` are its effects; None for a comparison says that the
    comparison follows from what is known of the two figures. `because` says in a few words why a figure is
    a bound, to stand beside it. `at_most_times` is the factor above the measured throughput that the truth
    cannot exceed, where such a factor is known.

    Among the `figures` are amounts of effects: `wider`, the share by which an interval is enlarged at both
    ends; `moved`, the share by which first fifths of slices moved a ratio that is taken without them, and by
    which its interval reaches further in favour of the subject's case; `at_least_times`, the factor of a
    throughput that is at most what was measured which the truth cannot fall below.
    """

    code: str
    severity: Severity
    subject: Subject
    title: str
    evidence: str
    figures: dict[str, float]
    meaning: str
    remedy: str
    source: str
    trials: int = 0
    on_throughput: Effect = "none"
    on_times: Effect = "none"
    on_comparison: Effect | None = None
    because: str = ""
    at_most_times: float | None = None
