"""The manner in which the Apache runtime reads options: letters only, all before the first other word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


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
