"""`Finding`: what a rule had to say; `Claim`: what a publication says, put to the test."""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value

Severity = Literal["error", "warning", "note"]

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


Metric = Literal[
    "throughput",
    "service_time_mean",
    "service_time_p50",
    "service_time_p90",
    "service_time_p99",
    "response_time_p50",
    "response_time_p90",
    "response_time_p99",
    "start_time",
    "peak_memory",
    "server_cpu",
    "client_cpu",
    "capacity",
]
"""A figure that each trial has one of, but for `capacity`, which a whole search finds. Times are in ns,
memory in bytes, throughput and capacity in answers/s; CPU is the time of all of a side's processes, kernel
and all, in ns a right answer."""


class Comparison(Value, frozen=True, kw_only=True):
    """One pair of cases: the `metric` of case `a` divided by that of case `b`.

    `relation` is what is claimed of that ratio: above 1 (`more`), below 1 (`less`), or within
    a factor of 1 + `margin` of 1 (`equal`). `published_ratio` is a/b as published, if it was.
    """

    metric: Metric = "throughput"
    a: str
    b: str
    relation: Literal["more", "less", "equal"] = "more"
    published_ratio: float | None = None
    margin: float = 0.05


class Claim(Value, frozen=True, kw_only=True):
    """A published statement. It holds when every one of its comparisons holds."""

    id: str
    statement: str
    comparisons: tuple[Comparison, ...]
