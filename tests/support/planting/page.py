"""docs/injected-flaws.md: what is kept there of earlier looks, what a new one adds, and the page of both."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.verdict import RULES
from planting import plants, table

_HEAD = """# Injected flaws

Written by `benches/injected.py`. Each row is a real run (processes, sockets, a load) with just
that flaw. `clean` are runs of two equal servers without one, every second interleaved: in so many of
them the rule said nothing above a note. Rules about noise (*) judge the machine: on a busy one
they speak in clean runs too, and are right. Flaws of several machines (G9 to G12) are injected by
`tests/e2e/test_cluster*.py`, on a cluster of network namespaces.

"""
_TABLE = "| rule | injected flaw |"
_BOUNDS = """
## Bounds hold the truth

Throughputs and ratios of clean runs of the same servers, against what the run with the flaw said to
know: how many lie within it, and how many have an interval that meets it, as a clean run has an
error, too. Wanted within: 95 % over all, 90 % of each. Rows of an earlier version have the
second count alone.

| rule | within | met |
|---|---|---|
"""
_ROW = re.compile(
    r"\| (?P<code>[A-Z]\d+)\b[^|]*\| (?P<flaw>[^|]*) \| *(?P<caught>[^|]*?) *\| *(?P<clean>[^|]*?) *\|"
)
_HELD = re.compile(
    r"\| (?P<code>[A-Z]\d+) \| (?:(?:(?P<within>\d+) of \d+)? *\| )?(?P<met>\d+) of (?P<of>\d+) \|"
)


class Held(NamedTuple):
    """Of so many figures, those of which the clean interval `met` what was known, and those that lay
    `within` it; None where an earlier look did not count them."""

    met: int
    of: int
    within: int | None = None


@dataclass
class Found:
    """By rule: how its flaw was `caught` (a second one by its name), in how many `clean` runs it was silent,
    and how many of its figures `held` what clean runs found. `head` says which clean runs those were."""

    caught: dict[str, str] = field(default_factory=dict)
    clean: dict[str, str] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    head: str = _HEAD

    def silent(self, runs: int, spoke: Iterable[str], *, whole: bool) -> None:
        """After so many clean runs; `spoke` names a rule once for each in which it did. Until they are whole
        what is kept of more of them is not given up."""
        if not whole and any(int(kept.rpartition(" ")[2]) > runs for kept in self.clean.values()):
            return
        named = list(spoke)
        self.head = _HEAD
        self.clean = {code: f"{runs - named.count(code)} of {runs}" for code in RULES}

    def page(self) -> str:
        """All of it."""
        text = self.head + table(self.caught, lambda code: self.clean.get(code, "")) + "\n"
        if not self.held:
            return text
        rows = [_row(code, one) for code, one in self.held.items()]
        looked = [one.within for one in self.held.values() if one.within is not None]
        within = sum(looked) if len(looked) == len(self.held) else None
        met, of = sum(one.met for one in self.held.values()), sum(one.of for one in self.held.values())
        return f"{text}{_BOUNDS}{''.join(rows)}{_row('all', Held(met, of, within))}"


def _row(name: str, held: Held) -> str:
    within = "" if held.within is None else f"{held.within} of {held.of}"
    return f"| {name} | {within} | {held.met} of {held.of} |\n"


def kept(page: str) -> Found:
    """What an earlier page says. How a flaw was caught is kept only where it is still the same flaw."""
    names = {(plant.code, plant.flaw): plant.name for plant in plants.EVERY}
    found = Found(head=page[: page.index(_TABLE)]) if _TABLE in page else Found()
    for line in page.splitlines():
        if row := _ROW.fullmatch(line):
            code, clean = row["code"], row["clean"]
            name = names.get((code, row["flaw"]))
            if row["caught"] and name is not None:
                found.caught[name] = row["caught"]
            if clean and code in RULES:
                found.clean[code] = clean
        elif (held := _HELD.fullmatch(line)) and held["code"] in RULES:
            within = int(held["within"]) if held["within"] else None
            found.held[held["code"]] = Held(int(held["met"]), int(held["of"]), within)
    return found
