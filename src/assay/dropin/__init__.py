"""The command lines of other load tools, on our engine.

`assay wrk …` (or Assay called through a link named `wrk`) takes the flags that wrk takes and prints
what wrk prints. A tool is a folder here and a line in `TOOLS`; it turns words into a `LoadPlan`
and a `Measurement` into its tool's report, and leaves everything between the two to `front`.

Imported before the load starts, so nothing heavy may be imported here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Protocol, cast

import msgspec


class ToolModule(Protocol):
    """What a tool's folder offers."""

    def main(self, words: Sequence[str]) -> int:
        """Do what the tool does with these words; the exit code is the tool's own."""


class Tool(msgspec.Struct, frozen=True):
    """A tool whose command line is spoken: its name, which is its folder, and one line of purpose."""

    name: str
    purpose: str

    def main(self, words: Sequence[str]) -> int:
        """Run the tool's command line; only the folder of the tool in use is imported."""
        module = cast(ToolModule, importlib.import_module(f"assay.dropin.{self.name}"))
        return module.main(words)


TOOLS = (
    Tool("wrk", "take wrk's flags and Lua scripts, print wrk's report"),
    Tool("ab", "take ApacheBench's flags, print its report, write its files"),
    Tool("bombardier", "take bombardier's flags, print its text or JSON"),
    Tool("h2load", "take h2load's flags, print its report"),
)


def find(name: str) -> Tool | None:
    """The tool called `name`."""
    return next((tool for tool in TOOLS if tool.name == name), None)
