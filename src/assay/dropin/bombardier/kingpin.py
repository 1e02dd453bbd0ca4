"""The manner in which the kingpin library reads a command line.

Flags may stand anywhere up to `--`; short ones may be bundled, with the argument attached; a switch
can be turned off again by `--no-` before its name; `@file` stands for the file's lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


class Misuse(Exception):
    """A command line that is not understood; the line is kingpin's."""


@dataclass(frozen=True)
class Flag:
    """A flag: its long name, its letter ("" for none), and whether it takes an argument."""

    name: str
    letter: str = ""
    takes: bool = True


def read(words: Sequence[str], flags: Sequence[Flag], rest: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each flag's name with its argument; None turns a switch on, "false" off.

    What is no flag is put into `rest`. Raises `Misuse` when the reading gets there.
    """
    by_name = {flag.name: flag for flag in flags}
    by_letter = {flag.letter: flag for flag in flags if flag.letter}
    left = _expanded(words)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            return
        if word.startswith("--"):
            yield _long(word[2:], left, by_name)
        elif word.startswith("-") and word != "-":
            yield from _short(word[1:], left, by_letter)
        else:
            rest.append(word)


def _expanded(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if not word.startswith("@") or word == "@":
            found.append(word)
            continue
        try:
            lines = Path(word[1:]).read_text("utf-8").splitlines()
        except OSError as problem:
            reason = (problem.strerror or "").lower()
            raise Misuse(f"open {word[1:]}: {reason}") from None
        found += [line for line in lines if line.strip() and not line.startswith("#")]
    return found


def _argument(flag: Flag, shown: str, left: list[str]) -> str:
    if not left or (left[0].startswith("-") and left[0] != "-"):
        raise Misuse(f"expected argument for flag '{shown}'")
    return left.pop(0)


def _long(text: str, left: list[str], by_name: Mapping[str, Flag]) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    flag = by_name.get(name)
    if flag is None and name.startswith("no-"):
        switch = by_name.get(name[3:])
        if switch is not None and not switch.takes:
            return switch.name, "false"
    if flag is None:
        raise Misuse(f"unknown long flag '--{name}'")
    if not flag.takes:
        return flag.name, value if equals else None
    return flag.name, value if equals else _argument(flag, f"--{name}", left)


def _short(bundle: str, left: list[str], by_letter: Mapping[str, Flag]) -> Iterator[tuple[str, str | None]]:
    while bundle:
        letter, bundle = bundle[0], bundle[1:]
        flag = by_letter.get(letter)
        if flag is None:
            raise Misuse(f"unknown short flag '-{letter}'")
        if not flag.takes:
            yield flag.name, None
            continue
        yield flag.name, bundle.removeprefix("=") or _argument(flag, f"-{letter}", left)
        return
