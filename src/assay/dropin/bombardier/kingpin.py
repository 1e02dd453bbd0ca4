"""The manner in which the kingpin library (2.2.6) reads a command line.

Flags may stand anywhere up to `--`; short ones may be bundled, with the argument attached; a switch
can be turned off again by `--no-` before its name; `@file` stands for the file's lines. Reading ends at
the first word that makes no sense, but what was asked for before it (`--version`) is done all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class KingpinMisuse(Exception):
    """A command line that is not understood; the line is kingpin's."""


@dataclass(frozen=True)
class KingpinFlag:
    """A flag: its long name, its letter ("" for none), whether it takes an argument, and may be repeated."""

    name: str
    letter: str = ""
    takes: bool = True
    repeats: bool = False


@dataclass(frozen=True)
class ParsedWords:
    """What was read: each flag with its argument, the other words, and why reading ended, if not at the end.

    A switch's argument is "true" or "false".
    """

    flags: tuple[tuple[KingpinFlag, str], ...]
    arguments: tuple[str, ...]
    problem: str = ""


def read(words: Sequence[str], flags: Sequence[KingpinFlag], most_arguments: int) -> ParsedWords:
    """Read a command line; nothing is raised, a problem is part of what comes back."""
    reading = _WordReader(list(words), {f.name: f for f in flags}, {f.letter: f for f in flags if f.letter})
    found: list[tuple[KingpinFlag, str]] = []
    arguments: list[str] = []
    try:
        while (token := reading.take()) is not None:
            if token.is_flag:
                found.append(reading.flag(token.text))
            elif len(arguments) == most_arguments:
                raise KingpinMisuse(f"unexpected {token.text}")
            else:
                arguments.append(token.text)
    except KingpinMisuse as problem:
        return ParsedWords(tuple(found), tuple(arguments), str(problem))
    return ParsedWords(tuple(found), tuple(arguments))


@dataclass(frozen=True)
class _Token:
    """A flag as it is shown ("-c", "--rate"), or another word."""

    text: str
    is_flag: bool


@dataclass
class _WordReader:
    left: list[str]
    by_name: Mapping[str, KingpinFlag]
    by_letter: Mapping[str, KingpinFlag]
    attached: str | None = None
    only_arguments: bool = field(default=False, init=False)

    def take(self) -> _Token | None:
        """The next flag or word; None at the end."""
        if self.attached is not None:
            text, self.attached = self.attached, None
            return _Token(text, is_flag=False)
        while self.left:
            word = self.left.pop(0)
            if self.only_arguments:
                return _Token(word, is_flag=False)
            if word == "--":
                self.only_arguments = True
            elif word.startswith("--"):
                name, equals, value = word.partition("=")
                self.attached = value if equals else None
                return _Token(name, is_flag=True)
            elif word.startswith("-"):
                return self._short(word[1:])
            elif word.startswith("@"):
                self.left = [*_lines(word[1:]), *self.left]
            else:
                return _Token(word, is_flag=False)
        return None

    def _short(self, bundle: str) -> _Token:
        letter, rest = bundle[:1], bundle[1:]
        flag = self.by_letter.get(letter)
        if rest and flag is not None and flag.takes:
            self.attached = rest
        elif rest:
            self.left.insert(0, f"-{rest}")
        return _Token(f"-{letter}", is_flag=True)

    def flag(self, shown: str) -> tuple[KingpinFlag, str]:
        """The flag, with the argument that it takes."""
        name = shown.lstrip("-")
        if not shown.startswith("--"):
            flag, is_off = self.by_letter.get(name), False
        elif name in self.by_name:
            flag, is_off = self.by_name[name], False
        else:
            flag, is_off = self.by_name.get(name.removeprefix("no-")), True
        if flag is None or (is_off and flag.takes):
            raise KingpinMisuse(f"unknown {'long' if shown.startswith('--') else 'short'} flag '{shown}'")
        if not flag.takes:
            return flag, "false" if is_off else "true"
        expected = KingpinMisuse(f"expected argument for flag '{shown}'")
        try:
            token = self.take()
        except KingpinMisuse:
            raise expected from None
        if token is None or token.is_flag:
            raise expected
        return flag, token.text


def _lines(path: str) -> list[str]:
    if not path:
        raise KingpinMisuse("expected @ file to expand arguments from")
    try:
        lines = Path(path).read_bytes().decode("utf-8", "surrogateescape").splitlines()
    except OSError as problem:
        reason = (problem.strerror or "").lower()
        raise KingpinMisuse(f'failed to open arguments file "{path}": open {path}: {reason}') from None
    return [line for line in lines if not line.startswith("#")]
