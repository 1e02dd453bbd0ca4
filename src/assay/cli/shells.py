"""`assay completion SHELL` and `assay manual`, made from the parsers: by shtab, and in roff (man(7))."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay.cli import verbs
from assay.cli.verbs import VerbPart
from assay.core import console
from assay.core.errors import EXIT_CODES, EXIT_OK
from assay.core.settings import version

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def _completion_flags(parser: Parser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    parser.examples(
        ("assay completion bash > ~/.local/share/bash-completion/completions/assay", "for every new bash"),
        ('assay completion zsh > "${fpath[1]}/_assay"', "zsh; the folder must be in its fpath"),
        ("assay completion fish > ~/.config/fish/completions/assay.fish", "fish"),
    )


def _completion(args: argparse.Namespace) -> int:
    """Print the script."""
    import shtab

    console.write(shtab.complete(_whole(), args.shell))
    return EXIT_OK


def _whole() -> argparse.ArgumentParser:
    """All verbs below one parser, as shtab wants them. A drop-in has the flags of its tool, not ours."""
    whole = argparse.ArgumentParser(prog="assay")
    below = whole.add_subparsers()
    for verb in verbs.listed():
        parents = [verb.parser()] if verb.has_parser else []
        for parent in parents:
            for action in parent.actions:  # which `parents` hands on as they are
                _complete(action)
        below.add_parser(verb.name, help=verb.purpose, parents=parents, add_help=False)
    topics = below.add_parser("help", help="show the help of a verb", add_help=False)
    topics.add_argument("verb", choices=[verb.name for verb in verbs.listed()])
    return whole


def _complete(action: argparse.Action) -> None:
    """Say what stands for an action's word, where it takes one and none is prescribed."""
    import shtab

    if isinstance(action.metavar, str):
        action.metavar = action.metavar.replace(":", r"\:")  # zsh parts a specification there
    if action.nargs != 0 and not action.choices:
        names = _NAMES.get(str(action.metavar))
        known = shtab.FILE if names is None else {**shtab.cmd(names[0]), "fish": f"({names[1]})"}
        action.complete = known  # type: ignore[attr-defined]


_RUNS = (
    "echo latest; ls -t -- ${ASSAY_RESULTS:-results} 2>/dev/null",
    r"echo latest; set -q ASSAY_RESULTS; or set -l ASSAY_RESULTS results; ls -t \$ASSAY_RESULTS 2>/dev/null",
)
_STUDIES = ("assay studies 2>/dev/null | tail -n +2 | grep -o '^[^ ]*'",) * 2
_NAMES = {"STUDY": _STUDIES, **dict.fromkeys(("RUN", "BASE", "NEW"), _RUNS)}
"""By what an argument is called: what lists its names for bash and zsh, and for fish."""


completion = VerbPart(_completion_flags, _completion)


def _manual_flags(parser: Parser) -> None:
    """Add the examples; there is nothing to choose."""
    parser.examples(
        ("assay manual | man -l -", "read it"),
        ("assay manual > ~/.local/share/man/man1/assay.1", "install it: `man assay`"),
    )


def _manual(args: argparse.Namespace) -> int:
    """Print the page."""
    console.write("\n".join(_page()))
    return EXIT_OK


def _page() -> Iterator[str]:
    from assay.core.settings import VARIABLES

    yield f'.TH ASSAY 1 "" "assay {_escaped(version())}" "User Commands"'
    yield from (".SH NAME", "assay \\- weigh web servers honestly")
    yield from (".SH SYNOPSIS", "\\fBassay\\fR \\fIVERB\\fR [...]", ".SH DESCRIPTION")
    yield "It drives load, runs whole comparisons of servers, and says of every number whether it can be"
    yield "believed."
    yield ".SH VERBS"
    for verb in verbs.listed():
        yield from (".SS " + _escaped(f"assay {verb.name}"), _escaped(f"{verb.sentence}"))
        yield from _verb(verb)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from _item(str(code), meaning)
    yield ".SH ENVIRONMENT"
    for name, meaning in VARIABLES.items():
        yield from _item(name, meaning)


def _verb(verb: verbs.Verb) -> Iterator[str]:
    if not verb.has_parser:
        yield f"Its flags are those of \\fB{verb.name}\\fR(1)."
        return
    parser = verb.parser()
    for action in parser.actions:
        value = "" if action.nargs == 0 else f" {action.metavar or action.dest}"
        head = f"{', '.join(action.option_strings)}{value}".strip()
        yield from _item(head, (action.help or "") % {})
    for command, purpose in parser.shown_examples:
        for line in (*command.splitlines(), purpose):
            yield from (".PP", ".nf", _escaped(line.strip()), ".fi")


def _item(head: str, text: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_escaped(head)}\\fR", _escaped(text))


def _escaped(text: str) -> str:
    """Text that roff takes as it is: no escapes, no hyphenation of flags, no macro at a line's beginning, and
    every character by its number where it is not ASCII (groff_char(7))."""
    plain = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.MULTILINE)
    return "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain)


manual = VerbPart(_manual_flags, _manual)
