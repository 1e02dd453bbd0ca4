"""The flags of a load, as the table has them: offered by a parser, and their values by name."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from typing import Any

from assay.cli.parser import FlagGroup, Parser
from assay.plan.words.load_table import GROUPS, LoadFlag


def add_to(parser: Parser) -> None:
    """Give the parser the address and every flag of the table."""
    parser.add_argument(
        "url", nargs="?", default="", metavar="URL", help="http://host:port/path; or in --curl or --har"
    )
    for title, flags in GROUPS:
        group = parser.add_argument_group(title)
        for flag in flags:
            _add_flag(group, flag)


def add_some(parser: Parser, dests: Collection[str]) -> None:
    """Give the parser those flags of the table, for a verb that offers a load of its own shape."""
    for title, flags in GROUPS:
        chosen = [flag for flag in flags if flag.dest in dests]
        if chosen:
            group = parser.add_argument_group(title)
            for flag in chosen:
                _add_flag(group, flag)


def _add_flag(group: FlagGroup, flag: LoadFlag) -> None:
    settings: dict[str, Any] = {
        "dest": flag.dest,
        "help": flag.help,
        "default": argparse.SUPPRESS,
        "common": flag.common,
    }
    if flag.parse is None:
        group.add_argument(*flag.names, action="store_const", const=flag.switch, **settings)
    elif flag.metavar.startswith("{"):
        choices = flag.metavar.strip("{}").split(",")
        group.add_argument(*flag.names, choices=choices, metavar=flag.metavar, **settings)
    else:
        action = "append" if flag.repeat else "store"
        group.add_argument(*flag.names, type=flag.parse, metavar=flag.metavar, action=action, **settings)


def given(args: argparse.Namespace) -> dict[str, Any]:
    """The values of the flags that were given, by their names."""
    flags = vars(args)
    return {flag.dest: flags[flag.dest] for _, group in GROUPS for flag in group if flag.dest in flags}
