"""A verb's parser: argparse with flags at two levels, help in 80 columns, and mistakes told in a line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from assay.cli import mistakes
from assay.core import console

_EXAMPLES = 3
"""Examples of `--help`; `--help-all` shows every one."""


class _Levels(argparse._ActionsContainer):
    """Flags and words, each declared with its level: `common` ones are what `--help` shows."""

    def add_argument(self, *names: str, common: bool = False, **settings: Any) -> argparse.Action:  # noqa: ANN401
        """As argparse; `common` puts a flag into the short help, too."""
        action = super().add_argument(*names, **settings)
        action.common = common  # type: ignore[attr-defined]
        return action


class FlagGroup(_Levels, argparse._ArgumentGroup):
    """Flags about one topic."""


class Parser(_Levels, argparse.ArgumentParser):
    """A verb's parser. Flags are never abbreviated, so that a new flag breaks no script."""

    def __init__(
        self, prog: str, description: str, elsewhere: Callable[[str], str] = lambda flag: ""
    ) -> None:
        """Make the parser of the verb `prog`, which does `description`. `elsewhere` says of a flag that
        another verb has which that is."""
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=_Formatter, add_help=False
        )
        self.elsewhere = elsewhere
        self.shown_examples: tuple[tuple[str, str], ...] = ()
        self._positionals.title = "arguments"
        self._optionals.title = "options"
        self.add_argument("-h", "--help", action="help", help="show the options that are wanted most")
        self.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all options, by topic")

    def add_argument_group(  # type: ignore[override]
        self, title: str | None = None, description: str | None = None
    ) -> FlagGroup:
        """A topic of the full help."""
        group = FlagGroup(self, title, description)
        self._action_groups.append(group)
        return group

    @property
    def actions(self) -> tuple[argparse.Action, ...]:
        """Its words and flags, in the order in which the help shows them."""
        return tuple(self._actions)

    def takes(self, flag: str) -> argparse.Action | None:
        """The action of a flag, or of an argument by its name in the help; None where there is none."""
        return self._option_string_actions.get(flag) or next(
            (one for one in self._actions if not one.option_strings and one.metavar == flag), None
        )

    @property
    def usage_line(self) -> str:
        """The command with its arguments and the flags that it needs: `assay load URL [options]`."""
        formatter = self._get_formatter()
        words = [
            " ".join([*action.option_strings[-1:], formatter._format_args(action, action.dest.upper())])
            for action in self._actions
            if action.required or not action.option_strings
        ]
        return " ".join([self.prog, *words, "[options]"])

    def examples(self, *lines: tuple[str, str]) -> None:
        """Show examples: a command and what it does. The most wanted first."""
        self.shown_examples = lines

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse `words`; InputError, with the nearest flag, where one is unknown."""
        mistakes.check(self, words)
        found, extra = self.parse_known_args(words)
        if extra:
            raise mistakes.unexpected(self, extra[0])
        return found

    def print_help(self, file: object = None) -> None:
        """Show the short help; argparse would say nothing where it cannot be written."""
        console.write(self.format_help())

    def format_help(self) -> str:
        """Help of one screen: examples, and the flags that are wanted most.

        A verb of which no flag is marked as common has few: it shows all of them.
        """
        if not any(_is_common(action) for action in self._actions):
            return self._format(self._action_groups, everything=False)
        chosen = [action for action in self._actions if not action.option_strings or _is_common(action)]
        return self._format([self._short(chosen, words=True), self._short(chosen, words=False)])

    def format_all(self) -> str:
        """Every flag by topic, and every example."""
        return self._format(self._action_groups, everything=True)

    def _short(self, chosen: Iterable[argparse.Action], *, words: bool) -> argparse._ArgumentGroup:
        """A group of those that are arguments, or flags."""
        group = argparse._ArgumentGroup(self, "arguments" if words else "options")
        group._group_actions += [one for one in chosen if bool(one.option_strings) != words]
        if not words:
            all_flags = sum(bool(action.option_strings) for action in self._actions)
            more = argparse.Action(["--help-all"], "more", nargs=0, help=f"all {all_flags} options, by topic")
            group._group_actions.append(more)
        return group

    def _format(self, groups: Iterable[argparse._ArgumentGroup], *, everything: bool = False) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage_line, (), ())
        formatter.add_text(self.description)
        if not everything:
            formatter.add_text(self._example_lines(_EXAMPLES))
        for group in groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            shown = [one for one in group._group_actions if everything or one.dest not in _HELP]
            formatter.add_arguments(shown)
            formatter.end_section()
        if everything:
            formatter.add_text(self._example_lines(len(self.shown_examples)))
        formatter.add_text("Exit codes and variables of the environment: `assay --help-all`.")
        return formatter.format_help()

    def _example_lines(self, number: int) -> str:
        lines = [f"  {command}\n      {purpose}" for command, purpose in self.shown_examples[:number]]
        return "\n".join(("examples:", *lines)) if lines else ""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing a page of usage."""
        raise mistakes.in_our_words(self, message)

    def help_flag(self, action: argparse.Action | None = None) -> str:
        """The command that shows the flag, or all of them: `assay load --help-all`."""
        levels = any(_is_common(one) for one in self._actions)
        short = not levels or (action is not None and _is_common(action))
        return f"{self.prog} {'--help' if short else '--help-all'}"


class _HelpAll(argparse.Action):
    """`--help-all`."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, Parser)
        console.write(parser.format_all())
        parser.exit()


def _is_common(action: argparse.Action) -> bool:
    return getattr(action, "common", False)


_HELP = ("help", "help_all")
"""Flags that whoever reads the help has found already."""

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

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-d, --duration TIME` instead of argparse's `-d TIME, --duration TIME`."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {metavar}"
