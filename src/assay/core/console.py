"""The terminal. With `report/`, the only place that prints.

Standard output is data: figures, tables, JSON. Everything said on the way (progress,
questions, errors) goes to standard error. Colour appears only on a terminal and never
where NO_COLOR is set; nothing is told by colour alone.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from assay.core.errors import AssayError, EnvironmentLacks, InputError, reason_of
from assay.core.units import safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PIPE_WIDTH = 80
"""Columns assumed where the output is not a terminal and COLUMNS is not set."""


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    # Rich would ask the other streams for a terminal's size; a pipe has none, so that what is
    # written to a file does not depend on the window it was started from.
    width = wanted_columns() or (None if stream.isatty() else PIPE_WIDTH)
    # It would take any number that COLUMNS and LINES hold, and words that only look like one.
    known = {name: word for name, word in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return Console(
        file=stream, width=width, markup=False, emoji=False, highlight=False, soft_wrap=False, _environ=known
    )


def wanted_columns() -> int | None:
    """How many columns COLUMNS asks for; None where it holds no width that a table could have."""
    word = os.environ.get("COLUMNS", "")
    columns = int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else 0  # noqa: PLR2004
    return columns or None


def talk() -> Console:
    """Where progress and questions go."""
    return _console(sys.stderr)


def is_live() -> bool:
    """Whether a moving display makes sense: a terminal that can move its cursor, not a CI log."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")


def show(renderable: RenderableType) -> None:
    """Print a rendered result to standard output."""
    if sys.stdout.isatty():
        with _said_if_full():
            _console(sys.stdout).print(renderable, crop=False)
        return
    kept = io.StringIO()
    _console(kept).print(renderable, crop=False)
    # Cells are padded to their column; in a file that would be trailing blanks.
    write("\n".join(line.rstrip() for line in kept.getvalue().splitlines()))


def say(renderable: RenderableType) -> None:
    """Print something rendered on the way, on standard error."""
    talk().print(renderable)


def write(text: str) -> None:
    """Write text to standard output exactly as it is: JSON, Markdown, a schema."""
    with _said_if_full():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()


def write_part(text: str) -> None:
    """Write text to standard output whose last line goes on later."""
    with _said_if_full():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_bytes(content: bytes) -> None:
    """Write bytes to standard output: JUnit XML into a pipe."""
    with _said_if_full():
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def flush() -> None:
    """Write what standard output still holds."""
    with _said_if_full():
        sys.stdout.flush()


def give_up_words() -> None:
    """Drop what standard error cannot take; Python would try again at its exit, and end with 120."""
    try:
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


@contextlib.contextmanager
def _said_if_full() -> Iterator[None]:
    """A reader that went away is quiet; a full disk behind a redirection is not."""
    try:
        yield
    except BrokenPipeError:
        give_up_output()
        raise
    except OSError as problem:
        give_up_output()
        raise EnvironmentLacks(f"cannot write to standard output: {reason_of(problem)}") from None


def give_up_output() -> None:
    """Drop what standard output could not take; Python would try again at exit, and complain itself."""
    _give_up(sys.stdout)


def _give_up(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


_PLAIN = str.maketrans(
    {"±": "~", "×": "x", "µ": "u", "–": "-", "—": "-", "…": ".", "·": ".", "✗": "x", "✓": "v", "→": ">",
     "≤": "<=", "≥": ">=", "─": "-", "│": "|", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "|",
     "▎": "|", "▏": "|", "“": '"', "”": '"', "’": "'", "‘": "'"}
)  # fmt: skip
"""The signs of our screens in ASCII, those of tables as wide as they were, so that columns stay columns."""


def _in_plain(problem: UnicodeError) -> tuple[str, int]:
    """An error handler for encodings (codecs.register_error)."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    lacking = problem.object[problem.start : problem.end].translate(_PLAIN)
    return "".join(sign if sign.isascii() else "?" for sign in lacking), problem.end


def open_closed_streams() -> None:
    """Put something in the place of standard streams that are closed; Python has None for them then, and
    the next file that is opened would take their place.

    Nothing can be read, what is said on the way is lost, and figures that cannot be written are an error.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # What is opened takes the lowest number that is free: this one. /dev may not be there.
            with contextlib.suppress(OSError):
                os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            with contextlib.suppress(OSError):
                setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115, PTH123


def write_to_the_end() -> None:
    """Put a buffer behind streams that have none (PYTHONUNBUFFERED, `python -u`).

    Without one Python writes once: what a pipe does not take before a signal comes would be lost in silence.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(getattr(stream, "buffer", None), io.RawIOBase):
            continue
        whole = io.BufferedWriter(io.FileIO(stream.fileno(), "w", closefd=False))
        made = io.TextIOWrapper(whole, stream.encoding, stream.errors, line_buffering=True)
        setattr(sys, name, made)


def use_any_encoding() -> None:
    """Show what the terminal's encoding lacks in plain letters, or as "?", instead of failing on it.

    Python takes the locale C for UTF-8, as most files are (PEP 540); a terminal of somebody who asks for it
    by name may show nothing but ASCII.
    """
    codecs.register_error("assay-plain", _in_plain)
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = stream.isatty() and locale in ("C", "POSIX")
            stream.reconfigure(errors="assay-plain", encoding="ascii" if plain else None)


def note(text: str) -> None:
    """Say something on the way, on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def error(problem: AssayError) -> None:
    """Say what went wrong, in one line, as "assay: …"."""
    line = safe(str(problem).replace("\n", " "), longest=1000)
    sys.stderr.write(f"assay: {line}\n")
    sys.stderr.flush()


class _Attended:
    """Whether the program is one of ours: nobody asks from within the program of a user."""

    now = True


@contextlib.contextmanager
def unattended() -> Iterator[None]:
    """Nobody is asked within the block."""
    before, _Attended.now = _Attended.now, False
    try:
        yield
    finally:
        _Attended.now = before


def can_ask() -> bool:
    """Whether somebody sits at a terminal who can be asked."""
    if not _Attended.now:
        return False
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str, flag: str) -> bool:
    """Ask a question on the terminal; default is no. Off a terminal `flag` has to answer it."""
    if not can_ask():
        raise InputError(question.rstrip("?"), f"pass {flag} if you mean it")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
