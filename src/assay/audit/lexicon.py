"""The lexicon: the words by which a text is understood, in eight languages, as data in `lexicon/*.toml`.

An entry is an expression, a list of alternatives, or a table: `any` of its alternatives stands `within`
other signs (at "{}"), and `cased` says that its case counts. An alternative may be a list or a table itself,
and "{facts.run}" stands for the entry of that name. Every repetition in an expression is bounded or cannot
overlap with its neighbours: matching takes linear time.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TypeAlias

Entry: TypeAlias = "str | list[Entry] | dict[str, Entry]"
_NAMED = re.compile(r"\{([a-z_]+\.[a-z_]+)\}")


@cache
def _tables() -> dict[str, dict[str, Entry]]:
    """Every entry by its table and name; a table stands in one file."""
    found: dict[str, dict[str, Entry]] = {}
    for path in sorted(Path(__file__).with_name("lexicon").glob("*.toml")):
        found |= tomllib.loads(path.read_text(encoding="utf-8"))
    return found


def entry(name: str) -> Entry:
    """What the lexicon has under a name like "facts.machine"."""
    table, _, key = name.partition(".")
    return _tables()[table][key]


def source(name: str) -> str:
    """The regular expression of an entry, to be a part of a larger one."""
    return _expression(entry(name))


def compiled(name: str) -> re.Pattern[str]:
    """The compiled expression of an entry; case counts only where it says so."""
    found = entry(name)
    cased = isinstance(found, dict) and bool(found.get("cased"))
    return re.compile(_expression(found), 0 if cased else re.IGNORECASE)


def patterns(name: str) -> list[re.Pattern[str]]:
    """The alternatives of an entry, each compiled by itself."""
    return [re.compile(_expression(one), re.IGNORECASE) for one in _listed(entry(name))]


def table(name: str) -> dict[str, re.Pattern[str]]:
    """All entries of a table, compiled, in their order."""
    return {key: re.compile(_expression(found), re.IGNORECASE) for key, found in _tables()[name].items()}


def words(name: str) -> frozenset[str]:
    """An entry that is a list of plain words."""
    return frozenset(map(_expression, _listed(entry(name))))


def numbers(name: str) -> dict[str, float]:
    """The number that each word of an entry stands for."""
    found = entry(name)
    return {word: float(str(value)) for word, value in found.items()} if isinstance(found, dict) else {}


def _listed(found: Entry) -> list[Entry]:
    return found if isinstance(found, list) else [found]


def _expression(found: Entry) -> str:
    if isinstance(found, str):
        return _NAMED.sub(lambda named: source(named[1]), found)
    if isinstance(found, list):
        return "|".join(map(_expression, found))
    return _expression(found.get("within", "{}")).replace("{}", _expression(found["any"]))
