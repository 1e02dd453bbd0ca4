"""`assay completion SHELL`: what a shell needs to complete verbs and flags; shtab makes it of the parsers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from assay.cli import verbs
from assay.core import console
from assay.core.errors import EXIT_OK

if TYPE_CHECKING:
    from assay.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    parser.examples(
        ("assay completion bash > ~/.local/share/bash-completion/completions/assay", "for every new bash"),
        ('assay completion zsh > "${fpath[1]}/_assay"', "zsh; the folder must be in its fpath"),
        ("assay completion fish > ~/.config/fish/completions/assay.fish", "fish"),
    )


def run(args: argparse.Namespace) -> int:
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
