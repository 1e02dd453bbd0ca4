"""The verbs of the command line, in the groups in which `assay --help` shows them.

A verb is a module of this package named in `VERBS`; it offers
`configure(parser)` (flags and examples) and `run(args) -> int` (the exit code). Only the
module of the verb in use is imported: `assay load` must send its first request at once.
"""

from __future__ import annotations

import argparse
import importlib
from dataclasses import dataclass
from typing import Protocol, cast


@dataclass(frozen=True)
class Verb:
    """One verb: its name, one line of purpose, and the group it is listed in."""

    name: str
    purpose: str
    group: str

    def module(self) -> VerbModule:
        """Import the verb's module."""
        return cast(VerbModule, importlib.import_module(f"assay.cli.{self.name.replace('-', '_')}"))


class VerbModule(Protocol):
    """What a verb's module offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's flags and its examples."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; return the exit code."""


VERBS = (
    Verb("load", "offer load to a URL, and say what came of it", "Measure"),
    Verb("run", "run a study: servers built, checked, loaded in blocks, and judged", "Measure"),
    Verb("capacity", "find the highest rate at which an objective holds", "Measure"),
    Verb("versus", "compare servers, given as commands or URLs, until it is settled", "Measure"),
    Verb("report", "show a stored run again, or write it as a page, pictures, tables", "Look at results"),
    Verb("judge", "judge a stored run again, by the rules of this version", "Look at results"),
    Verb("compare", "compare two runs case by case; a gate for CI", "Look at results"),
    Verb("history", "list stored runs, and how a figure moved over them", "Look at results"),
    Verb("view", "browse the runs in a web browser on this machine", "Look at results"),
    Verb("audit", "say what a published benchmark can be believed for, from its text", "Look at results"),
    Verb("doctor", "say what a study lacks here, and whether the machine is fit", "Prepare"),
    Verb("setup", "install and build what studies and servers need", "Prepare"),
    Verb("init", "write a study and a server of your own to start from", "Prepare"),
    Verb("servers", "list the servers", "Prepare"),
    Verb("studies", "list the studies", "Prepare"),
    Verb("rules", "list the rules by which numbers are judged", "Understand"),
    Verb("explain", "say what a rule means, what to do about it, where it comes from", "Understand"),
    Verb("schema", "print the JSON Schema of a file format", "Understand"),
)


def find(name: str) -> Verb | None:
    """The verb called `name`."""
    return next((verb for verb in VERBS if verb.name == name), None)
