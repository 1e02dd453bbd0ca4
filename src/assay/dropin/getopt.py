"""How the tools read a command line: in the manner of GNU `getopt_long`, ab in that of the Apache runtime.

GNU's: short options may be bundled (`-c10`, `-Lt2`), long ones shortened while no other begins alike,
and options may follow what is not an option, up to `--`. The Apache runtime's: letters only, all before the
first other word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field


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


@dataclass
class OptionReader:
    """Reads words option by option; afterwards `rest` is what is left and `message` why it stopped."""

    words: Sequence[str]
    letters: str
    """In getopt's notation: "n:k"."""
    rest: Sequence[str] = ()
    message: str = field(default="", init=False)

    def options(self) -> Iterator[tuple[str, str]]:
        """Yield each option's letter and its argument ("" where it takes none)."""
        index = 0
        while index < len(self.words) and self.words[index].startswith("-") and self.words[index] != "-":
            # Any word that begins so ends the options, as "--" does.
            if self.words[index].startswith("--"):
                index += 1
                break
            bundle = self.words[index][1:]
            while bundle:
                letter, bundle = bundle[0], bundle[1:]
                at = -1 if letter == ":" else self.letters.find(letter)
                if at < 0:
                    # The rest of the bundle is left where it is, and counts as a word.
                    self.rest = self.words[index if bundle else index + 1 :]
                    self.message = f"illegal option -- {letter}"
                    return
                if self.letters[at + 1 : at + 2] != ":":
                    yield letter, ""
                    continue
                if not bundle and index + 1 == len(self.words):
                    self.message = f"option requires an argument -- {letter}"
                    return
                if not bundle:
                    index += 1
                yield letter, bundle or self.words[index]
                break
            index += 1
        self.rest = self.words[index:]
