"""From the words of a command line to candidates: commands to start, or URLs that answer already."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.core.credentials import hidden_value
from assay.core.errors import InputError
from assay.core.units import counted
from assay.model.design import Candidate, filled

_SCAN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.+)")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_MOST_IN_RANGE = 64
_LONGEST_NAME = 60
_SAID_OF_THE_PORT = re.compile(r"\S*=(\{port\}|\$PORT)|(-\S+\s+)?\S*(\{port\}|\$PORT)\S*")
"""It is filled in anew for each start, so it sets no candidate apart."""
_OURS = frozenset({"port", "host", "cores"})
"""Placeholders that are filled in when a server is started."""


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A placeholder and the values it takes in turn."""

    name: str
    values: tuple[str, ...]


def parse_scan(word: str) -> Scan:
    """A scan: `workers=1,2,4` or `workers=1..4`. ValueError says what would be right."""
    found = _SCAN.fullmatch(word)
    if found is None or found[1] in _OURS:
        raise ValueError(f"{word!r} is not a scan such as workers=1,2,4 or workers=1..4")
    values: list[str] = []
    for part in found[2].split(","):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None:
            values.append(part.strip())
        elif 0 <= int(ends[2]) - int(ends[1]) < _MOST_IN_RANGE:
            values += map(str, range(int(ends[1]), int(ends[2]) + 1))
        else:
            raise ValueError(f"{part!r} is not a range of at most {_MOST_IN_RANGE} values")
    if not all(values) or len(set(values)) < len(values):
        raise ValueError(f"{word!r} has an empty value, or one twice")
    return Scan(
        name=found[1], values=tuple(hidden_value(found[1], one, (found[1].lower(),)) for one in values)
    )


def candidates_of(words: Sequence[str], names: Sequence[str], scans: Sequence[Scan]) -> tuple[Candidate, ...]:
    """Each word as one candidate, or as one for each combination of the scans that it names.

    Raises InputError for a scan that no command uses, an empty command, and more names than commands.
    """
    if len(names) > len(words):
        raise InputError(
            f"{counted(len(names), 'name')} for {counted(len(words), 'command')}",
            "give one --name a command, in order",
        )
    for scan in scans:
        if not any(f"{{{scan.name}}}" in word for word in words):
            raise InputError(
                f"--scan {scan.name}: no command has {{{scan.name}}}", "write it where the value goes"
            )
    named = itertools.zip_longest(words, names or _short_names(words))
    found = [candidate for word, name in named for candidate in _expanded(word, name or "", scans)]
    return tuple(_told_apart(found))


def _expanded(word: str, name: str, scans: Sequence[Scan]) -> Iterator[Candidate]:
    text = " ".join(word.split())
    if not text:
        raise InputError("a command is empty", "write the command that starts the server in quotes")
    used = [scan for scan in scans if f"{{{scan.name}}}" in text]
    for values in itertools.product(*(scan.values for scan in used)):
        chosen = {scan.name: value for scan, value in zip(used, values, strict=True)}
        words = filled(text, chosen)
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        called = f"{name} ({told})" if name and told else name or words
        if words.startswith(("http://", "https://")):
            yield Candidate(name=called, url=words, values=chosen)
        else:
            yield Candidate(name=called, command=filled(word, chosen), values=chosen)


def _short_names(words: Sequence[str]) -> Sequence[str]:
    """What sets each word apart from the others: of URLs host and port, of commands the words that not all of
    them have. Nothing where one word stands alone, or all are the same."""
    if len(set(words)) < 2:
        return ()
    if all(word.startswith(("http://", "https://")) for word in words):
        bare = [word.partition("://")[2].rstrip("/") for word in words]
        hosts = [url.partition("/")[0] for url in bare]
        return hosts if len(set(hosts)) == len(set(words)) else bare
    spoken = [_SAID_OF_THE_PORT.sub(" ", word.rpartition("&&")[2]).split() for word in words]
    common = set(spoken[0]).intersection(*spoken)
    apart = [[part for part in each if part not in common] for each in spoken]
    for shown in (_base, str):
        names = [" ".join(map(shown, each))[:_LONGEST_NAME] for each in apart]
        if all(names) and len(set(names)) == len(set(words)):
            return names
    return ()


def one_program(candidates: Sequence[Candidate]) -> bool:
    """Whether their commands are of one program: the same words but for folders, flags and what is set.

    Two URLs are not: what stands there is not known.
    """
    spoken = {
        tuple(
            _base(word)
            for word in candidate.command.split()
            if not word.startswith("-") and "=" not in word and not word.isdigit()
        )
        for candidate in candidates
    }
    return len(spoken) == 1 and all(candidate.command for candidate in candidates)


def _base(part: str) -> str:
    """A path's last name; anything else as it is."""
    return part.rstrip("/").rpartition("/")[2] if re.fullmatch(r"[\w./-]+", part) else part.rstrip("/")


def _told_apart(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """A name that several bear gets a number: two builds may well be started by one command line."""
    seen: Counter[str] = Counter()
    for candidate in found:
        seen[candidate.name] += 1
        number = seen[candidate.name]
        name = candidate.name if number == 1 else f"{candidate.name} ({number})"
        yield Candidate(name=name, command=candidate.command, url=candidate.url, values=candidate.values)
