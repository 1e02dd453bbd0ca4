"""How figures and names are written in the sentences of rules and reports: as everywhere else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.core import units
from assay.core.units import counted, rate
from assay.core.units import share as percent
from assay.core.units import time as duration

__all__ = [
    "called",
    "counted",
    "duration",
    "exact_duration",
    "exact_percent",
    "joined",
    "listed",
    "percent",
    "rate",
    "shortened",
    "some",
]

MOST_NAMES = 8
"""Names that a sentence tells; where there are more, the last of them are counted: the table has them all."""
_COULD_BE_SEVERAL = re.compile(r", | and ")


def exact_percent(share: float) -> str:
    """A share that was set: "5 %"."""
    return units.share(share, exact=True)


def exact_duration(ns: float) -> str:
    """A time that was set: "10 s"."""
    return units.time(ns, exact=True)


def called(name: str) -> str:
    """A name as it stands in a sentence: in quotes where it could pass for several."""
    return f"“{name}”" if _COULD_BE_SEVERAL.search(name) else name


def some(names: Iterable[str]) -> list[str]:
    """The names, each once; of many the first, and how many others there are."""
    return shortened([called(name) for name in dict.fromkeys(names)])


def shortened(told: Sequence[str]) -> list[str]:
    """Of a long list the first, and how many others there are."""
    more = len(told) - MOST_NAMES + 1
    return list(told) if more <= 1 else [*told[: MOST_NAMES - 1], f"{more} others"]


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names as a list: "A, B and C"."""
    return joined(some(names), last)


def joined(told: Sequence[str], last: str = "and") -> str:
    """What is told already as a list."""
    return f"{', '.join(told[:-1])} {last} {told[-1]}" if len(told) > 1 else "".join(told)
