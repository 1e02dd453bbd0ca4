"""What a tool and its `assay` twin are run with and what each said: common to the pairs of all tools."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from wire import Wire


@dataclass(frozen=True)
class Told:
    """What one of the two said and sent; the server's port is PORT."""

    code: int
    out: str
    err: str
    wire: Wire = field(repr=False)


def assay(tool: str) -> tuple[str, ...]:
    """Our program of that name."""
    return (sys.executable, "-m", "assay.cli.main", tool)


def environment(*, strict: bool = False) -> Mapping[str, str]:
    """This process's, in which ours says nothing of its own."""
    return {**os.environ, "ASSAY_QUIET": "1", **({"ASSAY_STRICT": "1"} if strict else {})}


def without_port(port: int, texts: Iterable[str]) -> tuple[str, ...]:
    """The texts with PORT in its place."""
    return tuple(text.replace(str(port), "PORT") for text in texts)


def ran(command: Sequence[str], port: int, longest_s: float, *, strict: bool = False) -> tuple[int, str, str]:
    """The exit code, output and errors of a command in which PORT is the server's."""
    ended = subprocess.run(
        [word.replace("PORT", str(port)) for word in command],
        capture_output=True,
        text=True,
        timeout=longest_s,
        env=environment(strict=strict),
    )
    out, err = without_port(port, (ended.stdout, ended.stderr))
    return ended.returncode, out, err
