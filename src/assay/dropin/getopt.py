"""The manner in which GNU `getopt_long` reads a command line.

Short options may be bundled (`-c10`, `-Lt2`), long ones shortened while no other begins alike,
and options may follow what is not an option, up to `--`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


class Misuse(Exception):
    """A word that is no option, lacks its argument, or has one too many; the line says which."""


def read(
    words: Sequence[str], short: str, long: Mapping[str, tuple[str, bool]], rest: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield each option's letter with its argument ("" where it takes none), as it comes.

    `short` is in getopt's notation ("t:v"); `long` gives each name its letter and whether it takes
    an argument. What is no option is put into `rest`. Raises `Misuse` when the reading gets there.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            rest += left
            return
        if word.startswith("--"):
            yield _long(word[2:], left, long)
        elif word.startswith("-") and word != "-":
            yield from _short(word[1:], left, short)
        else:
            rest.append(word)


def _short(bundle: str, left: list[str], short: str) -> Iterator[tuple[str, str]]:
    while bundle:
        letter, bundle = bundle[0], bundle[1:]
        at = -1 if letter == ":" else short.find(letter)
        if at < 0:
            raise Misuse(f"invalid option -- '{letter}'")
        if short[at + 1 : at + 2] != ":":
            yield letter, ""
            continue
        if not bundle and not left:
            raise Misuse(f"option requires an argument -- '{letter}'")
        yield letter, bundle or left.pop(0)
        return


def _long(text: str, left: list[str], long: Mapping[str, tuple[str, bool]]) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    near = [name] if name in long else [known for known in long if known.startswith(name)]
    if not near:
        raise Misuse(f"unrecognized option '--{name}'")
    if len({long[known] for known in near}) > 1:
        listed = " ".join(f"'--{known}'" for known in near)
        raise Misuse(f"option '--{text}' is ambiguous; possibilities: {listed}")
    letter, takes = long[near[0]]
    if not takes:
        if equals:
            raise Misuse(f"option '--{near[0]}' doesn't allow an argument")
        return letter, ""
    if not equals and not left:
        raise Misuse(f"option '--{near[0]}' requires an argument")
    return letter, value if equals else left.pop(0)
