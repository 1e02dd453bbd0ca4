"""`Parser`: argparse whose mistakes are ours: one line, a near match, exit code 2."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from assay.core import console
from assay.core.errors import InputError


class Parser(argparse.ArgumentParser):
    """A verb's parser. Flags are never abbreviated, so that a new flag breaks no script."""

    def __init__(
        self, prog: str, description: str, elsewhere: Callable[[str], str] = lambda flag: ""
    ) -> None:
        """Make the parser of the verb `prog`, which does `description`. `elsewhere` says of a flag that
        another verb has which that is."""
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=_Formatter, add_help=False
        )
        self._elsewhere = elsewhere
        self._positionals.title = "arguments"
        self._optionals.title = "options"
        self.add_argument("-h", "--help", action="help", help="show this and exit")

    @property
    def actions(self) -> tuple[argparse.Action, ...]:
        """Its words and flags, in the order in which the help shows them."""
        return tuple(self._actions)

    def examples(self, *lines: tuple[str, str]) -> None:
        """End the help with examples: a command and what it does."""
        shown = [f"  {command}\n      {purpose}" for command, purpose in lines]
        more = "`assay --help` tells the exit codes and the variables of the environment."
        self.epilog = "\n".join(("examples:", *shown, "", more))

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse `words`; InputError, with the nearest flag, where one is unknown."""
        for word in words[: words.index("--") if "--" in words else None]:
            # argparse takes such a value for the word that ends the flags, and then misses it.
            if dashed := re.fullmatch(r"(--[^=]+|-[A-Za-z0-9]+?)=?--", word):
                self.error(f"argument {dashed[1]}: '--' cannot be its value")
        found, extra = self.parse_known_args(words)
        if extra:
            self._refuse(extra[0])
        return found

    def print_help(self, file: object = None) -> None:
        """Show the help; argparse would say nothing where it cannot be written."""
        console.write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing a page of usage."""
        flag = re.match(r"argument ([^:]+): (.*)", message)
        if flag:
            names = flag[1].split("/")
            message = f"{names[-1]}: {flag[2]}"
        raise InputError(message, f"see `{self.prog} --help`")

    def _refuse(self, word: str) -> NoReturn:
        from difflib import get_close_matches

        if not word.startswith("-"):
            raise InputError(f"unexpected argument {word!r}", f"see `{self.prog} --help`")
        flags = [name for action in self._actions for name in action.option_strings]
        flag = word.split("=")[0]
        near = get_close_matches(flag, flags, n=1)
        there, meant = _MEANT.get(flag, ("", ""))
        remedy = meant if there in flags else self._elsewhere(flag)
        remedy = remedy or (f"did you mean {near[0]}?" if near else f"see `{self.prog} --help`")
        raise InputError(f"unknown flag {word!r}", remedy)


_RAMP = ("--stage", "--stage 30s:0..1000 raises the rate over that time")
_KEPT = ("--results", "a run is always kept; --results DIR says where")
_CONNECTIONS = ("--connections", "did you mean --connections?")
_RATE = ("--rate", "did you mean --rate?")
_TABLE = ("--csv", "--csv writes the same rows")
_MEANT = {
    **dict.fromkeys(("--ramp-up", "--rampup", "--ramp", "--ramp-time"), _RAMP),
    **dict.fromkeys(("--save", "--store", "--keep"), _KEPT),
    **dict.fromkeys(("--vus", "--users", "--clients", "--concurrency"), _CONNECTIONS),
    **dict.fromkeys(("--rps", "--qps", "--throughput"), _RATE),
    "--parquet": _TABLE,
}
"""What is asked for by a flag that is none, as other tools call it or other verbs have it: which flag a verb
must have for that, and what to say."""

_WIDTH = 80
_FLAGS_WIDTH = 30


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help in 80 columns, flags in a narrow column, examples as written."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=_FLAGS_WIDTH, width=_WIDTH)

    def format_help(self) -> str:
        """The help, in fewer columns where the terminal has fewer.

        Every flag that is added makes a formatter: the terminal is asked, and `shutil` imported with all its
        kinds of compression, only where there is something to show.
        """
        import shutil

        self._width = min(_WIDTH, shutil.get_terminal_size().columns)
        self._max_help_position = min(_FLAGS_WIDTH, max(self._width - 20, 2 * self._indent_increment))
        return super().format_help()

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """`assay load URL [options]`: the list of all flags stands below, with what they do."""
        words = [str(action.metavar or action.dest) for action in actions if not action.option_strings]
        super().add_usage(" ".join(["%(prog)s", *words, "[options]"]), (), (), prefix)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-d, --duration TIME` instead of argparse's `-d TIME, --duration TIME`."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {metavar}"


_YES_HELP = "run commands of servers, studies and records that are not Assay's own"


def add_yes(parser: argparse._ActionsContainer) -> None:
    """Add the flag that lets commands run which came with a folder or a record."""
    parser.add_argument("-y", "--yes", action="store_true", help=_YES_HELP)
