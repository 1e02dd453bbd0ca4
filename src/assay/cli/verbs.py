"""The verbs of the command line, in the groups in which `assay --help` shows them.

A verb is a module of this package named in `VERBS`, or something in one that holds several; it offers
`configure(parser)` (flags and examples) and `run(args) -> int` (the exit code). Only the
module of the verb in use is imported: `assay load` must send its first request at once.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Protocol, cast

import msgspec

from assay import dropin
from assay.cli.parser import Parser


class Verb(msgspec.Struct, frozen=True):
    """One verb: its name, one line of purpose, and the group it is listed in."""

    name: str
    purpose: str
    group: str
    has_parser: bool = True
    """Whether its flags are ours; a drop-in has its tool's."""
    within: str = ""
    """The module that holds it beside others; empty where it has a module to itself."""

    @property
    def sentence(self) -> str:
        """Its purpose as a sentence."""
        return f"{self.purpose[0].upper()}{self.purpose[1:]}."

    def parser(self) -> Parser:
        """Its parser, with every flag."""
        parser = Parser(prog=f"assay {self.name}", description=self.sentence, elsewhere=_verb_with)
        self.module().configure(parser)
        return parser

    def module(self) -> VerbModule:
        """Import the verb's module, or what a module of several has by its name."""
        name = self.name.replace("-", "_")
        module = importlib.import_module(f"assay.cli.{self.within or name}")
        return cast(VerbModule, getattr(module, name) if self.within else module)


class VerbPart(msgspec.Struct, frozen=True):
    """A verb that shares its module with others."""

    configure: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


class VerbModule(Protocol):
    """What a verb's module offers, or its part of one."""

    def configure(self, parser: Parser) -> None:
        """Add the verb's flags and its examples."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; return the exit code."""


VERBS = (
    Verb("load", "offer load to a URL, and say what came of it", "Measure"),
    Verb("run", "run a study: servers built, checked, loaded in blocks, and judged", "Measure"),
    Verb("capacity", "find the highest rate at which an objective holds", "Measure"),
    Verb("versus", "compare servers, given as commands or URLs, until it is settled", "Measure"),
    Verb(
        "report",
        "show a stored run again, or write it as a page, pictures, tables",
        "Look at results",
        within="report",
    ),
    Verb(
        "judge", "judge a stored run again, by the rules of this version", "Look at results", within="report"
    ),
    Verb("compare", "compare two runs case by case; a gate for CI", "Look at results"),
    Verb("history", "list stored runs, and how a figure moved over them", "Look at results"),
    Verb("view", "browse the runs in a web browser on this machine", "Look at results"),
    Verb("audit", "say what a published benchmark can be believed for, from its text", "Look at results"),
    Verb("doctor", "say what a study lacks here, and whether the machine is fit", "Prepare", within="setup"),
    Verb(
        "nodes",
        "list the machines of a cluster: roles, versions, clocks, links",
        "Prepare",
        within="catalogue",
    ),
    Verb("setup", "install and build what studies and servers need", "Prepare", within="setup"),
    Verb("init", "write a study and a server of your own to start from", "Prepare", within="setup"),
    Verb("servers", "list the servers", "Prepare", within="catalogue"),
    Verb("studies", "list the studies", "Prepare", within="catalogue"),
    Verb("rules", "list the rules by which numbers are judged", "Understand", within="catalogue"),
    Verb(
        "explain", "say what a rule means and does, and what to do about it", "Understand", within="catalogue"
    ),
    Verb("schema", "print the JSON Schema of a file format", "Understand", within="catalogue"),
    Verb("completion", "print what bash, zsh or fish need to complete flags", "Understand", within="shells"),
    Verb("manual", "print the manual page", "Understand", within="shells"),
)
_DROP_INS = "Speak another tool's language"


def _verb_with(flag: str) -> str:
    """Which other verb has the flag, as a remedy; empty where none has."""
    if not flag.startswith("--"):
        return ""
    for verb in VERBS:
        if any(flag in action.option_strings for action in verb.parser().actions):
            return f"`assay {verb.name}` has it"
    return ""


def listed() -> tuple[Verb, ...]:
    """The verbs and, after them, the tools whose language is spoken."""
    return (*VERBS, *(Verb(tool.name, tool.purpose, _DROP_INS, has_parser=False) for tool in dropin.TOOLS))


def find(name: str) -> Verb | None:
    """The verb called `name`."""
    return next((verb for verb in VERBS if verb.name == name), None)
