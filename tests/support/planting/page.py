"""docs/planted-flaws.md: what is kept there of earlier looks, what a new one adds, and the page of both."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.verdict import RULES
from planting import plants, table

_HEAD = """# Planted flaws

Written by `benches/planted.py`. Each row is a real run (processes, sockets, a load) with just
that flaw. `clean` are runs of two equal servers without one, every second in turns: in so many of
them the rule said nothing above a note. Rules about noise (*) judge the machine: on a busy one
they speak in clean runs too, and are right. Flaws of several machines (G9 to G12) are planted by
`tests/e2e/test_cluster*.py`, on a cluster of network namespaces.

"""
_TABLE = "| rule | planted flaw |"
_BOUNDS = """
## Bounds hold the truth

Throughputs and ratios of clean runs of the same servers that lie within what the run with the flaw said
to know. Wanted: 95 % over all, 90 % of each.

| rule | held |
|---|---|
"""
_ROW = re.compile(
    r"\| (?P<code>[A-Z]\d+)\b[^|]*\| (?P<flaw>[^|]*) \| *(?P<caught>[^|]*?) *\| *(?P<clean>[^|]*?) *\|"
)
_HELD = re.compile(r"\| (?P<code>[A-Z]\d+) \| (?P<inside>\d+) of (?P<of>\d+) \|")


@dataclass
class Found:
    """By rule: how its flaw was `caught`, in how many `clean` runs it was silent, and how many figures `held`
    what clean runs found, of how many. `head` says which clean runs those were."""

    caught: dict[str, str] = field(default_factory=dict)
    clean: dict[str, str] = field(default_factory=dict)
    held: dict[str, tuple[int, int]] = field(default_factory=dict)
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
        rows = "".join(f"| {code} | {inside} of {of} |\n" for code, (inside, of) in self.held.items())
        inside, of = (sum(one[place] for one in self.held.values()) for place in (0, 1))
        return f"{text}{_BOUNDS}{rows}| all | {inside} of {of} |\n"


def kept(page: str) -> Found:
    """What an earlier page says. How a flaw was caught is kept only where it is still the same flaw."""
    flaws = {plant.code: plant.flaw for plant in plants.ALL}
    found = Found(head=page[: page.index(_TABLE)]) if _TABLE in page else Found()
    for line in page.splitlines():
        if row := _ROW.fullmatch(line):
            code, clean = row["code"], row["clean"]
            if row["caught"] and flaws.get(code) == row["flaw"]:
                found.caught[code] = row["caught"]
            if clean and code in RULES:
                found.clean[code] = clean
        elif held := _HELD.fullmatch(line):
            found.held[held["code"]] = (int(held["inside"]), int(held["of"]))
    return found
