"""What a tool and its `assay` twin are run with and what each said: common to the pairs of all tools."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from unittest.mock import patch

from wire import Wire

from assay.cli.main import main


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


def ran(
    command: Sequence[str], longest_s: float, *, strict: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """A command that ended. Ours ends in this process: to start one takes longer than most of its loads.

    What only a process of its own shows (its name, its streams, signals) is in test_dropin_links.py and in
    each tool's own tests.
    """
    if tuple(command[:3]) != assay("")[:3]:
        env = environment(strict=strict)
        return subprocess.run(command, capture_output=True, timeout=longest_s, env=env)
    said = (io.BytesIO(), io.BytesIO())
    out, err = (io.TextIOWrapper(kept, "utf-8", write_through=True) for kept in said)
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.dict(os.environ, environment(strict=strict), clear=True),
    ):
        code = main(command[3:])
    return subprocess.CompletedProcess(command, code, *(kept.getvalue() for kept in said))


def told(
    command: Sequence[str], port: int, longest_s: float, *, strict: bool = False
) -> tuple[int, str, str]:
    """The exit code, output and errors of a command in which PORT is the server's."""
    ended = ran([word.replace("PORT", str(port)) for word in command], longest_s, strict=strict)
    out, err = without_port(port, (ended.stdout.decode(), ended.stderr.decode()))
    return ended.returncode, out, err
