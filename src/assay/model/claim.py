"""`Claim`: what a published study says, as data, so that a run can be held against it."""

from __future__ import annotations

from typing import Literal

from assay.model.plan import Value

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
