"""`assay manual`: the manual page, made from the parsers. Its source is roff with man's macros (man(7))."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assay import version
from assay.cli import verbs
from assay.core import console
from assay.core.errors import EXIT_CODES, EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the examples; there is nothing to choose."""
    parser.examples(
        ("assay manual | man -l -", "read it"),
        ("assay manual > ~/.local/share/man/man1/assay.1", "install it: `man assay`"),
    )


def run(args: argparse.Namespace) -> int:
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
    for line in (parser.epilog or "").splitlines():
        if example := re.fullmatch(r"  (assay .*|    +\S.*)", line):
            yield from (".PP", ".nf", _escaped(example[1].strip()), ".fi")


def _item(head: str, text: str) -> Iterator[str]:
    yield from (".TP", f"\\fB{_escaped(head)}\\fR", _escaped(text))


def _escaped(text: str) -> str:
    """Text that roff takes as it is: no escapes, no hyphenation of flags, no macro at a line's beginning, and
    every character by its number where it is not ASCII (groff_char(7))."""
    plain = re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.MULTILINE)
    return "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in plain)
